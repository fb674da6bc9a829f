//! Pools of workers: what people want of them, what the output branch remembers, and what time does to
//! their workers.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::api::{NodePool, Observation, WorkerPoolSpec};
use super::{
    Catalogue, DEFAULT_WORKER_FLAVOR, Digest, Name, Nodes, SYSTEM_POOL, SYSTEM_POOL_REPLICAS,
    Worker,
};

/// The format of [`PoolFold`].
pub const POOL_FOLD_SCHEMA: u32 = 1;

/// How many workers that clusters wait for are being made at once where the pool does not say.
const MAX_PENDING: u32 = 2;

/// A desired pool, the defaults of its template resolved.
#[derive(Clone, Debug)]
pub struct Pool {
    /// Its name.
    pub name: Name,
    /// The file it stands in.
    pub file: String,
    /// The document in that file, from 0.
    pub document: usize,
    /// The document, with the flavor and the credentials of the template filled in.
    pub spec: WorkerPoolSpec,
    /// The template's `heartbeatTimeout` in seconds.
    pub heartbeat_timeout_seconds: i64,
    /// `spec.provisionTimeout` in seconds.
    pub provision_timeout_seconds: i64,
    /// `spec.coolDown` in seconds.
    pub cool_down_seconds: i64,
    /// The flavors that there are.
    pub catalogue: Catalogue,
}

impl Pool {
    /// Where the pool's workers may be, each once and in the order in which they are named.
    #[must_use]
    pub fn locations(&self) -> Vec<&str> {
        pool_locations(&self.spec)
    }

    /// Whether the workers are observed by their agents.
    #[must_use]
    pub fn is_observed(&self) -> bool {
        self.spec.template.spec.observation == Observation::Agent
    }

    /// How many workers that clusters wait for may be Pending at once; `None`: as many as are needed.
    #[must_use]
    pub fn max_pending(&self) -> Option<u32> {
        self.is_observed().then(|| self.spec.max_pending.unwrap_or(MAX_PENDING))
    }

    /// The name of a worker; `None` where that is no name.
    #[must_use]
    pub fn name_of(&self, ordinal: u64, location: &str) -> Option<Name> {
        Name::parse(&worker_name(&self.name, &self.spec, ordinal, location)).ok()
    }

    /// The ordinal of a worker of that name and place, as the pattern has it now.
    #[must_use]
    pub fn ordinal_of(&self, worker: &str, location: &str) -> Option<u64> {
        let pattern = pattern(&self.spec).replace("{pool}", &self.name);
        let pattern = pattern.replace("{location}", location);
        let (before, after) = pattern.split_once("{ordinal}")?;
        worker.strip_prefix(before)?.strip_suffix(after)?.parse().ok()
    }

    /// The zones over which a worker that is made there is spread: those of the location, where machines are made.
    #[must_use]
    pub fn zones_at(&self, location: &str) -> Vec<String> {
        let flavor = self.spec.template.spec.flavor.as_deref().unwrap_or(DEFAULT_WORKER_FLAVOR);
        let nodes = self.catalogue.flavor(flavor).map(|flavor| flavor.nodes);
        let known = self.catalogue.locations().get(location);
        let known = known.filter(|_| nodes == Some(Nodes::Machines));
        known.map(|location| location.zones.clone()).unwrap_or_default()
    }

    /// A worker of the pool.
    #[must_use]
    pub fn worker(&self, name: &Name, made: &PoolWorker) -> Worker {
        let mut spec = self.spec.template.spec.clone();
        spec.location.clone_from(&made.location);
        spec.pool = Some(self.name.to_string());
        spread(&mut spec.node_pools, &made.zones);
        let labels = self.spec.template.metadata.labels.clone();
        let made_by = MadeBy { pool: self.name.clone(), made: made.clone() };
        let mut worker = Worker {
            name: name.clone(),
            labels: labels.into(),
            facts: Digest::of(b""),
            file: self.file.clone(),
            document: self.document,
            spec: spec.into(),
            heartbeat_timeout_seconds: self.heartbeat_timeout_seconds,
            made_by: Some(made_by),
            catalogue: self.catalogue.clone(),
        };
        worker.facts = worker_facts(&worker);
        worker
    }
}

/// Gives zones to node pools that name none, the pool `system` among them.
fn spread(pools: &mut Vec<NodePool>, zones: &[String]) {
    if zones.is_empty() {
        return;
    }
    if pools.iter().all(|pool| pool.name != SYSTEM_POOL) {
        pools.push(NodePool {
            name: SYSTEM_POOL.to_owned(),
            replicas: Some(SYSTEM_POOL_REPLICAS),
            ..NodePool::default()
        });
    }
    for pool in pools.iter_mut().filter(|pool| pool.zones.is_empty()) {
        pool.zones = zones.to_vec();
    }
}

/// The digest of a pool's worker, as if it had a document of its own.
#[must_use]
pub fn worker_facts(worker: &Worker) -> Digest {
    let Worker { name, labels, spec, .. } = worker;
    Digest::of_value(&json!({"kind": "Worker", "name": name, "labels": labels, "spec": spec}))
}

/// Where the workers of a pool may be.
#[must_use]
pub fn pool_locations(spec: &WorkerPoolSpec) -> Vec<&str> {
    if spec.locations.is_empty() {
        return vec![&spec.template.spec.location];
    }
    let mut all: Vec<&str> = Vec::new();
    for location in &spec.locations {
        if !all.contains(&location.as_str()) {
            all.push(location);
        }
    }
    all
}

