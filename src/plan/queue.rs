//! The clusters that wait for a worker, in the order in which they are served: priority, then who was
//! seen first, then the name.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::PlanInput;
use super::signature::AlikeNumber;
use crate::model::api::{OnViolation, SpreadConstraint};
use crate::model::{
    Cluster, ClusterPlan, Decision, Fleet, Name, PendingRow, Policy, Proposal, WorkerPlan,
};

/// One cluster in the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting<'a> {
    /// The cluster.
    pub(super) cluster: &'a Cluster,
    /// What the last run recorded of it; `None` for a new one.
    pub(super) row: Option<&'a PendingRow>,
    /// Its place among all desired clusters, in the order of their names.
    pub(super) place: u32,
    /// Whether the last run said why it waits, and nothing has changed since.
    pub(super) known: bool,
    /// With whom it is alike; `None` where nobody asked, and where it is looked at for itself.
    pub(super) alike: Option<AlikeNumber>,
}

impl Waiting<'_> {
    /// Whether everything that a decision reads of the cluster is as the last run recorded it. The
    /// digest of the document does not cover what comes from its class; the demand and the row do.
    pub(super) fn is_unchanged(&self) -> bool {
        self.row.is_some_and(|row| {
            row.facts == self.cluster.facts
                && row.demand == self.cluster.demand
                && row.row == self.cluster.index_row()
        })
    }
}

/// The desired clusters without a worker, in the order in which they are served. Those that are new
/// come after those that were seen, by name.
pub(super) fn sort_queue<'a>(
    input: &PlanInput<'a>,
    placed: &BTreeMap<Name, ClusterPlan>,
) -> Vec<Waiting<'a>> {
    let wanted = (0..).zip(input.fleet.clusters.values());
    let wanted = wanted.filter(|(_, c)| !placed.contains_key(&c.name) && !is_kept(input, &c.name));
    let waiting = |(place, cluster): (u32, &'a Cluster)| {
        let row = input.previous.pending.clusters.get(&cluster.name);
        Waiting { cluster, row, place, known: false, alike: None }
    };
    let mut queue: Vec<_> = wanted.map(waiting).collect();
    queue.sort_by_key(|w| {
        let seen = w.row.map_or((true, 0), |row| (false, row.seen));
        (Reverse(w.cluster.spec.priority.unwrap_or(0)), seen, w.place)
    });
    queue
}

/// Whether a cluster that waits stays as it is recorded, for its record is not written.
fn is_kept(input: &PlanInput<'_>, name: &Name) -> bool {
    input.previous.kept.clusters.contains(name)
        && input.previous.pending.clusters.contains_key(name)
}

/// The place in the queue of each cluster that goes on waiting, of these in the order of their names. One that was seen keeps its own;
/// the new ones are counted on from the largest there is.
pub(super) fn number<'a: 'w, 'w>(
    input: &PlanInput<'a>,
    waiting: impl Iterator<Item = &'w Waiting<'a>>,
) -> impl Iterator<Item = u64> {
    let rows = input.previous.pending.clusters.values();
    let mut last = rows.map(|row| row.seen).max().unwrap_or(0);
    waiting.map(move |waiting| {
        waiting.row.map_or_else(
            || {
                last = last.saturating_add(1);
                last
            },
            |row| row.seen,
        )
    })
}

/// Where a cluster that waits stands among those that wait, from 1 on, and how many they are; `None` for one
/// that does not wait. The number in its record is never given again, so it says no more than who came first. Those that are
/// not in the plan stand behind it, but for those of which it is known that they wait before it.
#[must_use]
pub fn place_in_queue(proposal: &Proposal, name: &Name) -> Option<(usize, usize)> {
    let Proposal { fleet, plan, pending, ahead, .. } = proposal;
    let key = |name: &Name, planned: &ClusterPlan| {
        let Decision::Wait { seen, .. } = planned.decision else { return None };
        let priority = fleet.clusters.get(name).and_then(|cluster| cluster.spec.priority);
        Some((Reverse(priority.unwrap_or(0)), seen, name.clone()))
    };
    let own = key(name, plan.clusters.get(name)?)?;
    let all = plan.clusters.iter().filter_map(|(name, planned)| key(name, planned));
    let (before, of) =
        all.fold((0, 0), |(before, of), other| (before + usize::from(other < own), of + 1));
    let others: usize = pending.0.iter().map(|(_, names)| names.len()).sum();
    Some((before + ahead.len() + 1, of + others))
}

