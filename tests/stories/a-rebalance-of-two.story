# Somebody evens two workers out: `carp simulate` names what would move, and exactly that is acknowledged.

worker w-weu westeurope capacity=10 observation=Agent
worker w-eus westeurope capacity=10 observation=Agent unschedulable=true
cluster c0,c1,c2,c3 westeurope onWorkerLoss=Rebuild
minutes 3
    09:01 bind c0 to w-weu
          bind c1 to w-weu
          bind c2 to w-weu
          bind c3 to w-weu

worker w-eus unschedulable=false
$ carp simulate --rebalance 2:10
    What if, for small: rebalance by at most 2 moves of at least 10 points

    CLUSTER   WITHOUT   WITH             WHY
    c0        w-weu     w-weu to w-eus   w-weu is to be less full, as was acknowledged
    c1        w-weu     w-weu to w-eus   w-weu is to be less full, as was acknowledged

    WORKER   CLUSTERS WITHOUT   WITH
    w-eus    0 of 10            2 of 10

    MOVING: what is in these clusters is lost: each is made anew, and empty

    REBALANCE: at most 2, of at least 10 percent points each
    CLUSTER   FROM    TO      GAIN
    c0        w-weu   w-eus   30
    c1        w-weu   w-eus   10
      to begin exactly these moves:
        carp ack rebalance --most 2 --gain 10 --count 2 --digest sha256:3ae9c290d1dee665f4664f0841ea8933df7a9142782bc9484344cf5ec9b802dd

    tree   <id>; without the changes <id>; nothing was written

$ carp ack rebalance --count 2 --digest sha256:3ae9c290d1dee665f4664f0841ea8933df7a9142782bc9484344cf5ec9b802dd --most 2 --gain 10
    wrote fleet/acknowledgements/rebalance-3ae9c290.yaml
    commit it: the next run begins exactly these moves, if they are still the ones that even out

minutes 1
    09:04 c0 leaves w-weu, which is to be less full, as was acknowledged: it is deleted there (step D1), and once that is reported a new, empty cluster is made on w-eus
          c1 leaves w-weu, which is to be less full, as was acknowledged: it is deleted there (step D1), and once that is reported a new, empty cluster is made on w-eus

          forced by
            c0: fleet/acknowledgements/rebalance-3ae9c290.yaml:2, written in <id>
            c1: fleet/acknowledgements/rebalance-3ae9c290.yaml:2, written in <id>

$ carp status cluster/c0
    CLUSTER   TENANT   PHASE      WORKER   VERSION   NODES   READY   REASON     AGE
    c0        shop     Deleting   w-weu    v1.34.2   -       False   Deleting   60s

    CONDITION     STATUS   REASON       AGE
    Ready         False    Deleting     60s
    Placed        True     Moving       3m
    Rendered      True     Rendered     3m
    Moving        True     Rebalance    0s
    ClusterGone   False    NotApplied   0s

    Placed: its place on w-eus is kept
    Moving: leaves w-weu, which is to be less full, as was acknowledged: it is
      deleted there (step D1), and once that is reported a new, empty cluster is
      made on w-eus
    ClusterGone: the last report does not show this step applied (w-weu)

minutes 5
    09:05 c0 is reported gone on w-weu: its add-ons go
          c1 is reported gone on w-weu: its add-ons go
    09:06 c0 is gone from w-weu, which is to be less full, as was acknowledged: a new, empty cluster is made on w-eus
          c1 is gone from w-weu, which is to be less full, as was acknowledged: a new, empty cluster is made on w-eus
          the deletion of c0 on w-weu is complete
          the deletion of c1 on w-weu is complete

$ carp status
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY   REASON   AGE
    w-eus    Running   westeurope   v1.34.2   2/10       True    -        8m
    w-weu    Running   westeurope   v1.34.2   2/10       True    -        8m

    CLUSTER   TENANT   PHASE     WORKER   VERSION   NODES   READY   REASON   AGE
    c0        shop     Running   w-eus    v1.34.2   -       True    -        60s
    c1        shop     Running   w-eus    v1.34.2   -       True    -        60s
    c2        shop     Running   w-weu    v1.34.2   -       True    -        6m
    c3        shop     Running   w-weu    v1.34.2   -       True    -        6m

    2 workers: 2 Running; 4 of 20 places taken
    4 clusters: 4 Running
