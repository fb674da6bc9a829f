# A cluster that manages itself leaves a drained worker as it is: carp commits what must be before and after, and a person
# moves it in between.

worker w-weu westeurope capacity=20 observation=Agent
worker w-eus eastus capacity=20 observation=Agent
cluster c0,c1 westeurope flavor=capz deletionPolicy=Delete
minutes 3
    09:01 bind c0 to w-weu (location distance, before w-eus)
          bind c1 to w-weu (location distance, before w-eus)

$ carp drain w-weu
    worker/w-weu drained: wrote fleet/overlays/w-weu.yaml

    1 cluster leaves it:
      c0

    1 cluster stays: as many as may be away at a time are away (WaitsItsTurn)
      c1

minutes 2
    09:04 c0 is handed over from w-weu, which is drained, to w-eus: Flux on w-weu is to leave it as it is, and w-eus gets its namespace and identity (step Prepare)

          forced by
            c0: fleet/overlays/w-weu.yaml:6, written in <id>

silent w-weu w-eus
report w-weu
  c0: {suspended: true, endpoint: "https://c0:6443", machines: {count: 4, digest: 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae}}
report w-eus
$ carp plan
    Plan for small: 0 to create, 0 to move, 1 to update, 0 to delete; 0 waiting; 0 held

    CLUSTER   ACTION   FROM    TO      WHY
    c0        update   w-weu   w-weu   is ready to be handed over from w-weu, which is drained, to w-eus: run `clusterctl move --namespace c0 --kubeconfig w-weu.kubeconfig --to-kubeconfig w-eus.kubeconfig` (step HandOver); waits: the worker that it leaves reports the cluster still (NotHandedOver)

    WORKER   CLUSTERS       FILES
    w-eus    1 -> 1 of 20   +0 ~1 -0
    w-weu    2 -> 2 of 20   +0 ~1 -0

    HANDING OVER: these clusters go to another worker as they are; nothing in them is lost
      c0: is ready to be handed over from w-weu, which is drained, to w-eus: run `clusterctl move --namespace c0 --kubeconfig w-weu.kubeconfig --to-kubeconfig w-eus.kubeconfig` (step HandOver); waits: the worker that it leaves reports the cluster still (NotHandedOver)
    STAYS: these are named and do not move
      w-weu is drained; c1: as many as may be away at a time are away (WaitsItsTurn)

    tree   <id>
    files  +0 ~3 -0
    valid  until 2026-11-01T10:05:00Z
    work   0 files parsed, 0 clusters planned, 0 rendered, 9 objects written

minutes 1
    09:06 c0 is ready to be handed over from w-weu, which is drained, to w-eus: run `clusterctl move --namespace c0 --kubeconfig w-weu.kubeconfig --to-kubeconfig w-eus.kubeconfig` (step HandOver); waits: the worker that it leaves reports the cluster still (NotHandedOver)

$ git diff carp/rendered~2 carp/rendered -- workers/w-weu/clusters.yaml workers/w-weu/clusters
    diff --git a/workers/w-weu/clusters.yaml b/workers/w-weu/clusters.yaml
    index 959220a..ac9a3c5 100644
    --- a/workers/w-weu/clusters.yaml
    +++ b/workers/w-weu/clusters.yaml
    @@ -16,6 +16,7 @@ spec:
       sourceRef:
         kind: GitRepository
         name: carp
    +  suspend: true
       timeout: 30m
       wait: false
     ---

$ git ls-tree -r --name-only carp/rendered workers/w-eus/clusters
    workers/w-eus/clusters/c0/cluster.yaml
    workers/w-eus/clusters/c0/kustomization.yaml

$ git show carp/rendered:workers/w-eus/clusters/c0/cluster.yaml | grep ^kind:
    kind: Namespace
    kind: AzureClusterIdentity
    kind: ConfigMap
    kind: ManagedCluster

$ carp explain cluster/c0
    cluster/c0: is ready to be handed over from w-weu, which is drained, to w-eus: run `clusterctl move --namespace c0 --kubeconfig w-weu.kubeconfig --to-kubeconfig w-eus.kubeconfig` (step HandOver); waits: the worker that it leaves reports the cluster still (NotHandedOver)
    policy: default (built-in)

    WORKER   SOFT   PREFERRED   DISTANCE   SHARE USED   CLUSTERS
    w-eus    0      0           3          5%           0

    WORKER   REFUSES BECAUSE
    w-weu    draining
             the cluster is leaving this worker

