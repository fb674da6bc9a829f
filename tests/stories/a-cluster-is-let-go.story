# `deletionPolicy: Orphan`: Flux is told to leave everything alone, and only when that was applied does the folder go.

worker w-weu westeurope observation=Agent
cluster alpha,bravo westeurope deletionPolicy=Orphan
report w-weu
run
report w-weu
run
remove cluster alpha
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -1 ~0 cluster
    status: carp/status <id>
    carp/rendered:
      let go of alpha on w-weu: Flux is to leave it alone

      forced by
        alpha: fleet/clusters/alpha.yaml:1, removed in <id>

      ~ control-plane/fleet.lock
      ~ decisions/8e/alpha.yaml
      ~ workers/w-weu/carp.lock
      ~ workers/w-weu/clusters/alpha/cluster.yaml
      ~ workers/w-weu/clusters.yaml
      ~ workers/w-weu/sentinel.yaml

$ git show carp/rendered:workers/w-weu/clusters/alpha/cluster.yaml | grep -c '^kind: '
    17

$ git show carp/rendered:workers/w-weu/clusters/alpha/cluster.yaml | grep -c 'kustomize.toolkit.fluxcd.io/prune: disabled'
    17

$ git diff -U0 carp/rendered~1 carp/rendered -- workers/w-weu/clusters.yaml | grep '^[-+] '
    -  deletionPolicy: WaitForTermination
    +  deletionPolicy: Orphan
    -  prune: true
    +  prune: false

report w-weu
  alpha: {phase: Running, uid: uid-of-alpha, present: [Cluster, ManagedCluster, Namespace]}
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -0 ~0 clusters, 1 gone
    status: carp/status <id>
    carp/rendered:
      alpha is let go of on w-weu, and runs without carp

      - decisions/8e/alpha.yaml
      ~ workers/w-weu/carp.lock
      - workers/w-weu/clusters/alpha/ (2 files)
      ~ workers/w-weu/clusters.yaml
      ~ workers/w-weu/sentinel.yaml

$ carp status
    WORKER   PHASE     LOCATION     VERSION   CLUSTERS   READY   REASON   AGE
    w-weu    Running   westeurope   v1.34.2   1/4        True    -        0s

    CLUSTER   TENANT   PHASE     WORKER   VERSION   NODES   READY   REASON   AGE
    bravo     shop     Running   w-weu    v1.34.2   -       True    -        0s
