//! What filters and scores see: a worker as a [`Candidate`], a cluster as a [`Request`].
//!
//! Each filter and score declares what it reads of them ([`DependsOn`](super::depends_on::DependsOn)). The digest of the context covers
//! everything that is declared, so that a cluster which waits is looked at again exactly when
//! something changed that could matter to it.

use std::collections::BTreeSet;

use super::amounts;
use super::group::{self, AntiAffinityTerm, ClusterInfo, Group};
use super::pre_filter_state::PreFilterState;
use crate::model::api::{
    AffinityGroup, Failback, PlacementTerm, PolicyAffinity, PreferredTerm, Quota, SpreadConstraint,
    Strategy, Toleration,
};
use crate::model::{
    Cluster, Fleet, Name, Offer, Policy, Quantity, Resources, Worker, WorkerHealth, WorkerPlan,
};

/// One worker as filters and scores see it.
#[derive(Clone, Debug)]
pub(super) struct Candidate<'a> {
    /// Its name.
    pub(super) name: &'a Name,
    /// Its document; `None` where it is gone or did not load.
    pub(super) worker: Option<&'a Worker>,
    /// What its agent says; `None` where it is not observed.
    pub(super) health: Option<WorkerHealth>,
    /// The namespaces on it that carp did not make; `None` where nothing is known of them.
    pub(super) foreign: Option<&'a BTreeSet<Name>>,
    /// Its state and its amounts at this point of the run, but for what is assumed.
    pub(super) plan: WorkerPlan,
    /// What clusters take that were given to it while the queue is served, and how many take so much: it is added up once all
    /// are served (kube-scheduler calls a pod assumed that has a node and no binding yet).
    pub(super) assumed: Vec<(&'a Resources, u64)>,
    /// Whether its ceiling counts and not its capacity: the clusters that are looked at fit nowhere as
    /// the workers are now.
    pub(super) uses_ceiling: bool,
    /// Whether what a pool is making counts: the clusters that are looked at fit nowhere else.
    pub(super) reserving: bool,
}

/// The most amounts that are assumed of a worker: mostly clusters take one of a few.
const MOST_ASSUMED: usize = 16;

impl<'a> Candidate<'a> {
    /// What is left of a resource at this point of the run; `None` where that is not known.
    pub(super) fn left(&self, resource: &str) -> Option<Quantity> {
        let of_plan =
            if self.uses_ceiling { self.plan.room(resource) } else { self.plan.free(resource) };
        of_plan.map(|left| self.assumed_of(resource).fold(left, Quantity::minus))
    }

    /// What clusters take of a resource at this point of the run.
    pub(super) fn allocated(&self, resource: &str) -> Quantity {
        let of_plan = amounts::of(&self.plan.allocated, resource);
        self.assumed_of(resource).fold(of_plan, Quantity::plus)
    }

    fn assumed_of(&self, resource: &str) -> impl Iterator<Item = Quantity> {
        let assumed = self.assumed.iter();
        assumed.map(move |(takes, clusters)| amounts::of(takes, resource).times(*clusters))
    }

    /// Assumes a cluster there that takes so much. Those with a signature share it, so it is found by its place in memory. Where there
    /// are too many to be looked through they are added up.
    pub(super) fn assume(&mut self, takes: &'a Resources) {
        let is_same = |(other, _): &&mut (&Resources, u64)| {
            std::ptr::eq(&raw const ***other, &raw const **takes)
        };
        if let Some((_, clusters)) = self.assumed.iter_mut().find(is_same) {
            *clusters += 1;
            return;
        }
        if self.assumed.len() == MOST_ASSUMED {
            self.add_up();
        }
        self.assumed.push((takes, 1));
    }

    /// Adds up what is assumed.
    pub(super) fn add_up(&mut self) {
        for (takes, clusters) in self.assumed.drain(..) {
            amounts::add_times(&mut self.plan.allocated, takes, clusters);
        }
    }

    /// The most of a resource that counts at this point of the run.
    pub(super) fn limit(&self, resource: &str) -> Quantity {
        let limit = if self.uses_ceiling {
            self.plan.limit(resource)
        } else {
            self.plan.capacity.get(resource).copied()
        };
        limit.unwrap_or_default()
    }
}

