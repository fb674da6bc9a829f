# Before anybody was told to move it, the drain is taken back: Flux takes the cluster up again, with the very bytes.

worker w-weu westeurope capacity=20 observation=Agent
worker w-eus eastus capacity=20 observation=Agent
cluster c0 westeurope flavor=capz
minutes 3
    09:01 bind c0 to w-weu (location distance, before w-eus)

$ carp drain w-weu
    worker/w-weu drained: wrote fleet/overlays/w-weu.yaml

    1 cluster leaves it:
      c0

minutes 1
    09:04 c0 is handed over from w-weu, which is drained, to w-eus: Flux on w-weu is to leave it as it is, and w-eus gets its namespace and identity (step Prepare)

          forced by
            c0: fleet/overlays/w-weu.yaml:6, written in <id>

$ carp uncordon w-weu
    worker/w-weu uncordoned: removed fleet/overlays/w-weu.yaml

minutes 1
    09:05 c0 stays on w-weu: nothing names it any more, and it was not handed over

$ git diff --stat carp/rendered~2 carp/rendered -- workers/*/clusters workers/*/clusters.yaml decisions

$ carp status
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY   REASON   AGE
    w-eus    Running   eastus       v1.34.2   0/20       True    -        4m
    w-weu    Running   westeurope   v1.34.2   1/20       True    -        4m

    CLUSTER   TENANT   PHASE     WORKER   VERSION   NODES   READY   REASON   AGE
    c0        shop     Running   w-weu    v1.34.2   -       True    -        2m

    2 workers: 2 Running; 1 of 40 places taken
