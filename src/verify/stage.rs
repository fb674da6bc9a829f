//! The small fleet of one policy test.

use std::collections::BTreeMap;

use crate::diag::{Code, Diagnostic, FieldPath, Place};
use crate::load::PolicyTest;
use crate::model::api::Observation;
use crate::model::{ClusterRow, Fleet, Name, Observed, Previous, Worker, WorkerLock};
use crate::plan::PlanInput;

/// The clusters of which a test speaks and that it does not give itself.
pub(super) fn of_the_fleet(test: &PolicyTest) -> impl Iterator<Item = Name> {
    let expected = test.spec.expect.iter().map(|expected| expected.cluster.as_str());
    let named = expected.chain(test.spec.placed.keys().map(String::as_str));
    let own = named.filter(move |name| !test.given.clusters.contains_key(*name));
    own.filter_map(|name| Name::parse(name).ok())
}

/// All that a plan reads, made of what a test says.
pub(super) struct Stage {
    pub(super) fleet: Fleet,
    previous: Previous,
    observed: Observed,
}

impl Stage {
    pub(super) fn set(test: &PolicyTest, fleet: &Fleet, found: &mut Vec<Diagnostic>) -> Self {
        let mut stage = Self {
            fleet: Fleet {
                name: fleet.name.clone(),
                spec: fleet.spec.clone(),
                classes: fleet.classes.clone(),
                policies: fleet.policies.clone(),
                catalogue: fleet.catalogue.clone(),
                networks_apart: fleet.networks_apart.clone(),
                transfers: fleet.transfers.clone(),
                workers: workers(test, fleet),
                ..Fleet::default()
            },
            previous: Previous::default(),
            observed: Observed::default(),
        };
        let spec = FieldPath::keys("spec");
        for (i, expected) in test.spec.expect.iter().enumerate() {
            let path = spec.key("expect").index(i).key("cluster");
            stage.bring(test, fleet, &expected.cluster, &path, found);
        }
        for (cluster, worker) in &test.spec.placed {
            let path = spec.key("placed").key(cluster);
            let there = stage.bring(test, fleet, cluster, &path, found);
            match (there, stage.worker(worker)) {
                (Some(cluster), Some(worker)) => stage.put(&cluster, &worker),
                (_, None) => found.push(no_worker(test, &path, worker, &stage)),
                (None, _) => {}
            }
        }
        stage
    }

    /// What a plan reads.
    pub(super) fn input(&self) -> PlanInput<'_> {
        PlanInput::new(&self.fleet, &self.previous, &self.observed)
    }

    /// The name of a worker that is there.
    pub(super) fn worker(&self, name: &str) -> Option<Name> {
        self.fleet.workers.get_key_value(name).map(|(name, _)| name.clone())
    }

    /// Brings a cluster onto the stage: the test's own, or else the fleet's.
    fn bring(
        &mut self,
        test: &PolicyTest,
        fleet: &Fleet,
        name: &str,
        path: &FieldPath,
        found: &mut Vec<Diagnostic>,
    ) -> Option<Name> {
        let cluster = test.given.clusters.get(name).or_else(|| fleet.clusters.get(name));
        let Some(cluster) = cluster else {
            let message = format!("there is no cluster `{name}`, in this test or in the fleet");
            let help = "write the name of one that is there, or give it below `spec.clusters`";
            found.push(mistake(test, path, message).help(help));
            return None;
        };
        self.fleet.clusters.insert(cluster.name.clone(), cluster.clone());
        Some(cluster.name.clone())
    }

    /// Puts a cluster on a worker, as if an earlier run had placed it there.
    fn put(&mut self, cluster: &Name, worker: &Name) {
        let Some(row) = self.fleet.clusters.get(cluster).map(ClusterRow::imagined) else { return };
        let lock = self.previous.workers.entry(worker.clone());
        let lock = lock.or_insert_with(|| WorkerLock::imagined(worker));
        lock.clusters.insert(cluster.clone(), row);
    }
}

/// The workers of a test, all of them taken for ready: readiness and cordons come and go, and a policy
/// that holds today should not fail its test tomorrow.
fn workers(test: &PolicyTest, fleet: &Fleet) -> BTreeMap<Name, Worker> {
    let own = test.spec.workers.is_empty();
    let mut workers = if own { fleet.workers.clone() } else { test.given.workers.clone() };
    for worker in workers.values_mut() {
        worker.spec.observation = Observation::None;
        if own {
            worker.spec.unschedulable = false;
            worker.spec.drain = None;
        }
    }
    workers
}

/// A place in a test.
pub(super) fn place(test: &PolicyTest, path: &FieldPath) -> Place {
    Place::field(&*test.file, test.document, path.clone())
}

/// A test that says what cannot be.
pub(super) fn mistake(test: &PolicyTest, path: &FieldPath, message: String) -> Diagnostic {
    Diagnostic::new(Code::InvalidValue, message).at(place(test, path))
}

/// A test that names a worker which is not there.
pub(super) fn no_worker(
    test: &PolicyTest,
    path: &FieldPath,
    name: &str,
    stage: &Stage,
) -> Diagnostic {
    let whose = if test.spec.workers.is_empty() { "the fleet" } else { "this test" };
    let names: Vec<_> = stage.fleet.workers.keys().take(8).map(Name::as_str).collect();
    let help = match names.len() {
        0 => "give some below `spec.workers`".to_owned(),
        8 => format!("there are {}, …", names.join(", ")),
        _ => format!("there are {}", names.join(", ")),
    };
    mistake(test, path, format!("there is no worker `{name}` in {whose}")).help(help)
}
