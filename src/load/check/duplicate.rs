//! `duplicate-name`: identity is kind and name, and `ManagedCluster`s and Workers share one set of names
//! (both become folders and namespaces). Of several of one name none has effect: nobody could say
//! which was meant.

use std::collections::BTreeMap;

use crate::diag::{Code, Diagnostic, FieldPath, Place};
use crate::load::item::Item;
use crate::load::kind::Kind;
use crate::load::names::HeldNames;

/// Looks at all documents at once. Each but one gets a finding that names both places; that one is returned to
/// be left out as well. What has taken somebody else's name is left out already.
pub(in crate::load) fn check(
    items: &mut [Item],
    taken: &[usize],
    names: &HeldNames<'_>,
) -> Vec<usize> {
    let mut groups: BTreeMap<(Kind, String), Vec<usize>> = BTreeMap::new();
    for at in (0..items.len()).filter(|at| taken.binary_search(at).is_err()) {
        let (Some(kind), Some(name)) = (&items[at].kind, &items[at].name) else { continue };
        let Some(kind) = Kind::named(kind) else { continue };
        let shared = if kind == Kind::Worker { Kind::ManagedCluster } else { kind };
        groups.entry((shared, name.clone())).or_default().push(at);
    }
    let mut left_out = Vec::new();
    for ((_, name), group) in groups.into_iter().filter(|(_, group)| group.len() > 1) {
        let known = known(items, &group, &name, names);
        let stays = known.or_else(|| group.first().copied()).unwrap_or_default();
        for at in group.into_iter().filter(|at| *at != stays) {
            let word = if known.is_some() { "this one was there before" } else { "the other one" };
            let finding = finding(&name, &items[at], &items[stays], word);
            items[at].findings.list.push(finding);
        }
        left_out.push(stays);
    }
    left_out.sort_unstable();
    left_out
}

/// The one of several of a name that has it already: what the last run saw, else the only one of the kind that
/// it saw. Who is told of is whoever came later.
fn known(items: &[Item], group: &[usize], name: &str, names: &HeldNames<'_>) -> Option<usize> {
    let only = |is: &dyn Fn(&Item) -> bool| {
        let mut all = group.iter().copied().filter(|at| is(&items[*at]));
        all.next().filter(|_| all.next().is_none())
    };
    let held = names.holder(name)?;
    let is_kind = |item: &Item| item.kind.as_deref() == Some(held.kind.name());
    let is_same = |item: &Item| {
        is_kind(item) && item.body.as_ref().is_some_and(|body| Some(body.digest) == held.facts)
    };
    only(&is_same).or_else(|| only(&is_kind))
}

fn finding(name: &str, item: &Item, other: &Item, word: &str) -> Diagnostic {
    let place =
        |item: &Item| -> Place { item.findings.source.place(FieldPath::keys("metadata.name")) };
    let kind = other.kind.clone().unwrap_or_default();
    Diagnostic::new(Code::DuplicateName, format!("there is already a {kind} called `{name}`"))
        .at(place(item))
        .related(place(other), word)
        .help("rename one of the two, or remove it; until then neither has effect")
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
