# Somebody removes the worker that a cluster is on its way to. The cluster waits for another place.

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

remove worker w-eus
back w-weu
minutes 5
    09:05 c0 is reported gone on w-weu: its add-ons go
          begin the deletion of the worker w-eus

          held NameStillDeleting: a document came back under a name whose deletion has begun: c0

          forced by
            w-eus: fleet/workers/w-eus.yaml:1, removed in <id>
    09:05 exit 3
    09:06 c0 waits: some workers are being removed, some are being drained (BeingRemoved, Draining)
          the deletion of c0 on w-weu is complete

$ carp status cluster/c0
    CLUSTER   TENANT   PHASE     WORKER   VERSION   NODES   READY   REASON    AGE
    c0        shop     Pending   -        v1.34.2   -       False   Pending   6m

    CONDITION   STATUS   REASON         AGE
    Ready       False    Pending        6m
    Placed      False    NoWorkerFits   3m
    Rendered    False    NotPlaced      3m

    Placed: some workers are being removed, some are being drained (BeingRemoved,
      Draining)
