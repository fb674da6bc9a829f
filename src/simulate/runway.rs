//! Runway: how many more clusters of a sort fit, where, and what stops the next one.
//!
//! It is counted by asking the planner: alike clusters are added until one waits. Alike ones are served one
//! after the other and nothing becomes free while they are, so those that were placed are all that fit.

use std::collections::{BTreeMap, BTreeSet};

use super::{Clusters, Error, Question, SimulatedChange, SimulatedFleet, simulate};
use crate::model::{
    Cluster, Decision, Fleet, Name, Plan, Proposal, Quantity, ReasonCode, Resources, WorkerPlan,
};
use crate::plan::{self, PlanInput, Planning};

/// The most clusters that are counted.
pub const MOST: u64 = 10_000;

/// How much more fits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runway {
    /// How many clusters; [`MOST`] stands for that many or more.
    pub fits: u64,
    /// Where they would go, by the workers' pool and location.
    pub rooms: Vec<Room>,
    /// What stops the next one, in one line: `0/3 workers are available: …`.
    pub limit: Option<String>,
    /// What stops the next one, as codes.
    pub reasons: BTreeSet<ReasonCode>,
}

/// How much of it is where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Room {
    /// The workers' location.
    pub location: String,
    /// Their pool.
    pub pool: Option<String>,
    /// How many clusters.
    pub fits: u64,
    /// How many of these only once workers have more than their capacity says.
    pub grown: u64,
    /// How many of these only on workers that their pool would make.
    pub made: u64,
}

/// Counts how many more clusters fit that are like these, after what waits already; their number does not
/// matter.
///
/// # Errors
/// They cannot be: see [`simulate`]; the store failed.
pub fn runway(scene: &SimulatedFleet<'_>, like: &Clusters) -> Result<Runway, Error> {
    let one = SimulatedChange::Add(Clusters { count: 1, ..like.clone() });
    let question = Question { changes: vec![one], at: None, rebalance: None };
    let simulated = simulate(scene, &question)?;
    let probe = simulated.added.first().and_then(|name| simulated.after.fleet.clusters.get(name));
    match probe {
        Some(probe) if !simulated.after.stopped => Ok(count(&simulated.after, probe)),
        // What does not load is told by the findings of who adds it.
        _ => Ok(Runway::default()),
    }
}

/// Counts, in a proposal in which one such cluster is.
fn count(proposal: &Proposal, probe: &Cluster) -> Runway {
    let mut number = room_for(&probe.demand, proposal).saturating_add(1).min(MOST);
    loop {
        let (fleet, names) = with(proposal, probe, number);
        let planning = plan::plan(&PlanInput { fleet: &fleet, ..PlanInput::of(proposal) });
        let placed = |name: &&Name| planning.plan.clusters[*name].decision.worker().is_some();
        let placed: Vec<_> = names.iter().filter(placed).collect();
        let fits = placed.len() as u64;
        if fits < number || number == MOST {
            let workers =
                placed.iter().filter_map(|name| planning.plan.clusters[*name].decision.worker());
            let rooms = rooms(&fleet, &planning, &probe.demand, workers);
            let (limit, reasons) = limit(proposal, probe, fits);
            return Runway { fits, rooms, limit, reasons };
        }
        number = (number * 2).min(MOST);
    }
}

/// How many fit by what is free alone: where counting begins.
fn room_for(demand: &Resources, proposal: &Proposal) -> u64 {
    let of = |worker: &WorkerPlan| {
        let each = demand.iter().filter(|(_, wanted)| **wanted > Quantity::ZERO);
        let fit = each.map(|(resource, wanted)| {
            let free = worker.free(resource).unwrap_or_default().thousandths().max(0);
            u64::try_from(free / wanted.thousandths()).unwrap_or(u64::MAX)
        });
        fit.min().unwrap_or(0)
    };
    proposal.plan.workers.values().map(of).fold(0, u64::saturating_add)
}

/// The fleet with that many clusters like the one that is in it.
fn with(proposal: &Proposal, probe: &Cluster, number: u64) -> (Fleet, Vec<Name>) {
    let mut fleet = proposal.fleet.clone();
    fleet.clusters.remove(&probe.name);
    let wanted = usize::try_from(number).unwrap_or(usize::MAX);
    let names: Vec<_> = last_names(&proposal.plan).take(wanted).collect();
    let alike = |name: &Name| (name.clone(), Cluster { name: name.clone(), ..probe.clone() });
    fleet.clusters.extend(names.iter().map(alike));
    (fleet, names)
}

