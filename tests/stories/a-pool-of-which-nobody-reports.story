# No agent reports in this fleet. What time does to a pool's worker is folded even so: the commit that follows from it replays.

worker w-weu westeurope capacity=2
pool weu max=3 provisionTimeout=45m coolDown=2h
  template: {spec: {version: v1.34.2, location: westeurope, replicas: 3, capacity: 2, observation: Agent}}
cluster alpha,bravo westeurope
run
cluster charlie westeurope
run
run
later 46m
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
