# A worker is drained, two clusters at a time. Each is deleted there and made anew, and empty, on the other one. What
# may not move stays: its documents do not say `onWorkerLoss: Rebuild`.

worker w-weu westeurope capacity=20 observation=Agent
worker w-eus eastus capacity=20 observation=Agent
cluster c0,c1,c2,c3 westeurope onWorkerLoss=Rebuild
cluster c4 westeurope
minutes 3
    09:01 bind c0 to w-weu (location distance, before w-eus)
          bind c1 to w-weu (location distance, before w-eus)
          bind c2 to w-weu (location distance, before w-eus)
          bind c3 to w-weu (location distance, before w-eus)
          bind c4 to w-weu (location distance, before w-eus)

$ carp drain w-weu --max-unavailable 2
    worker/w-weu drained: wrote fleet/overlays/w-weu.yaml

    2 clusters leave it:
      c0, c1

    1 cluster stays: its state is on the worker, and `onWorkerLoss` is not `Rebuild`
      (NotMovable)
      c4

    2 clusters stay: as many as may be away at a time are away (WaitsItsTurn)
      c2, c3

minutes 10
    09:04 c0 leaves w-weu, which is drained: it is deleted there (step D1), and once that is reported a new, empty cluster is made on w-eus
          c1 leaves w-weu, which is drained: it is deleted there (step D1), and once that is reported a new, empty cluster is made on w-eus

          forced by
            c0: fleet/overlays/w-weu.yaml:6, written in <id>
            c1: fleet/overlays/w-weu.yaml:6, written in <id>
    09:05 c0 is reported gone on w-weu: its add-ons go
          c1 is reported gone on w-weu: its add-ons go
    09:06 c0 is gone from w-weu, which is drained: a new, empty cluster is made on w-eus
          c1 is gone from w-weu, which is drained: a new, empty cluster is made on w-eus
          the deletion of c0 on w-weu is complete
          the deletion of c1 on w-weu is complete
    09:08 c2 leaves w-weu, which is drained: it is deleted there (step D1), and once that is reported a new, empty cluster is made on w-eus
          c3 leaves w-weu, which is drained: it is deleted there (step D1), and once that is reported a new, empty cluster is made on w-eus

          forced by
            c2: fleet/overlays/w-weu.yaml:6, written in <id>
            c3: fleet/overlays/w-weu.yaml:6, written in <id>
    09:09 c2 is reported gone on w-weu: its add-ons go
          c3 is reported gone on w-weu: its add-ons go
    09:10 c2 is gone from w-weu, which is drained: a new, empty cluster is made on w-eus
          c3 is gone from w-weu, which is drained: a new, empty cluster is made on w-eus
          the deletion of c2 on w-weu is complete
          the deletion of c3 on w-weu is complete

$ carp status
    WORKER   PHASE      LOCATION     VERSION   CLUSTERS   READY   REASON   AGE
    w-eus    Running    eastus       v1.34.2   4/20       True    -        12m
    w-weu    Draining   westeurope   v1.34.2   1/20       True    -        12m

    CLUSTER   TENANT   PHASE     WORKER   VERSION   NODES   READY   REASON   AGE
    c0        shop     Running   w-eus    v1.34.2   -       True    -        5m
    c1        shop     Running   w-eus    v1.34.2   -       True    -        5m
    c2        shop     Running   w-eus    v1.34.2   -       True    -        60s
    c3        shop     Running   w-eus    v1.34.2   -       True    -        60s
    c4        shop     Running   w-weu    v1.34.2   -       True    -        10m

    2 workers: 1 Draining, 1 Running; 5 of 40 places taken
    5 clusters: 5 Running

$ carp explain cluster/c4
    cluster/c4: bound to w-weu, and stays there
    policy: default (built-in)
    data store: default
    it stays on w-weu; placed anew it would go to w-eus: no other takes it

    WORKER   SOFT   PREFERRED   DISTANCE   SHARE USED   CLUSTERS
    w-eus    0      0           3          25%          4

    WORKER   REFUSES BECAUSE
    w-weu    draining

    w-weu is drained; it stays: its state is on the worker, and `onWorkerLoss` is
      not `Rebuild` (NotMovable)
