# Ordered groups: the first one with room takes a cluster. The record says which it was, and keeps it.

worker w-weu westeurope
worker w-eus eastus capacity=2
policy east-first
  affinity:
    groups:
      - {name: east, required: [{locations: [eastus]}]}
      - {name: anywhere}
cluster alpha,bravo,charlie westeurope
$ carp reconcile --once
    committed carp/rendered <id>: carp: 2 workers, +3 -0 ~0 clusters
    status: carp/status <id>
    carp/rendered:
      bind alpha to w-eus (affinity group, before w-weu)
      bind bravo to w-eus (affinity group, before w-weu)
      bind charlie to w-weu

      + control-plane/ (26 files)
      + decisions/ (4 files)
      + workers/ (38 files)

$ git grep -h -e '^group' -e '^worker' -e '^cluster' carp/rendered -- decisions
    cluster: alpha
    worker: w-eus
    group: east
    cluster: charlie
    worker: w-weu
    group: anywhere
    cluster: bravo
    worker: w-eus
    group: east

# Room in an earlier group moves nobody.
worker w-eus capacity=9
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -0 ~0 clusters
    status: carp/status <id>
    carp/rendered:
      ~ control-plane/fleet.lock
      ~ control-plane/w-eus/cluster.yaml
      ~ workers/w-eus/carp.lock

$ carp explain cluster/charlie
    cluster/charlie: bound to w-weu, and stays there
    policy: east-first (policies/east-first.yaml)
      before default: the fleet's own, not built in
    data store: default
    decided by: location distance, same location against elsewhere (w-weu before
      w-eus)

    WORKER   GROUP          SOFT   PREFERRED   DISTANCE   SHARE USED   CLUSTERS
    w-weu    2 (anywhere)   0      0           0          25%          0
    w-eus    2 (anywhere)   0      0           3          33%          2

    it is in the group anywhere; groups before that are not tried again (`failback:
      Never`)

# A change of a cluster keeps its group, and so does a lock that is lost and built again.
cluster alpha replicas=3
run
by hand rm workers/w-eus/carp.lock
run
$ git grep -h -o '"group":"[a-z]*"' carp/rendered -- workers
    "group":"east"
    "group":"east"
    "group":"anywhere"

$ git diff --stat carp/rendered~2 carp/rendered
