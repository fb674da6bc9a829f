//! Choosing the folders of some clusters. What they lose is held to all that a look at everything holds it to.

use super::super::choose::choose_clusters;
use super::super::contents::Choice;
use super::super::loss_guards::LossGuards;
use super::super::run::Run;
use super::locks::fleet_lock;
use crate::change::{GuardLimits, Guarded};
use crate::model::{FleetLock, Hold, HoldKind, StoreError};

/// Chooses the clusters' folders; `None` where one is not the one that is wanted, or loses more than goes without
/// saying. Where one loses anything the fleet's lock is there, too: it is to remember that.
///
/// What is in force, what was done lately and what was held before stand in that lock. It is as large as there are
/// workers, so it is read only where something is lost or begins to be deleted. Where losses of others are held already
/// all is counted together, which only a look at everything can.
pub(super) fn choose(
    run: Run<'_>,
    guarded: &Guarded,
    held: &[Hold],
) -> Result<Option<(Choice, Option<FleetLock>)>, StoreError> {
    let mut choice = choose_clusters(run, LossGuards::new(&guarded.limits, None))?;
    let mut lock = None;
    if !guarded.deletions.is_empty() {
        lock = fleet_lock(run.snapshot, run.store)?;
        if lock.is_none() {
            return Ok(None);
        }
    }
    if !choice.losses.is_empty() {
        let of_losses = [HoldKind::ObjectsRemoved, HoldKind::MachinesReplaced];
        lock = lock.map_or_else(|| fleet_lock(run.snapshot, run.store), |lock| Ok(Some(lock)))?;
        if lock.is_none() || held.iter().any(|hold| of_losses.contains(&hold.kind)) {
            return Ok(None);
        }
        let spec = &run.read.loaded.fleet.spec;
        let guards = spec.guards.unwrap_or_default();
        let bound = run.read.previous.bound() as u64;
        let limits =
            GuardLimits::new(guards, &spec.tenants, lock.as_ref(), bound, run.snapshot.now);
        choice = choose_clusters(run, LossGuards::new(&limits, lock.as_ref()))?;
    }
    Ok(is_wanted(&choice).then_some((choice, lock)))
}

/// Whether every folder is the one that is wanted.
fn is_wanted(choice: &Choice) -> bool {
    let told = &choice.told;
    told.gates.is_empty()
        && told.found.is_empty()
        && choice.not_resized.is_empty()
        && choice.losses.is_plain()
}
