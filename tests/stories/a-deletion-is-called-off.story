# A removal is reverted before the worker applied it: the deletion is called off, and the very bytes are back.

remote
worker w-weu westeurope observation=Agent
cluster alpha,bravo westeurope
report w-weu
run
report w-weu
run
report w-weu
remove cluster alpha
$ carp reconcile --once
    committed carp/rendered <id> (pushed to origin): carp: 1 worker, +0 -1 ~0 cluster
    status: carp/status <id> (pushed to origin)
    carp/rendered:
      begin the deletion of alpha on w-weu

      forced by
        alpha: fleet/clusters/alpha.yaml:1, removed in <id>

      ~ control-plane/fleet.lock
      ~ decisions/8e/alpha.yaml
      ~ workers/w-weu/carp.lock
      ~ workers/w-weu/clusters/alpha/cluster.yaml
      ~ workers/w-weu/sentinel.yaml

do git revert --no-edit HEAD
$ carp reconcile --once
    committed carp/rendered <id> (pushed to origin): carp: 1 worker, +0 -0 ~1 cluster
    status: carp/status <id> (pushed to origin)
    carp/rendered:
      call off the deletion of alpha on w-weu

      ~ decisions/8e/alpha.yaml
      ~ workers/w-weu/carp.lock
      ~ workers/w-weu/clusters/alpha/cluster.yaml
      ~ workers/w-weu/sentinel.yaml

$ git diff --stat origin/carp/rendered~2 origin/carp/rendered -- workers/w-weu/clusters decisions

$ carp status cluster/alpha
    the reports are those of this clone, and the newest is of 2026-11-01T09:00:00Z; `git fetch` brings newer ones
    CLUSTER   TENANT   PHASE     WORKER   VERSION   NODES   READY   REASON   AGE
    alpha     shop     Running   w-weu    v1.34.2   -       True    -        0s

    CONDITION   STATUS   REASON     MESSAGE   AGE
    Ready       True     Running    -         0s
    Placed      True     Bound      -         0s
    Rendered    True     Rendered   -         0s
