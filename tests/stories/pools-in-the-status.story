# The status shows what pools have and are making, and `explain` why a pool makes no worker for a cluster.

worker w-weu westeurope capacity=4
pool weu max=3 provisionTimeout=45m coolDown=2h
  template: {spec: {version: v1.34.2, location: westeurope, replicas: 3, capacity: 2, observation: Agent}}
pool gpu max=3
  template:
    spec:
      version: v1.34.2
      location: westeurope
      replicas: 3
      capacity: 2
      taints: [{key: gpu, effect: NoSchedule}]
cluster a1,a2,a3,a4,a5,a6,a7,a8,a9 westeurope
run
$ carp status
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY     REASON          AGE
    w-weu    Running   westeurope   v1.34.2   4/4        Unknown   NotObserved     0s
    weu-1    Pending   westeurope   v1.34.2   2/2        Unknown   NeverReported   0s
    weu-2    Pending   westeurope   v1.34.2   2/2        Unknown   NeverReported   0s

    POOL   WORKERS   MIN   MAX   PENDING   LEAVING
    gpu    0         0     3     0         0
    weu    2         0     3     2         0

    CLUSTER   TENANT   PHASE       WORKER   VERSION   NODES   READY     REASON        AGE
    a1        shop     Scheduled   w-weu    v1.34.2   -       Unknown   NotObserved   0s
    a2        shop     Scheduled   w-weu    v1.34.2   -       Unknown   NotObserved   0s
    a3        shop     Scheduled   w-weu    v1.34.2   -       Unknown   NotObserved   0s
    a4        shop     Scheduled   w-weu    v1.34.2   -       Unknown   NotObserved   0s
    a5        shop     Scheduled   weu-1    v1.34.2   -       False     Scheduled     0s
    a6        shop     Scheduled   weu-1    v1.34.2   -       False     Scheduled     0s
    a7        shop     Scheduled   weu-2    v1.34.2   -       False     Scheduled     0s
    a8        shop     Scheduled   weu-2    v1.34.2   -       False     Scheduled     0s
    a9        shop     Pending     -        v1.34.2   -       False     Pending       0s

    3 workers: 2 Pending, 1 Running; 8 of 8 places taken
    9 clusters: 8 Scheduled, 1 Pending

    a9 waits: all workers have too little room (Capacity)

$ carp explain cluster/a9
    cluster/a9: pending, number 1 of 1 in the queue
    0/3 workers are available: 3 worker(s) had insufficient clusters.
    policy: default (built-in)

    WORKER   REFUSES BECAUSE
    w-weu, weu-1, weu-2
             needs 1 cluster, 0 free

    POOL   MAKES NO WORKER BECAUSE
    gpu    a worker of it would refuse: untolerated taint {gpu:NoSchedule}
    weu    as many of its workers are being made as may be (maxPending 2)

    Any one of these would place it:
      - +1 cluster on w-weu (then w-weu takes it)
      - +1 cluster on weu-1 (then weu-1 takes it)
      - +1 cluster on weu-2 (then weu-2 takes it)

$ carp explain pool/weu
    pool/weu: 2 workers (min 0, max 3)

    WORKER   ORDINAL   LOCATION     CLUSTERS   STATE
    weu-1    1         westeurope   2          being made
    weu-2    2         westeurope   2          being made

    It makes no worker for these that wait:
      a9: as many of its workers are being made as may be (maxPending 2)

    each worker takes 2 clusters
    makes none: as many of its workers are being made as may be (maxPending 2)
    gives up one at a time that has been empty for 2h (coolDown), down to 0

$ carp explain gpu
    pool/gpu: 0 workers (min 0, max 3)

    It makes no worker for these that wait:
      a9: a worker of it would refuse: untolerated taint {gpu:NoSchedule}

    each worker takes 2 clusters
    the next one would be gpu-1 in westeurope
