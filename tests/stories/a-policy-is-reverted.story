# A policy that no worker satisfies makes a new cluster wait, and moves nobody. Its revert places the one that waits.

remote
worker w-weu westeurope
worker w-eus eastus
cluster alpha westeurope
policy near
  affinity: {required: [{locations: [westeurope]}]}
run
policy near
  affinity: {required: [{locations: [northeurope]}]}
run
cluster bravo westeurope
$ carp reconcile --once
    committed carp/rendered <id> (pushed to origin): carp: 0 workers, +0 -0 ~0 clusters, 1 pending
    status: carp/status <id> (pushed to origin)
    carp/rendered:
      bravo waits: no worker is in a location that the affinity allows (AffinityLocation)

      + decisions/f1/bravo.yaml
      ~ decisions/pending.lock

$ carp explain cluster/bravo
    cluster/bravo: pending, number 1 of 1 in the queue
    0/2 workers are available: 2 worker(s) did not match the placement affinity.
    policy: near (policies/near.yaml)
      before default: the fleet's own, not built in

    WORKER   REFUSES BECAUSE
    w-eus    location eastus is not one that the affinity allows (northeurope)
    w-weu    location westeurope is not one that the affinity allows (northeurope)

    Any one of these would place it:
      - allow location eastus (then w-eus takes it)
      - allow location westeurope (then w-weu takes it)

# It goes on waiting, and no commit says so again.
$ carp reconcile --once
    nothing to commit; 1 waiting

do git revert --no-edit HEAD~1
$ carp reconcile --once
    committed carp/rendered <id> (pushed to origin): carp: 1 worker, +1 -0 ~0 cluster
    status: carp/status <id> (pushed to origin)
    carp/rendered:
      bind bravo to w-weu

      ~ decisions/f1/bravo.yaml
      ~ decisions/pending.lock
      ~ workers/w-weu/carp.lock
      + workers/w-weu/clusters/bravo/ (2 files)
      ~ workers/w-weu/clusters.yaml
      ~ workers/w-weu/sentinel.yaml

$ carp status
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY     REASON        AGE
    w-eus    Running   eastus       v1.34.2   0/4        Unknown   NotObserved   0s
    w-weu    Running   westeurope   v1.34.2   2/4        Unknown   NotObserved   0s

    CLUSTER   TENANT   PHASE       WORKER   VERSION   NODES   READY     REASON        AGE
    alpha     shop     Scheduled   w-weu    v1.34.2   -       Unknown   NotObserved   0s
    bravo     shop     Scheduled   w-weu    v1.34.2   -       Unknown   NotObserved   0s

    2 workers: 2 Running; 2 of 8 places taken
    2 clusters: 2 Scheduled
