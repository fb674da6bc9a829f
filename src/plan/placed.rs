//! What becomes of the clusters that have a worker: they stay. Labels, scores, a lower capacity, a new
//! worker or an edited policy never move one; only its removal by a person starts its deletion, and only
//! what [`moving`](super::moving) names may leave.

use std::collections::BTreeMap;

use super::deletion::{self, Deletions};
use super::holds::Holds;
use super::moves::{self, Moves};
use super::occupancy::is_forgotten;
use super::ongoing::{Ongoing, is_removed, ongoing};
use super::pool_workers::is_lost;
use super::resize::{Resize, Resizes};
use super::transfer::{self, TransferVerdict};
use super::{PlanInput, version};
use crate::model::api::DeletionPolicy;
use crate::model::{
    ClusterPlan, ClusterRow, ClusterState, Decision, DeletionStep, HoldKind, Name, Progress,
};

/// What was decided about the clusters that have a worker.
#[derive(Debug)]
pub(super) struct Placed<'a> {
    pub(super) clusters: BTreeMap<Name, ClusterPlan>,
    /// Those on the move.
    pub(super) moves: Moves,
    /// Those that want another amount than they have.
    pub(super) resizes: Resizes<'a>,
    /// How many had to be looked at: those whose document, or what it comes to with its class, has
    /// changed.
    pub(super) evaluated: u64,
}

/// Decides about every placed cluster.
pub(super) fn decide<'a>(
    input: &PlanInput<'a>,
    deletions: &mut Deletions,
    holds: &mut Holds,
) -> Placed<'a> {
    let mut decided = BTreeMap::new();
    let mut resizes = Vec::new();
    let mut evaluated = 0;
    let moves_before = ongoing(input);
    let mut moves = Moves::new();
    for (worker, lock) in &input.previous.workers {
        for (name, row) in &lock.clusters {
            // A cluster on two workers counts on both and is decided where it is found first.
            if decided.contains_key(name) {
                continue;
            }
            let moving = moves_before.get(name).copied();
            // A name that is free again goes into the queue like a new one.
            let leaves = moving.filter(|one| goes_on(input, name, *one));
            let outcome = if let Some(one) = leaves {
                moves::decide(input, name, one, deletions, &mut moves)
            } else {
                let (worker, row) = moving.map_or((worker, row), |m| (m.from, m.row));
                let decision = of_row(input, name, worker, row, deletions, holds);
                decision.map(|decision| (worker, row, decision))
            };
            let Some((worker, row, decision)) = outcome else { continue };
            if let (Decision::Delete { step, .. }, ClusterState::Bound) = (&decision, row.state) {
                deletions.insert(name.clone(), deletion::begins(input, worker, *step));
            }
            if let (Decision::Move { step: Some(step), .. }, false) =
                (&decision, deletions.contains_key(name))
            {
                deletions.insert(name.clone(), deletion::begins(input, worker, *step));
            }
            let kept = matches!(decision, Decision::Keep { .. });
            let is_here = kept && moving.is_none();
            let starts = moves::starts(input, name, worker, row).filter(|_| is_here);
            moves.extend(starts.map(|one| (name.clone(), one)));
            let demand = row.demand.clone();
            let planned = decided.entry(name.clone()).or_insert(ClusterPlan::new(decision, demand));
            let Some(cluster) = input.fleet.clusters.get(name).filter(|_| kept) else { continue };
            evaluated += u64::from(cluster.facts != row.facts || cluster.demand != row.demand);
            let step = version::step(input, worker, row, cluster);
            let step = step.filter(|_| row.state != ClusterState::Reserved);
            planned.version = step.map(Box::new);
            let frozen = input.frozen.contains(name) || input.previous.kept.holds(name, worker);
            if cluster.demand != row.demand && !frozen {
                resizes.push(Resize { cluster, worker, from: &row.demand });
            }
        }
    }
    let resizes = Resizes::new(resizes);
    Placed { clusters: decided, moves, resizes, evaluated }
}

