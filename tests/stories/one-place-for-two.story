# Two clusters wait and one place becomes free: it goes to the one that has waited longer, whatever their names.

worker w-weu westeurope capacity=2 observation=Agent heartbeatTimeout=10m
cluster alpha westeurope
cluster bravo westeurope
run
report w-weu
run
cluster zulu-early westeurope
run
cluster early-bird westeurope
$ carp reconcile --once
    committed carp/rendered <id>: carp: 0 workers, +0 -0 ~0 clusters, 2 pending
    status: carp/status <id>
    carp/rendered:
      early-bird waits: all workers have too little room (Capacity)

      + decisions/6b/early-bird.yaml
      ~ decisions/pending.lock

$ carp status
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY   REASON   AGE
    w-weu    Running   westeurope   v1.34.2   2/2        True    -        0s

    CLUSTER      TENANT   PHASE       WORKER   VERSION   NODES   READY   REASON      AGE
    alpha        shop     Scheduled   w-weu    v1.34.2   -       False   Scheduled   0s
    bravo        shop     Scheduled   w-weu    v1.34.2   -       False   Scheduled   0s
    early-bird   shop     Pending     -        v1.34.2   -       False   Pending     0s
    zulu-early   shop     Pending     -        v1.34.2   -       False   Pending     0s

    4 clusters: 2 Pending, 2 Scheduled

    early-bird, zulu-early wait: all workers have too little room (Capacity)

$ carp explain cluster/early-bird
    cluster/early-bird: pending, number 2 of 2 in the queue
    0/1 workers are available: 1 worker(s) had insufficient clusters.
    policy: default (built-in)

    WORKER   REFUSES BECAUSE
    w-weu    needs 1 cluster, 0 free

    Any one of these would place it:
      - +2 clusters on w-weu (then w-weu takes it, after zulu-early)

worker w-weu capacity=3
$ carp plan
    Plan for small: 1 to create, 0 to move, 0 to update, 0 to delete; 1 waiting; 0 held; +2 nodes

    CLUSTER      ACTION   FROM   TO      WHY
    zulu-early   create   -      w-weu   the only worker that fits

    WORKER            CLUSTERS      FILES
    w-weu             2 -> 3 of 3   +2 ~3 -0
    (control plane)   -             +0 ~2 -0

    WAITING: no worker takes these; `carp explain cluster/NAME` says what would help
      early-bird: all workers have too little room (Capacity)

    tree   <id>
    files  +2 ~7 -0
    valid  until 2026-11-01T09:10:00Z
    work   2 files parsed, 2 clusters planned, 1 rendered, 18 objects written

$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +1 -0 ~0 cluster, 1 pending
    status: carp/status <id>
    carp/rendered:
      bind zulu-early to w-weu

      ~ control-plane/fleet.lock
      ~ control-plane/w-weu/cluster.yaml
      ~ decisions/5a/zulu-early.yaml
      ~ decisions/pending.lock
      ~ workers/w-weu/carp.lock
      + workers/w-weu/clusters/zulu-early/ (2 files)
      ~ workers/w-weu/clusters.yaml
      ~ workers/w-weu/sentinel.yaml

$ carp status
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY   REASON   AGE
    w-weu    Running   westeurope   v1.34.2   3/3        True    -        0s

    CLUSTER      TENANT   PHASE       WORKER   VERSION   NODES   READY   REASON      AGE
    alpha        shop     Scheduled   w-weu    v1.34.2   -       False   Scheduled   0s
    bravo        shop     Scheduled   w-weu    v1.34.2   -       False   Scheduled   0s
    early-bird   shop     Pending     -        v1.34.2   -       False   Pending     0s
    zulu-early   shop     Scheduled   w-weu    v1.34.2   -       False   Scheduled   0s

    4 clusters: 3 Scheduled, 1 Pending

    early-bird waits: all workers have too little room (Capacity)

$ carp explain cluster/early-bird
    cluster/early-bird: pending, number 1 of 1 in the queue
    0/1 workers are available: 1 worker(s) had insufficient clusters.
    policy: default (built-in)

    WORKER   REFUSES BECAUSE
    w-weu    needs 1 cluster, 0 free

    Any one of these would place it:
      - +1 cluster on w-weu (then w-weu takes it)
