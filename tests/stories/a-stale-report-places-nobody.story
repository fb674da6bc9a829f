# While a worker's last report is too old, a place on it goes to nobody: nobody knows whether the worker is there.

worker w-weu westeurope capacity=2 observation=Agent heartbeatTimeout=10m
cluster alpha,bravo westeurope
report w-weu
run
cluster zulu-early westeurope
run
cluster early-bird westeurope
run

# Nothing was heard of it for longer than its timeout, when somebody gives it one more place.
later 11m
worker w-weu capacity=3
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -0 ~0 clusters, 2 pending
    status: carp/status <id>
    carp/rendered:
      early-bird waits: all workers stopped reporting (Silent)
      zulu-early waits: all workers stopped reporting (Silent)

      ~ control-plane/fleet.lock
      ~ control-plane/w-weu/cluster.yaml
      ~ decisions/5a/zulu-early.yaml
      ~ decisions/6b/early-bird.yaml
      ~ decisions/pending.lock
      ~ workers/w-weu/carp.lock

$ carp explain cluster/zulu-early
    cluster/zulu-early: pending, number 1 of 2 in the queue
    0/1 workers are available: 1 worker(s) stopped reporting.
    policy: default (built-in)

    WORKER   REFUSES BECAUSE
    w-weu    silent since 2026-11-01T09:10:00Z

    Any one of these would place it:
      - wait until w-weu reports (then w-weu takes it)

# A report comes, and the place goes to the cluster that waits longer.
report w-weu
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +1 -0 ~0 cluster, 1 pending
    status: carp/status <id>
    carp/rendered:
      early-bird waits: all workers have too little room (Capacity)
      bind zulu-early to w-weu

      ~ decisions/5a/zulu-early.yaml
      ~ decisions/6b/early-bird.yaml
      ~ decisions/pending.lock
      ~ workers/w-weu/carp.lock
      + workers/w-weu/clusters/zulu-early/ (2 files)
      ~ workers/w-weu/clusters.yaml
      ~ workers/w-weu/sentinel.yaml

$ carp status
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY   REASON   AGE
    w-weu    Running   westeurope   v1.34.2   3/3        True    -        0s

    CLUSTER      TENANT   PHASE       WORKER   VERSION   NODES   READY   REASON      AGE
    alpha        shop     Running     w-weu    v1.34.2   -       True    -           0s
    bravo        shop     Running     w-weu    v1.34.2   -       True    -           0s
    early-bird   shop     Pending     -        v1.34.2   -       False   Pending     11m
    zulu-early   shop     Scheduled   w-weu    v1.34.2   -       False   Scheduled   11m

    4 clusters: 2 Running, 1 Pending, 1 Scheduled

    early-bird waits: all workers have too little room (Capacity)
