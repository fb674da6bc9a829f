# The document of a cluster that is handed over is removed, and the lock of the new worker with it: the hand-over goes to
# its end, and only then the cluster is deleted, where it is.

worker w-weu westeurope capacity=20 observation=Agent
worker w-eus eastus capacity=20 observation=Agent
cluster c0 westeurope flavor=capz deletionPolicy=Delete
minutes 3
    09:01 bind c0 to w-weu (location distance, before w-eus)

do carp drain w-weu
minutes 1
    09:04 c0 is handed over from w-weu, which is drained, to w-eus: Flux on w-weu is to leave it as it is, and w-eus gets its namespace and identity (step Prepare)

          forced by
            c0: fleet/overlays/w-weu.yaml:6, written in <id>

silent w-weu w-eus
report w-weu
  c0: {suspended: true, machines: {count: 4, digest: 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae}}
report w-eus
minutes 1
    09:05 c0 is ready to be handed over from w-weu, which is drained, to w-eus: run `clusterctl move --namespace c0 --kubeconfig w-weu.kubeconfig --to-kubeconfig w-eus.kubeconfig` (step HandOver); waits: the worker that it leaves reports the cluster still (NotHandedOver)

remove cluster c0
by hand rm workers/w-eus/carp.lock
minutes 2
    nothing is committed

$ carp explain cluster/c0 | head -n 1
    cluster/c0: is ready to be handed over from w-weu, which is drained, to w-eus: run `clusterctl move --namespace c0 --kubeconfig w-weu.kubeconfig --to-kubeconfig w-eus.kubeconfig` (step HandOver); waits: the worker that it leaves reports the cluster still (NotHandedOver)

$ git show carp/rendered:workers/w-weu/clusters.yaml | grep suspend
      suspend: true

$ git ls-tree --name-only carp/rendered workers/w-eus/ | grep lock
    workers/w-eus/carp.lock

report w-weu
  c0: {suspended: true, uid: null, phase: Pending, present: [ManagedCluster, Namespace]}
report w-eus
  c0: {uid: another, phase: Running, machines: {count: 4, digest: 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae}, conditions: [{type: RemoteConnectionProbe, status: "True", reason: ProbeSucceeded, message: ""}], present: [Cluster, ManagedCluster, Namespace]}
minutes 1
    09:08 c0 was handed over from w-weu, which is drained, to w-eus: Flux on w-eus applies it now, and what is left on w-weu goes (step Adopt)

back w-weu w-eus
minutes 6
    09:09 c0 is handed over: nothing of it is left on w-weu, which is drained, and it is on w-eus
    09:10 begin the deletion of c0 on w-eus

          forced by
            c0: fleet/clusters/c0.yaml:1, removed in <id>
    09:11 c0 is reported gone on w-eus: its add-ons go
    09:12 the deletion of c0 on w-eus is complete

$ carp status
    WORKER   PHASE      LOCATION     VERSION   CLUSTERS   READY   REASON   AGE
    w-eus    Running    eastus       v1.34.2   0/20       True    -        13m
    w-weu    Draining   westeurope   v1.34.2   0/20       True    -        13m

    2 workers: 1 Draining, 1 Running; 0 of 40 places taken
