//! Fleets of any size, the same for the same seed: 3 classes, 200 policies, 5 % pending, files of 20
//! documents. The tests and `cargo run --example generate-fleet` share it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Documents in one file.
const DOCUMENTS: usize = 20;
/// Clusters for each worker; every worker has room for a few more.
const PER_WORKER: usize = 40;
const LOCATIONS: [&str; 6] =
    ["westeurope", "northeurope", "eastus", "westus", "swedencentral", "uksouth"];
const CLASSES: [&str; 3] = ["small", "medium", "large"];

/// The files of a fleet with that many clusters, by path.
pub(crate) fn fleet(clusters: usize, seed: u64) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    files.insert("carp.yaml".to_owned(), fleet_file());
    files.insert("fleet/classes.yaml".to_owned(), classes());
    files.insert("policies/teams.yaml".to_owned(), policies(|_| String::new()));
    for (path, text) in workers(clusters.div_ceil(PER_WORKER)) {
        files.insert(path, text);
    }
    let mut random = Random(seed);
    let documents: Vec<String> = (0..clusters).map(|i| cluster(i, &mut random)).collect();
    for (i, batch) in documents.chunks(DOCUMENTS).enumerate() {
        let path = format!("fleet/clusters/{:03}/batch-{i:05}.yaml", i / 100);
        files.insert(path, batch.join("---\n"));
    }
    files
}

