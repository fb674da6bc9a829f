//! What a command asks that only looks: what would change, or what becomes of one cluster, worked out of what changed
//! since the fleet last stood.
//!
//! It says what a look at everything says. What it cannot say of a few clusters is said by looking at everything.

use super::locks;
use super::read::{CandidateWorkers, of_clusters};
use super::scope::AffectedScope;
use super::{count_standing, queue, removed, scope, waiting};
use crate::diag::Severity;
use crate::model::{
    Baseline, ClusterPlan, Decision, DocumentIndex, DocumentName, Name, PendingRow, Previous,
    Proposal, ReportsSince, Snapshot, Store, StoreError, Verification,
};

/// What is asked of a fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sought {
    /// What is found, in the documents and by verifying them.
    Findings,
    /// What would change, and what waits.
    Changes,
    /// What would change, and what waits, with all clusters that stay and all workers.
    Plan,
    /// What is known of each cluster and worker.
    Statuses,
    /// What is known of one placed cluster.
    Cluster(Name),
    /// Why a cluster is where it is, or waits, and what every worker says to it.
    Reasons(Name),
}

impl Sought {
    /// The one cluster that is asked for.
    #[must_use]
    pub const fn cluster(&self) -> Option<&Name> {
        match self {
            Self::Findings | Self::Changes | Self::Plan | Self::Statuses => None,
            Self::Cluster(name) | Self::Reasons(name) => Some(name),
        }
    }

    const fn candidates(&self) -> CandidateWorkers {
        match self {
            Self::Findings | Self::Changes | Self::Cluster(_) => CandidateWorkers::Own,
            Self::Plan | Self::Statuses | Self::Reasons(_) => CandidateWorkers::EveryWorker,
        }
    }

    /// Whether what would change is asked.
    const fn is_of_changes(&self) -> bool {
        matches!(self, Self::Changes | Self::Plan)
    }

    /// Whether every cluster and worker is asked for.
    const fn is_of_all(&self) -> bool {
        matches!(self, Self::Plan | Self::Statuses)
    }
}

/// What is known of what is asked.
#[derive(Debug)]
pub struct SoughtAnswer {
    /// What one run would commit, as far as it is asked for.
    pub proposal: Proposal,
    /// What was verified, where that is asked for.
    pub verified: Option<Verification>,
}

/// How many clusters without a document a plan tells of. Where there are more, everything is looked at.
const MOST_GONE: usize = 100;

/// What one run would commit, as far as it is asked for; `None` where that takes a look at everything.
///
/// For [`Sought::Findings`] the proposal has these alone, and says what else was verified. Otherwise
/// it has its trees, message, counts and findings as a look at everything has them, and a deadline that is no later. Its plan has
/// the clusters that change and the one that is asked for; for [`Sought::Plan`] and [`Sought::Statuses`] all, of which the locks
/// alone say more. For [`Sought::Changes`] those that wait are in it, too, or what they wait for is in the proposal.
///
/// # Errors
/// The store failed. Nothing that was put counts then.
pub fn propose_sought(
    snapshot: &Snapshot,
    reports: &ReportsSince,
    store: &dyn Store,
    baseline: &Baseline,
    index: &dyn DocumentIndex,
    sought: &Sought,
) -> Result<Option<SoughtAnswer>, StoreError> {
    // A deadline that a report took away is known by looking at everything.
    if baseline.reports != reports.digest {
        return Ok(None);
    }
    if *sought == Sought::Findings {
        return found(snapshot, reports, store, baseline, index);
    }
    if !baseline.quiet || baseline.gone.len() > MOST_GONE {
        return Ok(None);
    }
    let proposal = told_of(snapshot, reports, store, baseline, index, sought)?;
    Ok(proposal.map(|proposal| SoughtAnswer { proposal, verified: None }))
}

/// What is found. What follows from an error, and for whom, is told by looking at everything.
fn found(
    snapshot: &Snapshot,
    reports: &ReportsSince,
    store: &dyn Store,
    baseline: &Baseline,
    index: &dyn DocumentIndex,
) -> Result<Option<SoughtAnswer>, StoreError> {
    let has_errors = baseline.findings.iter().any(|found| found.severity == Severity::Error);
    if has_errors || !baseline.gates.is_empty() || baseline.verified.is_none() {
        return Ok(None);
    }
    let scope = || scope::of(snapshot, reports, store, baseline, index);
    let part =
        queue::decide_part(snapshot, store, baseline, scope, (index, CandidateWorkers::Own))?;
    let answer = |(proposal, next, _): (Proposal, Baseline, CandidateWorkers)| {
        next.verified.map(|verified| SoughtAnswer { proposal, verified: Some(verified) })
    };
    Ok(part.and_then(answer))
}

