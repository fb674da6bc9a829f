# A document comes back with the name of a cluster that is being deleted, and is another one. It waits for the end, and is
# made anew then.

remote
worker w-weu westeurope observation=Agent
cluster alpha,bravo westeurope
report w-weu
run
report w-weu
run
remove cluster alpha
run
report w-weu
  alpha: {phase: Deleting, present: [AzureMachine, HelmChartProxy, ManagedCluster, Namespace]}
run
cluster alpha westeurope replicas=3
$ carp reconcile --once
    nothing to commit; 0 waiting
    status: carp/status <id> (pushed to origin)
    held NameStillDeleting: a document came back under a name whose deletion has begun: alpha
      help: wait: at the end of the deletion it is made anew; or take another name
    exit 3

$ carp explain cluster/alpha
    the reports are those of this clone, and the newest is of 2026-11-01T09:00:00Z; `git fetch` brings newer ones
    cluster/alpha: being deleted: step D1 to be reported by w-weu; still there: AzureMachine
    policy: default (built-in)
    data store: default

    WORKER   SOFT   PREFERRED   DISTANCE   SHARE USED   CLUSTERS
    w-weu    0      0           0          50%          1

    held by a guard: a document came back under a name whose deletion has begun
      (NameStillDeleting)

report w-weu
$ carp reconcile --once
    committed carp/rendered <id> (pushed to origin): carp: 1 worker, +0 -0 ~1 cluster
    status: carp/status <id> (pushed to origin)
    held NameStillDeleting: a document came back under a name whose deletion has begun: alpha
      help: wait: at the end of the deletion it is made anew; or take another name
    exit 3
    carp/rendered:
      alpha is reported gone on w-weu: its add-ons go

      held NameStillDeleting: a document came back under a name whose deletion has begun: alpha

      ~ decisions/8e/alpha.yaml
      ~ workers/w-weu/carp.lock
      ~ workers/w-weu/clusters/alpha/cluster.yaml
      ~ workers/w-weu/sentinel.yaml

report w-weu
$ carp reconcile --once
    committed carp/rendered <id> (pushed to origin): carp: 1 worker, +1 -0 ~0 cluster
    status: carp/status <id> (pushed to origin)
    carp/rendered:
      bind alpha to w-weu
      the deletion of alpha on w-weu is complete

      ~ decisions/8e/alpha.yaml
      ~ workers/w-weu/carp.lock
      ~ workers/w-weu/clusters/alpha/cluster.yaml
      ~ workers/w-weu/sentinel.yaml
