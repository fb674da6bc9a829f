# The state of hosted clusters is in data stores of their worker. Each stays in its own until its document moves it, and no store
# goes while a cluster is in it.

remote
worker w-weu westeurope capacity=6
cluster alpha,bravo westeurope
run
$ carp status worker/w-weu | grep -A1 STORE
    DATA STORE   CLUSTERS   QUOTA
    default      2          8Gi

# A second store comes. Those that are placed stay; the new one asks for the store by its label, and one asks for what nobody has.
worker w-weu
  dataStores: [{name: gold, labels: {tier: high}, size: 16Gi, snapshots: {schedule: "0 */6 * * *", to: "backup:etcd", secretRef: etcd-backup}}]
cluster charlie westeurope
  dataStore: {matchLabels: {tier: high}}
cluster delta westeurope
  dataStore: {name: iron}
run
$ carp status workers -o wide | head -2
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY     REASON        AGE   FLAVOR   FREE   STORES              APPLIED
    w-weu    Running   westeurope   v1.34.2   3/6        Unknown   NotObserved   0s    capz     3      default 2, gold 1   -

$ carp status clusters -o wide | head -5
    CLUSTER   TENANT   PHASE       WORKER   VERSION   NODES   READY     REASON        AGE   LOCATION     CLASS   ENDPOINT   STORE
    alpha     shop     Scheduled   w-weu    v1.34.2   -       Unknown   NotObserved   0s    westeurope   -       -          default
    bravo     shop     Scheduled   w-weu    v1.34.2   -       Unknown   NotObserved   0s    westeurope   -       -          default
    charlie   shop     Scheduled   w-weu    v1.34.2   -       Unknown   NotObserved   0s    westeurope   -       -          gold
    delta     shop     Pending     -        v1.34.2   -       False     Pending       0s    westeurope   -       -          -

$ carp explain worker/w-weu | grep -B1 -A3 "^DATA STORE"

    DATA STORE   CLUSTERS   QUOTA   SNAPSHOTS     LABELS
    default      2          8Gi     none          -
    gold         1          8Gi     0 */6 * * *   tier=high

$ carp explain cluster/charlie
    cluster/charlie: bound to w-weu, and stays there
    policy: default (built-in)
    data store: gold

    WORKER   SOFT   PREFERRED   DISTANCE   SHARE USED   CLUSTERS
    w-weu    0      0           0          50%          2

$ carp explain cluster/delta
    cluster/delta: pending, number 1 of 1 in the queue
    0/1 workers are available: 1 worker(s) had no such data store.
    policy: default (built-in)

    WORKER   REFUSES BECAUSE
    w-weu    no data store iron

$ carp status worker/w-weu -o yaml | sed -n '/^status:/,$p' | grep -A6 dataStores:
      dataStores:
      - clusters: 2
        name: default
        quota: 8Gi
      - clusters: 1
        name: gold
        quota: 8Gi

# Its labels go, and that moves nobody. The store itself is taken out of the document, and stays: charlie is in it.
cluster delta westeurope
  dataStore: null
worker w-weu
  dataStores: [{name: gold, size: 16Gi}]
$ carp reconcile --once
    committed carp/rendered <id> (pushed to origin): carp: 1 worker, +1 -0 ~0 cluster
    status: carp/status <id> (pushed to origin)
    carp/rendered:
      bind delta to w-weu

      ~ control-plane/fleet.lock
      ~ control-plane/w-weu/cluster.yaml
      ~ decisions/4f/delta.yaml
      ~ decisions/pending.lock
      ~ workers/w-weu/carp.lock
      + workers/w-weu/clusters/delta/ (2 files)
      ~ workers/w-weu/clusters.yaml
      ~ workers/w-weu/platform/platform.yaml
      ~ workers/w-weu/sentinel.yaml

worker w-weu
  dataStores: null
