//! Where more is used than there is room for: workers that have more than they can have, and tenants that may
//! take no more.

use std::collections::BTreeMap;

use crate::model::{ClusterPlan, Decision, Name, Plan, Proposal, Quantity, Resources};

/// How much of something is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// The resource.
    pub resource: String,
    /// The location that the limit is for; `None` for one over all.
    pub location: Option<String>,
    /// How much is used.
    pub used: Quantity,
    /// The limit.
    pub of: Quantity,
}

impl std::fmt::Display for Used {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} {}", self.used, self.of, self.resource)?;
        self.location.iter().try_for_each(|location| write!(f, " in {location}"))
    }
}

/// Where a fleet is at its limits after a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pressure {
    /// The workers on which clusters take more than the worker can have.
    pub overcommitted: BTreeMap<Name, Vec<Used>>,
    /// The tenants of whose quota nothing is left.
    pub quotas: BTreeMap<String, Vec<Used>>,
}

impl Pressure {
    /// Without what is under pressure alike before a change.
    #[must_use]
    pub fn beyond(mut self, before: &Self) -> Self {
        self.overcommitted.retain(|name, used| before.overcommitted.get(name) != Some(used));
        self.quotas.retain(|tenant, used| before.quotas.get(tenant) != Some(used));
        self
    }
}

/// Where a fleet is at its limits after a plan.
#[must_use]
pub fn pressure(proposal: &Proposal) -> Pressure {
    Pressure { overcommitted: overcommitted(&proposal.plan), quotas: quotas(proposal) }
}

/// What a worker can have is its ceiling where it grows, without what is kept free.
fn overcommitted(plan: &Plan) -> BTreeMap<Name, Vec<Used>> {
    let of_worker = |(name, worker): (&Name, &crate::model::WorkerPlan)| {
        let over = |resource: &&String| worker.room(resource).is_some_and(Quantity::is_negative);
        let used = worker.allocated.keys().filter(over).map(|resource| {
            let of = |amounts: &Resources| amounts.get(resource).copied().unwrap_or_default();
            Used {
                resource: resource.clone(),
                location: None,
                used: of(&worker.allocated),
                of: worker.limit(resource).unwrap_or_default().minus(of(&worker.reserved)),
            }
        });
        let used: Vec<_> = used.collect();
        (!used.is_empty()).then(|| (name.clone(), used))
    };
    plan.workers.iter().filter_map(of_worker).collect()
}

fn quotas(proposal: &Proposal) -> BTreeMap<String, Vec<Used>> {
    let with_quota = proposal.fleet.spec.tenants.iter().filter(|tenant| tenant.quota.is_some());
    let mut usage: BTreeMap<&str, StrainUsage> =
        with_quota.clone().map(|tenant| (tenant.name.as_str(), StrainUsage::default())).collect();
    if usage.is_empty() {
        return BTreeMap::new();
    }
    for (name, planned) in proposal.plan.clusters.iter().filter(|(_, planned)| is_placed(planned)) {
        let Some(cluster) = proposal.fleet.clusters.get(name) else { continue };
        let Some(usage) = usage.get_mut(cluster.tenant.as_str()) else { continue };
        usage.add(&cluster.spec.location, &planned.demand);
    }
    let full = with_quota.filter_map(|tenant| {
        let (quota, usage) = (tenant.quota.as_ref()?, usage.get(tenant.name.as_str())?);
        let mut used = reached(&quota.total, &usage.total, None);
        for (location, limits) in &quota.locations {
            let here = usage.locations.get(location).cloned().unwrap_or_default();
            used.extend(reached(limits, &here, Some(location)));
        }
        (!used.is_empty()).then(|| (tenant.name.clone(), used))
    });
    full.collect()
}

fn is_placed(planned: &ClusterPlan) -> bool {
    matches!(
        planned.decision,
        Decision::Keep { .. } | Decision::Bind(_) | Decision::Move { .. } | Decision::Delete { .. }
    )
}

#[derive(Default)]
struct StrainUsage {
    total: Resources,
    locations: BTreeMap<String, Resources>,
}

impl StrainUsage {
    fn add(&mut self, location: &str, demand: &Resources) {
        let here = self.locations.entry(location.to_owned()).or_default();
        for (resource, amount) in demand {
            for all in [&mut self.total, &mut *here] {
                let used = all.entry(resource.clone()).or_default();
                *used = used.plus(*amount);
            }
        }
    }
}

fn reached(limits: &Resources, used: &Resources, location: Option<&String>) -> Vec<Used> {
    let of = |(resource, limit): (&String, &Quantity)| {
        let used = used.get(resource).copied().unwrap_or_default();
        let some = used > Quantity::ZERO && used >= *limit;
        some.then(|| Used {
            resource: resource.clone(),
            location: location.cloned(),
            used,
            of: *limit,
        })
    };
    limits.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{WorkerPlan, WorkerState};

    fn amounts(clusters: u32) -> Resources {
        [("clusters".to_owned(), Quantity::units(clusters.into()))].into()
    }

    fn plan(allocated: u32, ceiling: u32) -> Plan {
        let worker = WorkerPlan {
            state: WorkerState::Desired,
            capacity: amounts(5),
            reserved: amounts(1),
            ceiling: if ceiling > 0 { amounts(ceiling) } else { Resources::new() },
            allocated: amounts(allocated),
            clusters: allocated.into(),
            pending: None,
        };
        Plan { workers: [(Name::parse("w1").unwrap(), worker)].into(), ..Plan::default() }
    }

    #[test]
    fn a_worker_is_overcommitted_beyond_what_it_can_have() {
        let told = |plan: &Plan| {
            let over = overcommitted(plan);
            over.values().flatten().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(told(&plan(4, 0)), [""; 0]);
        assert_eq!(told(&plan(5, 0)), ["5 of 4 clusters"]);
        assert_eq!(told(&plan(5, 8)), [""; 0], "it can grow");
    }

    #[test]
    fn a_limit_that_is_reached_is_told_and_one_that_was_before_is_no_news() {
        let place = "westeurope".to_owned();
        let used = reached(&amounts(5), &amounts(5), Some(&place));
        assert_eq!(used[0].to_string(), "5 of 5 clusters in westeurope");
        assert_eq!(reached(&amounts(5), &amounts(4), None), []);
        assert_eq!(reached(&amounts(0), &Resources::new(), None), []);
        let pressure =
            Pressure { quotas: [("shop".to_owned(), used)].into(), ..Pressure::default() };
        assert_eq!(pressure.clone().beyond(&Pressure::default()), pressure);
        assert_eq!(pressure.clone().beyond(&pressure), Pressure::default());
    }
}