$ git show carp/status:clusters/12/c0.yaml | grep -A 8 'type: Moving'
      - type: Moving
        status: "True"
        reason: Drain
        message: "is ready to be handed over from w-weu, which is drained, to w-eus: run `clusterctl move --namespace c0 --kubeconfig w-weu.kubeconfig --to-kubeconfig w-eus.kubeconfig` (step HandOver); waits: the worker that it leaves reports the cluster still (NotHandedOver)"
        lastTransitionTime: "2026-11-01T09:04:00Z"
      endpoint: https://c0:6443

# What a person sees who moved it: nothing of it is left on w-weu but what carp wrote, and all of it is on w-eus.
report w-weu
  c0: {suspended: true, uid: null, phase: Pending, present: [ManagedCluster, Namespace]}
report w-eus
  c0: {uid: another, phase: Running, endpoint: "https://c0:6443", machines: {count: 4, digest: 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae}}
minutes 1
    nothing is committed

$ carp explain cluster/c0
    cluster/c0: is ready to be handed over from w-weu, which is drained, to w-eus: run `clusterctl move --namespace c0 --kubeconfig w-weu.kubeconfig --to-kubeconfig w-eus.kubeconfig` (step HandOver); waits: the worker that it goes to does not report that it reaches the cluster (NotReached)
    policy: default (built-in)

    WORKER   SOFT   PREFERRED   DISTANCE   SHARE USED   CLUSTERS
    w-eus    0      0           3          5%           0

    WORKER   REFUSES BECAUSE
    w-weu    draining
             the cluster is leaving this worker

report w-eus
  c0: {uid: another, phase: Running, endpoint: "https://c0:6443", machines: {count: 4, digest: 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae}, conditions: [{type: RemoteConnectionProbe, status: "True", reason: ProbeSucceeded, message: ""}], present: [Cluster, ManagedCluster, Namespace]}
minutes 1
    09:08 c0 was handed over from w-weu, which is drained, to w-eus: Flux on w-eus applies it now, and what is left on w-weu goes (step Adopt)

$ carp status
    WORKER   PHASE      LOCATION     VERSION   CLUSTERS   READY   REASON   AGE
    w-eus    Running    eastus       v1.34.2   1/20       True    -        7m
    w-weu    Draining   westeurope   v1.34.2   2/20       True    -        7m

    CLUSTER   TENANT   PHASE     WORKER   VERSION   NODES   READY   REASON   AGE
    c0        shop     Running   w-eus    v1.34.2   -       True    -        2m
    c1        shop     Running   w-weu    v1.34.2   -       True    -        5m

    2 workers: 1 Draining, 1 Running; 3 of 40 places taken
    2 clusters: 2 Running

$ git diff --stat carp/rendered~1 carp/rendered
     decisions/12/c0.yaml                   |   3 +-
     workers/w-eus/carp.lock                |   6 +-
     workers/w-eus/clusters/c0/cluster.yaml | 391 +++++++++++++++++++++++++++++-
     workers/w-eus/sentinel.yaml            |   4 +-
     workers/w-weu/carp.lock                |   8 +-
     workers/w-weu/clusters.yaml            |   1 -
     workers/w-weu/clusters/c0/cluster.yaml | 423 ++-------------------------------
     workers/w-weu/sentinel.yaml            |   4 +-
     8 files changed, 423 insertions(+), 417 deletions(-)

back w-weu w-eus
minutes 2
    09:09 c0 is handed over: nothing of it is left on w-weu, which is drained, and it is on w-eus
    09:10 c1 is handed over from w-weu, which is drained, to w-eus: Flux on w-weu is to leave it as it is, and w-eus gets its namespace and identity (step Prepare)

          forced by
            c1: fleet/overlays/w-weu.yaml:6, written in <id>

$ carp status
    WORKER   PHASE      LOCATION     VERSION   CLUSTERS   READY   REASON   AGE
    w-eus    Running    eastus       v1.34.2   2/20       True    -        9m
    w-weu    Draining   westeurope   v1.34.2   1/20       True    -        9m

    CLUSTER   TENANT   PHASE     WORKER   VERSION   NODES   READY   REASON   AGE
    c0        shop     Running   w-eus    v1.34.2   -       True    -        0s
    c1        shop     Running   w-weu    v1.34.2   -       True    -        7m

    2 workers: 1 Draining, 1 Running; 3 of 40 places taken
    2 clusters: 2 Running

$ git show carp/rendered:decisions/12/c0.yaml
    schemaVersion: 1
    cluster: c0
    state: Bound
    worker: w-eus
    policy: default
    demand:
      clusters: "1"
