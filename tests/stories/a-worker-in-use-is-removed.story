# Somebody removes a worker with clusters on it: that is held, whatever their documents say.

worker w-weu westeurope
worker w-eus eastus
cluster alpha westeurope
cluster charlie,delta eastus
run
remove worker w-eus
$ carp plan
    Plan for small: 0 to create, 0 to move, 0 to update, 0 to delete; 0 waiting; 1 held

    HELD WorkerInUse: the worker's document is gone and clusters are on it
      w-eus (charlie, delta)
      help: bring the document back, or remove its clusters first; a new name is another worker, for carp renames nothing

    tree   <id>
    files  +0 ~0 -0
    valid  for ever
    work   0 files parsed, 0 clusters planned, 0 rendered, 0 objects written
    exit 3

$ carp reconcile --once
    nothing to commit; 0 waiting
    status: carp/status <id>
    held WorkerInUse: the worker's document is gone and clusters are on it: w-eus (charlie, delta)
      help: bring the document back, or remove its clusters first; a new name is another worker, for carp renames nothing
    exit 3
