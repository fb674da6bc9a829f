# A cluster that moves is in the group of the place that it goes to: its record says so, and a lock that is lost is built
# from that. Why it was where it was stands in the record until it arrives.

worker w-weu westeurope capacity=20 observation=Agent
worker w-eus eastus capacity=20 observation=Agent
policy west-first
  affinity:
    groups:
      - {name: west, required: [{locations: [westeurope]}]}
      - {name: anywhere}
cluster c0 westeurope onWorkerLoss=Rebuild
minutes 3
    09:01 bind c0 to w-weu (affinity group, before w-eus)

$ carp drain w-weu
    worker/w-weu drained: wrote fleet/overlays/w-weu.yaml

    1 cluster leaves it:
      c0

silent w-weu
minutes 1
    09:04 c0 leaves w-weu, which is drained: it is deleted there (step D1), and once that is reported a new, empty cluster is made on w-eus

          forced by
            c0: fleet/overlays/w-weu.yaml:6, written in <id>

$ git show carp/rendered:decisions/12/c0.yaml
    schemaVersion: 2
    cluster: c0
    state: Moving
    worker: w-weu
    policy: west-first
    demand:
      clusters: "1"
    group: anywhere
    step: D1
    target: w-eus
    cause: Drain
    before:
      policy: west-first
      decidedBy: AffinityGroup
      group: west
      runnerUp: w-eus

back w-weu
minutes 5
    09:05 c0 is reported gone on w-weu: its add-ons go
    09:06 c0 is gone from w-weu, which is drained: a new, empty cluster is made on w-eus
          the deletion of c0 on w-weu is complete

$ git show carp/rendered:decisions/12/c0.yaml
    schemaVersion: 1
    cluster: c0
    state: Bound
    worker: w-eus
    policy: west-first
    demand:
      clusters: "1"
    group: anywhere

by hand rm workers/w-eus/carp.lock
run
$ git grep -h -o '"group":"[a-z]*"' carp/rendered -- workers
    "group":"anywhere"
