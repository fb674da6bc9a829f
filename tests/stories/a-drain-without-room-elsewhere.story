# There is no room elsewhere: what would move stays, and it is said why.

worker w-weu westeurope capacity=20 observation=Agent
worker w-eus eastus capacity=0 observation=Agent
cluster c0,c1 westeurope onWorkerLoss=Rebuild
minutes 3
    09:01 bind c0 to w-weu
          bind c1 to w-weu

$ carp drain w-weu
    worker/w-weu drained: wrote fleet/overlays/w-weu.yaml

    2 clusters stay: no other worker takes them: some workers have too little room,
      some are being drained (Capacity, Draining) (NoWorkerFits)
      c0, c1

minutes 2
    nothing is committed

$ carp explain cluster/c0
    cluster/c0: bound to w-weu, and stays there
    policy: default (built-in)
    data store: default

    WORKER   REFUSES BECAUSE
    w-eus    needs 1 cluster, 0 free
    w-weu    draining

    w-weu is drained; it stays: no other worker takes it: some workers have too
      little room, some are being drained (Capacity, Draining) (NoWorkerFits)
