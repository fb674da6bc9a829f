# Somebody removes a cluster that is on its way to another worker: it goes, and is made nowhere.

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

remove cluster c0
back w-weu
minutes 5
    09:05 c0 is reported gone on w-weu: its add-ons go
    09:06 the deletion of c0 on w-weu is complete

$ carp status
    WORKER   PHASE      LOCATION     VERSION   CLUSTERS   READY   REASON   AGE
    w-eus    Running    eastus       v1.34.2   0/20       True    -        8m
    w-weu    Draining   westeurope   v1.34.2   0/20       True    -        8m

    2 workers: 1 Draining, 1 Running; 0 of 40 places taken
