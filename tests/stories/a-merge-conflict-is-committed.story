# Somebody merges the output branch and commits the conflict markers. The locks are built again.

remote
worker w-weu westeurope
cluster alpha,bravo westeurope
run
by hand for f in $(git ls-files '*.lock'); do (echo '<<<<<<< HEAD'; cat $f; echo =======; cat $f; echo '>>>>>>> theirs') > both; mv both $f; done
$ carp reconcile --once
    warning[lock-rebuilt]: `control-plane/fleet.lock` of the output branch is of no use: it has the marks of a merge conflict
    --> control-plane/fleet.lock
     = help: it is rebuilt from the records and folders that are there; no deletion, move or retirement starts in this run

    warning[lock-rebuilt]: `decisions/pending.lock` of the output branch is of no use: it has the marks of a merge conflict
    --> decisions/pending.lock
     = help: it is rebuilt from the records and folders that are there; no deletion, move or retirement starts in this run

    warning[lock-rebuilt]: `workers/w-weu/carp.lock` of the output branch is of no use: it has the marks of a merge conflict
    --> workers/w-weu/carp.lock
     = help: it is rebuilt from the records and folders that are there; no deletion, move or retirement starts in this run
    committed carp/rendered <id> (pushed to origin): carp: 1 worker, +0 -0 ~0 clusters
    status: carp/status <id> (pushed to origin)
    carp/rendered:
      ~ control-plane/fleet.lock
      ~ decisions/pending.lock
      ~ workers/w-weu/carp.lock

# The tree is the one from before.
$ git diff --stat origin/carp/rendered~2 origin/carp/rendered
