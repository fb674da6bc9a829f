//! The state of a worker: by its document, by what became of it before, and by what could not be read.

use crate::model::{ClusterState, HoldKind, Name, WorkerState};
use crate::plan::deletion::{self, Deletions};
use crate::plan::holds::Holds;
use crate::plan::{PlanInput, unloaded};

/// The state of a worker on which so many clusters hold their place.
pub(super) fn state(
    input: &PlanInput<'_>,
    name: &Name,
    clusters: u64,
    retirements: &mut Deletions,
    holds: &mut Holds,
) -> WorkerState {
    if input.fleet.workers.contains_key(name) {
        return desired_state(input, name, clusters, retirements, holds);
    }
    let row = input.previous.fleet.as_ref().and_then(|lock| lock.workers.get(name));
    if clusters == 0 && row.is_some_and(|row| row.state == ClusterState::Deleting) {
        return WorkerState::Retiring;
    }
    let pool = input.previous.pool_of(name);
    let of_pool = pool.is_some_and(|pool| unloaded::names(input.fleet, "WorkerPool", pool));
    if unloaded::names(input.fleet, "Worker", name) || of_pool {
        return WorkerState::NotLoaded;
    }
    if clusters == 0 {
        let kept = &input.previous.kept;
        let stays = kept.workers.contains(name) || kept.made.contains(name) || kept.control_plane;
        if !input.deletions_wait() && !stays {
            retirements.insert(name.clone(), deletion::retires(input, name));
            return WorkerState::Retiring;
        }
        holds.add(HoldKind::DeletionsHeld, name);
        return WorkerState::NotLoaded;
    }
    let of_pool = pool.is_some_and(|pool| unloaded::may_be(input.fleet, "WorkerPool", pool));
    if unloaded::may_be(input.fleet, "Worker", name) || of_pool {
        return WorkerState::NotLoaded;
    }
    holds.add(HoldKind::WorkerInUse, name);
    WorkerState::RemovedInUse
}

/// The state of a worker whose document is there. One whose own cluster is being deleted stays on its
/// way out: the name is taken until that is done, or called off.
fn desired_state(
    input: &PlanInput<'_>,
    name: &Name,
    clusters: u64,
    retirements: &Deletions,
    holds: &mut Holds,
) -> WorkerState {
    let row = input.previous.fleet.as_ref().and_then(|lock| lock.workers.get(name));
    let deleting =
        row.is_some_and(|row| row.state == ClusterState::Deleting && row.folder.is_some());
    let over = deletion::ends(retirements, name) || deletion::is_cancelled(retirements, name);
    if deleting && !over && clusters == 0 {
        holds.add(HoldKind::NameStillDeleting, name);
        return WorkerState::Retiring;
    }
    if unloaded::overlay(input.fleet, name) {
        return WorkerState::NotLoaded;
    }
    if input.previous.kept.workers.contains(name) {
        return WorkerState::Kept;
    }
    WorkerState::Desired
}

#[cfg(test)]
mod tests {
    use crate::plan::world::check;

    #[test]
    fn an_empty_worker_whose_document_is_gone_retires() {
        check("worker w1 gone; worker w2; cluster a", "a -> w2; worker w1 Retiring");
    }

    #[test]
    fn a_retiring_worker_is_no_worker_that_could_take_a_cluster() {
        check("worker w1 gone; cluster a", "a waits BeingRemoved; worker w1 Retiring");
    }

    #[test]
    fn no_retirement_starts_while_something_did_not_load() {
        check(
            "worker w1 gone; worker w2; unloaded ManagedCluster x",
            "worker w1 NotLoaded; hold DeletionsHeld w1",
        );
        check("worker w1 gone deleting; unloaded ManagedCluster x", "worker w1 Retiring");
    }

    #[test]
    fn a_broken_document_is_not_a_removed_one() {
        check("worker w1 broken", "worker w1 NotLoaded");
        check("worker w1 gone; cluster a on=w1; unloaded ? ?", "a on w1; worker w1 NotLoaded");
        check("worker w1 gone; cluster a on=w1; unloaded ? w1", "a on w1; worker w1 NotLoaded");
        check(
            "worker w1 gone; cluster a on=w1; unloaded ManagedCluster ?",
            "a on w1; worker w1 RemovedInUse; hold WorkerInUse w1",
        );
    }

    #[test]
    fn workers_in_use_are_held_together() {
        check(
            "worker w2 gone; worker w1 gone; cluster a on=w1; cluster b on=w2",
            "a on w1; b on w2; worker w1 RemovedInUse; worker w2 RemovedInUse; hold WorkerInUse w1 w2",
        );
    }

    #[test]
    fn a_worker_that_comes_back_while_it_is_deleted_takes_nothing() {
        check(
            "worker w1 deleting; cluster a",
            "a waits BeingRemoved; worker w1 Retiring; hold NameStillDeleting w1",
        );
    }

    #[test]
    fn a_worker_whose_folder_is_kept_takes_nothing_new() {
        check("worker w1; cluster a; kept worker w1", "a waits FolderKept; worker w1 Kept");
        check(
            "worker w1 gone; worker w2; kept worker w1",
            "worker w1 NotLoaded; hold DeletionsHeld w1",
        );
    }
}
