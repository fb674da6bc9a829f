//! What holds of rules that depend on what is placed.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{Seen, decided, every_step, waits};
use crate::model::{
    Cluster, ClusterPlan, Decision, Name, Plan, Quantity, ReasonCode, Resources, topology,
};
use crate::plan::amounts;
use crate::plan::group::{self, ClusterInfo, Group};
use crate::plan::policy::Policies;
use crate::plan::world::World;

#[test]
fn the_histories_are_full_of_rules_on_what_is_placed() {
    let (all, waiting, spread) = <(Seen, Seen, Seen)>::default();
    let codes = [
        ReasonCode::Spread,
        ReasonCode::SpreadKeyMissing,
        ReasonCode::AntiAffinity,
        ReasonCode::Quota,
    ];
    let seen = codes.map(|_| Seen::default());
    every_step(|world, planning| {
        let policies = Policies::of(&world.fleet);
        for (name, cluster) in &world.fleet.clusters {
            let policy = policies.select(cluster);
            let rules = policy.map_or(0, |p| p.spec.spread.len()) + cluster.spec.own_spread().len();
            all.note(1);
            spread.note(usize::from(rules > 0));
            let Some(reasons) = waits(&planning.plan.clusters[name]) else { continue };
            waiting.note(1);
            for (code, seen) in codes.iter().zip(&seen) {
                seen.note(usize::from(reasons.contains(code)));
            }
        }
        Ok(())
    });
    let tenth = all.0.get() / 10;
    waiting.at_least(tenth);
    spread.at_least(tenth);
    for (code, seen) in codes.iter().zip(&seen) {
        assert!(seen.0.get() >= 50, "{code:?} was seen {} times", seen.0.get());
    }
}

#[test]
fn one_more_cluster_changes_nothing_about_the_others() {
    let (fits, waits_too, let_in) = <(Seen, Seen, Seen)>::default();
    let moving = BTreeSet::from([
        ReasonCode::Capacity,
        ReasonCode::Spread,
        ReasonCode::AntiAffinity,
        ReasonCode::Quota,
    ]);
    every_step(|world, planning| {
        let committed = world.after(planning);
        let before = committed.plan().plan;
        for new in [
            "",
            "label:dr=x",
            "label:app=s only=w1",
            "label:app=s only=w2,w4",
            "label:app=s only=w5",
        ] {
            let mut more = committed.clone();
            let new = World::read(&format!("cluster new priority=5 {new}"));
            more.fleet.clusters.extend(new.fleet.clusters);
            let mut after = more.plan().plan;
            // A worker that is made for the new one may take others, too.
            if after.pools.values().any(|pool| !pool.made.is_empty()) {
                continue;
            }
            let new = after.clusters.remove("new").expect("it is desired");
            let takes_a_place = matches!(new.decision, Decision::Bind(_));
            for (name, planned) in &before.clusters {
                let then = &after.clusters[name];
                let Some(reasons) = waits(planned).filter(|_| takes_a_place) else {
                    prop_assert_eq!(decided(planned), decided(then));
                    continue;
                };
                let Some(reasons_then) = waits(then) else {
                    prop_assert!(reasons.contains(&ReasonCode::Spread), "{} is let in", name);
                    let_in.note(1);
                    continue;
                };
                let changed = reasons.symmetric_difference(reasons_then);
                prop_assert!(changed.copied().collect::<BTreeSet<_>>().is_subset(&moving));
                let gone: Vec<_> = reasons.difference(reasons_then).collect();
                prop_assert!(gone.is_empty() || gone == [&ReasonCode::Spread], "{:?}", gone);
                let place = |p: &ClusterPlan| match p.decision {
                    Decision::Wait { seen, .. } => seen,
                    _ => 0,
                };
                prop_assert_eq!(place(planned), place(then));
            }
            fits.note(usize::from(takes_a_place));
            waits_too.note(usize::from(waits(&new).is_some()));
        }
        Ok(())
    });
    fits.at_least(50);
    waits_too.at_least(50);
    let_in.at_least(1);
}

/// The desired clusters that have a worker after a plan, and the document of that.
fn placed<'a>(world: &'a World, plan: &'a Plan) -> BTreeMap<&'a Name, (&'a Cluster, &'a Name)> {
    let of = |(name, planned): (&'a Name, &'a ClusterPlan)| {
        let cluster = world.fleet.clusters.get(name)?;
        Some((name, (cluster, planned.decision.worker()?)))
    };
    plan.clusters.iter().filter_map(of).collect()
}

fn is_new(plan: &Plan, name: &Name) -> bool {
    matches!(plan.clusters[name].decision, Decision::Bind(_))
}

