//! Clusters that are new. One is a matter of its own where its name is nobody's, a worker takes it at once, and nothing that is
//! decided about others reads that it came: nothing is on its way, nobody waits for what it takes, and no rule of spread
//! that counts it says anything else of anybody.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::locks::{file, pending};
use super::neutral::is_spread_alike;
use crate::diag::Severity;
use crate::model::{
    Baseline, Decision, DocumentIndex, DocumentName, Name, Plan, Previous, Snapshot, Store,
    StoreError, paths,
};
use crate::plan::{self, PlanInput};

/// Whether clusters of these names may come: nobody has them, or may have had them, and nothing did not load.
pub(super) fn are_free(
    snapshot: &Snapshot,
    store: &dyn Store,
    (baseline, index): (&Baseline, &dyn DocumentIndex),
    added: &BTreeSet<Name>,
) -> Result<bool, StoreError> {
    let is_error = |severity| severity == Severity::Error;
    let is_unsure = baseline.findings.iter().any(|finding| is_error(finding.severity));
    if !added.is_empty() && (!baseline.quiet || is_unsure) {
        return Ok(false);
    }
    for name in added {
        let is_worker = index.file_of(&DocumentName::new("Worker", name)).is_some();
        if is_worker
            || index.file_of_cluster(name).is_some()
            || file(snapshot, store, &paths::decision(name))?.is_some()
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The workers to which clusters come, those in `added` or whoever waited, and whether nobody else is concerned. Where all
/// that wait were looked at, in the `queue`, each goes on waiting or comes.
pub(super) fn hosts(
    snapshot: &Snapshot,
    store: &dyn Store,
    baseline: &Baseline,
    input: &PlanInput<'_>,
    (plan, added, queue): (&Plan, &BTreeSet<Name>, bool),
) -> Result<Option<BTreeMap<Name, BTreeSet<Name>>>, StoreError> {
    let mut hosts: BTreeMap<Name, BTreeSet<Name>> = BTreeMap::new();
    // One that runs somewhere without a record is told of, and has a record from now on.
    let runs = |name: &Name| input.observed.workers.values().any(|w| w.clusters.contains_key(name));
    for name in added.iter().chain(input.previous.pending.clusters.keys()) {
        let decision = plan.clusters.get(name).map(|planned| &planned.decision);
        let waits = matches!(decision, Some(Decision::Wait { .. } | Decision::Forget));
        if runs(name) {
            return Ok(None);
        }
        if queue && waits {
            continue;
        }
        let Some(Decision::Bind(binding)) = decision else { return Ok(None) };
        let cluster = input.fleet.clusters.get(name);
        let alike = |cluster| is_spread_alike(cluster, baseline.narrowed.as_ref());
        if !cluster.is_some_and(alike) {
            return Ok(None);
        }
        hosts.entry(binding.worker.clone()).or_default().insert(name.clone());
    }
    let waits = baseline.counts.pending > 0;
    if !hosts.is_empty() && waits && !queue && !is_nobodys(snapshot, store, input, (plan, &hosts))?
    {
        return Ok(None);
    }
    Ok(Some(hosts))
}

/// Whether whoever waits goes on waiting for the same reasons: no rule counts who comes, and each lacks room somewhere
/// already, or finds as much of it on these workers as it needs.
fn is_nobodys(
    snapshot: &Snapshot,
    store: &dyn Store,
    input: &PlanInput<'_>,
    (plan, hosts): (&Plan, &BTreeMap<Name, BTreeSet<Name>>),
) -> Result<bool, StoreError> {
    if !plan::counts_nothing(input) {
        return Ok(false);
    }
    let Some(lock) = pending(snapshot, store)? else { return Ok(false) };
    let workers = || hosts.keys().filter_map(|name| plan.workers.get(name));
    let mut waiting = lock.clusters.values();
    Ok(waiting.all(|row| {
        let lacks = row.reasons.contains(&crate::model::ReasonCode::Capacity);
        lacks || workers().all(|worker| plan::has_room(worker, &row.demand))
    }))
}

/// What stands after these clusters came, and whether each is where no rule of spread says anything else of others.
pub(super) fn stand(
    input: &PlanInput<'_>,
    plan: &Plan,
    hosts: &BTreeMap<Name, BTreeSet<Name>>,
) -> Option<Previous> {
    let mut shared = input.previous.standing.clone()?;
    let standing = Arc::make_mut(&mut shared);
    let came = hosts.iter().flat_map(|(worker, names)| names.iter().map(move |n| (worker, n)));
    let came = came.map(|(worker, name)| Some((worker, input.fleet.clusters.get(name)?)));
    let came: Vec<_> = came.collect::<Option<_>>()?;
    plan::stand_with(&mut standing.workers, input, &came);
    for worker in hosts.keys() {
        let (row, planned) = (standing.workers.get_mut(worker)?, plan.workers.get(worker)?);
        (row.clusters, row.allocated) = (planned.clusters, planned.allocated.clone());
    }
    let previous = Previous { standing: Some(shared), ..input.previous.clone() };
    let after = PlanInput { previous: &previous, ..*input };
    plan::are_even(&after, &came).then_some(previous)
}
