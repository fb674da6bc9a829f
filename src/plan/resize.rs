//! A placed cluster takes another amount than before: demand is fixed in the record, and changes to it
//! by these rules only.
//!
//! - What raises it counts at once where it fits into what the worker has free, or can have once it has
//!   grown (the cluster cannot go elsewhere), and into the quota of the tenant. Where it does not, all of
//!   it is held back and the old demand stays.
//! - What lowers it counts once the worker cannot still be using it: the worker is not observed, or a
//!   fresh report shows the cluster running.
//! - What is lowered is freed before anything is raised, and raising goes on until nothing more fits,
//!   so that planning again finds nothing left to do. A move that gets another target frees its place,
//!   and goes in between for the same reason.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::worker_states::WorkerStates;
use super::{PlanInput, amounts};
use crate::model::api::Observation;
use crate::model::{Cluster, Freshness, Name, Quantity, Resources};

/// A placed cluster that wants another amount.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resize<'a> {
    /// The cluster as it is desired.
    pub(super) cluster: &'a Cluster,
    /// Its worker.
    pub(super) worker: &'a Name,
    /// What it takes.
    pub(super) from: &'a Resources,
}

/// What a cluster takes after the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Resized {
    /// What it takes.
    pub(super) demand: Resources,
    /// What it would take, and what does not fit.
    pub(super) blocked: Option<Resources>,
}

/// The resizes of a run, as far as they are decided.
#[derive(Debug)]
pub(super) struct Resizes<'a> {
    wanted: Vec<Resize<'a>>,
    settled: BTreeMap<Name, Resized>,
}

impl<'a> Resizes<'a> {
    /// Resizes of which none is decided yet.
    pub(super) fn new(mut wanted: Vec<Resize<'a>>) -> Self {
        wanted.sort_by_key(|r| {
            (raises(r), Reverse(r.cluster.spec.priority.unwrap_or(0)), &r.cluster.name)
        });
        Self { wanted, settled: BTreeMap::new() }
    }

    /// Writes those that fit to the worker states, until no more do.
    pub(super) fn settle(&mut self, input: &PlanInput<'a>, states: &mut WorkerStates<'a>) {
        loop {
            let before = self.wanted.len();
            self.wanted.retain(|resize| {
                let fits = fits(resize, states) && is_granted(input, resize, states);
                if fits {
                    let demand = target(input, resize);
                    states.resize(resize.worker, resize.cluster, resize.from, &demand);
                    let name = resize.cluster.name.clone();
                    self.settled.insert(name, Resized { demand, blocked: None });
                }
                !fits
            });
            if self.wanted.len() == before {
                return;
            }
        }
    }

    /// What the clusters take after the run. What did not fit is blocked.
    pub(super) fn into_settled(self) -> BTreeMap<Name, Resized> {
        let mut settled = self.settled;
        for resize in self.wanted {
            let blocked = Some(resize.cluster.demand.clone());
            let kept = Resized { demand: resize.from.clone(), blocked };
            settled.insert(resize.cluster.name.clone(), kept);
        }
        settled
    }
}

fn raises(resize: &Resize<'_>) -> bool {
    raised(resize).next().is_some()
}

/// The resources of which the cluster wants more.
fn raised<'r>(resize: &'r Resize<'_>) -> impl Iterator<Item = &'r String> {
    let more = |(resource, new): &(&String, &Quantity)| amounts::of(resize.from, resource) < **new;
    resize.cluster.demand.iter().filter(more).map(|(resource, _)| resource)
}

/// Whether what is raised fits, the cluster's own old demand given back. A worker that is overcommitted
/// in another resource is no obstacle.
fn fits(resize: &Resize<'_>, states: &WorkerStates<'_>) -> bool {
    raised(resize).all(|resource| {
        states.room(resize.worker, resource).is_some_and(|free| {
            let old = amounts::of(resize.from, resource);
            amounts::of(&resize.cluster.demand, resource) <= free.plus(old)
        })
    })
}

/// Whether the quota of its tenant leaves what is raised, the cluster's own old demand given back. One
/// that is exceeded in another resource is no obstacle.
fn is_granted(input: &PlanInput<'_>, resize: &Resize<'_>, states: &WorkerStates<'_>) -> bool {
    let cluster = resize.cluster;
    let quota = input.fleet.tenant(&cluster.tenant).and_then(|tenant| tenant.quota.as_ref());
    let (Some(quota), Some(usage)) = (quota, states.counts.usage(&cluster.tenant)) else {
        return true;
    };
    let location = &*cluster.spec.location;
    let mut total = usage.total.clone();
    let mut here = usage.locations.get(location).cloned().unwrap_or_default();
    for used in [&mut total, &mut here] {
        amounts::take(used, resize.from);
    }
    let raised: Resources = raised(resize)
        .map(|resource| (resource.clone(), amounts::of(&cluster.demand, resource)))
        .collect();
    super::quota::lacking(quota, location, &raised, &total, Some(&here)).is_empty()
}

/// What the cluster takes once it fits: of each resource the new amount, or the old one while that is
/// larger and may still be in use.
fn target(input: &PlanInput<'_>, resize: &Resize<'_>) -> Resources {
    let mut demand = resize.cluster.demand.clone();
    if !lowering_counts(input, resize) {
        for (resource, &old) in resize.from {
            if amounts::of(&demand, resource) < old {
                demand.insert(resource.clone(), old);
            }
        }
    }
    demand
}

