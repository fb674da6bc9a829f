# What another worker says of a cluster is told, and is no evidence for its next step.

worker w-weu westeurope observation=Agent
cluster alpha westeurope version=v1.32.9
report w-weu
run
report w-weu
  alpha: {version: v1.32.9, controlPlaneVersion: v1.32.9, poolVersion: v1.32.9}
run
worker w-eus eastus observation=Agent
cluster alpha version=v1.34.2
run
report w-weu
  alpha: {digest: null}
report w-eus
  alpha: {phase: Running, uid: uid-of-alpha, version: v1.33.10, controlPlaneVersion: v1.33.10, poolVersion: v1.32.9, present: [Cluster]}
$ carp reconcile --once
    warning[report-contradiction]: the worker w-eus reports the cluster alpha, whose record says w-weu
     = help: find out which of the two is the one in use, and delete the other on its worker
    nothing to commit; 0 waiting
    status: carp/status <id>
