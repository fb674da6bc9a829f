# A worker that is empty is removed. The cluster that it is goes in three commits as well, by what the control-plane
# cluster reports, and its folders with the last.

worker w-weu westeurope
worker w-eus eastus
cluster alpha westeurope
run
report hub
run
remove worker w-eus
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -0 ~0 clusters
    status: carp/status <id>
    carp/rendered:
      begin the deletion of the worker w-eus

      forced by
        w-eus: fleet/workers/w-eus.yaml:1, removed in <id>

      ~ control-plane/fleet.lock
      - control-plane/w-eus/bootstrap/ (2 files)
      - control-plane/w-eus/bootstrap.yaml
      ~ control-plane/w-eus/cluster.yaml
      ~ control-plane/w-eus/kustomization.yaml

$ carp status worker/w-eus
    WORKER   PHASE         LOCATION   VERSION   CLUSTERS   READY     REASON        AGE
    w-eus    Terminating   -          -         0/?        Unknown   NotObserved   0s

    CONDITION           STATUS    REASON        MESSAGE                                                 AGE
    Ready               Unknown   NotObserved   -                                                       0s
    Schedulable         False     Retiring      -                                                       0s
    CapacityRespected   True      Within        -                                                       0s
    Rendered            True      Rendered      -                                                       0s
    ClusterReady        True      Running       -                                                       0s
    ClusterGone         False     NotApplied    the last report does not show this step applied (hub)   0s

report hub
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -0 ~0 clusters
    status: carp/status <id>
    carp/rendered:
      w-eus is reported gone on hub: its add-ons go

      ~ control-plane/fleet.lock
      ~ control-plane/w-eus/cluster.yaml

report hub
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -0 ~0 clusters
    status: carp/status <id>
    carp/rendered:
      the deletion of w-eus on hub is complete

      ~ control-plane/fleet.lock
      - control-plane/w-eus/ (2 files)
      ~ control-plane/workers.yaml
      - workers/w-eus/ (16 files)

$ carp status
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY     REASON        AGE
    w-weu    Running   westeurope   v1.34.2   1/4        Unknown   NotObserved   0s

    CLUSTER   TENANT   PHASE       WORKER   VERSION   NODES   READY     REASON        AGE
    alpha     shop     Scheduled   w-weu    v1.34.2   -       Unknown   NotObserved   0s
