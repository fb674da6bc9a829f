# On the way from v1.32 to v1.34 the worker's lock is lost. The step is known from the folder, and the way goes on.

worker w-weu westeurope observation=Agent
cluster alpha westeurope version=v1.32.9
report w-weu
run
report w-weu
  alpha: {version: v1.32.9, controlPlaneVersion: v1.32.9, poolVersion: v1.32.9}
run
cluster alpha version=v1.34.2
run
by hand rm workers/w-weu/carp.lock
$ carp reconcile --once
    warning[lock-rebuilt]: `workers/w-weu/carp.lock` of the output branch is of no use: it is missing
    --> workers/w-weu/carp.lock
     = help: it is rebuilt from the records and folders that are there; no deletion, move or retirement starts in this run
    committed carp/rendered <id>: carp: 1 worker, +0 -0 ~0 clusters
    status: carp/status <id>
    carp/rendered:
      + workers/w-weu/carp.lock

report w-weu
  alpha: {version: v1.33.10, controlPlaneVersion: v1.33.10, poolVersion: v1.32.9}
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -0 ~1 cluster
    status: carp/status <id>
    carp/rendered:
      alpha: at v1.33.10, on the way to v1.34.2

      update alpha: np0: replaces 2 machines

      ~ workers/w-weu/carp.lock
      ~ workers/w-weu/clusters/alpha/cluster.yaml
      ~ workers/w-weu/sentinel.yaml
