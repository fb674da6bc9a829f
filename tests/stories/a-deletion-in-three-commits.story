# A cluster whose document is removed goes in three commits. Each step waits until its worker reports the one before.

remote
worker w-weu westeurope observation=Agent
cluster alpha,bravo westeurope
report w-weu
run
report w-weu
run
remove cluster alpha
$ carp plan
    the reports are those of this clone, and the newest is of 2026-11-01T09:00:00Z; `git fetch` brings newer ones
    Plan for small: 0 to create, 0 to move, 0 to update, 1 to delete; 0 waiting; 0 held

    CLUSTER   ACTION   FROM    TO   WHY
    alpha     delete   w-weu   -    its document is gone; its machines go first (step D1)

    WORKER            CLUSTERS      FILES
    w-weu             2 -> 2 of 4   +0 ~3 -0
    (control plane)   -             +0 ~1 -0

    FORCED BY: what was written for each deletion and move that begins
      alpha: fleet/clusters/alpha.yaml:1, removed in <id>

    tree   <id>
    files  +0 ~5 -0
    valid  until 2026-11-01T10:00:00Z
    work   0 files parsed, 0 clusters planned, 0 rendered, 13 objects written

$ carp reconcile --once
    committed carp/rendered <id> (pushed to origin): carp: 1 worker, +0 -1 ~0 cluster
    status: carp/status <id> (pushed to origin)
    carp/rendered:
      begin the deletion of alpha on w-weu

      forced by
        alpha: fleet/clusters/alpha.yaml:1, removed in <id>

      ~ control-plane/fleet.lock
      ~ decisions/8e/alpha.yaml
      ~ workers/w-weu/carp.lock
      ~ workers/w-weu/clusters/alpha/cluster.yaml
      ~ workers/w-weu/sentinel.yaml

$ git show origin/carp/rendered:workers/w-weu/clusters/alpha/cluster.yaml | grep '^kind' | uniq
    kind: Namespace
    kind: AzureClusterIdentity
    kind: HelmChartProxy
    kind: ConfigMap
    kind: ClusterResourceSet
    kind: ManagedCluster
    kind: ConfigMap

# Cluster API takes its time: what is reported on the way moves nothing.
later 5m
report w-weu
  alpha: {present: [AzureMachine, HelmChartProxy, ManagedCluster, Namespace]}
$ carp reconcile --once
    nothing to commit; 0 waiting
    status: carp/status <id> (pushed to origin)

$ carp status cluster/alpha
    the reports are those of this clone, and the newest is of 2026-11-01T09:05:00Z; `git fetch` brings newer ones
    CLUSTER   TENANT   PHASE      WORKER   VERSION   NODES   READY   REASON     AGE
    alpha     shop     Deleting   w-weu    v1.34.2   -       False   Deleting   5m

    CONDITION     STATUS   REASON       MESSAGE                                                      AGE
    Ready         False    Deleting     -                                                            5m
    Placed        True     Deleting     D1 is committed; the next step waits for a report of w-weu   5m
    Rendered      True     Rendered     -                                                            5m
    ClusterGone   False    StillThere   still there: AzureMachine (w-weu)                            5m

# Nor does what another cluster says under the name of that worker.
report w-weu workerUID=another
$ carp reconcile --once
    warning[report-refused]: the report of worker w-weu is not used: it is from the cluster another, and the worker is the cluster uid-of-w-weu
     = help: find out who reports under this name; if the worker was built anew and what was on the old cluster is given up, set `spec.workerUID: another` in its document
    nothing to commit; 0 waiting
    status: carp/status <id> (pushed to origin)

# It is gone: what was installed in it goes, and then all the rest.
later 5m
report w-weu
$ carp reconcile --once
    committed carp/rendered <id> (pushed to origin): carp: 1 worker, +0 -0 ~1 cluster
    status: carp/status <id> (pushed to origin)
    carp/rendered:
      alpha is reported gone on w-weu: its add-ons go

      ~ decisions/8e/alpha.yaml
      ~ workers/w-weu/carp.lock
      ~ workers/w-weu/clusters/alpha/cluster.yaml
      ~ workers/w-weu/sentinel.yaml

$ git show origin/carp/rendered:workers/w-weu/clusters/alpha/cluster.yaml | grep '^kind' | uniq
    kind: Namespace
    kind: AzureClusterIdentity
    kind: ConfigMap
    kind: ManagedCluster
    kind: ConfigMap

report w-weu
$ carp reconcile --once
    committed carp/rendered <id> (pushed to origin): carp: 1 worker, +0 -0 ~0 clusters, 1 gone
    status: carp/status <id> (pushed to origin)
    carp/rendered:
      the deletion of alpha on w-weu is complete

      - decisions/8e/alpha.yaml
      ~ workers/w-weu/carp.lock
      - workers/w-weu/clusters/alpha/ (2 files)
      ~ workers/w-weu/clusters.yaml
      ~ workers/w-weu/sentinel.yaml

$ carp status
    the reports are those of this clone, and the newest is of 2026-11-01T09:10:00Z; `git fetch` brings newer ones
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY   REASON   AGE
    w-weu    Running   westeurope   v1.34.2   1/4        True    -        10m

    CLUSTER   TENANT   PHASE     WORKER   VERSION   NODES   READY   REASON   AGE
    bravo     shop     Running   w-weu    v1.34.2   -       True    -        10m