/// The same with every rule of placement: every team is spread over locations and workers, pairs of clusters
/// are kept apart, every tenant has a quota and a pool, the fleet offers some versions, workers can grow and
/// more can be made; some teams have groups of workers, pack, or fail over.
pub(crate) fn fleet_with_rules(clusters: usize, seed: u64) -> BTreeMap<String, String> {
    let mut files = fleet(clusters, seed);
    let mut carp = fleet_file();
    carp.push_str("  supportedVersions:\n    - version: v1.34\n    - version: v1.35\n  tenants:\n");
    for tenant in 0..7 {
        let _ = write!(
            carp,
            "    - name: tenant-{tenant}
      pools: [shared]
      maxPriority: 100
      quota:
        total: {{clusters: {clusters}, cpu: \"{}\"}}
        locations:
          westeurope: {{clusters: {clusters}}}
",
            clusters * 4
        );
    }
    files.insert("carp.yaml".to_owned(), carp);
    files.insert("policies/teams.yaml".to_owned(), policies(rules));
    files.insert("fleet/pool.yaml".to_owned(), pool());
    for (path, text) in &mut files {
        if path.starts_with("fleet/clusters/") {
            *text = paired(text);
        }
        if path.starts_with("fleet/workers/") {
            text.push_str("  pool: shared\n  ceiling:\n    cpu: \"240\"\n");
        }
    }
    files
}

/// The rules of a team's policy.
fn rules(team: usize) -> String {
    let mut text = String::new();
    if team % 50 == 3 {
        text.push_str(
            "    groups:
      - name: near
        required:
          - locations: [westeurope, northeurope]
      - name: anywhere
",
        );
    }
    text.push_str(
        "  spread:
    - topologyKey: carp.dev/location
      maxSkew: 1
    - topologyKey: carp.dev/worker
      maxSkew: 1
      whenUnsatisfiable: ScheduleAnyway
  antiAffinity:
    - topologyKey: carp.dev/worker
      matchLabelKeys: [pair]
",
    );
    match team % 50 {
        1 => text.push_str("  strategy: BinPack\n"),
        2 => text.push_str("  failover:\n    grace: 30m\n    rate: 2\n"),
        4 => text.push_str("  pools: [shared]\n  onViolation: Move\n"),
        _ => {}
    }
    text
}

/// More workers, which nobody needs: none has what those want that wait.
fn pool() -> String {
    "apiVersion: carp.dev/v1alpha1
kind: WorkerPool
metadata:
  name: more
spec:
  max: 3
  locations: [westeurope, eastus]
  template:
    metadata:
      labels:
        tier: standard
    spec:
      version: v1.34.2
      location: westeurope
      replicas: 6
      capacity:
        clusters: 48
        cpu: \"200\"
"
    .to_owned()
}

/// Gives every two clusters, of one team and the next, a label that they share.
fn paired(text: &str) -> String {
    let mut lines = String::new();
    for line in text.lines() {
        let _ = writeln!(lines, "{line}");
        if let Some(team) = line.strip_prefix("    team: t") {
            let pair = team.parse::<usize>().unwrap_or(0) / 2;
            let _ = writeln!(
                lines,
                "    pair: p{pair:03}-{}",
                (lines.matches("kind:").count() - 1) / 2
            );
        }
    }
    lines
}

/// The name of the cluster with that number.
pub(crate) fn cluster_name(number: usize) -> String {
    format!("c{number:06}")
}

/// The path of the file that the cluster with that number stands in.
pub(crate) fn cluster_file(number: usize) -> String {
    let batch = number / DOCUMENTS;
    format!("fleet/clusters/{:03}/batch-{batch:05}.yaml", batch / 100)
}

/// Whether the cluster with that number waits: it wants workers with a label that none has.
pub(crate) fn waits(number: usize) -> bool {
    number % 20 == 7
}

fn fleet_file() -> String {
    "apiVersion: carp.dev/v1alpha1
kind: Fleet
metadata:
  name: generated
spec:
  delivery:
    url: https://git.example.com/fleet.git
    secretRef: fleet-read
  controlPlane:
    name: hub
  bootstrap:
    credentialRef: fleet-read
  credentials:
    - name: azure
      azure:
        tenantID: 5f3f9d0e-2f5e-4a8e-8f5c-0d6a3c1b2e4f
        subscriptionID: 6a4e8c1d-3b7f-4c2a-9e1d-1f5b7d3c9a8e
        clientID: 7b5d9e2c-4c8a-4d3b-8f2e-2a6c8e4d0b9f
        nodeIdentity: /subscriptions/6a4e8c1d-3b7f-4c2a-9e1d-1f5b7d3c9a8e/resourceGroups/fleet/providers/Microsoft.ManagedIdentity/userAssignedIdentities/nodes
"
    .to_owned()
}

fn classes() -> String {
    let class = |(i, name): (usize, &&str)| {
        format!(
            "apiVersion: carp.dev/v1alpha1
kind: ManagedClusterClass
metadata:
  name: {name}
spec:
  demand:
    cpu: \"{}\"
  controlPlane:
    replicas: 2
  nodePools:
    - name: np0
      replicas: {}
      vmSize: Standard_D4s_v5
",
            i + 1,
            i + 2
        )
    };
    CLASSES.iter().enumerate().map(class).collect::<Vec<_>>().join("---\n")
}

fn policies(rules: fn(usize) -> String) -> String {
    let team = |i: usize| {
        format!(
            "apiVersion: carp.dev/v1alpha1
kind: PlacementPolicy
metadata:
  name: team-{i:03}
spec:
  clusterSelector:
    matchLabels:
      team: t{i:03}
  affinity:
    preferred:
      - weight: {}
        term:
          locations: [{}]
{}  tolerations:
    - key: dedicated
      value: t{i:03}
",
            i % 100 + 1,
            LOCATIONS[i % LOCATIONS.len()],
            rules(i)
        )
    };
    (0..200).map(team).collect::<Vec<_>>().join("---\n")
}

fn workers(count: usize) -> impl Iterator<Item = (String, String)> {
    (0..count.max(2)).map(|i| {
        let text = format!(
            "apiVersion: carp.dev/v1alpha1
kind: Worker
metadata:
  name: w{i:05}
  labels:
    tier: standard
spec:
  version: v1.34.2
  location: {}
  nodePools:
    - name: hcp
      replicas: 6
      vmSize: Standard_D8s_v5
  capacity:
    clusters: {}
    cpu: \"200\"
",
            LOCATIONS[i % LOCATIONS.len()],
            PER_WORKER + 8
        );
        (format!("fleet/workers/{:03}/w{i:05}.yaml", i / 100), text)
    })
}

fn cluster(number: usize, random: &mut Random) -> String {
    let mut text = format!(
        "apiVersion: carp.dev/v1alpha1
kind: ManagedCluster
metadata:
  name: {}
  namespace: tenant-{}
  labels:
    team: t{:03}
spec:
  version: v1.34.{}
  location: {}
  class: {}
  deletionPolicy: Delete
",
        cluster_name(number),
        number % 7,
        number % 200,
        random.below(4),
        LOCATIONS[random.below(LOCATIONS.len())],
        CLASSES[random.below(CLASSES.len())],
    );
    if waits(number) {
        let _ = write!(
            text,
            "  placement:
    affinity:
      required:
        - matchLabels:
            accelerator: gpu
"
        );
    }
    text
}

/// A small seeded generator (`SplitMix64`).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % bound as u64).unwrap_or(0)
    }
}