#[test]
fn no_decision_brings_together_what_is_kept_apart() {
    let asked = Seen::default();
    every_step(|world, planning| {
        let policies = Policies::of(&world.fleet);
        let placed = placed(world, &planning.plan);
        for (one, (cluster, worker)) in &placed {
            let info = ClusterInfo::of(cluster);
            let of_policy = policies.select(cluster).into_iter().flat_map(group::anti_affinity_of);
            let own = group::own_anti_affinity(cluster.spec.own_anti_affinity(), &cluster.tenant);
            for term in of_policy.chain(own).filter(|term| term.refuses) {
                for (other, (beside, elsewhere)) in &placed {
                    let values = term.group.values(&info);
                    let selected = term.group.part(&ClusterInfo::of(beside)) == values;
                    if one == other || values.is_none() || !selected {
                        continue;
                    }
                    let new = is_new(&planning.plan, one) || is_new(&planning.plan, other);
                    let domain = |worker: &Name| {
                        topology::domain(term.key, world.fleet.workers.get(worker)?)
                    };
                    let shared = domain(worker).is_some() && domain(worker) == domain(elsewhere);
                    prop_assert!(!(new && shared), "{} and {} share {}", one, other, worker);
                    asked.note(usize::from(new));
                }
            }
        }
        Ok(())
    });
    asked.at_least(40);
}

#[test]
fn no_decision_exceeds_a_quota() {
    let full = Seen::default();
    every_step(|world, planning| {
        for tenant in &world.fleet.spec.tenants {
            let Some(quota) = &tenant.quota else { continue };
            let mut used: BTreeMap<Option<&str>, Resources> = BTreeMap::new();
            let mut new: BTreeSet<Option<&str>> = BTreeSet::new();
            for (name, (cluster, _)) in placed(world, &planning.plan) {
                if cluster.tenant != tenant.name {
                    continue;
                }
                for of in [None, Some(&*cluster.spec.location)] {
                    let demand = &planning.plan.clusters[name].demand;
                    amounts::add(used.entry(of).or_default(), demand);
                    if is_new(&planning.plan, name) {
                        new.insert(of);
                    }
                }
            }
            for of in new {
                let limits = of.map_or(Some(&quota.total), |of| quota.locations.get(of));
                for (resource, limit) in limits.into_iter().flatten() {
                    let used = amounts::of(&used[&of], resource);
                    let clusters = resource == "clusters";
                    prop_assert!(!clusters || used <= *limit, "{} of {}", used, limit);
                    full.note(usize::from(used == *limit && used > Quantity::ZERO));
                }
            }
        }
        Ok(())
    });
    full.at_least(50);
}

#[test]
fn no_decision_widens_a_spread() {
    let asked = Seen::default();
    every_step(|world, planning| {
        // Where a worker is that is made now is known to its pool alone.
        if planning.plan.pools.values().any(|pool| !pool.made.is_empty()) {
            return Ok(());
        }
        let policies = Policies::of(&world.fleet);
        let placed = placed(world, &planning.plan);
        for policy in policies.all() {
            for (rule, group) in
                group::spread_of(policy).filter(|(r, _)| r.when_unsatisfiable.refuses())
            {
                let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
                let domain = |worker: &Name| {
                    topology::domain(&rule.topology_key, world.fleet.workers.get(worker)?)
                };
                for (cluster, worker) in placed.values() {
                    if group.part(&ClusterInfo::of(cluster)).is_some()
                        && let Some(domain) = domain(worker)
                    {
                        *counts.entry(domain).or_default() += 1;
                    }
                }
                // What moves counts on both workers.
                for (name, planned) in &planning.plan.clusters {
                    let cluster = world.fleet.clusters.get(name);
                    if cluster.is_some_and(|c| group.part(&ClusterInfo::of(c)).is_some())
                        && let Some(domain) = planned.decision.reserved().and_then(domain)
                    {
                        *counts.entry(domain).or_default() += 1;
                    }
                }
                for (name, (cluster, worker)) in &placed {
                    let theirs = policies.select(cluster).is_some_and(|p| p.name == policy.name);
                    if !theirs || !is_new(&planning.plan, name) || !is_alone(world, &group, policy)
                    {
                        continue;
                    }
                    let here = domain(worker).and_then(|domain| counts.get(domain)).copied();
                    let everywhere = world.fleet.workers.values().filter_map(|w| domain(&w.name));
                    let min = everywhere.map(|d| counts.get(d).copied().unwrap_or(0)).min();
                    let skew = here.unwrap_or(0).saturating_sub(min.unwrap_or(0));
                    prop_assert!(skew <= rule.max_skew as usize, "{} is {} ahead", worker, skew);
                    asked.note(1);
                }
            }
        }
        Ok(())
    });
    asked.at_least(30);
}

/// Whether every cluster that a group has goes by its policy and may use every worker, so that the domains
/// are the same for all of them.
fn is_alone(world: &World, group: &Group<'_>, policy: &crate::model::Policy) -> bool {
    let policies = Policies::of(&world.fleet);
    let desired = world.fleet.clusters.values();
    let mut members = desired.filter(|cluster| group.part(&ClusterInfo::of(cluster)).is_some());
    let free = |cluster: &Cluster| {
        policies.select(cluster).is_some_and(|p| p.name == policy.name)
            && cluster.spec.required_terms().next().is_none()
            && cluster.spec.own_spread().is_empty()
    };
    let pools = world.fleet.spec.tenants.iter().any(|tenant| tenant.pools.is_some());
    policy.spec.spread.len() == 1 && !pools && members.all(free)
}
