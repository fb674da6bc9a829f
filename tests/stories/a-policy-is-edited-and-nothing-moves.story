# A policy says where clusters go that are new. What is placed stays, and it is told that it would go elsewhere today.

remote
worker w-weu westeurope
worker w-eus eastus
cluster alpha westeurope
policy near
  affinity: {required: [{locations: [westeurope]}]}
run
policy near
  affinity: {required: [{locations: [eastus]}]}
$ carp plan
    Plan for small: no changes; 0 waiting

    VIOLATED: location westeurope is not one that the affinity allows (eastus); they stay
      alpha

    tree   <id>
    files  +0 ~0 -0
    valid  for ever
    work   1 file parsed, 0 clusters planned, 0 rendered, 0 objects written

$ carp reconcile --once
    nothing to commit; 0 waiting
    status: carp/status <id> (pushed to origin)

$ carp explain cluster/alpha
    cluster/alpha: bound to w-weu, and stays there
    policy: near (policies/near.yaml)
      before default: the fleet's own, not built in
    data store: default
    it stays on w-weu; placed anew it would go to w-eus: no other takes it

    WORKER   SOFT   PREFERRED   DISTANCE   SHARE USED   CLUSTERS
    w-eus    0      0           3          25%          0

    WORKER   REFUSES BECAUSE
    w-weu    location westeurope is not one that the affinity allows (eastus)

    its policy would not place it there now: location westeurope is not one that the
      affinity allows (eastus) (PlacementViolated)

# A cluster that is new goes where the policy says today.
cluster bravo westeurope
$ carp reconcile --once
    committed carp/rendered <id> (pushed to origin): carp: 1 worker, +1 -0 ~0 cluster
    status: carp/status <id> (pushed to origin)
    carp/rendered:
      bind bravo to w-eus

      + decisions/f1/bravo.yaml
      ~ workers/w-eus/carp.lock
      + workers/w-eus/clusters/ (2 files)
      ~ workers/w-eus/clusters.yaml
      ~ workers/w-eus/sentinel.yaml

$ carp status
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY     REASON        AGE
    w-eus    Running   eastus       v1.34.2   1/4        Unknown   NotObserved   0s
    w-weu    Running   westeurope   v1.34.2   1/4        Unknown   NotObserved   0s

    CLUSTER   TENANT   PHASE       WORKER   VERSION   NODES   READY     REASON        AGE
    alpha     shop     Scheduled   w-weu    v1.34.2   -       Unknown   NotObserved   0s
    bravo     shop     Scheduled   w-eus    v1.34.2   -       Unknown   NotObserved   0s

    2 workers: 2 Running; 2 of 8 places taken
    2 clusters: 2 Scheduled
