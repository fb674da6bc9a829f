//! The clusters of the queue that are given workers: how each comes to its own, and what is said of all once they are served.

use std::collections::BTreeSet;

use super::PlanRun;
use crate::model::{Binding, Cluster, ClusterPlan, Decision, Name, Policy, ReasonCode};
use crate::plan::group::ClusterInfo;
use crate::plan::pick::SelectedWorker;
use crate::plan::queue::{self, Waiting};
use crate::plan::taking::Taking;
use crate::plan::worker_states::WorkerStates;

/// A cluster of the queue that was given a worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoundCluster<'a> {
    /// Its place among all desired clusters.
    place: u32,
    cluster: &'a Cluster,
    policy: Option<&'a Policy>,
    selected: SelectedWorker,
}

impl<'a> PlanRun<'a> {
    /// Gives a cluster of the queue its worker.
    pub(super) fn bind(&mut self, waiting: Waiting<'a>, selected: SelectedWorker) {
        let Waiting { cluster, place, alike, .. } = waiting;
        let policy = if let Some((signed, alike)) = self.signed.as_ref().zip(alike) {
            // The first one like it says the same of what it takes and whose it is, and has been read lately.
            let first = signed.request(alike);
            let info = ClusterInfo { name: &cluster.name, ..first.info() };
            self.states.assume(selected.place(), info, signed.parts(alike), first.demand());
            self.choice.take(selected.place(), alike.signature(), &self.states);
            first.policy
        } else {
            self.take(selected.place(), cluster, Taking::all(&cluster.demand));
            self.policies.select(cluster)
        };
        self.bindings += 1;
        self.bound.push(BoundCluster { place, cluster, policy, selected });
        self.evaluated += 1;
    }

    /// Adds what was decided about the queue to the rest: these wait, for these reasons.
    pub(super) fn add_decided(&mut self, mut waiting: Vec<(Waiting<'a>, BTreeSet<ReasonCode>)>) {
        let mut bound = std::mem::take(&mut self.bound);
        let is_few = bound.len() + waiting.len() < self.clusters.len() / 8;
        let mut decided = Vec::with_capacity(bound.len() + waiting.len());
        let wait = |((waiting, reasons), seen): ((Waiting<'a>, BTreeSet<ReasonCode>), u64)| {
            said(waiting.cluster, Decision::Wait { seen, reasons })
        };
        let states = &self.states;
        let bind = |one: BoundCluster<'a>| {
            said(one.cluster, Decision::Bind(binding(one.policy, one.selected, states)))
        };
        // In the order of the names, so that all is put together at once, in full nodes. They are in it already, but for one of
        // each priority and for those that were requeued, which this kind of sorting makes use of.
        bound.sort_by_key(|one| one.place);
        waiting.sort_by_key(|(one, _)| one.place);
        let seen: Vec<u64> =
            queue::number(&self.input, waiting.iter().map(|(one, _)| one)).collect();
        let mut waiting = waiting.into_iter().zip(seen).peekable();
        for one in bound {
            while let Some(before) = waiting.next_if(|((other, _), _)| other.place < one.place) {
                decided.push(wait(before));
            }
            decided.push(bind(one));
        }
        decided.extend(waiting.map(wait));
        if is_few {
            self.clusters.extend(decided);
        } else {
            self.clusters.append(&mut decided.into_iter().collect());
        }
    }

    /// The binding that a selected worker comes to.
    pub(in crate::plan) fn binding(&self, cluster: &Cluster, selected: SelectedWorker) -> Binding {
        binding(self.policies.select(cluster), selected, &self.states)
    }
}

/// What is said of a cluster.
fn said(cluster: &Cluster, decision: Decision) -> (Name, ClusterPlan) {
    (cluster.name.clone(), ClusterPlan::new(decision, cluster.demand.clone()))
}

/// The binding that a selected worker comes to, by this policy.
fn binding(
    policy: Option<&Policy>,
    selected: SelectedWorker,
    states: &WorkerStates<'_>,
) -> Binding {
    let runner_up = selected.runner_up();
    let name = |place: usize| states.at(place).name.clone();
    let groups = policy.and_then(|policy| policy.spec.affinity.as_ref()).map(|a| &a.groups);
    let group = groups.zip(selected.group()).and_then(|(groups, at)| groups.get(at));
    Binding {
        worker: name(selected.place()),
        policy: policy.map(|policy| policy.name.clone()),
        decided_by: runner_up.map(|(_, term)| term),
        runner_up: runner_up.map(|(place, _)| name(place)),
        group: group.map(|group| group.name.clone()),
    }
}
