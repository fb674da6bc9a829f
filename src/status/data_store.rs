//! Which data store a cluster is in after the run, and how many clusters are in each store of a worker.

use std::collections::{BTreeMap, BTreeSet};

use super::{ClusterDocument, StatusInput, kept};
use crate::model::api::DataStoreStatus;
use crate::model::{
    ClusterRow, ClusterState, DEFAULT_DATA_STORE, Decision, Fleet, Name, Worker, data_store_of,
};

/// The data store that a cluster is in where this is decided of it. `None` where it is on no worker, where its flavor
/// keeps nothing there, or where the worker has no such store.
///
/// What keeps its last good folder is where that says.
#[must_use]
pub fn data_store<'a>(input: StatusInput<'a>, name: &Name, decision: &Decision) -> Option<&'a str> {
    let worker = decision.worker()?;
    let row = input.previous.workers.get(worker).and_then(|lock| lock.clusters.get(name));
    // What was there under the name of one that is placed anew is over.
    let stands = |row: &&ClusterRow| row.folder.is_some() && !matches!(decision, Decision::Bind(_));
    let before = row.filter(stands).and_then(|row| in_row(input.fleet, row));
    let Some(cluster) = input.fleet.clusters.get(name) else { return before };
    if before.is_some() && kept::gates(input, name).next().is_some() {
        return before;
    }
    let hosted = cluster.manifest().is_some_and(|flavor| flavor.data_stores.is_some());
    let document = input.fleet.workers.get(worker);
    if hosted { data_store_of(cluster, document, before) } else { None }
}

/// The data store that a row of a lock names; `None` where clusters of its flavor are in none.
fn in_row<'a>(fleet: &Fleet, row: &'a ClusterRow) -> Option<&'a str> {
    let flavor = fleet.catalogue.flavor(&row.row.flavor)?;
    flavor.data_stores.as_ref()?;
    Some(row.data_store.as_deref().unwrap_or(DEFAULT_DATA_STORE))
}

/// How many clusters are in each data store, by worker.
#[derive(Clone, Debug, Default)]
pub struct DataStoreUse(BTreeMap<String, BTreeMap<String, u64>>);

impl DataStoreUse {
    /// Counts the clusters of a plan of all.
    #[must_use]
    pub fn of(input: StatusInput<'_>) -> Self {
        let mut used = Self::default();
        for (name, planned) in &input.plan.clusters {
            let store = data_store(input, name, &planned.decision);
            if let Some((worker, store)) = planned.decision.worker().zip(store) {
                used.add(worker, store);
            }
        }
        used
    }

    /// Counts the cluster of a document.
    pub fn add_document(&mut self, document: &ClusterDocument) {
        let status = &document.status;
        if let Some((worker, store)) =
            status.assigned_worker.as_ref().zip(status.data_store.as_ref())
        {
            self.add(worker, store);
        }
    }

    /// Counts those that stand on these workers beside the clusters of a plan of a few.
    pub fn add_standing(&mut self, input: StatusInput<'_>, workers: &BTreeSet<Name>) {
        for (worker, lock) in
            workers.iter().filter_map(|w| Some((w, input.previous.workers.get(w)?)))
        {
            let others = lock.clusters.iter().filter(|(name, row)| {
                row.state != ClusterState::Reserved && !input.plan.clusters.contains_key(*name)
            });
            for store in others.filter_map(|(_, row)| in_row(input.fleet, row)) {
                self.add(worker, store);
            }
        }
    }

    fn add(&mut self, worker: &str, store: &str) {
        if let Some(count) = self.0.get_mut(worker).and_then(|stores| stores.get_mut(store)) {
            *count += 1;
        } else {
            *self.0.entry(worker.to_owned()).or_default().entry(store.to_owned()).or_default() += 1;
        }
    }