/// How a worker of a pool is called, be it a name or not.
#[must_use]
pub fn worker_name(pool: &str, spec: &WorkerPoolSpec, ordinal: u64, location: &str) -> String {
    let name = pattern(spec).replace("{pool}", pool).replace("{location}", location);
    name.replace("{ordinal}", &ordinal.to_string())
}

/// Whether a pool may call a worker so, now or later: the pattern with any ordinal, in one of its locations.
#[must_use]
pub fn is_name_of(pool: &str, spec: &WorkerPoolSpec, worker: &str) -> bool {
    let is_ordinal = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    pool_locations(spec).into_iter().any(|location| {
        let pattern = pattern(spec).replace("{pool}", pool).replace("{location}", location);
        let (before, after) = pattern.split_once("{ordinal}").unwrap_or((&pattern, ""));
        let rest = worker.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        rest.is_some_and(is_ordinal)
    })
}

fn pattern(spec: &WorkerPoolSpec) -> &str {
    spec.name_pattern.as_deref().unwrap_or("{pool}-{ordinal}")
}

/// Which pool made a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeBy {
    /// The pool.
    pub pool: Name,
    /// What is remembered of the worker.
    pub made: PoolWorker,
}

/// What `fleet.lock` remembers of one pool, also of one that is not desired any more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PoolLock {
    /// The highest ordinal that a worker of the pool ever had. The next one gets the next.
    pub last: u64,
    /// The workers that the pool made and that have not gone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub workers: BTreeMap<Name, PoolWorker>,
}

/// What is remembered of a worker that a pool made; all else is the template's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PoolWorker {
    /// Its ordinal.
    pub ordinal: u64,
    /// Where it is.
    pub location: String,
    /// The zones of its node pools that name none: those of its location when it was made. One that an earlier carp
    /// made has none, and its machines stay where they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<String>,
    /// Whether it is on its way out, because it was spare.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leaving: bool,
    /// Whether it was running once: it reported that it is well, or is not observed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub running: bool,
}

/// How far a worker of a pool is that was never running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// It is being made. Clusters may wait for it: what it will have is reserved for them.
    Awaited,
    /// It is not running in time, and nothing waits for it any more.
    Overdue,
}

/// What a pool is after a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolPlan {
    /// What `fleet.lock` is to remember.
    pub lock: PoolLock,
    /// The workers that it makes now.
    pub made: Vec<Name>,
    /// The workers that go now because they are spare.
    pub spare: Vec<Name>,
}

/// `pools.yaml` on the status branch: since when workers of pools are awaited or empty. It changes only
/// when something begins or ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PoolFold {
    /// [`POOL_FOLD_SCHEMA`].
    pub schema_version: u32,
    /// By worker.
    pub workers: BTreeMap<Name, PoolFact>,
}

/// What time does to a worker of a pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PoolFact {
    /// What is so.
    pub state: PoolState,
    /// Since when: the time of the run that saw it first, or the moment at which a time ran out.
    pub since: Timestamp,
}

/// What is so of a worker of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PoolState {
    /// It was made and is not running yet.
    Awaited,
    /// It is not running, and the time for that has run out.
    Overdue,
    /// It is empty.
    Empty,
    /// It has been empty for so long that it may go.
    Spare,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(template: &str) -> Pool {
        let spec = format!("max: 3\ntemplate:\n  spec:\n    version: v1.34.2\n    {template}\n");
        Pool {
            name: Name::parse("eu").unwrap(),
            file: "fleet/eu.yaml".to_owned(),
            document: 0,
            spec: serde_saphyr::from_str(&spec).unwrap(),
            heartbeat_timeout_seconds: 3600,
            provision_timeout_seconds: 3600,
            cool_down_seconds: 3600,
            catalogue: Catalogue::default(),
        }
    }

    fn zones(pool: &Pool, zones: &[&str]) -> Vec<String> {
        let row = PoolWorker {
            ordinal: 1,
            location: "westeurope".to_owned(),
            zones: zones.iter().map(|&zone| zone.to_owned()).collect(),
            leaving: false,
            running: false,
        };
        let worker = pool.worker(&Name::parse("eu-1").unwrap(), &row);
        let told = |pool: &NodePool| format!("{} {}", pool.name, pool.zones.join(","));
        worker.spec.node_pools.iter().map(told).collect()
    }

    #[test]
    fn a_worker_is_over_the_zones_that_its_location_had_when_it_was_made() {
        let pool = pool(
            "location: westeurope\n    nodePools: [{name: np0, replicas: 3}, {name: np1, replicas: 1, zones: ['2']}]",
        );
        assert_eq!(pool.zones_at("westeurope"), ["1", "2", "3"]);
        assert_eq!(zones(&pool, &["1", "2", "3"]), ["np0 1,2,3", "np1 2", "system 1,2,3"]);
        assert_eq!(zones(&pool, &[]), ["np0 ", "np1 2"], "made before: its machines stay");
        assert!(pool.zones_at("westus").is_empty() && pool.zones_at("atlantis").is_empty());
    }

    #[test]
    fn containers_are_in_no_zone() {
        assert!(pool("location: westeurope\n    flavor: kind").zones_at("westeurope").is_empty());
    }
}
