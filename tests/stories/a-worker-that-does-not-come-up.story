# A pool's worker does not report in time: its cluster goes to another one. Both come up after all, and nothing moves.

worker w-weu westeurope capacity=2 observation=Agent
pool weu max=3 provisionTimeout=45m coolDown=2h
  template: {spec: {version: v1.34.2, location: westeurope, replicas: 3, capacity: 2, observation: Agent}}
cluster alpha,bravo westeurope
report w-weu
run

# The second run is the first to see the worker that the one before made: its time begins.
cluster charlie westeurope
run
run
later 44m
report w-weu
$ carp reconcile --once
    nothing to commit; 0 waiting
    status: carp/status <id>

later 2m
report w-weu
$ carp reconcile --once
    committed carp/rendered <id>: carp: 2 workers, +1 -0 ~0 cluster
    status: carp/status <id>
    carp/rendered:
      bind charlie to weu-2

      ~ control-plane/fleet.lock
      + control-plane/weu-2/ (5 files)
      ~ control-plane/workers.yaml
      ~ decisions/b9/charlie.yaml
      ~ workers/weu-1/carp.lock
      + workers/weu-2/ (16 files)

$ carp status worker/weu-1
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY     REASON          AGE
    weu-1    Pending   westeurope   v1.34.2   0/2        Unknown   NeverReported   46m

    CONDITION           STATUS    REASON          MESSAGE                                        AGE
    Ready               Unknown   NeverReported   no report of the worker's agent has come yet   46m
    Schedulable         True      Schedulable     -                                              46m
    CapacityRespected   True      Within          -                                              46m
    Rendered            True      Rendered        -                                              46m

    error[WorkerProvisionTimeout]: its pool made it, and it is not running in time

report weu-1
report weu-2
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -0 ~1 cluster
    status: carp/status <id>
    carp/rendered:
      ~ control-plane/fleet.lock
      ~ workers/weu-2/carp.lock
      + workers/weu-2/clusters/ (2 files)
      ~ workers/weu-2/clusters.yaml
      ~ workers/weu-2/sentinel.yaml

# The late one is a worker like any other.
cluster delta westeurope
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +1 -0 ~0 cluster
    status: carp/status <id>
    carp/rendered:
      bind delta to weu-1 (share used, before weu-2)

      + decisions/4f/delta.yaml
      ~ workers/weu-1/carp.lock
      + workers/weu-1/clusters/ (2 files)
      ~ workers/weu-1/clusters.yaml
      ~ workers/weu-1/sentinel.yaml
