//! How far each hand-over is, and whether the evidence for its next step is there.
//!
//! The evidence is what both workers report: fresh, complete, and of the clusters that were the workers when it began.
//! `clusterctl move` makes everything on the new worker before it deletes anything on the old one, pauses the cluster
//! from the first to the last, and moves no cluster that is paused or on its way (Cluster API,
//! `cmd/clusterctl/client/cluster/mover.go`). So a cluster that the new worker reaches, and of which the old one has
//! nothing left, was handed over to the end.

use std::collections::BTreeSet;

use super::PlanInput;
use super::candidate::MoveKind;
use super::deletion::heard;
use super::ongoing::{Ongoing, is_removed};
use super::open::is_open;
use super::policy::Policies;
use crate::model::{
    Cluster, Condition, ConditionStatus, FoldedCluster, FoldedReport, MoveCause, Name, ReleaseAge,
    TransferEvidence, TransferRow, TransferStep, TransferWait, release_age,
};

/// The condition of a `Cluster` that its controllers reach its API server, with the credentials that were carried: they
/// set it anew, for no status is carried, and not while the cluster is paused.
const REACHED: &str = "RemoteConnectionProbe";
/// The condition of a `Cluster` that its controllers leave it alone.
const PAUSED: &str = "Paused";

/// What a run does about a hand-over that has begun and not adopted the cluster yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TransferVerdict {
    /// Nothing: the evidence is not there.
    Waits(TransferWait),
    /// It may be handed over now, and this must arrive.
    HandsOver(TransferEvidence),
    /// It was handed over.
    Adopts,
    /// Nothing names it any more, and it was not handed over.
    CalledOff,
}

/// How a cluster goes for what names it. A worker that is lost hands nothing over.
pub(super) fn kind(input: &PlanInput<'_>, cluster: &Cluster, cause: MoveCause) -> MoveKind {
    let transfers = input.fleet.transfers.contains(cluster.flavor());
    if transfers && cause != MoveCause::Failover { MoveKind::Transfer } else { MoveKind::Rebuild }
}

/// A hand-over that begins now.
pub(super) fn begins(
    input: &PlanInput<'_>,
    cluster: &Name,
    (from, to): (&Name, &Name),
) -> TransferRow {
    let seen = input.observed.workers.get(from).and_then(|report| report.clusters.get(cluster));
    let uid = |worker: &Name| input.observed.workers.get(worker).map(|r| r.worker_uid.clone());
    TransferRow {
        step: TransferStep::Prepare,
        prepared: None,
        leaves: BTreeSet::new(),
        from_uid: uid(from),
        to_uid: uid(to),
        expects: seen.and_then(|seen| known_by(seen).ok()),
    }
}

/// Whether reports of a worker count for a hand-over now.
pub(super) fn is_heard(input: &PlanInput<'_>, worker: &Name) -> bool {
    heard(input, Some(worker), None).is_ok()
}

/// What a run does about a hand-over that the rows tell of; `None` where the cluster is adopted already, or where nothing
/// is handed over.
pub(super) fn judge(
    input: &PlanInput<'_>,
    name: &Name,
    one: Ongoing<'_>,
) -> Option<TransferVerdict> {
    let row = one.moves.transfer.as_ref()?;
    let case = OnItsWay { input, name, one, row };
    match row.step {
        TransferStep::Prepare => Some(case.prepared().unwrap_or_else(TransferVerdict::Waits)),
        TransferStep::HandOver => Some(case.handed_over().unwrap_or_else(TransferVerdict::Waits)),
        TransferStep::Adopt => None,
    }
}

/// A hand-over on its way.
struct OnItsWay<'a> {
    input: &'a PlanInput<'a>,
    name: &'a Name,
    one: Ongoing<'a>,
    row: &'a TransferRow,
}

impl<'a> OnItsWay<'a> {
    /// While the new worker prepares. The command was told nobody yet, so all is as it was where the old worker
    /// reports the cluster.
    fn prepared(&self) -> Result<TransferVerdict, TransferWait> {
        self.is_free()?;
        let (old, new) = (self.of_old_worker()?, self.of_new_worker());
        let seen = old.clusters.get(self.name);
        let there = new.as_ref().ok().and_then(|new| new.clusters.get(self.name));
        let seen = seen.filter(|seen| seen.uid.is_some());
        match (seen, there.is_some_and(|there| there.uid.is_some())) {
            (Some(_), true) => return Err(TransferWait::AlreadyThere),
            // Somebody was before the word.
            (None, true) => return self.handed_over(),
            (_, false) => {}
        }
        let seen = seen.ok_or(TransferWait::ClusterNotRunning)?;
        if !self.is_named() {
            return Ok(TransferVerdict::CalledOff);
        }
        let new = new?;
        if !seen.suspended {
            return Err(TransferWait::NotSuspended);
        }
        let expects = evidence(seen)?;
        let prepared =
            there.is_some_and(|there| there.digest.is_some() && there.digest == self.row.prepared);
        if !prepared {
            return Err(TransferWait::NotPrepared);
        }
        if !is_open(self.input, self.one.to) {
            return Err(TransferWait::NewWorkerClosed);
        }
        if has_older_provider(self.input, old, new) {
            return Err(TransferWait::ProviderOlder);
        }
        Ok(TransferVerdict::HandsOver(expects))
    }

