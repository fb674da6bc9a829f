//! What is told as a remedy is one: the changes are made in the fleet by the hand of this test, and the fleet
//! is planned.

use std::cmp::Reverse;

use proptest::prelude::*;

use super::{Seen, todays_steps, waits};
use crate::model::api::{
    AffinityGroup, ClusterSelector, ExpressionOperator, Network, PlacementTerm, Tenant, Toleration,
    TolerationOperator, WorkerField,
};
use crate::model::{Decision, FoldedReport, Freshness, Name, Policy, Quantity, Resources};
use crate::plan::policy::policy_of;
use crate::plan::world::World;
use crate::plan::{Fix, MOST_PROOFS, Planning};

#[test]
fn each_remedy_that_is_told_places_the_cluster_on_the_worker_that_it_names() {
    let (told, several, behind) = <(Seen, Seen, Seen)>::default();
    todays_steps(|world, planning| {
        let waiting = planning.plan.clusters.iter().filter(|(_, p)| waits(p).is_some());
        let desired = waiting.filter(|(name, _)| world.fleet.clusters.contains_key(*name));
        // The last ones have the most before them in the queue.
        let desired: Vec<&Name> = desired.map(|(name, _)| name).collect();
        for name in desired.iter().copied().rev().take(2) {
            let remedies = world.remedies(name);
            prop_assert!(remedies.proofs <= MOST_PROOFS);
            for remedy in remedies.list {
                let changed = with(world, name, &remedy.worker, &remedy.fixes);
                let plan = changed.plan().plan;
                let Decision::Bind(binding) = &plan.clusters[name].decision else {
                    return Err(TestCaseError::fail(format!("{:?}: {name} waits", remedy.fixes)));
                };
                prop_assert_eq!(&binding.worker, &remedy.worker, "{:?}", remedy.fixes);
                let comes = |first: &&Name| {
                    turn(world, planning, first) < turn(world, planning, name)
                        && matches!(plan.clusters[*first].decision, Decision::Bind(_))
                };
                let first: Vec<&Name> = desired.iter().copied().filter(comes).collect();
                prop_assert!(first.iter().copied().eq(&remedy.after), "{:?}: {:?}", remedy, first);
                let fewer = 0..remedy.fixes.len();
                for without in fewer.filter(|_| remedies.proofs < MOST_PROOFS) {
                    let mut part = remedy.fixes.clone();
                    let fix = part.remove(without);
                    let plan = with(world, name, &remedy.worker, &part).plan().plan;
                    let still = waits(&plan.clusters[name]).is_some();
                    let few = (2..=4).contains(&remedy.fixes.len());
                    prop_assert!(still || !few, "{} is not needed for {}", fix, name);
                }
                told.note(1);
                several.note(usize::from(remedy.fixes.len() > 1));
                behind.note(usize::from(!remedy.after.is_empty()));
            }
        }
        Ok(())
    });
    told.at_least_of(300);
    several.at_least_of(30);
    behind.at_least_of(30);
}

/// Where a cluster stands in the queue: the smaller comes first.
fn turn<'n>(world: &World, planning: &Planning, name: &'n Name) -> (Reverse<i32>, u64, &'n Name) {
    let Decision::Wait { seen, .. } = planning.plan.clusters[name].decision else {
        panic!("{name} does not wait")
    };
    (Reverse(world.fleet.clusters[name].spec.priority.unwrap_or(0)), seen, name)
}

/// The world with the changes made. What stands in no document of the fleet's own gets one.
fn with(world: &World, cluster: &Name, taker: &Name, fixes: &[Fix]) -> World {
    let mut changed = World { settled: None, ..world.clone() };
    let worker = fixes.iter().find_map(Fix::worker).unwrap_or(taker).clone();
    for fix in fixes {
        make(&mut changed, cluster, &worker, fix);
    }
    changed
}

