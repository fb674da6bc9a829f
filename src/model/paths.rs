//! Every path that carp writes, in one place. All are relative to the fleet's root on their branch;
//! [`in_repository`] makes one relative to the repository, which is what Flux's `spec.path` wants.

use super::{Digest, Name};

/// The workers' folders.
pub const WORKERS: &str = "workers";
/// The control plane's folder.
pub const CONTROL_PLANE: &str = "control-plane";
/// The decision records.
pub const DECISIONS: &str = "decisions";
/// The lock in a worker's folder.
pub const WORKER_LOCK: &str = "carp.lock";
/// The ConfigMap in a worker's folder that says whose it is and what was applied.
pub const SENTINEL: &str = "sentinel.yaml";
/// The index of a worker's clusters, in its folder.
pub const CLUSTERS_INDEX: &str = "clusters.yaml";
/// What the clusters of a worker stand on, in its folder.
pub const PLATFORM: &str = "platform/platform.yaml";
/// The index of the workers that the control plane makes, in its folder.
pub const WORKERS_INDEX: &str = "workers.yaml";
/// The clusters' folder in a worker's folder.
pub const CLUSTERS: &str = "clusters";
/// The lock of the clusters that wait, below [`DECISIONS`].
pub const PENDING_LOCK: &str = "pending.lock";
/// The fleet's lock, below [`CONTROL_PLANE`].
pub const FLEET_LOCK: &str = "fleet.lock";
/// The folded reports on the status branch.
pub const OBSERVED: &str = "observed";
/// What time did to the workers of pools, on the status branch.
pub const POOLS: &str = "pools.yaml";
/// The fleet's own file.
pub const FLEET_FILE: &str = "carp.yaml";
/// The file that an agent's report branch holds.
pub const REPORT_FILE: &str = "report.yaml";

/// `workers/<worker>`.
#[must_use]
pub fn worker(worker: &Name) -> String {
    format!("{WORKERS}/{worker}")
}

/// `workers/<worker>/clusters/<cluster>`.
#[must_use]
pub fn cluster(worker: &Name, cluster: &Name) -> String {
    format!("{WORKERS}/{worker}/{CLUSTERS}/{cluster}")
}

/// `control-plane/<worker>`.
#[must_use]
pub fn control_plane(worker: &Name) -> String {
    format!("{CONTROL_PLANE}/{worker}")
}

/// `decisions/<2 hex>/<cluster>.yaml`.
#[must_use]
pub fn decision(cluster: &Name) -> String {
    format!("{DECISIONS}/{}/{cluster}.yaml", shard(cluster))
}

/// The two hexadecimal digits that keep folders small: the first of the SHA-256 of the name.
#[must_use]
pub fn shard(name: &str) -> String {
    Digest::of(name.as_bytes()).short(2)
}

/// A path below the fleet's root, relative to the repository.
#[must_use]
pub fn in_repository(prefix: &str, path: &str) -> String {
    if prefix.is_empty() { path.to_owned() } else { format!("{prefix}/{path}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nested_fleet_keeps_its_prefix() {
        let name = Name::parse("w1").unwrap();
        assert_eq!(in_repository("", &worker(&name)), "workers/w1");
        assert_eq!(in_repository("teams/a", &worker(&name)), "teams/a/workers/w1");
    }

    #[test]
    fn a_record_has_one_path_for_life() {
        // `printf pay-eu | sha256sum` begins with these two digits.
        let name = Name::parse("pay-eu").unwrap();
        assert_eq!(decision(&name), format!("decisions/{}/pay-eu.yaml", shard("pay-eu")));
        assert_eq!(shard("a"), "ca");
    }
}
