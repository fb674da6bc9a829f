# Without an agent nobody reports steps: one minor version up goes at once, two are refused.

worker w-eus eastus
cluster golf eastus version=v1.33.9
run
cluster golf version=v1.34.2
$ carp reconcile --once
    committed carp/rendered <id>: carp: 1 worker, +0 -0 ~1 cluster
    status: carp/status <id>
    carp/rendered:
      update golf: version v1.33.9 → v1.34.2; np0: replaces 2 machines; the control plane restarts

      ~ control-plane/fleet.lock
      ~ workers/w-eus/carp.lock
      ~ workers/w-eus/clusters/golf/cluster.yaml
      ~ workers/w-eus/sentinel.yaml

cluster golf version=v1.36.0
$ carp reconcile --once
    error[version-skew]: the version goes from v1.34.2 to v1.36.0, over a minor version between
      --> fleet/clusters/golf.yaml:10:12
       |
    10 |   version: v1.36.0
       |            ^^^^^^^
       |
       = help: go to v1.35 first and wait until it runs
       = note: until it is mended, golf keeps its last good output
    nothing to commit; 0 waiting
    status: carp/status <id>
    exit 1
