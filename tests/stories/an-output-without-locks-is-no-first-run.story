# Two locks are gone at once. The branch is there, so it is no first run: nothing is placed anew.

remote
worker w-weu westeurope
cluster alpha,bravo westeurope
run
by hand rm decisions/pending.lock control-plane/fleet.lock
$ carp reconcile --once
    warning[lock-rebuilt]: `control-plane/fleet.lock` of the output branch is of no use: it is missing
    --> control-plane/fleet.lock
     = help: it is rebuilt from the records and folders that are there; no deletion, move or retirement starts in this run

    warning[lock-rebuilt]: `decisions/pending.lock` of the output branch is of no use: it is missing
    --> decisions/pending.lock
     = help: it is rebuilt from the records and folders that are there; no deletion, move or retirement starts in this run
    committed carp/rendered <id> (pushed to origin): carp: 0 workers, +0 -0 ~0 clusters
    status: carp/status <id> (pushed to origin)
    carp/rendered:
      + control-plane/fleet.lock
      + decisions/pending.lock

$ git diff --stat origin/carp/rendered~2 origin/carp/rendered
