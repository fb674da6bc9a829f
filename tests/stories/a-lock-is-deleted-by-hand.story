# Somebody deletes a lock on the output branch. carp builds it again from the records and the folders, and commits nothing else.

remote
worker w-weu westeurope
cluster alpha,bravo westeurope
run
by hand rm workers/w-weu/carp.lock
$ carp reconcile --once
    warning[lock-rebuilt]: `workers/w-weu/carp.lock` of the output branch is of no use: it is missing
    --> workers/w-weu/carp.lock
     = help: it is rebuilt from the records and folders that are there; no deletion, move or retirement starts in this run
    committed carp/rendered <id> (pushed to origin): carp: 1 worker, +0 -0 ~0 clusters
    status: carp/status <id> (pushed to origin)
    carp/rendered:
      + workers/w-weu/carp.lock

$ carp reconcile --once
    nothing to commit; 0 waiting
    status: carp/status <id> (pushed to origin)

# The tree is the one from before.
$ git diff --stat origin/carp/rendered~2 origin/carp/rendered
