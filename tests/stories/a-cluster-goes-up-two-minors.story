# Nobody skips a minor version of Kubernetes: a cluster goes from v1.32 to v1.34 in four steps, each when its worker
# reports the one before. First the control plane, then the pools.

worker w-weu westeurope observation=Agent
cluster alpha westeurope version=v1.32.9
report w-weu
run
report w-weu
  alpha: {version: v1.32.9, controlPlaneVersion: v1.32.9, poolVersion: v1.32.9}
run
cluster alpha version=v1.34.2
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -0 ~1 cluster
    status: carp/status <id>
    carp/rendered:
      alpha: control plane at v1.33.10, pools at v1.32.9, on the way to v1.34.2

      update alpha: version v1.32.9 → v1.34.2; the control plane restarts

      ~ control-plane/fleet.lock
      ~ workers/w-weu/carp.lock
      ~ workers/w-weu/clusters/alpha/cluster.yaml
      ~ workers/w-weu/sentinel.yaml

$ carp status cluster/alpha
    CLUSTER   TENANT   PHASE      WORKER   VERSION   NODES   READY   REASON   AGE
    alpha     shop     Updating   w-weu    v1.32.9   -       True    -        0s

    CONDITION   STATUS   REASON       AGE
    Ready       True     Updating     0s
    Placed      True     Bound        0s
    Rendered    True     Rendered     0s
    Updating    True     NotApplied   0s

    Updating: control plane at v1.33.10, pools at v1.32.9, on the way to v1.34.2;
      waits until its worker has applied that

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

report w-weu
  alpha: {version: v1.33.10, controlPlaneVersion: v1.33.10, poolVersion: v1.33.10}
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -0 ~1 cluster
    status: carp/status <id>
    carp/rendered:
      alpha: control plane at v1.34.2, pools at v1.33.10, on the way to v1.34.2

      update alpha: the control plane restarts

      ~ control-plane/fleet.lock
      ~ workers/w-weu/carp.lock
      ~ workers/w-weu/clusters/alpha/cluster.yaml
      ~ workers/w-weu/sentinel.yaml

report w-weu
  alpha: {version: v1.34.2, controlPlaneVersion: v1.34.2, poolVersion: v1.33.10}
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -0 ~1 cluster
    status: carp/status <id>
    carp/rendered:
      alpha: the last step from v1.34.2/v1.33.10

      update alpha: np0: replaces 2 machines

      ~ workers/w-weu/carp.lock
      ~ workers/w-weu/clusters/alpha/cluster.yaml
      ~ workers/w-weu/sentinel.yaml

report w-weu
  alpha: {version: v1.34.2, controlPlaneVersion: v1.34.2, poolVersion: v1.34.2}
$ carp reconcile --once
    nothing to commit; 0 waiting
    status: carp/status <id>

$ carp status cluster/alpha
    CLUSTER   TENANT   PHASE     WORKER   VERSION   NODES   READY   REASON   AGE
    alpha     shop     Running   w-weu    v1.34.2   -       True    -        0s

    CONDITION   STATUS   REASON     MESSAGE   AGE
    Ready       True     Running    -         0s
    Placed      True     Bound      -         0s
    Rendered    True     Rendered   -         0s
