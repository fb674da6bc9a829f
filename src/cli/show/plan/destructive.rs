//! What cannot be undone, by name, in a comment on a pull request.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::super::count;
use super::{Action, ClusterChange, PlanView};
use crate::model::Name;

/// Up to so many stand each on a line of its own.
const EACH: usize = 5;
/// The most names in all.
const NAMES: usize = 300;

/// Each deletion and each move by its name; many in a line for each pair of workers, and where these are many too,
/// in one for the deletions and one for the moves.
pub(super) fn markdown(view: &PlanView<'_>) -> String {
    let gone = |change: &&ClusterChange| matches!(change.action, Action::Delete | Action::Move);
    let all: Vec<_> = view.clusters.iter().filter(gone).collect();
    if all.is_empty() {
        return String::new();
    }
    let mut out = String::from("\n> [!CAUTION]\n");
    for line in lines(view, &all) {
        let _ = writeln!(out, "> - {line}");
    }
    if all.len() > NAMES {
        let _ = writeln!(out, "> - {NAMES} of {} are named", all.len());
    }
    out
}

fn lines(view: &PlanView<'_>, all: &[&ClusterChange]) -> Vec<String> {
    if all.len() <= EACH {
        return all.iter().map(|change| one(view, change)).collect();
    }
    let mut by_worker: BTreeMap<_, Vec<&ClusterChange>> = BTreeMap::new();
    let mut by_action: BTreeMap<_, Vec<&ClusterChange>> = BTreeMap::new();
    for change in all.iter().take(NAMES) {
        by_worker.entry((change.action, &change.from, &change.to)).or_default().push(change);
        by_action.entry(change.action).or_default().push(change);
    }
    if by_worker.len() <= EACH {
        by_worker.into_values().map(|of| many(&of)).collect()
    } else {
        by_action.into_values().map(|of| many(&of)).collect()
    }
}

fn one(view: &PlanView<'_>, change: &ClusterChange) -> String {
    let name = &change.name;
    match (change.action, &change.from, &change.to) {
        (Action::Move, Some(from), Some(to)) => {
            format!("moves cluster `{name}` from `{from}` to `{to}`")
        }
        (_, Some(from), _) => {
            format!("deletes cluster `{name}`{} on `{from}`", pools(view, name))
        }
        _ => format!("deletes cluster `{name}`"),
    }
}

fn pools(view: &PlanView<'_>, cluster: &Name) -> String {
    let pools = view.proposal.fleet.clusters.get(cluster).map(|c| c.spec.node_pools.len() as u64);
    pools.map(|n| format!(" ({})", count(n, "node pool"))).unwrap_or_default()
}

/// Many of one action.
fn many(of: &[&ClusterChange]) -> String {
    let names: Vec<_> = of.iter().map(|change| format!("`{}`", change.name)).collect();
    let end = |of: BTreeSet<&Name>| match of.len() {
        1 => of.first().map(|only| format!("`{only}`")).unwrap_or_default(),
        more => count(more as u64, "worker"),
    };
    let from = end(of.iter().filter_map(|change| change.from.as_ref()).collect());
    let to = end(of.iter().filter_map(|change| change.to.as_ref()).collect());
    let clusters = count(of.len() as u64, "cluster");
    let what = match of.first().map(|change| change.action) {
        Some(Action::Move) => format!("moves {clusters} from {from} to {to}"),
        _ => format!("deletes {clusters} on {from}"),
    };
    format!("{what}: {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn told(all: Vec<ClusterChange>) -> String {
        let proposal = sample::unchanged();
        let mut view = PlanView::of(&proposal, "fleet", "", &[]);
        view.clusters = all;
        markdown(&view)
    }

    fn deleted(number: usize, from: &str) -> ClusterChange {
        let name = |text: &str| Name::parse(text).unwrap();
        ClusterChange {
            name: name(&format!("c{number:03}")),
            action: Action::Delete,
            from: Some(name(from)),
            to: None,
            why: String::new(),
            update: None,
        }
    }

    #[test]
    fn all_are_named_in_few_lines() {
        assert_eq!(told(Vec::new()), "");
        let few = told((0..2).map(|n| deleted(n, "w1")).collect());
        let lines = "> - deletes cluster `c000` on `w1`\n> - deletes cluster `c001` on `w1`\n";
        assert_eq!(few, format!("\n> [!CAUTION]\n{lines}"));
        let of_a_worker = told((0..7).map(|n| deleted(n, "w1")).collect());
        let names: Vec<_> = (0..7).map(|n| format!("`c00{n}`")).collect();
        let line = format!("> - deletes 7 clusters on `w1`: {}\n", names.join(", "));
        assert_eq!(of_a_worker, format!("\n> [!CAUTION]\n{line}"));
        let of_all = told((0..400).map(|n| deleted(n, &format!("w{n}"))).collect());
        assert_eq!(of_all.lines().count(), 4, "{of_all}");
        assert!(of_all.contains("deletes 300 clusters on 300 workers: `c000`, `c001`"), "{of_all}");
        assert!(of_all.ends_with("> - 300 of 400 are named\n"), "{of_all}");
    }
}
