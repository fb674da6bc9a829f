# A worker falls silent, and somebody who knows says that it will never be heard of again. Its clusters are made anew.

worker w-weu westeurope capacity=20 observation=Agent
worker w-eus eastus capacity=20 observation=Agent
policy failing-over
  failover: {grace: 30m}
cluster c0,c1 westeurope onWorkerLoss=Rebuild
cluster c2 westeurope
minutes 3
    09:01 bind c0 to w-weu (location distance, before w-eus)
          bind c1 to w-weu (location distance, before w-eus)
          bind c2 to w-weu (location distance, before w-eus)

silent w-weu
later 61m
minutes 1
    nothing is committed

later 30m
minutes 1
    10:36 c0 is to leave w-weu, which is lost for longer than the policy's grace and is not heard of: nothing is deleted there, and once somebody acknowledges that w-weu is gone for ever a new, empty cluster is made on w-eus
          c1 is to leave w-weu, which is lost for longer than the policy's grace and is not heard of: nothing is deleted there, and once somebody acknowledges that w-weu is gone for ever a new, empty cluster is made on w-eus

          forced by
            c0: policies/failing-over.yaml:6, written in <id>
            c1: policies/failing-over.yaml:6, written in <id>

$ carp plan
    Plan for small: no changes; 0 waiting

    MOVING: what is in these clusters is lost: each is made anew, and empty
      c0, c1: is to leave w-weu, which is lost for longer than the policy's grace and is not heard of: nothing is deleted there, and once somebody acknowledges that w-weu is gone for ever a new, empty cluster is made on w-eus
    STAYS: these are named and do not move
      w-weu is lost for longer than the policy's grace; c2: its state is on the worker, and `onWorkerLoss` is not `Rebuild` (NotMovable)

    DELETING: the next step waits for evidence
      c0, c1: not begun: the reports stopped (w-weu)
    STUCK: deletions whose evidence w-weu should report, and may never report
      c0, c1
      help: if it is gone for ever, acknowledge that: folders and records go, their room is free, and what is left on it and in the cloud is left behind; where Flux still runs, see first that it applied what is committed
        carp ack abandon --count 2 --digest sha256:3ae9c290d1dee665f4664f0841ea8933df7a9142782bc9484344cf5ec9b802dd

    tree   <id>
    files  +0 ~0 -0
    valid  until 2026-11-01T11:36:00Z
    work   0 files parsed, 0 clusters planned, 0 rendered, 0 objects written

$ carp ack abandon --count 2 --digest sha256:3ae9c290d1dee665f4664f0841ea8933df7a9142782bc9484344cf5ec9b802dd
    wrote fleet/acknowledgements/abandon-3ae9c290.yaml
    commit it: the next run gives up exactly these deletions, if they are stuck still

$ carp reconcile --once
    committed carp/rendered <id>: carp: 2 workers, +0 -0 ~2 clusters
    status: carp/status <id>
    carp/rendered:
      c0 is gone from w-weu, which is lost for longer than the policy's grace: a new, empty cluster is made on w-eus
      c1 is gone from w-weu, which is lost for longer than the policy's grace: a new, empty cluster is made on w-eus
      ABANDON the deletion of c0 on w-weu: what is left of it stays behind
      ABANDON the deletion of c1 on w-weu: what is left of it stays behind

      forced by
        c0: fleet/acknowledgements/abandon-3ae9c290.yaml:2, written in <id>
        c1: fleet/acknowledgements/abandon-3ae9c290.yaml:2, written in <id>

      ~ control-plane/fleet.lock
      ~ decisions/12/c0.yaml
      ~ decisions/d0/c1.yaml
      ~ workers/w-eus/carp.lock
      + workers/w-eus/clusters/ (4 files)
      ~ workers/w-eus/clusters.yaml
      ~ workers/w-eus/sentinel.yaml
      ~ workers/w-weu/carp.lock
      - workers/w-weu/clusters/c0/ (2 files)
      - workers/w-weu/clusters/c1/ (2 files)
      ~ workers/w-weu/clusters.yaml
      ~ workers/w-weu/sentinel.yaml

minutes 2
    nothing is committed

$ carp status
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY     REASON   AGE
    w-eus    Running   eastus       v1.34.2   2/20       True      -        97m
    w-weu    Unknown   westeurope   v1.34.2   1/20       Unknown   Silent   35m

    CLUSTER   TENANT   PHASE     WORKER   VERSION   NODES   READY     REASON    AGE
    c0        shop     Running   w-eus    v1.34.2   -       True      -         0s
    c1        shop     Running   w-eus    v1.34.2   -       True      -         0s
    c2        shop     Unknown   w-weu    v1.34.2   -       Unknown   Unknown   33m

    2 workers: 1 Running, 1 Unknown; 3 of 40 places taken
    3 clusters: 2 Running, 1 Unknown

# It returns after all, as it was: that is told, and moves nothing.
back w-weu
report w-weu
  c0: {phase: Running, uid: uid-of-c0, present: [Cluster, Namespace]}
$ carp reconcile --once
    warning[report-contradiction]: the worker w-weu reports the cluster c0, whose record says w-eus
     = help: find out which of the two is the one in use, and delete the other on its worker
    nothing to commit; 0 waiting
    status: carp/status <id>
