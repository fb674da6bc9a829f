# On a worker without an agent nobody sees that a cluster is gone. Its deletion stays at the first step and says so, until
# somebody who looked ends it.

worker w-eus eastus
cluster charlie,delta eastus
run
remove cluster charlie
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -1 ~0 cluster
    status: carp/status <id>
    carp/rendered:
      begin the deletion of charlie on w-eus

      forced by
        charlie: fleet/clusters/charlie.yaml:1, removed in <id>

      ~ control-plane/fleet.lock
      ~ decisions/b9/charlie.yaml
      ~ workers/w-eus/carp.lock
      ~ workers/w-eus/clusters/charlie/cluster.yaml
      ~ workers/w-eus/sentinel.yaml

$ carp reconcile --once
    nothing to commit; 0 waiting

$ carp status cluster/charlie
    CLUSTER   TENANT   PHASE      WORKER   VERSION   NODES   READY   REASON     AGE
    charlie   shop     Deleting   w-eus    v1.34.2   -       False   Deleting   0s

    CONDITION     STATUS   REASON        MESSAGE                                                       AGE
    Ready         False    Deleting      -                                                             0s
    Placed        True     Deleting      D1 is committed; the next step waits for a report of w-eus    0s
    Rendered      True     Rendered      -                                                             0s
    ClusterGone   False    NotObserved   no agent reports of it, so somebody must abandon it (w-eus)   0s

$ carp plan
    Plan for small: no changes; 0 waiting

    DELETING: the next step waits for evidence
      charlie: step D1 to be reported by w-eus; no agent reports of it, so somebody must abandon it
    STUCK: deletions whose evidence w-eus should report, and may never report
      charlie
      help: if it is gone for ever, acknowledge that: folders and records go, their room is free, and what is left on it and in the cloud is left behind; where Flux still runs, see first that it applied what is committed
        carp ack abandon --count 1 --digest sha256:999d1d048ee9123272dd9b718680551c83e867935b47c2650e6906dc22674e47

    tree   <id>
    files  +0 ~0 -0
    valid  for ever
    work   0 files parsed, 0 clusters planned, 0 rendered, 0 objects written

$ carp ack abandon --count 1 --digest sha256:999d1d048ee9123272dd9b718680551c83e867935b47c2650e6906dc22674e47
    wrote fleet/acknowledgements/abandon-999d1d04.yaml
    commit it: the next run gives up exactly these deletions, if they are stuck still

$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -0 ~0 clusters, 1 gone
    status: carp/status <id>
    carp/rendered:
      ABANDON the deletion of charlie on w-eus: what is left of it stays behind

      forced by
        charlie: fleet/acknowledgements/abandon-999d1d04.yaml:2, written in <id>

      ~ control-plane/fleet.lock
      - decisions/b9/charlie.yaml
      ~ workers/w-eus/carp.lock
      - workers/w-eus/clusters/charlie/ (2 files)
      ~ workers/w-eus/clusters.yaml
      ~ workers/w-eus/sentinel.yaml