/// One cluster as filters and scores see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'a> {
    /// The cluster.
    pub(super) cluster: &'a Cluster,
    /// The policy that applies to it.
    pub(super) policy: Option<&'a Policy>,
    /// The pools that its tenant may use.
    pub(super) pools: Pools<'a>,
    /// The group of the policy's affinity in which it was placed before; `None` for a new one.
    pub(super) group: Option<&'a str>,
    /// The versions that the fleet offers.
    pub(super) offer: Offer<'a>,
    /// Whether its flavor needs other addresses than the worker has.
    pub(super) networks_apart: bool,
    /// Whether a namespace of its name, which carp did not make, is on any worker.
    pub(super) is_name_taken: bool,
    /// What its tenant's clusters may take together.
    pub(super) quota: Option<&'a Quota>,
    /// What it meets that depends on what is placed.
    pub(super) pre_filter: &'a PreFilterState<'a>,
    /// What it leaves; `None` for one that waits.
    pub(super) leaving: Option<Leaving<'a>>,
}

/// The place that a cluster leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving<'a> {
    /// The worker.
    pub(super) worker: &'a Name,
    /// What it takes there, and so of its tenant's quota.
    pub(super) takes: &'a Resources,
    /// How it goes.
    pub(super) how: MoveKind,
}

/// How a cluster goes to another worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MoveKind {
    /// It is deleted, and a new, empty one is made.
    Rebuild,
    /// It is handed over as it is.
    Transfer,
}

/// The pools that a tenant may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pools<'a> {
    /// All workers, in a pool or not.
    All,
    /// Workers in these pools only.
    Only(&'a [String]),
}

impl<'a> Pools<'a> {
    /// What a fleet grants a tenant. A fleet without a list of tenants grants everything to all; a
    /// tenant that is missing from a list is granted nothing.
    pub(super) fn of(fleet: &'a Fleet, tenant: &str) -> Self {
        match fleet.tenant(tenant) {
            Some(tenant) => tenant.pools.as_deref().map_or(Self::All, Self::Only),
            None if fleet.spec.tenants.is_empty() => Self::All,
            None => Self::Only(&[]),
        }
    }
}

impl<'a> Request<'a> {
    /// This request with what the cluster meets.
    pub(super) fn within<'s>(&self, pre_filter: &'s PreFilterState<'s>) -> Request<'s>
    where
        'a: 's,
    {
        Request { pre_filter, ..*self }
    }

