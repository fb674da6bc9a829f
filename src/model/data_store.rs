//! The data stores of a worker: which there are, how much one takes, and which one a cluster is in.

use std::collections::BTreeMap;

use super::api::{DataStore, DataStoreChoice};
use super::{Cluster, Digest, Quantity, Worker};

/// The store that every worker has that hosts control planes.
pub const DEFAULT_DATA_STORE: &str = "default";
/// The members of a store: one may be lost, and one be away for a while at another time.
pub const DATA_STORE_MEMBERS: u32 = 3;

/// A gibibyte.
const GIB: i64 = 1 << 30;
/// The disk of a member of which nobody says anything: that of its chart (clastix/kamaji-etcd, `values.yaml`).
const DEFAULT_SIZE: i64 = 8 * GIB;
/// The most that etcd is meant to hold (etcd, "System limits").
const MOST: i128 = 8 << 30;

impl DataStore {
    /// The disk of each member.
    #[must_use]
    pub fn disk(&self) -> Quantity {
        self.size.unwrap_or(Quantity::units(DEFAULT_SIZE))
    }

    /// How many bytes it takes before it takes no more writes: four fifths of the disk, on which there are also the
    /// log of writes and snapshots of its own. An etcd whose disk is full does not start any more; one that has used
    /// its quota goes on answering, and room can be made.
    #[must_use]
    pub fn quota(&self) -> i128 {
        (self.disk().thousandths() / 1000 * 4 / 5).min(MOST)
    }
}

impl Worker {
    /// How many bytes one of its stores takes before it takes no more writes. Of `default`, where the Worker says
    /// nothing of it, that is as large as its disk, as its chart has it. `None` where the worker has no such store.
    #[must_use]
    pub fn data_store_quota(&self, name: &str) -> Option<Quantity> {
        let listed = self.spec.data_stores.iter().find(|store| store.name == name);
        let bytes = match listed {
            Some(store) => i64::try_from(store.quota()).ok()?,
            None if name == DEFAULT_DATA_STORE => DEFAULT_SIZE,
            None => return None,
        };
        Some(Quantity::units(bytes))
    }

    /// The names of its stores, `default` first, whether it is told of or not.
    pub fn data_stores(&self) -> impl Iterator<Item = &str> {
        let listed = self.spec.data_stores.iter().map(|store| store.name.as_str());
        std::iter::once(DEFAULT_DATA_STORE).chain(listed.filter(|name| *name != DEFAULT_DATA_STORE))
    }

    /// Its stores that a choice may be about, `default` first.
    pub fn data_stores_for<'a>(
        &'a self,
        choice: &'a DataStoreChoice,
    ) -> impl Iterator<Item = &'a str> {
        self.data_stores().filter(move |name| {
            let store = self.spec.data_stores.iter().find(|store| store.name == **name);
            let none = BTreeMap::new();
            let labels = store.map_or(&none, |store| &store.labels);
            choice.name.as_deref().is_none_or(|wanted| wanted == *name)
                && choice.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
        })
    }
}

