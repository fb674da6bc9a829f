//! Whether a change of a cluster is its own matter: nothing that is decided about others reads what changed.

use std::collections::BTreeSet;

use crate::model::{Cluster, ClusterRow, ClusterState, DEFAULT_DATA_STORE, IndexRow, Name};

/// Whether all that others read of a placed cluster is as the lock of its worker says: what it takes, and what
/// rules of spread, anti-affinity and quota and the policies' selectors compare. What its own decision reads
/// may be another, for that is looked at.
pub(super) fn is_neutral(
    row: &ClusterRow,
    cluster: &Cluster,
    label_keys: &BTreeSet<String>,
) -> bool {
    let stands = row.state == ClusterState::Bound
        && row.folder.is_some()
        && row.deletion.is_none()
        && row.moves.is_none()
        && !row.suspended;
    let seen = |row: &IndexRow| seen_by_others(row, label_keys);
    stands
        && !changes_store(row, cluster)
        && row.demand == cluster.demand
        && seen(&row.row) == seen(&cluster.index_row())
}

/// Whether the domains over which a placed cluster is spread are what they were: it adds no terms or pools of
/// its own to what its policy says, and added none before. `narrowed` are those that did; `None` where no rule of
/// spread refuses anything.
pub(super) fn is_spread_alike(cluster: &Cluster, narrowed: Option<&BTreeSet<Name>>) -> bool {
    narrowed.is_none_or(|narrowed| !narrowed.contains(&cluster.name) && !cluster.spec.narrows())
}

/// Whether a placed cluster goes to another data store: its worker says how many clusters are in each.
fn changes_store(row: &ClusterRow, cluster: &Cluster) -> bool {
    let moves = cluster.spec.data_store.as_ref().filter(|choice| choice.migrate);
    let to = moves.and_then(|choice| choice.name.as_deref());
    to.is_some_and(|to| to != row.data_store.as_deref().unwrap_or(DEFAULT_DATA_STORE))
}

/// What others read of a cluster: labels of which rules speak, and all else but its version and what its
/// removal would do.
fn seen_by_others(row: &IndexRow, label_keys: &BTreeSet<String>) -> IndexRow {
    let read = row.labels.iter().filter(|(key, _)| label_keys.contains(*key));
    let labels = read.map(|(key, value)| (key.clone(), value.clone())).collect();
    IndexRow { labels, version: String::new(), deletion_policy: None, ..row.clone() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::model::api::{
        DataStoreChoice, DeletionPolicy, ManagedClusterSpec, SpreadConstraint,
    };
    use crate::model::{Digest, Id, Quantity};

    fn cluster() -> Cluster {
        Cluster {
            name: Name::parse("a").unwrap(),
            tenant: "shop".to_owned(),
            labels: [("team".to_owned(), "x".to_owned())].into(),
            facts: Digest::of(b"a"),
            file: "a.yaml".to_owned(),
            document: 0,
            spec: ManagedClusterSpec {
                version: "v1.34.2".to_owned(),
                ..ManagedClusterSpec::default()
            }
            .into(),
            catalogue: crate::model::Catalogue::default(),
            demand: [("clusters".to_owned(), Quantity::units(1))].into(),
        }
    }

    fn row() -> ClusterRow {
        let cluster = cluster();
        ClusterRow {
            state: ClusterState::Bound,
            deletion: None,
            moves: None,
            suspended: false,
            facts: cluster.facts,
            render_key: Digest::of(b"key"),
            folder: Some(Id::EMPTY_DIR),
            files: BTreeMap::new(),
            record: None,
            versions: None,
            group: None,
            data_store: None,
            demand: cluster.demand.clone(),
            row: cluster.index_row(),
        }
    }

    fn neutral(change: impl Fn(&mut Cluster)) -> bool {
        let mut cluster = cluster();
        change(&mut cluster);
        is_neutral(&row(), &cluster, &["team".to_owned()].into())
    }

    #[test]
    fn what_nobody_else_reads_is_the_clusters_own_matter() {
        assert!(neutral(|_| {}));
        assert!(neutral(|c| c.spec.version = "v1.34.3".to_owned()));
        assert!(neutral(|c| c.spec.deletion_policy = Some(DeletionPolicy::Delete)));
        assert!(neutral(|c| c.spec.paused = true));
        assert!(neutral(|c| drop(c.labels.insert("note".to_owned(), "1".to_owned()))));
    }

    #[test]
    fn what_others_read_is_not() {
        let label = |c: &mut Cluster| drop(c.labels.insert("team".to_owned(), "y".to_owned()));
        assert!(!neutral(label), "a label that a rule reads");
        assert!(!neutral(|c| c.labels.clear()));
        assert!(!neutral(|c| c.tenant = "other".to_owned()));
        assert!(!neutral(|c| c.spec.location = "eastus".to_owned()));
        assert!(!neutral(|c| c.spec.priority = Some(1)));
        assert!(!neutral(|c| c.spec.class = Some("large".to_owned())));
        assert!(!neutral(|c| c.demand.extend([("cpu".to_owned(), Quantity::units(1))])));
        let own = |c: &mut Cluster| {
            let rule = SpreadConstraint { max_skew: 1, ..SpreadConstraint::default() };
            c.spec.placement.get_or_insert_default().spread.push(rule);
        };
        assert!(!neutral(own), "a rule of its own");
    }

    #[test]
    fn another_data_store_is_told_of_its_worker() {
        let choice = |name: &str, migrate| {
            let (name, match_labels) = (Some(name.to_owned()), BTreeMap::new());
            DataStoreChoice { name, match_labels, migrate }
        };
        assert!(neutral(|c| c.spec.data_store = Some(choice("gold", false))), "it stays");
        assert!(neutral(|c| c.spec.data_store = Some(choice("default", true))), "it is there");
        assert!(!neutral(|c| c.spec.data_store = Some(choice("gold", true))));
    }

    #[test]
    fn who_narrows_where_it_is_spread_is_looked_at_with_everything() {
        let nobody = BTreeSet::new();
        let mut narrows = cluster();
        narrows.spec.placement.get_or_insert_default().pools.push("blue".to_owned());
        assert!(is_spread_alike(&cluster(), Some(&nobody)));
        assert!(!is_spread_alike(&narrows, Some(&nobody)), "it does now");
        assert!(!is_spread_alike(&cluster(), Some(&[cluster().name].into())), "it did before");
        assert!(is_spread_alike(&narrows, None), "nothing is spread");
    }

    #[test]
    fn what_is_on_its_way_is_looked_at_with_everything() {
        let of = |row: ClusterRow| is_neutral(&row, &cluster(), &BTreeSet::new());
        assert!(of(row()));
        assert!(!of(ClusterRow { state: ClusterState::Deleting, ..row() }));
        assert!(!of(ClusterRow { state: ClusterState::Reserved, ..row() }));
        assert!(!of(ClusterRow { folder: None, ..row() }));
        assert!(!of(ClusterRow { suspended: true, ..row() }));
    }
}