fn make(world: &mut World, cluster: &Name, on: &Name, fix: &Fix) {
    if let Fix::GrantPool { .. } | Fix::RaiseQuota { .. } = fix {
        return of_tenant(world, cluster, fix);
    }
    let policy = policy_of(&world.fleet, &world.fleet.clusters[cluster]).map(|p| p.name.clone());
    let own = policy.as_ref().and_then(|name| world.fleet.policies.get(name)?.file.clone());
    match fix {
        Fix::AwaitReport { worker } | Fix::Mend { worker, .. } => well(world, worker),
        Fix::Tolerate { taint } => {
            let name = if own.is_some() { policy } else { None };
            let name = name.unwrap_or_else(|| a_policy_of_its_own(world, cluster));
            let policy = world.fleet.policies.get_mut(&name).expect("it is there");
            policy.spec.tolerations.push(Toleration {
                key: taint.key.clone(),
                operator: TolerationOperator::Equal,
                value: taint.value.clone(),
                effect: Some(taint.effect),
                toleration_seconds: None,
            });
        }
        Fix::TakeVersion { version } => {
            let cluster = world.fleet.clusters.get_mut(cluster).expect("it is desired");
            cluster.spec.version = version.to_string();
        }
        Fix::OwnNetworks => {
            let taken = world.fleet.workers[on].ranges().unwrap_or_default();
            let network = Network::besides(&taken);
            world.fleet.clusters.get_mut(cluster).expect("it is desired").spec.network = network;
        }
        Fix::NameNetworks { worker } => {
            let network = Network::besides(&world.fleet.clusters[cluster].ranges());
            world.fleet.workers.get_mut(worker).expect("it is desired").spec.network = network;
        }
        Fix::RaiseMaxSkew { key, to } => {
            let cluster = world.fleet.clusters.get_mut(cluster).expect("it is desired");
            let own = cluster.spec.placement.iter_mut().flat_map(|own| &mut own.spread);
            let policy = policy.and_then(|name| world.fleet.policies.get_mut(&name));
            let of_policy = policy.into_iter().flat_map(|policy| &mut policy.spec.spread);
            for rule in own.chain(of_policy) {
                if rule.topology_key == *key && rule.when_unsatisfiable.refuses() {
                    rule.max_skew = rule.max_skew.max(*to);
                }
            }
        }
        Fix::UsePool { pool } => {
            let cluster = world.fleet.clusters.get_mut(cluster).expect("it is desired");
            let own = cluster.spec.placement.iter_mut().map(|own| &mut own.pools);
            let policy = policy.and_then(|name| world.fleet.policies.get_mut(&name));
            let of_policy = policy.into_iter().map(|policy| &mut policy.spec.pools);
            own.chain(of_policy).for_each(|list| widen(list, std::slice::from_ref(pool)));
        }
        Fix::AddGroup { worker } => {
            let policy = policy.and_then(|name| world.fleet.policies.get_mut(&name));
            let affinity = policy.and_then(|p| p.spec.affinity.as_mut()).expect("it has groups");
            let term = PlacementTerm { names: vec![worker.to_string()], ..Default::default() };
            affinity.groups.push(AffinityGroup { name: "new".to_owned(), required: vec![term] });
        }
        _ => of_terms(world, cluster, policy.as_ref(), fix),
    }
}

fn of_tenant(world: &mut World, cluster: &Name, fix: &Fix) {
    let tenant = world.fleet.clusters[cluster].tenant.clone();
    match fix {
        Fix::GrantPool { pool, .. } => {
            let tenants = &mut world.fleet.spec.tenants;
            if tenants.iter().all(|t| t.name != tenant) {
                let none = Some(Vec::new());
                tenants.push(Tenant { name: tenant.clone(), pools: none, ..Tenant::default() });
            }
            let granted =
                tenants.iter_mut().find(|t| t.name == tenant).and_then(|t| t.pools.as_mut());
            granted.expect("it is bounded").push(pool.clone());
        }
        Fix::RaiseQuota { location, resource, by, .. } => {
            let mut tenants = world.fleet.spec.tenants.iter_mut();
            let quota = tenants.find(|t| t.name == tenant).and_then(|t| t.quota.as_mut());
            let quota = quota.expect("it has one");
            let limits = match location {
                Some(location) => quota.locations.get_mut(location).expect("it has one"),
                None => &mut quota.total,
            };
            raise(limits, resource, *by);
        }
        other => panic!("how is this made? {other}"),
    }
}

