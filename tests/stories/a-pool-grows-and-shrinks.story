# A region fills up and its pool makes workers; then it empties, and a worker that nobody needs goes.

worker w-weu westeurope capacity=2
pool weu max=3 provisionTimeout=45m coolDown=2h
  template: {spec: {version: v1.34.2, location: westeurope, replicas: 3, capacity: 2, observation: Agent}}
cluster alpha,bravo westeurope
run
cluster charlie westeurope
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +1 -0 ~0 cluster
    status: carp/status <id>
    carp/rendered:
      bind charlie to weu-1

      ~ control-plane/fleet.lock
      + control-plane/weu-1/ (5 files)
      ~ control-plane/workers.yaml
      + decisions/b9/charlie.yaml
      + workers/weu-1/ (16 files)

# The place is kept, and nothing of the cluster is rendered before its worker is there.
$ carp status
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY     REASON          AGE
    w-weu    Running   westeurope   v1.34.2   2/2        Unknown   NotObserved     0s
    weu-1    Pending   westeurope   v1.34.2   1/2        Unknown   NeverReported   0s

    POOL   WORKERS   MIN   MAX   PENDING   LEAVING
    weu    1         0     3     1         0

    CLUSTER   TENANT   PHASE       WORKER   VERSION   NODES   READY     REASON        AGE
    alpha     shop     Scheduled   w-weu    v1.34.2   -       Unknown   NotObserved   0s
    bravo     shop     Scheduled   w-weu    v1.34.2   -       Unknown   NotObserved   0s
    charlie   shop     Scheduled   weu-1    v1.34.2   -       False     Scheduled     0s

    2 workers: 1 Pending, 1 Running; 3 of 4 places taken
    3 clusters: 3 Scheduled

later 20m
report weu-1
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -0 ~1 cluster
    status: carp/status <id>
    carp/rendered:
      ~ control-plane/fleet.lock
      ~ workers/weu-1/carp.lock
      + workers/weu-1/clusters/ (2 files)
      ~ workers/weu-1/clusters.yaml
      ~ workers/weu-1/sentinel.yaml

# Another one fits beside it; two more need the next worker.
cluster delta,echo,foxtrot westeurope
$ carp reconcile --once
    committed carp/rendered <id>: carp: 2 workers, +3 -0 ~0 clusters
    status: carp/status <id>
    carp/rendered:
      bind delta to weu-1
      bind echo to weu-2
      bind foxtrot to weu-2

      ~ control-plane/fleet.lock
      + control-plane/weu-2/ (5 files)
      ~ control-plane/workers.yaml
      + decisions/09/echo.yaml
      + decisions/4f/delta.yaml
      + decisions/95/foxtrot.yaml
      ~ workers/weu-1/carp.lock
      + workers/weu-1/clusters/delta/ (2 files)
      ~ workers/weu-1/clusters.yaml
      ~ workers/weu-1/sentinel.yaml
      + workers/weu-2/ (16 files)

# Those two go again before they were made, and the new worker comes up empty.
remove cluster echo
remove cluster foxtrot
report weu-1
report weu-2
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -0 ~0 clusters
    status: carp/status <id>
    carp/rendered:
      forget echo, of which nothing was made
      forget foxtrot, of which nothing was made

      ~ control-plane/fleet.lock
      - decisions/09/echo.yaml
      - decisions/95/foxtrot.yaml
      ~ workers/weu-2/carp.lock

# It stays empty for longer than the pool's `coolDown`, which begins with the run that sees it so.
run
later 40m
report weu-1
report weu-2
run
later 40m
report weu-1
report weu-2
run
later 40m
report weu-1
report weu-2
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -0 ~0 clusters
    status: carp/status <id>
    carp/rendered:
      begin the deletion of the worker weu-2

      forced by
        weu-2: fleet/pools/weu.yaml:2, written in <id>

      ~ control-plane/fleet.lock
      - control-plane/weu-2/bootstrap/ (2 files)
      - control-plane/weu-2/bootstrap.yaml
      ~ control-plane/weu-2/cluster.yaml
      ~ control-plane/weu-2/kustomization.yaml

$ carp status
    WORKER   PHASE         LOCATION     VERSION   CLUSTERS   READY     REASON        AGE
    w-weu    Running       westeurope   v1.34.2   2/2        Unknown   NotObserved   140m
    weu-1    Running       westeurope   v1.34.2   2/2        True      -             120m
    weu-2    Terminating   -            -         0/?        Unknown   NotObserved   120m

    POOL   WORKERS   MIN   MAX   PENDING   LEAVING
    weu    1         0     3     0         1

    CLUSTER   TENANT   PHASE       WORKER   VERSION   NODES   READY     REASON        AGE
    alpha     shop     Scheduled   w-weu    v1.34.2   -       Unknown   NotObserved   140m
    bravo     shop     Scheduled   w-weu    v1.34.2   -       Unknown   NotObserved   140m
    charlie   shop     Running     weu-1    v1.34.2   -       True      -             120m
    delta     shop     Running     weu-1    v1.34.2   -       True      -             120m

    3 workers: 2 Running, 1 Terminating; 4 of 4 places taken
    4 clusters: 2 Running, 2 Scheduled

# A number is never used again.
cluster golf westeurope
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +1 -0 ~0 cluster
    status: carp/status <id>
    carp/rendered:
      bind golf to weu-3

      ~ control-plane/fleet.lock
      + control-plane/weu-3/ (5 files)
      ~ control-plane/workers.yaml
      + decisions/62/golf.yaml
      + workers/weu-3/ (16 files)
