//! What stands on the workers, counted as the rules ask: for runs that look at a few clusters and decide about others
//! by the counts of all.

use std::collections::BTreeMap;

use super::Member;
use super::asked::RuleGroups;
use crate::model::{
    Cluster, ClusterRow, Counted, CountedLock, CountedPart, CountedShare, Name, Plan, Previous,
    StandingClusters, StandingPart, StandingWorker, WorkerLock, WorkerState, topology,
};
use crate::plan::group::{self, ClusterInfo, Values};
use crate::plan::policy::Policies;
use crate::plan::{PlanInput, amounts};

/// What stands on the workers after a run that changed nothing. `counted` is what it counted of the locks. `None` where
/// a worker is not plainly there, or its clusters were not counted.
#[must_use]
pub fn standing(plan: &Plan, previous: &Previous, counted: &Counted) -> Option<StandingClusters> {
    let worker = |(name, worker): (&Name, &crate::model::WorkerPlan)| {
        let is_plain = worker.state == WorkerState::Desired && worker.pending.is_none();
        let (clusters, allocated) = (worker.clusters, worker.allocated.clone());
        let bare = StandingWorker { clusters, allocated, ..StandingWorker::default() };
        let counts = match (counted.asked, previous.workers.get(name)) {
            (Some(_), Some(lock)) => counts(previous, name, lock, counted)?,
            (None, _) | (_, None) => StandingWorker::default(),
        };
        let StandingWorker { groups, keepers, tenants, .. } = counts;
        is_plain.then(|| (name.clone(), StandingWorker { groups, keepers, tenants, ..bare }))
    };
    let workers: Option<BTreeMap<_, _>> = plan.workers.iter().map(worker).collect();
    Some(StandingClusters { rules: counted.asked, workers: workers? })
}

/// The counts of a lock, with names.
fn counts(
    previous: &Previous,
    worker: &Name,
    lock: &WorkerLock,
    counted: &Counted,
) -> Option<StandingWorker> {
    let CountedLock { groups, keepers, tenants } =
        &**counted.locks.get(previous.ids.get(worker)?)?;
    let names: Vec<&Name> = lock.clusters.keys().collect();
    let parts = |parts: &[CountedPart]| -> Option<Vec<StandingPart>> {
        let part = |part: &CountedPart| {
            let clusters = part.rows.iter().map(|row| names.get(*row).copied().cloned());
            let (rule, values) = (part.rule, part.values.clone());
            Some(StandingPart { rule, values, clusters: clusters.collect::<Option<_>>()? })
        };
        parts.iter().map(part).collect()
    };
    let (groups, keepers) = (parts(groups)?, parts(keepers)?);
    Some(StandingWorker { groups, keepers, tenants: tenants.clone(), ..StandingWorker::default() })
}

/// Whether what stands was counted by the rules that there are now. Who stands or waits and was not read may have rules of
/// its own: these are known by the digest alone, so where there are any the answer is no.
#[must_use]
pub fn is_counted_by(input: &PlanInput<'_>) -> bool {
    let Some(standing) = &input.previous.standing else { return false };
    let asked = RuleGroups::of(input, &Policies::of(input.fleet));
    standing.rules.map_or_else(|| asked.is_nothing(), |rules| asked.digest() == Some(rules))
}

/// Whether no rule counts who is placed where, those of clusters that were not read included.
#[must_use]
pub fn counts_nothing(input: &PlanInput<'_>) -> bool {
    let counted = input.previous.standing.as_ref().is_some_and(|all| all.rules.is_some());
    !counted && RuleGroups::of(input, &Policies::of(input.fleet)).is_nothing()
}

/// Counts clusters that came, each to a worker, among those that stand there.
pub fn stand_with(
    standing: &mut BTreeMap<Name, StandingWorker>,
    input: &PlanInput<'_>,
    came: &[(&Name, &Cluster)],
) {
    let asked = RuleGroups::of(input, &Policies::of(input.fleet));
    if asked.is_nothing() {
        return;
    }
    for (worker, cluster) in came {
        if let Some(standing) = standing.get_mut(*worker) {
            stand_among(standing, &asked, cluster);
        }
    }
}

