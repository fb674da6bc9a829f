# On the way from v1.32 to v1.34 another change goes through at once; a way back is refused, and the folder stays as it is.

worker w-weu westeurope observation=Agent
cluster alpha westeurope version=v1.32.9
report w-weu
run
report w-weu
  alpha: {version: v1.32.9, controlPlaneVersion: v1.32.9, poolVersion: v1.32.9}
run
cluster alpha version=v1.34.2
run
cluster alpha replicas=5
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -0 ~1 cluster
    status: carp/status <id>
    carp/rendered:
      update alpha: np0: nodes 2 → 5

      ~ workers/w-weu/carp.lock
      ~ workers/w-weu/clusters/alpha/cluster.yaml
      ~ workers/w-weu/sentinel.yaml

cluster alpha version=v1.32.9
$ carp reconcile --once
    error[version-skew]: the version goes back from v1.33.10 to v1.32.9
      --> fleet/clusters/alpha.yaml:10:12
       |
    10 |   version: v1.32.9
       |            ^^^^^^^
       |
       = help: Kubernetes cannot be downgraded; make a new cluster of the older version
       = note: until it is mended, alpha keeps its last good output
    nothing to commit; 0 waiting
    status: carp/status <id>
    exit 1

$ carp status cluster/alpha
    the fleet has 1 error, and what that is about is shown as it was; see `carp validate`
    CLUSTER   TENANT   PHASE     WORKER   VERSION   NODES   READY   REASON   AGE
    alpha     shop     Running   w-weu    v1.32.9   -       True    -        0s

    CONDITION   STATUS   REASON            MESSAGE                                          AGE
    Ready       True     Running           -                                                0s
    Placed      True     Bound             -                                                0s
    Rendered    False    ForbiddenChange   the version goes back from v1.33.10 to v1.32.9   0s

    error[version-skew]: the version goes back from v1.33.10 to v1.32.9 (mended in the fleet repository)
