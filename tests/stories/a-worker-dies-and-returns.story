# A worker falls silent, and its policy lets clusters fail over after 30 minutes. They get a place elsewhere and no
# more: what the worker would apply when it comes back is what it has. It comes back, and nothing was lost.

worker w-weu westeurope capacity=20 observation=Agent
worker w-eus eastus capacity=20 observation=Agent
policy failing-over
  failover: {grace: 30m}
cluster c0,c1 westeurope onWorkerLoss=Rebuild
cluster c2 westeurope
minutes 3
    09:01 bind c0 to w-weu (location distance, before w-eus)
          bind c1 to w-weu (location distance, before w-eus)
          bind c2 to w-weu (location distance, before w-eus)

silent w-weu
later 61m
minutes 1
    nothing is committed

later 30m
$ carp reconcile --once
    committed carp/rendered <id>: carp: 2 workers, +0 -0 ~0 clusters
    status: carp/status <id>
    carp/rendered:
      c0 is to leave w-weu, which is lost for longer than the policy's grace and is not heard of: nothing is deleted there, and once somebody acknowledges that w-weu is gone for ever a new, empty cluster is made on w-eus
      c1 is to leave w-weu, which is lost for longer than the policy's grace and is not heard of: nothing is deleted there, and once somebody acknowledges that w-weu is gone for ever a new, empty cluster is made on w-eus

      forced by
        c0: policies/failing-over.yaml:6, written in <id>
        c1: policies/failing-over.yaml:6, written in <id>

      ~ decisions/12/c0.yaml
      ~ decisions/d0/c1.yaml
      ~ workers/w-eus/carp.lock
      ~ workers/w-weu/carp.lock

$ carp status
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY     REASON   AGE
    w-eus    Running   eastus       v1.34.2   2/20       True      -        94m
    w-weu    Unknown   westeurope   v1.34.2   3/20       Unknown   Silent   32m

    CLUSTER   TENANT   PHASE     WORKER   VERSION   NODES   READY     REASON    AGE
    c0        shop     Unknown   w-weu    v1.34.2   -       Unknown   Unknown   30m
    c1        shop     Unknown   w-weu    v1.34.2   -       Unknown   Unknown   30m
    c2        shop     Unknown   w-weu    v1.34.2   -       Unknown   Unknown   30m

    2 workers: 1 Running, 1 Unknown; 5 of 40 places taken
    3 clusters: 3 Unknown

$ carp status cluster/c0
    CLUSTER   TENANT   PHASE     WORKER   VERSION   NODES   READY     REASON    AGE
    c0        shop     Unknown   w-weu    v1.34.2   -       Unknown   Unknown   30m

    CONDITION   STATUS    REASON     AGE
    Ready       Unknown   Unknown    30m
    Placed      True      Moving     94m
    Rendered    True      Rendered   94m
    Moving      True      Failover   0s

    Ready: the worker's reports stopped
    Placed: its place on w-eus is kept
    Moving: is to leave w-weu, which is lost for longer than the policy's grace and
      is not heard of: nothing is deleted there, and once somebody acknowledges that
      w-weu is gone for ever a new, empty cluster is made on w-eus

$ carp status cluster/c2
    CLUSTER   TENANT   PHASE     WORKER   VERSION   NODES   READY     REASON    AGE
    c2        shop     Unknown   w-weu    v1.34.2   -       Unknown   Unknown   30m

    CONDITION   STATUS    REASON       AGE
    Ready       Unknown   Unknown      30m
    Placed      True      Bound        94m
    Rendered    True      Rendered     94m
    Moving      False     NotMovable   0s

    Ready: the worker's reports stopped
    Moving: w-weu is lost for longer than the policy's grace; its state is on the
      worker, and `onWorkerLoss` is not `Rebuild`

later 500m
minutes 1
    nothing is committed

back w-weu
minutes 1
    18:57 c0 stays on w-weu: nothing names it any more, and nothing was deleted
          c1 stays on w-weu: nothing names it any more, and nothing was deleted

$ carp status
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY   REASON   AGE
    w-eus    Running   eastus       v1.34.2   0/20       True    -        9h
    w-weu    Running   westeurope   v1.34.2   3/20       True    -        0s

    CLUSTER   TENANT   PHASE     WORKER   VERSION   NODES   READY   REASON   AGE
    c0        shop     Running   w-weu    v1.34.2   -       True    -        9h
    c1        shop     Running   w-weu    v1.34.2   -       True    -        9h
    c2        shop     Running   w-weu    v1.34.2   -       True    -        9h

    2 workers: 2 Running; 3 of 40 places taken
    3 clusters: 3 Running