/// Names that come after all others: of clusters that are new in one run the order is that of the names,
/// and those that are counted come after those that there are.
fn last_names(plan: &Plan) -> impl Iterator<Item = Name> + use<> {
    let leading = |name: &Name| name.bytes().take_while(|byte| *byte == b'z').count();
    let most = plan.clusters.keys().chain(plan.workers.keys()).map(leading).max();
    let first = "z".repeat(most.map_or(1, |most| most + 1).min(30));
    (1_u64..).filter_map(move |at| Name::parse(&format!("{first}-{at:05}")).ok())
}

fn rooms<'a>(
    fleet: &Fleet,
    planning: &Planning,
    demand: &Resources,
    workers: impl Iterator<Item = &'a Name>,
) -> Vec<Room> {
    let mut counts: BTreeMap<&Name, u64> = BTreeMap::new();
    workers.for_each(|worker| *counts.entry(worker).or_default() += 1);
    let made: BTreeMap<_, _> = planning.made.iter().map(|made| (&made.name, made)).collect();
    let mut rooms: BTreeMap<(String, Option<String>), Room> = BTreeMap::new();
    for (name, fits) in counts {
        let Some(worker) = fleet.workers.get(name).or_else(|| made.get(name).copied()) else {
            continue;
        };
        let (location, pool) = (worker.spec.location.clone(), worker.spec.pool.clone());
        let room = rooms.entry((location.clone(), pool.clone())).or_insert(Room {
            location,
            pool,
            fits: 0,
            grown: 0,
            made: 0,
        });
        room.fits += fits;
        let free = |resource: &str| planning.plan.workers.get(name)?.free(resource);
        room.grown += beyond(free, demand).min(fits);
        room.made += if made.contains_key(name) { fits } else { 0 };
    }
    rooms.into_values().collect()
}

/// How many clusters a worker has beyond what its capacity says, given what is free there.
fn beyond(free: impl Fn(&str) -> Option<Quantity>, demand: &Resources) -> u64 {
    let of = |(resource, each): (&String, &Quantity)| {
        let free = free(resource).unwrap_or_default().thousandths();
        let clusters = (-free).max(0).checked_add(each.thousandths() - 1)? / each.thousandths();
        u64::try_from(clusters).ok()
    };
    let wanted = demand.iter().filter(|(_, each)| **each > Quantity::ZERO);
    wanted.filter_map(of).max().unwrap_or(0)
}

/// Why the next one does not fit.
fn limit(
    proposal: &Proposal,
    probe: &Cluster,
    fits: u64,
) -> (Option<String>, BTreeSet<ReasonCode>) {
    if fits == MOST {
        return (None, BTreeSet::new());
    }
    let (fleet, names) = with(proposal, probe, fits + 1);
    let Some(next) = names.last() else { return (None, BTreeSet::new()) };
    let input = PlanInput { fleet: &fleet, ..PlanInput::of(proposal) };
    let explained = plan::explain_cluster(&input, next);
    let reasons = explained.as_ref().map(|told| match &told.planned.decision {
        Decision::Wait { reasons, .. } => reasons.clone(),
        _ => BTreeSet::new(),
    });
    (explained.and_then(|told| told.summary), reasons.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_the_capacity_is_counted_in_clusters() {
        let quantity = |text: &str| text.parse::<Quantity>().unwrap();
        let demand: Resources = [("clusters", "1"), ("memory", "4Gi")]
            .map(|(key, v)| (key.to_owned(), quantity(v)))
            .into();
        for (clusters, memory, wanted) in [
            ("1", "12Gi", 0),
            ("0", "0", 0),
            ("-2", "12Gi", 2),
            ("0", "-1Gi", 1),
            ("-1", "-9Gi", 3),
        ] {
            let free = |resource: &str| match resource {
                "clusters" => Some(quantity(clusters)),
                "memory" => Some(quantity(memory)),
                _ => None,
            };
            assert_eq!(beyond(free, &demand), wanted, "{clusters} {memory}");
        }
    }
}
