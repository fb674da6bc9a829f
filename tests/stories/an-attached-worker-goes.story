# A worker that carp did not make is removed. It goes at once, when nothing is on it any more.

worker w-weu westeurope
worker w-eus eastus flavor=attached replicas=null
cluster charlie,delta eastus deletionPolicy=Orphan
run
remove worker w-eus
$ carp reconcile --once
    nothing to commit; 0 waiting
    status: carp/status <id>
    held WorkerInUse: the worker's document is gone and clusters are on it: w-eus (charlie, delta)
      help: bring the document back, or remove its clusters first; a new name is another worker, for carp renames nothing
    exit 3

# Somebody sees that its Flux let the clusters go: it has no agent that could say so.
worker w-eus eastus flavor=attached replicas=null
remove cluster charlie
remove cluster delta
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -2 ~0 clusters
    status: carp/status <id>
    carp/rendered:
      let go of charlie on w-eus: Flux is to leave it alone
      let go of delta on w-eus: Flux is to leave it alone

      forced by
        charlie: fleet/clusters/charlie.yaml:1, removed in <id>
        delta: fleet/clusters/delta.yaml:1, removed in <id>

      ~ control-plane/fleet.lock
      ~ decisions/4f/delta.yaml
      ~ decisions/b9/charlie.yaml
      ~ workers/w-eus/carp.lock
      ~ workers/w-eus/clusters/charlie/cluster.yaml
      ~ workers/w-eus/clusters/delta/cluster.yaml
      ~ workers/w-eus/clusters.yaml
      ~ workers/w-eus/sentinel.yaml

$ carp ack abandon --count 2 --digest sha256:6ff3176e643bdbbbd0c6fd5ef7e97f501c8a25c8447f3e72ea19442a4dd94b8e
    wrote fleet/acknowledgements/abandon-6ff3176e.yaml
    commit it: the next run gives up exactly these deletions, if they are stuck still

$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -0 ~0 clusters, 2 gone
    status: carp/status <id>
    carp/rendered:
      ABANDON the deletion of charlie on w-eus: what is left of it stays behind
      ABANDON the deletion of delta on w-eus: what is left of it stays behind

      forced by
        charlie: fleet/acknowledgements/abandon-6ff3176e.yaml:2, written in <id>
        delta: fleet/acknowledgements/abandon-6ff3176e.yaml:2, written in <id>

      ~ control-plane/fleet.lock
      - decisions/4f/delta.yaml
      - decisions/b9/charlie.yaml
      ~ workers/w-eus/carp.lock
      - workers/w-eus/clusters/ (4 files)
      ~ workers/w-eus/clusters.yaml
      ~ workers/w-eus/sentinel.yaml

remove worker w-eus
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -0 ~0 clusters
    status: carp/status <id>
    carp/rendered:
      the worker w-eus is empty, and gets nothing any more

      ~ control-plane/fleet.lock
      - workers/w-eus/ (17 files)

$ carp status
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY     REASON        AGE
    w-weu    Running   westeurope   v1.34.2   0/4        Unknown   NotObserved   0s
