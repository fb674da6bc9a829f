//! What a lost worker keeps, because nothing names it.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::super::show::simulate::Left;
use crate::model::{Decision, Freshness, Name, Proposal};
use crate::plan;
use crate::simulate::SimulatedChange;

/// The clusters that stay on the workers which are lost, by why they do. Those that something names are
/// told elsewhere.
pub(super) fn left<'c>(
    changes: impl Iterator<Item = &'c SimulatedChange>,
    after: &Proposal,
) -> Vec<Left> {
    let lost = changes.filter_map(|change| match change {
        SimulatedChange::Lose(worker) => Some(worker),
        _ => None,
    });
    lost.flat_map(|worker| on_worker(worker, after)).collect()
}

fn on_worker(worker: &Name, after: &Proposal) -> Vec<Left> {
    let report = after.observed.workers.get(worker);
    let Some(report) = report.filter(|report| report.freshness == Freshness::Silent) else {
        return Vec::new();
    };
    let mut by_failover: BTreeMap<Option<(Name, Timestamp)>, Vec<Name>> = BTreeMap::new();
    for (name, planned) in &after.plan.clusters {
        let stays = matches!(&planned.decision, Decision::Keep { worker: on } if on == worker);
        if stays && planned.stay.is_none() {
            let failover = failover(name, report.freshness_since, after);
            by_failover.entry(failover).or_default().push(name.clone());
        }
    }
    let left = |(failover, clusters)| Left { worker: worker.clone(), clusters, failover };
    by_failover.into_iter().map(left).collect()
}

/// The policy that lets a cluster fail over, and from when on.
fn failover(name: &Name, since: Timestamp, after: &Proposal) -> Option<(Name, Timestamp)> {
    let cluster = after.fleet.clusters.get(name)?;
    let policy = plan::policy_of(&after.fleet, cluster)?;
    let grace = policy.spec.failover.as_ref()?.grace_seconds();
    let from = since.checked_add(SignedDuration::from_secs(grace));
    Some((policy.name.clone(), from.unwrap_or(Timestamp::MAX)))
}