/// Whether nobody behind a cluster in the queue makes a difference to it: what no worker took when it was its turn waits on,
/// whoever comes after it. It is another matter where it may be let in by them, for the domain that had the fewest has more, or
/// where it comes once more, for a worker grows, is being made, or is left by a placed cluster.
#[must_use]
pub fn is_served_in_order<'n, 'w>(
    fleet: &Fleet,
    waiting: impl Iterator<Item = &'n Name>,
    mut workers: impl Iterator<Item = &'w WorkerPlan>,
) -> bool {
    let refuse = |spread: &[SpreadConstraint]| {
        spread.iter().any(|constraint| constraint.when_unsatisfiable.refuses())
    };
    let is_plain = |policy: &Policy| {
        policy.spec.on_violation != OnViolation::Move && !refuse(&policy.spec.spread)
    };
    let mut clusters = waiting.filter_map(|name| fleet.clusters.get(name));
    fleet.policies.values().all(is_plain)
        && !clusters.any(|cluster| refuse(cluster.spec.own_spread()))
        && workers.all(|worker| worker.ceiling.is_empty() && worker.pending.is_none())
}

/// What becomes of the clusters that waited and are not desired any more: they are forgotten. While
/// something did not load, or where their record is not written, they stay as they were recorded.
pub(super) fn left(
    input: &PlanInput<'_>,
    placed: &BTreeMap<Name, ClusterPlan>,
) -> BTreeMap<Name, ClusterPlan> {
    let rows = input.previous.pending.clusters.iter();
    let gone = rows.filter(|(name, _)| {
        let desired = input.fleet.clusters.contains_key(*name) && !is_kept(input, name);
        !desired && !placed.contains_key(*name)
    });
    let decide = |(name, row): (&Name, &PendingRow)| {
        let decision = if !input.deletions_wait_of(&row.row.tenant) && !is_kept(input, name) {
            Decision::Forget
        } else {
            Decision::Wait { seen: row.seen, reasons: row.reasons.clone() }
        };
        let planned = ClusterPlan::new(decision, row.demand.clone());
        (name.clone(), planned)
    };
    gone.map(decide).collect()
}

#[cfg(test)]
mod tests {
    use super::sort_queue;
    use crate::plan::world::{World, check};

    #[test]
    fn priority_goes_first_then_who_was_seen_first_then_the_name() {
        let one = "worker w1 0/1;";
        check(&format!("{one} cluster b; cluster a"), "a -> w1; b waits Capacity");
        check(&format!("{one} cluster a seen=2; cluster b seen=1"), "a waits Capacity; b -> w1");
        check(&format!("{one} cluster a; cluster b seen=7"), "a waits Capacity; b -> w1");
        check(
            &format!("{one} cluster a seen=1; cluster b priority=1"),
            "a waits Capacity; b -> w1",
        );
        check(&format!("{one} cluster a priority=-1; cluster b"), "a waits Capacity; b -> w1");
    }

    #[test]
    fn a_lock_says_the_same_order() {
        let world = World::read(
            "cluster a seen=5; cluster b seen=2; cluster c seen=9 priority=1; cluster d seen=2 priority=-1",
        );
        let queue = sort_queue(&world.input(), &[].into());
        let served = queue.iter().map(|waiting| waiting.cluster.name.to_string());
        let said = world.previous.pending.queue().into_iter().map(|(name, _)| name.to_string());
        let said: Vec<_> = said.collect();
        assert_eq!(said, served.collect::<Vec<_>>());
        assert_eq!(said, ["c", "b", "a", "d"]);
    }

    #[test]
    fn new_ones_are_counted_on_by_name_and_nobody_is_renumbered() {
        check(
            "cluster d seen=4; cluster b seen=9; cluster c; cluster a",
            "a waits NoWorkers #10; b waits NoWorkers #9; c waits NoWorkers #11; d waits NoWorkers #4",
        );
        check("cluster a", "a waits NoWorkers #1");
    }

    #[test]
    fn one_that_waited_and_is_gone_is_forgotten() {
        check("worker w1; cluster a seen=1 gone", "a forgotten");
    }

    #[test]
    fn nothing_is_forgotten_while_something_did_not_load() {
        check("worker w1; cluster a seen=3 gone; unloaded ManagedCluster a", "a waits Taint #3");
        check("worker w1; cluster a seen=3 gone; unloaded ManagedCluster x", "a waits Taint #3");
        check("worker w1; cluster a seen=3 gone; lost w1", "a waits Taint #3");
    }

    #[test]
    fn one_whose_record_is_kept_goes_on_waiting_whatever_there_is() {
        check("worker w1; cluster a seen=3; kept cluster a", "a waits Taint #3");
        check("worker w1; cluster a seen=3 gone; kept cluster a", "a waits Taint #3");
    }
}