/// What would change, or what becomes of one cluster.
fn told_of(
    snapshot: &Snapshot,
    reports: &ReportsSince,
    store: &dyn Store,
    baseline: &Baseline,
    index: &dyn DocumentIndex,
    sought: &Sought,
) -> Result<Option<Proposal>, StoreError> {
    let scope = || -> Result<Option<AffectedScope>, StoreError> {
        let scope = scope::of(snapshot, reports, store, baseline, index)?;
        Ok(scope.and_then(|scope| widened(scope, baseline, index, sought)))
    };
    if let Sought::Reasons(name) = sought
        && let Some(proposal) = waiting::reasoned(snapshot, store, baseline, scope, index, name)?
    {
        return Ok(Some(proposal));
    }
    let read_by = (index, sought.candidates());
    let part = queue::decide_part(snapshot, store, baseline, scope, read_by)?;
    let Some((mut proposal, next, candidates)) = part else { return Ok(None) };
    if matches!(sought, Sought::Reasons(_)) {
        return Ok(reasoned(proposal, baseline, index));
    }
    if sought.is_of_all() && !stand(snapshot, store, &mut proposal)? {
        return Ok(None);
    }
    let Proposal { previous, plan, .. } = &mut proposal;
    plan.workers.retain(|name, _| previous.workers.contains_key(name));
    let workers = previous.workers.keys().cloned().collect();
    if candidates == CandidateWorkers::Own && !count_standing(plan, previous, &workers, baseline) {
        return Ok(None);
    }
    // What is at its limit after a cluster came, now or since all was looked at, is told by looking at all.
    let has_quota = proposal.fleet.spec.tenants.iter().any(|tenant| tenant.quota.is_some());
    if has_quota && (next.placed || candidates == CandidateWorkers::Queue) {
        return Ok(None);
    }
    let waits = sought.is_of_changes() || sought.is_of_all();
    if !waits || candidates == CandidateWorkers::Queue {
        return Ok(Some(proposal));
    }
    let is_told = !sought.is_of_all() && go_on_waiting(snapshot, store, index, &mut proposal)?;
    Ok((is_told || wait(snapshot, store, &mut proposal)?).then_some(proposal))
}

/// A proposal whose input has what the planner was asked about; `None` where what stands is another than before the run.
fn reasoned(
    mut proposal: Proposal,
    baseline: &Baseline,
    index: &dyn DocumentIndex,
) -> Option<Proposal> {
    if !removed::ended(&proposal.plan, &proposal.previous).is_empty() {
        return None;
    }
    let names = proposal.plan.clusters.keys().cloned().collect();
    let partial = of_clusters(&proposal.previous, &names);
    let standing = locks::standing(baseline, index);
    proposal.previous = Previous { standing, ..partial };
    Some(proposal)
}

/// A scope with what is asked for; `None` where that is known by looking at everything.
fn widened(
    mut scope: AffectedScope,
    baseline: &Baseline,
    index: &dyn DocumentIndex,
    sought: &Sought,
) -> Option<AffectedScope> {
    if let Some(name) = sought.cluster() {
        // A pool may have the same name, and nobody said which is meant.
        let pool = DocumentName::new("WorkerPool", name);
        let is_going = baseline.busy.contains(name) || baseline.gone.contains_key(name);
        if is_going || index.file_of(&pool).is_some() {
            return None;
        }
        if !scope.names().contains(name) {
            let known = baseline.waiting.get(name).cloned();
            let file = known.or_else(|| index.file_of_cluster(name))?;
            scope.unsettled.insert(name.clone(), file);
        }
    }
    if sought.is_of_changes() {
        if baseline.spent {
            return None;
        }
        // What is being deleted is told, and of whom that waits.
        scope.going.extend(baseline.gone.keys().cloned());
    }
    Some(scope)
}

/// Adds the clusters that stay on any worker as they are; whether they are known.
fn stand(
    snapshot: &Snapshot,
    store: &dyn Store,
    proposal: &mut Proposal,
) -> Result<bool, StoreError> {
    let Proposal { previous, plan, .. } = proposal;
    for worker in plan.workers.keys() {
        if !locks::read_lock(snapshot, store, worker.clone(), previous)? {
            return Ok(false);
        }
    }
    for (worker, lock) in &previous.workers {
        for (name, row) in &lock.clusters {
            plan.clusters.entry(name.clone()).or_insert_with(|| {
                ClusterPlan::new(Decision::Keep { worker: worker.clone() }, row.demand.clone())
            });
        }
    }
    Ok(true)
}

/// Says which clusters go on waiting as they did, and for what, without their lock; whether that is known.
fn go_on_waiting(
    snapshot: &Snapshot,
    store: &dyn Store,
    index: &dyn DocumentIndex,
    proposal: &mut Proposal,
) -> Result<bool, StoreError> {
    let lock = locks::pending_id(snapshot, store)?;
    let Some(pending) = lock.and_then(|lock| index.pending(lock)) else { return Ok(false) };
    // Of one that was looked at, its lock has more to say.
    if proposal.plan.clusters.keys().any(|cluster| pending.contains(cluster)) {
        return Ok(false);
    }
    proposal.pending = pending;
    Ok(true)
}

/// Adds the clusters that go on waiting as they did; whether they are known.
fn wait(
    snapshot: &Snapshot,
    store: &dyn Store,
    proposal: &mut Proposal,
) -> Result<bool, StoreError> {
    let Some(lock) = locks::pending(snapshot, store)? else { return Ok(false) };
    let waits = |(name, row): (&Name, &PendingRow)| {
        let decision = Decision::Wait { seen: row.seen, reasons: row.reasons.clone() };
        let planned = ClusterPlan::new(decision, row.demand.clone());
        (name.clone(), planned)
    };
    proposal.plan.clusters.extend(lock.clusters.iter().map(waits));
    proposal.previous.pending = lock;
    Ok(true)
}