fn of_terms(world: &mut World, cluster: &Name, policy: Option<&Name>, fix: &Fix) {
    let terms = |change: &dyn Fn(&mut PlacementTerm), world: &mut World| {
        let cluster = world.fleet.clusters.get_mut(cluster).expect("it is desired");
        let own = cluster.spec.placement.iter_mut().filter_map(|own| own.affinity.as_mut());
        own.flat_map(|affinity| &mut affinity.required).for_each(change);
        let policy = policy.and_then(|name| world.fleet.policies.get_mut(name));
        let affinity = policy.and_then(|policy| policy.spec.affinity.as_mut());
        affinity.into_iter().flat_map(|a| &mut a.required).for_each(change);
    };
    let field = |term: &mut PlacementTerm, of: WorkerField, values: &[String]| {
        let list = match of {
            WorkerField::Location => &mut term.locations,
            WorkerField::Provider => &mut term.providers,
            WorkerField::Zone => &mut term.zones,
        };
        widen(list, values);
        for expression in term.match_fields.iter_mut().filter(|e| e.key == of) {
            match expression.operator {
                ExpressionOperator::In => expression.values.extend_from_slice(values),
                _ => expression.values.retain(|value| !values.contains(value)),
            }
        }
    };
    match fix {
        Fix::AllowWorker { worker } => {
            terms(&|term| widen(&mut term.names, &[worker.to_string()]), world);
        }
        Fix::StopExcluding { worker } => {
            terms(&|term| term.exclude.retain(|name| *name != **worker), world);
        }
        Fix::AllowLocation { location } => {
            terms(
                &|term| field(term, WorkerField::Location, std::slice::from_ref(location)),
                world,
            );
        }
        Fix::AllowProvider { provider } => {
            terms(
                &|term| field(term, WorkerField::Provider, std::slice::from_ref(provider)),
                world,
            );
        }
        Fix::AllowZones { zones } => terms(&|term| field(term, WorkerField::Zone, zones), world),
        _ => of_worker(world, fix),
    }
}

fn of_worker(world: &mut World, fix: &Fix) {
    let name = fix.worker().expect("it is about a worker");
    let worker = world.fleet.workers.get_mut(name).expect("it is desired");
    match fix {
        Fix::Uncordon { .. } => worker.spec.unschedulable = false,
        Fix::StopDraining { .. } => worker.spec.drain = None,
        Fix::Grow { resource, by, .. } => {
            raise(&mut worker.spec.capacity, resource, *by);
            let ceiling = worker.spec.ceiling.get(resource);
            let loads = ceiling.is_none_or(|ceiling| *ceiling >= worker.spec.capacity[resource]);
            assert!(loads, "a capacity beyond the ceiling does not load");
        }
        Fix::RaiseCeiling { resource, by, .. } => raise(&mut worker.spec.ceiling, resource, *by),
        Fix::Declare { resource, amount, .. } => {
            worker.spec.capacity.insert(resource.clone(), *amount);
        }
        Fix::Label { key, value: Some(value), .. } => {
            worker.labels.insert(key.clone(), value.clone());
        }
        Fix::Label { key, value: None, .. } => drop(worker.labels.remove(key)),
        Fix::JoinPool { pool, .. } => worker.spec.pool = Some(pool.clone()),
        other => panic!("how is this made? {other}"),
    }
}

fn raise(amounts: &mut Resources, resource: &str, by: Quantity) {
    let amount = amounts.entry(resource.to_owned()).or_default();
    *amount = amount.plus(by);
}

/// Adds to a list that allows.
fn widen(list: &mut Vec<String>, values: &[String]) {
    if !list.is_empty() {
        list.extend_from_slice(values);
    }
}

/// What applies to the cluster, as a policy for it alone.
fn a_policy_of_its_own(world: &mut World, cluster: &Name) -> Name {
    let before = policy_of(&world.fleet, &world.fleet.clusters[cluster]);
    let mut spec = before.map(|policy| policy.spec.clone()).unwrap_or_default();
    let names = vec![cluster.to_string()];
    spec.cluster_selector = ClusterSelector { names, ..ClusterSelector::default() };
    let name = crate::plan::world::name("of-its-own");
    let file = Some("policies/own.yaml".to_owned());
    let by_tenant = before.is_some_and(|policy| policy.by_tenant);
    let policy = Policy { name: name.clone(), file, document: 0, spec, by_tenant };
    world.fleet.policies.insert(name.clone(), policy);
    name
}

fn well(world: &mut World, worker: &Name) {
    let known = world.observed.workers.get(worker).cloned();
    let report = known.unwrap_or_else(|| {
        let text = format!("worker {worker} agent:healthy");
        World::read(&text).observed.workers[worker].clone()
    });
    let report = FoldedReport { freshness: Freshness::Fresh, healthy: true, ..report };
    world.observed.workers.insert(worker.clone(), report);
}