fn stand_among<'a>(standing: &mut StandingWorker, asked: &RuleGroups<'a>, cluster: &'a Cluster) {
    let info = ClusterInfo::of(cluster);
    let own = cluster.spec.own_anti_affinity();
    let member = Member { info, policy: asked.policy(&info), own };
    asked.groups_of(&info).for_each(|part| come(&mut standing.groups, part, &cluster.name));
    asked
        .anti_affinity_of(&member)
        .for_each(|part| come(&mut standing.keepers, part, &cluster.name));
    let mut shares = standing.tenants.iter_mut();
    let of_it =
        |share: &&mut CountedShare| share.tenant == info.tenant && share.location == info.location;
    if let Some(share) = shares.find(of_it) {
        amounts::add(&mut share.takes, &cluster.demand);
        return;
    }
    let (tenant, location) = (info.tenant.to_owned(), info.location.to_owned());
    standing.tenants.push(CountedShare { tenant, location, takes: cluster.demand.clone() });
}

/// Takes a cluster that is gone out of those that stand on its worker; `row` is what the lock said of it.
pub fn stand_without(standing: &mut StandingWorker, name: &Name, row: &ClusterRow) {
    for parts in [&mut standing.groups, &mut standing.keepers] {
        for part in parts.iter_mut() {
            part.clusters.retain(|there| there != name);
        }
        parts.retain(|part| !part.clusters.is_empty());
    }
    let is_its = |share: &&mut CountedShare| {
        share.tenant == row.row.tenant && share.location == row.row.location
    };
    if let Some(share) = standing.tenants.iter_mut().find(is_its) {
        amounts::take(&mut share.takes, &row.demand);
    }
}

fn come(parts: &mut Vec<StandingPart>, (rule, values): (usize, Values<'_>), name: &Name) {
    let of = |part: &StandingPart| part.rule == rule && part.values == *values;
    let at = parts.iter().position(of).unwrap_or_else(|| {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        parts.push(StandingPart { rule, values, clusters: Vec::new() });
        parts.len() - 1
    });
    let clusters = &mut parts[at].clusters;
    if let Err(at) = clusters.binary_search(name) {
        clusters.insert(at, name.clone());
    }
}

/// Whether no rule of spread that counts any of these clusters would refuse anybody the domain of its worker: seen from all
/// domains there are, it is not too far ahead.
#[must_use]
pub fn are_even(input: &PlanInput<'_>, came: &[(&Name, &Cluster)]) -> bool {
    let policies = Policies::of(input.fleet);
    let asked = RuleGroups::of(input, &policies);
    came.iter().all(|(worker, cluster)| is_even(input, (&policies, &asked), cluster, worker))
}

fn is_even(
    input: &PlanInput<'_>,
    (policies, asked): (&Policies<'_>, &RuleGroups<'_>),
    cluster: &Cluster,
    worker: &Name,
) -> bool {
    let info = ClusterInfo::of(cluster);
    let refusing = policies.all().flat_map(group::spread_of);
    let mut refusing = refusing.filter(|(rule, _)| rule.when_unsatisfiable.refuses());
    refusing.all(|(rule, group)| {
        let Some(values) = group.part(&info) else { return true };
        let Some(place) = asked.place(&group) else { return false };
        let mut domains: BTreeMap<&str, u64> = BTreeMap::new();
        for (name, there) in &input.fleet.workers {
            let Some(domain) = topology::domain(&rule.topology_key, there) else { continue };
            let standing = input.previous.standing.iter().filter_map(|all| all.workers.get(name));
            let mut parts = standing.flat_map(|standing| &standing.groups);
            let part = parts.find(|part| part.rule == place && part.values == *values);
            let count = part.map_or(0, |part| part.clusters.len() as u64);
            *domains.entry(domain).or_default() += count;
        }
        let there = input.fleet.workers.get(worker);
        let here = there.and_then(|there| topology::domain(&rule.topology_key, there));
        let here = here.and_then(|domain| domains.get(domain));
        let min = domains.values().min().copied().unwrap_or(0);
        here.is_some_and(|here| here.saturating_sub(min) <= u64::from(rule.max_skew))
    })
}
