# What keeps a cluster where an edited policy would not place it is its record. Without one it goes elsewhere.

worker w-weu westeurope
worker w-eus eastus
cluster alpha westeurope
policy near
  affinity: {required: [{locations: [eastus]}]}
$ carp reconcile --once
    committed carp/rendered <id>: carp: 2 workers, +1 -0 ~0 cluster
    status: carp/status <id>
    carp/rendered:
      bind alpha to w-eus

      + control-plane/ (26 files)
      + decisions/ (2 files)
      + workers/ (34 files)
