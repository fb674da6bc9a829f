# Two clusters are being deleted when their worker dies. Nobody will ever report them gone, until somebody says so.

remote
worker w-weu westeurope observation=Agent
cluster alpha,bravo westeurope
report w-weu
run
report w-weu
run
remove cluster alpha
remove cluster bravo
run
later 90m
$ carp reconcile --once
    nothing to commit; 0 waiting
    status: carp/status <id> (pushed to origin)

$ carp plan
    the reports are those of this clone, and the newest is of 2026-11-01T09:00:00Z; `git fetch` brings newer ones
    Plan for small: no changes; 0 waiting

    DELETING: the next step waits for evidence
      alpha, bravo: step D1 to be reported by w-weu; the reports stopped
    STUCK: deletions whose evidence w-weu should report, and may never report
      alpha, bravo
      help: if it is gone for ever, acknowledge that: folders and records go, their room is free, and what is left on it and in the cloud is left behind; where Flux still runs, see first that it applied what is committed
        carp ack abandon --count 2 --digest sha256:1ec8367d6c8b59e9dd0c7a4f47214db8d2e76ebd2cd5bf4155508cb27263dd2f

    tree   <id>
    files  +0 ~0 -0
    valid  for ever
    work   0 files parsed, 0 clusters planned, 0 rendered, 0 objects written

# An acknowledgement of another set abandons nothing, and none of another kind can be written.
$ carp ack deletions --count 2 --digest sha256:1ec8367d6c8b59e9dd0c7a4f47214db8d2e76ebd2cd5bf4155508cb27263dd2f
    error: no deletions are held that have this count and digest
    help: `carp plan` prints the line for what is held now
    exit 1

$ carp ack abandon --count 1 --digest sha256:b6a98d9ce9a2d9149288fa3df42d377c3e42737afdcdaf714e33c0a100b51060 --name other
    wrote fleet/acknowledgements/other.yaml
    commit it: the next run gives up exactly these deletions, if they are stuck still

$ carp reconcile --once
    warning[acknowledgement-mismatch]: acknowledgement `other` abandons another set than is stuck
     --> fleet/acknowledgements/other.yaml:8:11
      |
    8 |   digest: sha256:b6a98d9ce9a2d9149288fa3df42d377c3e42737afdcdaf714e33c0a100b51060
      |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: if alpha, bravo are meant, set `count: 2` and `digest: 1ec8367d6c8b59e9dd0c7a4f47214db8d2e76ebd2cd5bf4155508cb27263dd2f`
    nothing to commit; 0 waiting
    status: carp/status <id> (pushed to origin)

$ carp ack abandon --count 2 --digest sha256:1ec8367d6c8b59e9dd0c7a4f47214db8d2e76ebd2cd5bf4155508cb27263dd2f
    wrote fleet/acknowledgements/abandon-1ec8367d.yaml
    commit it: the next run gives up exactly these deletions, if they are stuck still

$ carp reconcile --once
    committed carp/rendered <id> (pushed to origin): carp: 1 worker, +0 -0 ~0 clusters, 2 gone
    status: carp/status <id> (pushed to origin)
    carp/rendered:
      ABANDON the deletion of alpha on w-weu: what is left of it stays behind
      ABANDON the deletion of bravo on w-weu: what is left of it stays behind

      ~ control-plane/fleet.lock
      - decisions/8e/alpha.yaml
      - decisions/f1/bravo.yaml
      ~ workers/w-weu/carp.lock
      - workers/w-weu/clusters/ (4 files)
      ~ workers/w-weu/clusters.yaml
      ~ workers/w-weu/sentinel.yaml

$ carp status
    the reports are those of this clone, and the newest is of 2026-11-01T09:00:00Z; `git fetch` brings newer ones
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY     REASON   AGE
    w-weu    Unknown   westeurope   v1.34.2   0/4        Unknown   Silent   30m
