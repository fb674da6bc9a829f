# The lock that knows the workers of pools is lost. They are found again, and the numbers go on.

worker w-weu westeurope capacity=2
pool weu max=3 provisionTimeout=45m coolDown=2h
  template: {spec: {version: v1.34.2, location: westeurope, replicas: 3, capacity: 2, observation: Agent}}
cluster alpha,bravo,charlie westeurope
run
report weu-1
run
by hand rm control-plane/fleet.lock
$ carp reconcile --once
    warning[lock-rebuilt]: `control-plane/fleet.lock` of the output branch is of no use: it is missing
    --> control-plane/fleet.lock
     = help: it is rebuilt from the records and folders that are there; no deletion, move or retirement starts in this run
    committed carp/rendered <id>: carp: 0 workers, +0 -0 ~0 clusters
    status: carp/status <id>
    carp/rendered:
      + control-plane/fleet.lock

$ git diff --stat carp/rendered~2 carp/rendered

$ carp status
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY     REASON        AGE
    w-weu    Running   westeurope   v1.34.2   2/2        Unknown   NotObserved   0s
    weu-1    Running   westeurope   v1.34.2   1/2        True      -             0s

    POOL   WORKERS   MIN   MAX   PENDING   LEAVING
    weu    1         0     3     0         0

    CLUSTER   TENANT   PHASE       WORKER   VERSION   NODES   READY     REASON        AGE
    alpha     shop     Scheduled   w-weu    v1.34.2   -       Unknown   NotObserved   0s
    bravo     shop     Scheduled   w-weu    v1.34.2   -       Unknown   NotObserved   0s
    charlie   shop     Scheduled   weu-1    v1.34.2   -       False     Scheduled     0s

    2 workers: 2 Running; 3 of 4 places taken
    3 clusters: 3 Scheduled
