# Somebody edits a manifest on the output branch, and leaves a file there. The edit is set back, and the commit says so;
# the file is theirs and stays.

remote
worker w-weu westeurope
cluster alpha,bravo westeurope
run
by hand echo 'kind: ConfigMap' > workers/w-weu/clusters/alpha/cluster.yaml; echo "a person's" > workers/w-weu/NOTES.md
$ carp plan
    workers/w-weu/clusters/alpha/cluster.yaml was changed by person in commit <id>
    warning[foreign-file]: `workers/w-weu/NOTES.md` is in generated folders and not carp's
    --> workers/w-weu/NOTES.md
     = help: they stay untouched; move them elsewhere, for a file that carp must write in their place is not written

    warning[hand-edit]: `workers/w-weu/clusters/alpha/cluster.yaml` was changed by hand on the output branch
    --> workers/w-weu/clusters/alpha/cluster.yaml
     = help: it is set back; what is to stay belongs into the fleet's own files (`git log` on that path names the author)

    Plan for small: 0 to create, 0 to move, 1 to update, 0 to delete; 0 waiting; 0 held

    CLUSTER   ACTION   FROM    TO      WHY
    alpha     update   w-weu   w-weu   it was edited by hand and is set back: 1 file

    WORKER   CLUSTERS      FILES
    w-weu    2 -> 2 of 4   +0 ~1 -0

    tree   <id>
    files  +0 ~1 -0
    valid  for ever
    work   0 files parsed, 0 clusters planned, 0 rendered, 6 objects written
    found  2 warnings

$ carp reconcile --once
    workers/w-weu/clusters/alpha/cluster.yaml was changed by person in commit <id>
    warning[foreign-file]: `workers/w-weu/NOTES.md` is in generated folders and not carp's
    --> workers/w-weu/NOTES.md
     = help: they stay untouched; move them elsewhere, for a file that carp must write in their place is not written

    warning[hand-edit]: `workers/w-weu/clusters/alpha/cluster.yaml` was changed by hand on the output branch
    --> workers/w-weu/clusters/alpha/cluster.yaml
     = help: it is set back; what is to stay belongs into the fleet's own files (`git log` on that path names the author)
    committed carp/rendered <id> (pushed to origin): carp: 1 worker, +0 -0 ~1 cluster
    status: carp/status <id> (pushed to origin)
    carp/rendered:
      SET BACK workers/w-weu/clusters/alpha/cluster.yaml, which was changed by hand

      ~ workers/w-weu/clusters/alpha/cluster.yaml

$ git diff --stat origin/carp/rendered~2 origin/carp/rendered
     workers/w-weu/NOTES.md | 1 +
     1 file changed, 1 insertion(+)