    /// Once a person may have run the command.
    fn handed_over(&self) -> Result<TransferVerdict, TransferWait> {
        self.is_free()?;
        let (old, new) = (self.of_old_worker()?, self.of_new_worker()?);
        if let Some(seen) = old.clusters.get(self.name) {
            if seen.uid.is_some() {
                return self.not_handed_over(seen);
            }
            if seen.present.iter().any(|kind| !self.row.leaves.contains(kind)) {
                return Err(TransferWait::PartlyLeft);
            }
        }
        let seen = new.clusters.get(self.name).filter(|seen| seen.uid.is_some());
        let seen = seen.ok_or(TransferWait::NotArrived)?;
        let expects = self.row.expects.as_ref();
        let same = expects.is_some_and(|expects| {
            Some(expects.machines) == seen.machines && expects.endpoint == seen.endpoint
        });
        if !same {
            return Err(TransferWait::OtherMachines);
        }
        if holds(&seen.conditions, PAUSED) || !holds(&seen.conditions, REACHED) {
            return Err(TransferWait::NotReached);
        }
        Ok(TransferVerdict::Adopts)
    }

    /// The cluster is where it was. Its machines may be others by now: until somebody hands it over they come and go.
    fn not_handed_over(&self, seen: &FoldedCluster) -> Result<TransferVerdict, TransferWait> {
        let now = known_by(seen).ok();
        let other = now.filter(|now| self.row.expects.as_ref() != Some(now));
        other.map(TransferVerdict::HandsOver).ok_or(TransferWait::NotHandedOver)
    }

    /// Whether files of it are kept as they are.
    fn is_free(&self) -> Result<(), TransferWait> {
        let kept = self.one.is_kept(self.input, self.name);
        if kept { Err(TransferWait::FilesKept) } else { Ok(()) }
    }

    fn of_old_worker(&self) -> Result<&'a FoldedReport, TransferWait> {
        let pinned = self.row.from_uid.as_deref();
        heard(self.input, Some(self.one.from), pinned).map_err(|_| TransferWait::OldWorkerUnheard)
    }

    fn of_new_worker(&self) -> Result<&'a FoldedReport, TransferWait> {
        let pinned = self.row.to_uid.as_deref();
        heard(self.input, Some(self.one.to), pinned).map_err(|_| TransferWait::NewWorkerUnheard)
    }

    /// Whether something names it still. What is removed nothing names: its document says what becomes of it.
    fn is_named(&self) -> bool {
        !is_removed(self.input, self.name, &self.one.row.row.tenant)
            && self.one.is_named(self.input, &Policies::of(self.input.fleet), self.name)
    }
}

/// By what a cluster that may be handed over is known again.
fn evidence(seen: &FoldedCluster) -> Result<TransferEvidence, TransferWait> {
    if holds(&seen.conditions, PAUSED) {
        return Err(TransferWait::ClusterPaused);
    }
    if seen.phase != "Running" {
        return Err(TransferWait::ClusterNotRunning);
    }
    known_by(seen)
}

fn known_by(seen: &FoldedCluster) -> Result<TransferEvidence, TransferWait> {
    let machines = seen.machines.ok_or(TransferWait::MachinesUnknown)?;
    Ok(TransferEvidence { endpoint: seen.endpoint.clone(), machines })
}

fn holds(conditions: &[Condition], kind: &str) -> bool {
    let found = conditions.iter().find(|condition| condition.kind == kind);
    found.is_some_and(|condition| condition.status == ConditionStatus::True)
}

/// Whether a provider of the old worker is older, or missing, on the new one: its controllers may not know what they are
/// handed. `clusterctl` compares what it installed itself and nothing else, so not what an operator did.
fn has_older_provider(input: &PlanInput<'_>, old: &FoldedReport, new: &FoldedReport) -> bool {
    let mut names = input.fleet.catalogue.providers().map(|provider| &provider.name);
    names.any(|name| match (old.components.get(name), new.components.get(name)) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(old), Some(new)) => old != new && !is_no_older(new, old),
    })
}

/// Whether one release is known to be no older than another.
fn is_no_older(one: &str, other: &str) -> bool {
    let one = release_age(one);
    one != ReleaseAge::Unknown && one >= release_age(other)
}

#[cfg(test)]
mod tests;