/// Whether a move that has begun goes on, or ends as one: a cluster that is removed goes nowhere, unless it may have been
/// handed over already.
fn goes_on(input: &PlanInput<'_>, name: &Name, one: Ongoing<'_>) -> bool {
    let ends =
        !one.transfers() || transfer::judge(input, name, one) == Some(TransferVerdict::CalledOff);
    !(ends && is_removed(input, name, &one.row.row.tenant))
}

/// What becomes of a cluster that is not on the move; `None` where its name is free again.
fn of_row(
    input: &PlanInput<'_>,
    name: &Name,
    worker: &Name,
    row: &ClusterRow,
    deletions: &Deletions,
    holds: &mut Holds,
) -> Option<Decision> {
    match row.state {
        ClusterState::Deleting => deleting(input, name, worker, deletions, holds),
        // Whom the worker keeps waiting too long is given another.
        ClusterState::Bound
            if is_lost(input, worker, row)
                && input.fleet.clusters.contains_key(name)
                && !input.previous.kept.holds(name, worker) =>
        {
            None
        }
        ClusterState::Reserved if is_removed(input, name, &row.row.tenant) => {
            Some(Decision::Forget)
        }
        ClusterState::Bound | ClusterState::Reserved => {
            Some(decision(input, name, worker, row, holds))
        }
    }
}

/// What becomes of a cluster whose deletion has begun; `None` where that is over and a cluster of that
/// name is wanted again.
fn deleting(
    input: &PlanInput<'_>,
    name: &Name,
    worker: &Name,
    deletions: &Deletions,
    holds: &mut Holds,
) -> Option<Decision> {
    let desired = input.fleet.clusters.contains_key(name);
    let deletion = deletions.get(name);
    match deletion.map(|deletion| deletion.progress) {
        Some(Progress::Ends(_)) => (!desired).then_some(Decision::Forget),
        Some(Progress::Cancelled) => Some(Decision::Keep { worker: worker.clone() }),
        _ => {
            if desired {
                holds.add(HoldKind::NameStillDeleting, name);
            }
            let step = deletion.and_then(|deletion| deletion.step).unwrap_or(DeletionStep::D1);
            Some(Decision::Delete { worker: worker.clone(), step })
        }
    }
}

