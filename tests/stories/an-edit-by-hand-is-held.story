# With `drift: refuse` an edit by hand stays, and is asked about, until somebody takes it back.

remote
fleet drift=refuse
worker w-weu westeurope
cluster alpha,bravo westeurope
run
by hand echo 'kind: ConfigMap' > workers/w-weu/clusters/alpha/cluster.yaml
$ carp reconcile --once
    workers/w-weu/clusters/alpha/cluster.yaml was changed by person in commit <id>
    warning[hand-edit]: `workers/w-weu/clusters/alpha/cluster.yaml` was changed by hand on the output branch
    --> workers/w-weu/clusters/alpha/cluster.yaml
     = help: nothing is written there (`drift: refuse`): ask the author, then revert the edit on the output branch, or set `drift: overwrite` for one run (`git log` on that path names the author)
    nothing to commit; 0 waiting
    status: carp/status <id> (pushed to origin)
    held Drifted: what carp owns was edited by hand on the output branch, and `drift: refuse` is set or objects with machines, storage or network behind them were added, which Flux would prune if they were set back: alpha
      help: ask the author, then revert the edit there, or set `drift: overwrite` where that removes nothing
    kept Drifted: it was edited by hand on the output branch, and the edit stays: alpha
    exit 3

$ carp status cluster/alpha
    workers/w-weu/clusters/alpha/cluster.yaml was changed by person in commit <id>
    CLUSTER   TENANT   PHASE       WORKER   VERSION   NODES   READY     REASON        AGE
    alpha     shop     Scheduled   w-weu    v1.34.2   -       Unknown   NotObserved   0s

    CONDITION   STATUS    REASON        MESSAGE                                                              AGE
    Ready       Unknown   NotObserved   its worker has no agent, so nobody reports it                        0s
    Placed      True      Bound         -                                                                    0s
    Rendered    False     Drifted       it was edited by hand on the output branch, and the edit stays       0s
    Drifted     True      HandEdit      the output branch was edited by hand, and nothing is written there   0s

    error[Drifted]: it was edited by hand on the output branch, and the edit stays (mended in the fleet repository)

by hand git revert --no-edit --no-commit HEAD
$ carp reconcile --once
    nothing to commit; 0 waiting
    status: carp/status <id> (pushed to origin)