fn lowering_counts(input: &PlanInput<'_>, resize: &Resize<'_>) -> bool {
    let Some(worker) = input.fleet.workers.get(resize.worker) else { return false };
    if worker.spec.observation == Observation::None {
        return true;
    }
    let report = input.observed.workers.get(resize.worker);
    report
        .filter(|r| r.freshness == Freshness::Fresh)
        .is_some_and(|r| r.clusters.get(&resize.cluster.name).is_some_and(|c| c.phase == "Running"))
}

#[cfg(test)]
mod tests {
    use crate::plan::world::{World, check, name};

    #[test]
    fn a_raise_that_fits_counts_at_once() {
        check("worker w1 0/3; cluster a on=w1 was=1 needs=3", "a on w1 takes 3");
        check(
            "worker w1 0/3; cluster a on=w1 was=1 needs=3; cluster b",
            "a on w1 takes 3; b waits Capacity",
        );
    }

    #[test]
    fn a_raise_that_does_not_fit_is_held_back_and_keeps_its_old_reservation() {
        check("worker w1 1/3; cluster a on=w1 was=1 needs=3", "a on w1 blocked 3");
        check(
            "worker w1 1/3; cluster a on=w1 was=1 needs=3; cluster b",
            "a on w1 blocked 3; b -> w1",
        );
        check("worker w1 0/3; cluster a on=w1 needs:mem=1 was=1", "a on w1 blocked 1 mem=1");
    }

    #[test]
    fn a_raise_may_make_its_worker_grow_and_not_beyond_its_ceiling() {
        check("worker w1 1/2 ceiling=4; cluster a on=w1 was=1 needs=3", "a on w1 takes 3");
        check("worker w1 1/2 ceiling=4; cluster a on=w1 was=1 needs=4", "a on w1 blocked 4");
    }

    #[test]
    fn a_raise_counts_only_what_is_raised() {
        check(
            "worker w1 2/1 cap:mem=4; cluster a on=w1 was=1 needs:mem=4",
            "a on w1 takes 1 mem=4",
        );
    }

    #[test]
    fn what_keeps_its_last_folder_keeps_its_demand() {
        let mut world = World::read("worker w1; cluster a on=w1 was=1 needs=2");
        world.frozen.insert(name("a"));
        assert_eq!(world.describe(&world.plan().plan, ""), "a on w1 takes 1");
    }

    #[test]
    fn nothing_is_raised_on_a_worker_whose_document_is_not_there() {
        check(
            "worker w1 broken; cluster a on=w1 was=1 needs=2",
            "a on w1 blocked 2; worker w1 NotLoaded",
        );
    }

    #[test]
    fn lowering_counts_at_once_where_nobody_looks() {
        check(
            "worker w1 0/3; cluster a on=w1 was=3 needs=1; cluster b",
            "a on w1 takes 1; b -> w1",
        );
    }

    #[test]
    fn lowering_waits_for_a_fresh_report_that_shows_the_cluster_running() {
        let lower = "cluster a on=w1 was=3 needs=1; cluster b";
        check(
            &format!("worker w1 0/3 agent:healthy; {lower}"),
            "a on w1 takes 3; b waits Capacity",
        );
        check(&format!("worker w1 0/3 agent:healthy runs=a; {lower}"), "a on w1 takes 1; b -> w1");
        check(
            &format!("worker w1 0/3 agent:silent runs=a; {lower}"),
            "a on w1 takes 3; b waits Silent Capacity",
        );
    }

    #[test]
    fn what_is_lowered_is_free_for_what_is_raised() {
        check(
            "worker w1 0/3; cluster a on=w1 was=1 needs=2; cluster b on=w1 was=2 needs=1",
            "a on w1 takes 2; b on w1 takes 1",
        );
    }

    #[test]
    fn one_that_frees_while_it_grows_lets_another_grow_in_the_same_run() {
        check(
            "worker w1 0/4 cap:mem=4;
             cluster a on=w1 was=1 was:mem=1 needs=3 needs:mem=1;
             cluster b on=w1 was=3 was:mem=1 needs=1 needs:mem=3",
            "a on w1 takes 3 mem=1; b on w1 takes 1 mem=3",
        );
    }

    #[test]
    fn of_two_raises_the_higher_priority_goes_first_then_the_name() {
        let both = "worker w1 0/3; cluster a on=w1 was=1 needs=2;";
        check(
            &format!("{both} cluster b on=w1 was=1 needs=2"),
            "a on w1 takes 2; b on w1 blocked 2",
        );
        check(
            &format!("{both} cluster b on=w1 was=1 needs=2 priority=1"),
            "a on w1 blocked 2; b on w1 takes 2",
        );
    }

    #[test]
    fn what_is_lowered_is_free_for_the_first_in_order() {
        check(
            "worker w1 0/4; cluster a on=w1 was=1 needs=2; cluster b on=w1 was=2 needs=1;
             cluster c on=w1 was=1 needs=2",
            "a on w1 takes 2; b on w1 takes 1; c on w1 blocked 2",
        );
    }
}
