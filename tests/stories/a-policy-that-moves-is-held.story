# A policy with `onViolation: Move` would make two clusters anew elsewhere. The guard holds that (`guards.maxMoves` is 0)
# until somebody acknowledges exactly these two.

worker w-weu westeurope capacity=20 observation=Agent
worker w-eus eastus capacity=20 observation=Agent
cluster c0,c1 westeurope onWorkerLoss=Rebuild
minutes 3
    09:01 bind c0 to w-weu (location distance, before w-eus)
          bind c1 to w-weu (location distance, before w-eus)

policy mine onViolation=Move
  affinity: {required: [{names: [w-eus]}]}
$ carp plan
    Plan for small: 0 to create, 0 to move, 0 to update, 0 to delete; 0 waiting; 1 held

    WORKER            CLUSTERS   FILES
    (control plane)   -          +0 ~1 -0

    VIOLATED: not among the workers that the affinity names; they stay
      c0, c1

    HELD MassMove: more moves than `guards.maxMoves` allows (2 asked for, 0 allowed)
      c0, c1
      help: if exactly these are meant, acknowledge them
        carp ack moves --count 2 --digest sha256:3ae9c290d1dee665f4664f0841ea8933df7a9142782bc9484344cf5ec9b802dd

    tree   <id>
    files  +0 ~1 -0
    valid  until 2026-11-01T10:03:00Z
    work   1 file parsed, 0 clusters planned, 0 rendered, 3 objects written
    exit 3

$ carp reconcile --once
    committed carp/rendered <id>: carp: 0 workers, +0 -0 ~0 clusters
    status: carp/status <id>
    held MassMove: more moves than `guards.maxMoves` allows: c0, c1
      help: carp ack moves --count 2 --digest sha256:3ae9c290d1dee665f4664f0841ea8933df7a9142782bc9484344cf5ec9b802dd
    exit 3
    carp/rendered:
      held MassMove: more moves than `guards.maxMoves` allows: c0, c1

      ~ control-plane/fleet.lock

$ carp status cluster/c0
    CLUSTER   TENANT   PHASE     WORKER   VERSION   NODES   READY   REASON   AGE
    c0        shop     Running   w-weu    v1.34.2   -       True    -        0s

    CONDITION           STATUS   REASON          MESSAGE                                         AGE
    Ready               True     Running         -                                               0s
    Placed              True     Bound           -                                               2m
    Rendered            True     Rendered        -                                               2m
    PlacementViolated   True     PolicyDiffers   not among the workers that the affinity names   0s

$ carp ack moves --count 2 --digest sha256:3ae9c290d1dee665f4664f0841ea8933df7a9142782bc9484344cf5ec9b802dd
    wrote fleet/acknowledgements/moves-3ae9c290.yaml
    commit it once a run has held exactly this set: the next one lets it through

minutes 6
    09:04 c0 leaves w-weu, which is one where the policy would not place it now: it is deleted there (step D1), and once that is reported a new, empty cluster is made on w-eus
          c1 leaves w-weu, which is one where the policy would not place it now: it is deleted there (step D1), and once that is reported a new, empty cluster is made on w-eus

          forced by
            c0: policies/mine.yaml:10, written in <id>
            c1: policies/mine.yaml:10, written in <id>
    09:05 c0 is reported gone on w-weu: its add-ons go
          c1 is reported gone on w-weu: its add-ons go
    09:06 c0 is gone from w-weu, which is one where the policy would not place it now: a new, empty cluster is made on w-eus
          c1 is gone from w-weu, which is one where the policy would not place it now: a new, empty cluster is made on w-eus
          the deletion of c0 on w-weu is complete
          the deletion of c1 on w-weu is complete

$ carp status
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY   REASON   AGE
    w-eus    Running   eastus       v1.34.2   2/20       True    -        8m
    w-weu    Running   westeurope   v1.34.2   0/20       True    -        8m

    CLUSTER   TENANT   PHASE     WORKER   VERSION   NODES   READY   REASON   AGE
    c0        shop     Running   w-eus    v1.34.2   -       True    -        60s
    c1        shop     Running   w-eus    v1.34.2   -       True    -        60s

    2 workers: 2 Running; 2 of 40 places taken
    2 clusters: 2 Running
