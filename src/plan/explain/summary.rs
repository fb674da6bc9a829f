//! The table in one line, as users of Kubernetes know it.

use std::collections::{BTreeMap, BTreeSet};

use super::WorkerVerdict;
use crate::model::Name;

/// The line while nothing new is placed: whatever the workers say, none is available.
pub(super) fn held(workers: &BTreeMap<Name, WorkerVerdict>) -> String {
    let all = workers.len();
    format!(
        "0/{all} workers are available: nothing new is placed while a policy or class does not load."
    )
}

/// `0/3 workers are available: 1 worker(s) had untolerated taint {k=v:NoSchedule}, 2 worker(s) did not
/// match the placement affinity.`: sorted by count, then text. A worker that is doubly unfit counts
/// for each of its reasons. (As kube-scheduler's `FitError` sorts them.)
pub(super) fn line(workers: &BTreeMap<Name, WorkerVerdict>) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut available = 0;
    for verdict in workers.values() {
        match verdict {
            WorkerVerdict::Fits(_) => available += 1,
            WorkerVerdict::Refused(reasons) => {
                let texts: BTreeSet<_> =
                    reasons.iter().map(crate::model::Reason::summary).collect();
                for text in texts {
                    *counts.entry(text).or_default() += 1;
                }
            }
        }
    }
    let head = format!("{available}/{} workers are available", workers.len());
    if workers.is_empty() {
        return format!("{head}: the fleet has no worker.");
    }
    if counts.is_empty() {
        return format!("{head}.");
    }
    let mut counts: Vec<_> = counts.into_iter().map(|(text, count)| (count, text)).collect();
    counts.sort();
    let counts: Vec<_> =
        counts.iter().map(|(count, text)| format!("{count} worker(s) {text}")).collect();
    format!("{head}: {}.", counts.join(", "))
}

#[cfg(test)]
mod tests {
    use crate::plan::world::World;

    fn line(world: &str) -> String {
        World::read(world).explain("a").summary.expect("the cluster has a table")
    }

    #[test]
    fn the_line_reads_as_users_know_it() {
        assert_eq!(
            line(
                "worker w1 taint:k=v:NoSchedule; worker w2; worker w3 at=eastus;
                  cluster a at=westus only=w1"
            ),
            "0/3 workers are available: 1 worker(s) had untolerated taint {k=v:NoSchedule}, \
             2 worker(s) did not match the placement affinity."
        );
        assert_eq!(line("cluster a"), "0/0 workers are available: the fleet has no worker.");
        assert_eq!(line("worker w1; cluster a"), "1/1 workers are available.");
    }

    #[test]
    fn equal_counts_are_sorted_by_their_text() {
        assert_eq!(
            line("worker w1 cordoned; worker w2 1/1; cluster a"),
            "0/2 workers are available: 1 worker(s) had insufficient clusters, \
             1 worker(s) were unschedulable."
        );
    }

    #[test]
    fn while_nothing_new_is_placed_no_worker_is_available() {
        let held = "worker w1; worker w2; cluster a; unloaded PlacementPolicy ? blocking";
        assert_eq!(
            line(held),
            "0/2 workers are available: nothing new is placed while a policy or class does not load."
        );
    }

    #[test]
    fn a_doubly_unfit_worker_counts_for_each_reason_and_once_for_alike_ones() {
        assert_eq!(
            line("worker w1 1/1 cordoned; cluster a only=w9 not=w1"),
            "0/1 workers are available: 1 worker(s) did not match the placement affinity, \
             1 worker(s) had insufficient clusters, 1 worker(s) were unschedulable."
        );
    }
}
