# Why a cluster was placed, or not, can be asked afterwards: the repository alone knows what that run saw.

remote
worker w-weu westeurope
worker w-eus eastus
cluster alpha westeurope
policy near
  affinity: {required: [{locations: [northeurope]}]}
cluster bravo westeurope
run

# Everything changes since: the policy, the workers, and the cluster is placed.
at 2026-11-02 09:00
policy near
  affinity: {required: [{locations: [eastus]}]}
worker w-eus capacity=9
run
$ carp explain cluster/bravo
    cluster/bravo: bound to w-eus, and stays there
    policy: near (policies/near.yaml)
      before default: the fleet's own, not built in
    data store: default

    WORKER   SOFT   PREFERRED   DISTANCE   SHARE USED   CLUSTERS
    w-eus    0      0           3          22%          1

    WORKER   REFUSES BECAUSE
    w-weu    location westeurope is not one that the affinity allows (eastus)

$ carp explain cluster/bravo --at carp/rendered
    as the run of 2026-11-02T09:00:00Z saw it: output commit <id>, made from input commit <id>
    cluster/bravo: goes to w-eus
    policy: near (policies/near.yaml)
      before default: the fleet's own, not built in
    data store: default

    WORKER   SOFT   PREFERRED   DISTANCE   SHARE USED   CLUSTERS
    w-eus    0      0           3          22%          1

    WORKER   REFUSES BECAUSE
    w-weu    location westeurope is not one that the affinity allows (eastus)

$ carp explain cluster/bravo --at carp/rendered~1
    as the run of 2026-11-01T09:00:00Z saw it: output commit <id>, made from input commit <id>
    cluster/bravo: pending, number 2 of 2 in the queue
    0/2 workers are available: 2 worker(s) did not match the placement affinity.
    policy: near (policies/near.yaml)
      before default: the fleet's own, not built in

    WORKER   REFUSES BECAUSE
    w-eus    location eastus is not one that the affinity allows (northeurope)
    w-weu    location westeurope is not one that the affinity allows (northeurope)

    Any one of these would place it:
      - allow location eastus (then w-eus takes it, after alpha)
      - allow location westeurope (then w-weu takes it, after alpha)

# The same from the input commit of that run, and in a bare repository.
$ carp explain cluster/bravo --at main~1
    as the run of 2026-11-01T09:00:00Z saw it: output commit <id>, made from input commit <id>
    cluster/bravo: pending, number 2 of 2 in the queue
    0/2 workers are available: 2 worker(s) did not match the placement affinity.
    policy: near (policies/near.yaml)
      before default: the fleet's own, not built in

    WORKER   REFUSES BECAUSE
    w-eus    location eastus is not one that the affinity allows (northeurope)
    w-weu    location westeurope is not one that the affinity allows (northeurope)

    Any one of these would place it:
      - allow location eastus (then w-eus takes it, after alpha)
      - allow location westeurope (then w-weu takes it, after alpha)

$ cd ../remote.git && carp explain cluster/bravo --at carp/rendered~1
    as the run of 2026-11-01T09:00:00Z saw it: output commit <id>, made from input commit <id>
    cluster/bravo: pending, number 2 of 2 in the queue
    0/2 workers are available: 2 worker(s) did not match the placement affinity.
    policy: near (policies/near.yaml)
      before default: the fleet's own, not built in

    WORKER   REFUSES BECAUSE
    w-eus    location eastus is not one that the affinity allows (northeurope)
    w-weu    location westeurope is not one that the affinity allows (northeurope)

    Any one of these would place it:
      - allow location eastus (then w-eus takes it, after alpha)
      - allow location westeurope (then w-weu takes it, after alpha)

$ carp explain policy/near --at carp/rendered~1
    as the run of 2026-11-01T09:00:00Z saw it: output commit <id>, made from input commit <id>
    policy/near: policies/near.yaml, priority 0, selects every cluster

    applies to 2 clusters:
      alpha, bravo
