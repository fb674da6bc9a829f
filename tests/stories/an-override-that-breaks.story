# A policy overrides objects of one cluster. When it breaks nothing of it is undone, and what else the cluster wants waits for it.

remote
worker w-weu westeurope
cluster alpha westeurope
cluster bravo westeurope
run
override quiet
  clusterSelector: {names: [alpha]}
  objects: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineHealthCheck}]
  changes: [{mergePatch: {spec: {checks: {nodeStartupTimeoutSeconds: 3600}}}}]
$ carp plan
    Plan for small: 0 to create, 0 to move, 1 to update, 0 to delete; 0 waiting; 0 held

    CLUSTER   ACTION   FROM    TO      WHY
    alpha     update   w-weu   w-weu   changes MachineHealthCheck/np0; overrides: quiet

    WORKER   CLUSTERS      FILES
    w-weu    2 -> 2 of 4   +0 ~3 -0

    tree   <id>
    files  +0 ~3 -0
    valid  for ever
    work   1 file parsed, 0 clusters planned, 1 rendered, 8 objects written

$ carp reconcile --once
    committed carp/rendered <id> (pushed to origin): carp: 1 worker, +0 -0 ~1 cluster
    status: carp/status <id> (pushed to origin)
    carp/rendered:
      update alpha: changes MachineHealthCheck/np0; overrides: quiet

      ~ workers/w-weu/carp.lock
      ~ workers/w-weu/clusters/alpha/cluster.yaml
      ~ workers/w-weu/sentinel.yaml

$ carp explain cluster/alpha
    cluster/alpha: bound to w-weu, and stays there
    policy: default (built-in)
    override: quiet (policies/overrides/quiet.yaml) changes MachineHealthCheck
      alpha-np0
    data store: default

    WORKER   SOFT   PREFERRED   DISTANCE   SHARE USED   CLUSTERS
    w-weu    0      0           0          50%          1

# Somebody slips: the field is called otherwise, and the policy does not load.
override quiet
  changes: [{mergePach: {spec: {checks: {nodeStartupTimeoutSeconds: 7200}}}}]
cluster alpha paused=true
cluster bravo paused=true
$ carp reconcile --once
    error[unknown-field]: `spec.changes[0].mergePach` is not a field of an OverridePolicy
     --> policies/overrides/quiet.yaml:7:5
      |
    7 |   - mergePach:
      |     ^^^^^^^^^
      |
      = help: did you mean `mergePatch`?
    committed carp/rendered <id> (pushed to origin): carp: 1 worker, +0 -0 ~1 cluster
    status: carp/status <id> (pushed to origin)
    kept OverridesNotLoaded: an OverridePolicy that may be about it did not load, so the last good output stays: alpha
    exit 1
    carp/rendered:
      kept OverridesNotLoaded: an OverridePolicy that may be about it did not load, so the last good output stays: alpha

      update bravo: paused set to true

      ~ workers/w-weu/carp.lock
      ~ workers/w-weu/clusters/bravo/cluster.yaml
      ~ workers/w-weu/sentinel.yaml

$ carp status
    the fleet has 1 error, and what that is about is shown as it was; see `carp validate`
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY     REASON        AGE
    w-weu    Running   westeurope   v1.34.2   2/4        Unknown   NotObserved   0s

    CLUSTER   TENANT   PHASE       WORKER   VERSION   NODES   READY     REASON        AGE
    alpha     shop     Scheduled   w-weu    v1.34.2   -       Unknown   NotObserved   0s
    bravo     shop     Scheduled   w-weu    v1.34.2   -       Unknown   NotObserved   0s

    2 clusters: 2 Scheduled

# Mended, all that waited comes.
override quiet
  changes: [{mergePatch: {spec: {checks: {nodeStartupTimeoutSeconds: 7200}}}}]
$ carp reconcile --once
    committed carp/rendered <id> (pushed to origin): carp: 1 worker, +0 -0 ~1 cluster
    status: carp/status <id> (pushed to origin)
    carp/rendered:
      update alpha: paused set to true

      ~ workers/w-weu/carp.lock
      ~ workers/w-weu/clusters/alpha/cluster.yaml
      ~ workers/w-weu/sentinel.yaml

# A policy that is removed takes its changes with it.
remove override quiet
$ carp reconcile --once
    committed carp/rendered <id> (pushed to origin): carp: 1 worker, +0 -0 ~1 cluster
    status: carp/status <id> (pushed to origin)
    carp/rendered:
      update alpha: changes MachineHealthCheck/np0; overrides: quiet

      ~ workers/w-weu/carp.lock
      ~ workers/w-weu/clusters/alpha/cluster.yaml
      ~ workers/w-weu/sentinel.yaml