fn decision(
    input: &PlanInput<'_>,
    name: &Name,
    worker: &Name,
    row: &ClusterRow,
    holds: &mut Holds,
) -> Decision {
    let keep = || Decision::Keep { worker: worker.clone() };
    let delete = |step| Decision::Delete { worker: worker.clone(), step };
    let desired = input.fleet.clusters.contains_key(name);
    if is_forgotten(input, name, worker, row) {
        return Decision::Forget;
    }
    if desired || input.fleet.is_broken(name, &row.row.tenant) {
        return keep();
    }
    if input.deletions_wait_of(&row.row.tenant) || input.previous.kept.holds(name, worker) {
        holds.add(HoldKind::DeletionsHeld, name);
        return keep();
    }
    match row.row.deletion_policy {
        Some(DeletionPolicy::Delete) => delete(DeletionStep::D1),
        Some(DeletionPolicy::Orphan) => delete(DeletionStep::Orphan),
        None => {
            holds.add(HoldKind::DeletionPolicyUnset, name);
            keep()
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::world::check;

    #[test]
    fn nothing_that_would_place_it_elsewhere_moves_a_placed_cluster() {
        let on = "cluster a on=w1";
        for world in [
            "worker w1; worker w2 at=eastus; cluster a on=w1 at=eastus",
            "worker w1; worker w2; cluster a on=w1 only=w2",
            "worker w1 label:zone=1; worker w2 label:zone=2; policy p with:zone=2; cluster a on=w1",
            "worker w1 8/5; worker w2; cluster a on=w1",
            "worker w1 7/9; worker w2 0/9; cluster a on=w1",
            "worker w1 cordoned taint:k=v:NoExecute; worker w2; cluster a on=w1",
            "worker w1 pool=x; worker w2 pool=y; tenant t pools=y; cluster a on=w1 tenant=t",
        ] {
            assert!(world.contains(on));
            check(world, "a on w1");
        }
    }

    #[test]
    fn a_removed_cluster_goes_when_its_last_policy_says_so() {
        check("worker w1; cluster a on=w1 gone policy=Delete", "a deletes w1");
        check("worker w1; cluster a on=w1 gone", "a on w1; hold DeletionPolicyUnset a");
    }

    #[test]
    fn a_cluster_that_is_being_deleted_still_takes_its_place() {
        check(
            "worker w1 0/1; cluster a on=w1 gone policy=Delete; cluster b",
            "a deletes w1; b waits Capacity",
        );
    }

    #[test]
    fn no_deletion_starts_while_something_did_not_load() {
        check(
            "worker w1; cluster a on=w1 gone policy=Delete; unloaded ManagedCluster x",
            "a on w1; hold DeletionsHeld a",
        );
        check(
            "worker w1; cluster a on=w1 gone policy=Delete; unloaded ? ?",
            "a on w1; hold DeletionsHeld a",
        );
    }

    #[test]
    fn no_deletion_starts_while_a_lock_is_rebuilt_or_what_is_there_is_kept() {
        let gone = "worker w1; worker w2; cluster a on=w1 gone policy=Delete";
        let held = "a on w1; hold DeletionsHeld a";
        check(&format!("{gone}; lost w2"), held);
        check(&format!("{gone}; kept cluster a"), held);
        check(&format!("{gone}; kept worker w1"), "a on w1; worker w1 Kept; hold DeletionsHeld a");
        check(&format!("{gone}; kept worker w2"), "a deletes w1; worker w2 Kept");
        let begun = "worker w1; cluster a on=w1 gone deleting policy=Delete; lost w1";
        check(begun, "a deletes w1");
    }

    #[test]
    fn what_is_kept_takes_what_it_took() {
        check("worker w1; cluster a on=w1 was=1 needs=3; kept cluster a", "a on w1 takes 1");
        check(
            "worker w1; cluster a on=w1 was=1 needs=3; kept worker w1",
            "a on w1 takes 1; worker w1 Kept",
        );
    }

    #[test]
    fn a_deletion_that_has_begun_goes_on() {
        check(
            "worker w1; cluster a on=w1 gone deleting policy=Delete; unloaded ? ?",
            "a deletes w1",
        );
    }

    #[test]
    fn a_cluster_whose_document_broke_is_not_removed() {
        check(
            "worker w1; cluster a on=w1 gone policy=Delete; unloaded ManagedCluster a",
            "a on w1",
        );
        check("worker w1; cluster a on=w1 gone policy=Delete; unloaded ? a", "a on w1");
        check(
            "worker w1; cluster a on=w1 gone policy=Delete; unloaded Worker a",
            "a on w1; hold DeletionsHeld a",
        );
    }

    #[test]
    fn what_never_rendered_is_forgotten_and_takes_no_room() {
        let world = "worker w1 0/1; cluster a on=w1 unrendered gone policy=Delete; cluster b";
        check(world, "a forgotten; b -> w1");
        check(
            &format!("{world}; unloaded ManagedCluster x"),
            "a on w1; b waits Capacity; hold DeletionsHeld a",
        );
    }

    #[test]
    fn a_cluster_that_two_workers_list_is_decided_once_and_counts_on_both() {
        check(
            "worker w1 0/1; worker w2 0/1; cluster a on=w2; cluster a on=w1; cluster b",
            "a on w1; b waits Capacity",
        );
    }

    #[test]
    fn a_name_that_comes_back_waits_for_its_deletion() {
        check(
            "worker w1; worker w2; cluster a on=w1 deleting policy=Delete",
            "a deletes w1; hold NameStillDeleting a",
        );
    }
}