/// The data store that a cluster is in on a worker, whose document is there or not. `kept` is the one that it is in
/// already: it stays there unless its own document moves it. `None` where the worker has no such store.
///
/// Of several that fit, the one is taken whose hash with the cluster's name is the greatest (rendezvous hashing): no
/// cluster need be counted, and a store that is new or gone changes nothing for the clusters of the others.
#[must_use]
pub fn data_store_of<'a>(
    cluster: &'a Cluster,
    worker: Option<&'a Worker>,
    kept: Option<&'a str>,
) -> Option<&'a str> {
    let choice = cluster.spec.data_store.as_ref();
    let moves = choice.filter(|choice| choice.migrate).and_then(|choice| choice.name.as_deref());
    let named = moves.or(kept).or_else(|| choice.is_none().then_some(DEFAULT_DATA_STORE));
    match (named, choice, worker) {
        (Some(name), _, Some(worker)) => {
            worker.data_stores().any(|own| own == name).then_some(name)
        }
        (Some(name), _, None) => Some(name),
        (None, Some(choice), Some(worker)) => {
            let weight = |name: &&str| Digest::of(format!("{}/{name}", cluster.name).as_bytes());
            worker.data_stores_for(choice).max_by_key(weight)
        }
        (None, choice, None) => choice.and_then(|choice| choice.name.as_deref()),
        (None, None, Some(_)) => Some(DEFAULT_DATA_STORE),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Catalogue, Name, Resources};
    use super::*;
    use crate::model::api::{ManagedClusterSpec, WorkerSpec};

    fn worker(stores: &[(&str, &str)]) -> Worker {
        let store = |(name, tier): &(&str, &str)| DataStore {
            name: (*name).to_owned(),
            labels: [("tier".to_owned(), (*tier).to_owned())].into(),
            ..DataStore::default()
        };
        let spec =
            WorkerSpec { data_stores: stores.iter().map(store).collect(), ..WorkerSpec::default() };
        Worker {
            name: Name::parse("w1").unwrap(),
            labels: crate::model::SharedMap::new(),
            facts: Digest::of(b""),
            file: String::new(),
            document: 0,
            spec: spec.into(),
            heartbeat_timeout_seconds: 3600,
            made_by: None,
            catalogue: Catalogue::default(),
        }
    }

    /// `gold`, `tier=gold`, `gold!` with a migration, or nothing.
    fn cluster(name: &str, choice: &str) -> Cluster {
        let labels = choice.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
        let plain = choice.trim_end_matches('!');
        let data_store = (!choice.is_empty()).then(|| DataStoreChoice {
            name: labels.is_none().then(|| plain.to_owned()),
            match_labels: labels.into_iter().collect(),
            migrate: plain != choice,
        });
        Cluster {
            name: Name::parse(name).unwrap(),
            tenant: "default".to_owned(),
            labels: [].into(),
            facts: Digest::of(b""),
            file: String::new(),
            document: 0,
            spec: ManagedClusterSpec { data_store, ..ManagedClusterSpec::default() }.into(),
            catalogue: Catalogue::default(),
            demand: Resources::new(),
        }
    }

    #[test]
    fn a_new_cluster_is_in_the_store_that_it_chooses() {
        let worker = worker(&[("gold", "gold"), ("iron", "iron")]);
        for (choice, store) in [
            ("", Some("default")),
            ("iron", Some("iron")),
            ("default", Some("default")),
            ("tier=gold", Some("gold")),
            ("tier=none", None),
            ("none", None),
        ] {
            assert_eq!(
                data_store_of(&cluster("a", choice), Some(&worker), None),
                store,
                "{choice}"
            );
        }
    }

    #[test]
    fn a_placed_cluster_stays_unless_it_says_that_it_goes() {
        let worker = worker(&[("gold", "gold"), ("iron", "iron")]);
        for (choice, kept, store) in [
            ("", "gold", Some("gold")),
            ("gold", "default", Some("default")),
            ("tier=gold", "iron", Some("iron")),
            ("gold!", "default", Some("gold")),
            ("none!", "default", None),
            ("tier=gold", "gone", None),
        ] {
            let found = cluster("a", choice);
            assert_eq!(data_store_of(&found, Some(&worker), Some(kept)), store, "{choice} {kept}");
        }
        let found = cluster("a", "gold");
        assert_eq!(data_store_of(&found, None, Some("iron")), Some("iron"), "it did not load");
    }

    #[test]
    fn clusters_are_over_all_stores_that_fit_and_another_store_moves_few() {
        let two = worker(&[("a", "gold"), ("b", "gold")]);
        let three = worker(&[("a", "gold"), ("b", "gold"), ("c", "gold")]);
        let names: Vec<_> = (0..300).map(|i| cluster(&format!("c{i}"), "tier=gold")).collect();
        let of = |worker: &Worker| -> Vec<String> {
            let store = |c| data_store_of(c, Some(worker), None).unwrap().to_owned();
            names.iter().map(store).collect()
        };
        let (before, after) = (of(&two), of(&three));
        for store in ["a", "b", "c"] {
            let there = after.iter().filter(|s| *s == store).count();
            assert!((70..130).contains(&there), "{store}: {there}");
        }
        let moved = before.iter().zip(&after).filter(|(b, a)| b != a);
        assert!(moved.clone().all(|(_, a)| a == "c"), "only to the one that is new");
        assert!(moved.count() > 0);
    }

    #[test]
    fn the_quota_is_below_the_disk_and_no_more_than_etcd_holds() {
        let quota = |size: &str| {
            let size = (!size.is_empty()).then(|| size.parse().unwrap());
            DataStore { size, ..DataStore::default() }.quota()
        };
        assert_eq!(quota(""), 6_871_947_673);
        assert_eq!(quota("4Gi"), 3_435_973_836);
        assert_eq!(quota("10Gi"), 8 << 30);
        assert_eq!(quota("64Gi"), 8 << 30);
    }

    #[test]
    fn a_worker_knows_how_much_each_of_its_stores_takes() {
        let worker = worker(&[("gold", "gold")]);
        let told = |name: &str| worker.data_store_quota(name).map(|quota| quota.to_string());
        assert_eq!(told("gold").as_deref(), Some("6871947673"));
        assert_eq!(told("default").as_deref(), Some("8Gi"), "as its chart has it");
        assert_eq!(told("iron"), None);
    }
}
