//! `duplicate-name`: identity is kind and name, and `ManagedCluster`s and Workers share one set of names
//! (both become folders and namespaces). Of several of one name none has effect: nobody could say
//! which was meant.

use std::collections::BTreeMap;

use crate::diag::{Code, Diagnostic, FieldPath};
use crate::load::document::Item;
use crate::load::kind::Kind;

/// Looks at all documents at once. Each but the first gets a finding that names both places; the first
/// is returned to be left out as well. What has taken somebody else's name is left out already.
pub(in crate::load) fn check(items: &mut [Item], taken: &[usize]) -> Vec<usize> {
    let mut first = BTreeMap::new();
    let mut left_out = Vec::new();
    for at in (0..items.len()).filter(|at| taken.binary_search(at).is_err()) {
        let (Some(kind), Some(name)) = (&items[at].kind, &items[at].name) else { continue };
        let Some(kind) = Kind::named(kind) else { continue };
        let shared = if kind == Kind::Worker { Kind::ManagedCluster } else { kind };
        let key = (shared, name.clone());
        let Some(&before) = first.get(&key) else {
            first.insert(key, at);
            continue;
        };
        let earlier: &Item = &items[before];
        let place = |item: &Item| item.findings.source.place(FieldPath::keys("metadata.name"));
        let other = earlier.kind.clone().unwrap_or_default();
        let message = format!("there is already a {other} called `{name}`");
        let finding = Diagnostic::new(Code::DuplicateName, message)
            .at(place(&items[at]))
            .related(place(earlier), "the other one")
            .help("rename one of the two, or remove it; until then neither has effect");
        left_out.push(before);
        items[at].findings.list.push(finding);
    }
    left_out.sort_unstable();
    left_out.dedup();
    left_out
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{class, cluster, files_find, load_fleet, worker};
    use super::*;

    #[test]
    fn of_two_of_one_name_neither_loads_and_both_are_named() {
        let files = [("fleet/a.yaml", &*cluster("")), ("fleet/b.yaml", &*cluster(""))];
        let found = files_find(&files, Code::DuplicateName, "metadata.name");
        assert_eq!(found.place.unwrap().file, "fleet/b.yaml");
        assert_eq!(found.related[0].0.file, "fleet/a.yaml");
        let fleet = load_fleet(&files).fleet;
        assert!(fleet.clusters.is_empty());
        assert_eq!(fleet.unloaded.len(), 2);
    }

    #[test]
    fn a_cluster_and_a_worker_share_their_names() {
        let text = format!("{}---\n{}", worker(""), cluster("").replace("pay-eu", "w1"));
        let fleet = load_fleet(&[("fleet/a.yaml", &text)]).fleet;
        assert!(fleet.clusters.is_empty() && fleet.workers.is_empty());
        let text = format!("{}---\n{}", class("pay-eu", ""), cluster(""));
        assert!(load_fleet(&[("fleet/a.yaml", &text)]).diagnostics.is_empty());
    }

    #[test]
    fn one_that_is_broken_counts() {
        let broken = cluster("colour: red\n  ");
        let files = [("fleet/a.yaml", &*broken), ("fleet/b.yaml", &*cluster(""))];
        files_find(&files, Code::DuplicateName, "metadata.name");
        assert!(load_fleet(&files).fleet.clusters.is_empty());
    }
}