$ carp reconcile --once
    error[invalid-data-store]: the worker w-weu has no data store for the cluster charlie
     --> fleet/clusters/charlie.yaml:6:1
      |
    6 | spec:
      | ^^^^
      |
      = help: put the store back into `dataStores` of w-weu, or name one that is there
      = note: until all of these are mended, charlie keeps its last good output; until all of these are mended, w-weu keeps its last good output

    error[invalid-data-store]: the data store `gold` of w-weu may not go: the state of charlie is in it
     --> fleet/workers/w-weu.yaml:5:1
      |
    5 | spec:
      | ^^^^
      |
      = help: put it back; it can go when its clusters are gone or in another store (`dataStore.migrate`)
    committed carp/rendered <id> (pushed to origin): carp: 1 worker, +0 -0 ~0 clusters
    status: carp/status <id> (pushed to origin)
    exit 1
    carp/rendered:
      kept CheckFailed: what the templates made did not pass a check, so the last good output stays: charlie
      kept ForbiddenChange: something changed that may not change, so the last good output stays: w-weu

      ~ control-plane/fleet.lock
      ~ control-plane/w-weu/cluster.yaml

$ carp status worker/w-weu
    the fleet has 2 errors, and what that is about is shown as it was; see `carp validate`
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY     REASON        AGE
    w-weu    Running   westeurope   v1.34.2   4/6        Unknown   NotObserved   0s

    DATA STORE   CLUSTERS   QUOTA
    default      3          8Gi
    gold         1          -

    CONDITION           STATUS    REASON            AGE
    Ready               Unknown   NotObserved       0s
    Schedulable         True      Schedulable       0s
    CapacityRespected   True      Within            0s
    Rendered            False     ForbiddenChange   0s

    Rendered: the data store `gold` of w-weu may not go: the state of charlie is in
      it

    error[invalid-data-store]: the data store `gold` of w-weu may not go: the state of charlie is in it (mended in the fleet repository)

# The way out: the store comes back, and charlie's own document takes it elsewhere.
worker w-weu
  dataStores: [{name: gold, size: 16Gi}]
cluster charlie westeurope
  dataStore: {name: default, migrate: true}
$ carp explain cluster/charlie
    cluster/charlie: bound to w-weu, and stays there
    policy: default (built-in)
    data store: default

    WORKER   SOFT   PREFERRED   DISTANCE   SHARE USED   CLUSTERS
    w-weu    0      0           0          66%          3

    it goes from the data store gold to default: until its state is copied its API
      server takes no writes

$ carp reconcile --once
    committed carp/rendered <id> (pushed to origin): carp: 1 worker, +0 -0 ~1 cluster
    status: carp/status <id> (pushed to origin)
    carp/rendered:
      update charlie: dataStore.matchLabels {"tier":"high"} removed; dataStore.migrate set to true; dataStore.name set to default; annotation carp.dev/data-store gold removed; the control plane restarts

      ~ control-plane/fleet.lock
      ~ control-plane/w-weu/cluster.yaml
      ~ workers/w-weu/carp.lock
      ~ workers/w-weu/clusters/charlie/cluster.yaml
      ~ workers/w-weu/sentinel.yaml

$ carp status cluster/charlie -o wide
    CLUSTER   TENANT   PHASE       WORKER   VERSION   NODES   READY     REASON        AGE   LOCATION     CLASS   ENDPOINT   STORE
    charlie   shop     Scheduled   w-weu    v1.34.2   -       Unknown   NotObserved   0s    westeurope   -       -          default

    CONDITION   STATUS    REASON        MESSAGE                                         AGE
    Ready       Unknown   NotObserved   its worker has no agent, so nobody reports it   0s
    Placed      True      Bound         -                                               0s
    Rendered    True      Rendered      -                                               0s

# Now nobody is in it. That it goes is held all the same until somebody says so, for it has disks.
worker w-weu
  dataStores: null
$ carp plan
    Plan for small: 0 to create, 0 to move, 0 to update, 0 to delete; 0 waiting; 1 held

    WORKER            CLUSTERS   FILES
    (control plane)   -          +0 ~2 -0

    HELD ObjectsRemoved: objects with machines, storage or network behind them would be left out, scaled to zero or installed anew; their folders keep what they have
      w-weu: DataStore gold, w-weu: HelmRelease kamaji-system/gold-store
      help: bring them back in the template, class or policy that lost them; if exactly these are to go, acknowledge them
        carp ack objects --count 2 --digest sha256:5f82cdc495720ffdf86007e65cf62968381a5264f3acd0bc9cdb51814528deb1

    tree   <id>
    files  +0 ~2 -0
    valid  for ever
    work   1 file parsed, 0 clusters planned, 0 rendered, 5 objects written
    exit 3
