# A pool's template reaches the workers that it made, an overlay goes over it, and a document of its own takes a worker over.

worker w-weu westeurope capacity=2
pool weu min=1 max=3 provisionTimeout=45m coolDown=2h
  template: {spec: {version: v1.34.2, location: westeurope, replicas: 3, capacity: 2, observation: Agent}}
run

pool weu
  template: {spec: {version: v1.34.2, location: westeurope, replicas: 3, capacity: 7, observation: Agent}}
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -0 ~0 clusters
    status: carp/status <id>
    carp/rendered:
      ~ control-plane/fleet.lock
      ~ control-plane/weu-1/cluster.yaml
      ~ workers/weu-1/carp.lock

$ git diff -U0 carp/rendered~1 carp/rendered -- control-plane/weu-1 | grep '^[-+] ' | grep -v digest
    -    clusters: "2"
    +    clusters: "7"

overlay weu-1 unschedulable=true
run
$ carp status worker/weu-1
    WORKER   PHASE                        LOCATION     VERSION   CLUSTERS   READY     REASON          AGE
    weu-1    Pending,SchedulingDisabled   westeurope   v1.34.2   0/7        Unknown   NeverReported   0s

    CONDITION           STATUS    REASON          MESSAGE                                        AGE
    Ready               Unknown   NeverReported   no report of the worker's agent has come yet   0s
    Schedulable         False     Cordoned        -                                              0s
    CapacityRespected   True      Within          -                                              0s
    Rendered            True      Rendered        -                                              0s

worker weu-1 westeurope capacity=9
$ carp plan
    Plan for small: 0 to create, 0 to move, 0 to update, 0 to delete; 0 waiting; 0 held

    WORKER            CLUSTERS      FILES
    weu-1             0 -> 0 of 9   +0 ~1 -0
    weu-2             0 -> 0 of 7   +16 ~0 -0
    (control plane)   -             +5 ~3 -0

    + worker weu-2 (pool weu)

    tree   <id>
    files  +21 ~4 -0
    valid  until 2026-11-01T10:00:00Z
    work   1 file parsed, 0 clusters planned, 0 rendered, 38 objects written
