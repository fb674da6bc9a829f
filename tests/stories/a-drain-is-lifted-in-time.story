# A drain is taken back before its worker applied anything of it: the move is called off, and the very bytes are back.

worker w-weu westeurope capacity=20 observation=Agent
worker w-eus eastus capacity=20 observation=Agent
cluster c0 westeurope onWorkerLoss=Rebuild
minutes 3
    09:01 bind c0 to w-weu (location distance, before w-eus)

$ carp drain w-weu
    worker/w-weu drained: wrote fleet/overlays/w-weu.yaml

    1 cluster leaves it:
      c0

silent w-weu
minutes 1
    09:04 c0 leaves w-weu, which is drained: it is deleted there (step D1), and once that is reported a new, empty cluster is made on w-eus

          forced by
            c0: fleet/overlays/w-weu.yaml:6, written in <id>

$ carp uncordon w-weu
    worker/w-weu uncordoned: removed fleet/overlays/w-weu.yaml

minutes 1
    09:05 c0 stays on w-weu: nothing names it any more, and nothing was deleted

$ git diff --stat carp/rendered~2 carp/rendered -- workers/*/clusters decisions

$ carp status
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY   REASON   AGE
    w-eus    Running   eastus       v1.34.2   0/20       True    -        4m
    w-weu    Running   westeurope   v1.34.2   1/20       True    -        4m

    CLUSTER   TENANT   PHASE     WORKER   VERSION   NODES   READY   REASON   AGE
    c0        shop     Running   w-weu    v1.34.2   -       True    -        2m

    2 workers: 2 Running; 1 of 40 places taken