    /// What rules read of the cluster.
    pub(super) fn info(&self) -> ClusterInfo<'a> {
        ClusterInfo::of(self.cluster)
    }

    /// What the cluster will take.
    pub(super) fn demand(&self) -> &'a Resources {
        &self.cluster.demand
    }

    /// The terms that a worker must all meet: the policy's, and those that the cluster adds.
    pub(super) fn required(&self) -> impl Iterator<Item = &'a PlacementTerm> + use<'a> {
        let of_policy = self.policy_affinity();
        let own = self.cluster.spec.required_terms();
        of_policy.into_iter().flat_map(|a| a.required.iter()).chain(own)
    }

    /// The terms that a worker had better meet: the policy's, and those that the cluster adds.
    pub(super) fn preferred(&self) -> impl Iterator<Item = &'a PreferredTerm> + use<'a> {
        let of_policy = self.policy_affinity().into_iter().flat_map(|a| a.preferred.iter());
        let own = self.cluster.spec.placement.as_ref().and_then(|p| p.affinity.as_ref());
        of_policy.chain(own.into_iter().flat_map(|a| a.preferred.iter()))
    }

    /// The groups of the policy's affinity that may be used, each with its place among all of them. A
    /// cluster that was placed in one of them begins with that one, unless the policy lets it go back.
    /// Where that one is there no longer, it begins anew.
    pub(super) fn groups(&self) -> impl Iterator<Item = (usize, &'a AffinityGroup)> + use<'a> {
        let affinity = self.policy_affinity();
        let first = affinity.filter(|a| a.failback == Failback::Never).and_then(|affinity| {
            let before = self.group?;
            affinity.groups.iter().position(|group| group.name == before)
        });
        let groups = affinity.map_or(&[][..], |a| &a.groups);
        groups.iter().enumerate().skip(first.unwrap_or(0))
    }

    /// Whether the policy's affinity has groups.
    pub(super) fn has_groups(&self) -> bool {
        self.policy_affinity().is_some_and(|a| !a.groups.is_empty())
    }

    /// The pools that the policy uses, and those that the cluster itself does: no list where all are.
    pub(super) fn used_pools(&self) -> impl Iterator<Item = &'a [String]> + use<'a> {
        let of_policy = self.policy.map(|p| p.spec.pools.as_slice());
        let own = self.cluster.spec.placement.as_ref().map(|p| p.pools.as_slice());
        of_policy.into_iter().chain(own).filter(|pools| !pools.is_empty())
    }

    /// Whether clusters are spread or packed.
    pub(super) fn strategy(&self) -> Strategy {
        self.policy.map_or(Strategy::default(), |p| p.spec.strategy)
    }

    /// The spread constraints that hold for the cluster: the policy's, and those that it adds.
    pub(super) fn spread(
        &self,
    ) -> impl Iterator<Item = (&'a SpreadConstraint, Group<'a>)> + use<'a> {
        let own = group::own_spread(self.cluster.spec.own_spread(), &self.cluster.tenant);
        self.policy.into_iter().flat_map(group::spread_of).chain(own)
    }

    /// The rules of anti-affinity that the cluster has: the policy's, and those that it adds.
    pub(super) fn anti_affinity(&self) -> impl Iterator<Item = AntiAffinityTerm<'a>> + use<'a> {
        let own = self.cluster.spec.own_anti_affinity();
        let own = group::own_anti_affinity(own, &self.cluster.tenant);
        self.policy.into_iter().flat_map(group::anti_affinity_of).chain(own)
    }

    fn policy_affinity(&self) -> Option<&'a PolicyAffinity> {
        self.policy.and_then(|p| p.spec.affinity.as_ref())
    }

    /// What the cluster puts up with. Only a policy says so: a cluster cannot widen what it may use.
    pub(super) fn tolerations(&self) -> &'a [Toleration] {
        self.policy.map_or(&[], |p| &p.spec.tolerations)
    }
}

#[cfg(test)]
mod tests {
    use super::MOST_ASSUMED;
    use crate::model::Quantity;
    use crate::plan::cycle;
    use crate::plan::world::World;

    #[test]
    fn what_is_assumed_counts_as_it_does_once_it_is_added_up() {
        let world = World::read(
            "worker w1 1/9 cap:mem=20; cluster a needs=2 needs:mem=3; cluster b needs=1; cluster c needs=1",
        );
        let input = world.input();
        let run = cycle::begin(&input);
        let mut worker = run.states.considered().next().unwrap().clone();
        for name in ["a", "b", "a", "c"] {
            worker.assume(&world.fleet.clusters[name].demand);
        }
        let mut told = Vec::new();
        for _ in 0..2 {
            let amounts = |resource| (worker.left(resource), worker.allocated(resource));
            told.push(["clusters", "mem", "disk"].map(amounts));
            worker.add_up();
        }
        let units = Quantity::units;
        let of_disk = (None, Quantity::ZERO);
        let expected = [(Some(units(2)), units(7)), (Some(units(14)), units(6)), of_disk];
        assert_eq!(told, [expected, expected]);
        assert!(worker.assumed.is_empty());
    }

    #[test]
    fn what_is_assumed_is_added_up_where_it_is_much() {
        let clusters = (1..=40).map(|needs| format!("cluster c{needs} needs={needs}"));
        let all: Vec<String> =
            std::iter::once("worker w1 0/999".to_owned()).chain(clusters).collect();
        let world = World::read(&all.join("; "));
        let input = world.input();
        let run = cycle::begin(&input);
        let mut worker = run.states.considered().next().unwrap().clone();
        for cluster in world.fleet.clusters.values() {
            worker.assume(&cluster.demand);
            assert!(worker.assumed.len() <= MOST_ASSUMED);
        }
        assert_eq!(worker.allocated("clusters"), Quantity::units(40 * 41 / 2));
    }
}