    /// The data stores of a worker, `default` first: those that clusters are in, and all that it has where its document
    /// lists any. Where neither is so it may host no control planes at all.
    #[must_use]
    pub fn on(&self, fleet: &Fleet, worker: &Name) -> Vec<DataStoreStatus> {
        let document = fleet.workers.get(worker);
        let hosts = document.filter(|worker| !worker.spec.data_stores.is_empty());
        let used = self.0.get(worker.as_str());
        let mut names: BTreeSet<&str> = hosts.into_iter().flat_map(Worker::data_stores).collect();
        names.extend(used.into_iter().flat_map(|used| used.keys().map(String::as_str)));
        let mut names: Vec<_> = names.into_iter().collect();
        names.sort_by_key(|name| *name != DEFAULT_DATA_STORE);
        let status = |name: &str| DataStoreStatus {
            name: name.to_owned(),
            clusters: used.and_then(|used| used.get(name)).copied().unwrap_or_default(),
            quota: document.and_then(|worker| worker.data_store_quota(name)),
        };
        names.into_iter().map(status).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Given, name, planned};
    use super::*;
    use crate::model::api::ManagedClusterSpec;
    use crate::model::{Catalogue, Cluster, Digest, Gate, GateReason, Resources, WorkerLock};

    fn cluster(of: &str) -> Cluster {
        Cluster {
            name: name(of),
            tenant: "shop".to_owned(),
            labels: [].into(),
            facts: Digest::of(b"c"),
            file: String::new(),
            document: 0,
            spec: ManagedClusterSpec::default().into(),
            catalogue: Catalogue::default(),
            demand: Resources::new(),
        }
    }

    /// On the worker `w` are `a` in gold, `b` and `c`; for `d` a place in gold is kept. `c` is planned to stay.
    fn given() -> Given {
        let row = |of: &str, store: Option<&str>| ClusterRow {
            data_store: store.map(ToOwned::to_owned),
            ..ClusterRow::imagined(&cluster(of))
        };
        let reserved = ClusterRow { state: ClusterState::Reserved, ..row("d", Some("gold")) };
        let rows = [("a", row("a", Some("gold"))), ("b", row("b", None)), ("c", row("c", None))];
        let rows = rows.into_iter().chain([("d", reserved)]);
        let mut lock = WorkerLock::imagined(&name("w"));
        lock.clusters = rows.map(|(of, row)| (name(of), row)).collect();
        let mut given = Given::default();
        given.previous.workers.insert(name("w"), lock);
        given.plan = planned(Decision::Keep { worker: name("w") });
        given
    }

    fn told(used: &DataStoreUse, fleet: &Fleet) -> Vec<(String, u64)> {
        used.on(fleet, &name("w")).into_iter().map(|store| (store.name, store.clusters)).collect()
    }

    #[test]
    fn those_that_stand_are_counted_beside_those_that_are_planned() {
        let given = given();
        let mut used = DataStoreUse::of(given.input());
        assert_eq!(told(&used, &given.fleet), [("default".to_owned(), 1)]);
        used.add_standing(given.input(), &[name("w"), name("other")].into());
        let both = [("default".to_owned(), 2), ("gold".to_owned(), 1)];
        assert_eq!(told(&used, &given.fleet), both);
    }

    #[test]
    fn clusters_whose_state_is_elsewhere_are_in_no_store() {
        let mut given = given();
        let mut own = cluster("c");
        own.spec.flavor = Some("capz".to_owned());
        given.fleet.clusters.insert(name("c"), own.clone());
        let lock = given.previous.workers.get_mut("w").unwrap();
        lock.clusters.insert(name("c"), ClusterRow::imagined(&own));
        let decision = Decision::Keep { worker: name("w") };
        assert_eq!(data_store(given.input(), &name("c"), &decision), None);
    }

    #[test]
    fn what_keeps_its_folder_is_where_that_says() {
        let mut given = given();
        let mut moves = cluster("c");
        let gold = crate::model::api::DataStoreChoice {
            name: Some("gold".to_owned()),
            migrate: true,
            ..Default::default()
        };
        moves.spec.data_store = Some(gold);
        given.fleet.clusters.insert(name("c"), moves);
        let decision = Decision::Keep { worker: name("w") };
        let of =
            |given: &Given| data_store(given.input(), &name("c"), &decision).map(ToOwned::to_owned);
        assert_eq!(of(&given).as_deref(), Some("gold"));
        let reason = GateReason::CheckFailed;
        given.gates = vec![Gate { name: name("c"), reason, findings: Vec::new() }];
        assert_eq!(of(&given).as_deref(), Some("default"));
    }
}
