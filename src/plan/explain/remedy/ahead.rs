//! Those that wait before the cluster and that nobody looked at. In a proof those take part that its worker may take, as far as
//! that is asked: once the worker is full, it makes no difference who else comes before the cluster.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Cluster, Name, PendingRow, QueuedCluster, WaitingAhead};
use crate::plan::assign::PlanRun;
use crate::plan::candidate::{Candidate, Request};
use crate::plan::{PlanInput, SoleWorker, filter};

/// Those that wait before the cluster, after a run that was not asked about them.
pub(super) struct ClustersAhead<'p> {
    pub(super) all: &'p WaitingAhead,
    run: &'p PlanRun<'p>,
    /// The places in the queue of those that take part.
    joined: BTreeSet<usize>,
    /// Whether policies name clusters, so that of two with the same labels another may apply to each.
    are_named: bool,
    /// Whether each is one worker's or nobody's, once that was asked.
    plain: OnceCell<bool>,
}

/// Who is to join.
pub(super) struct Joining {
    /// The clusters, each after what its lock has of it.
    pub(super) clusters: Vec<(PendingRow, Cluster)>,
    /// The first one that is left out though the worker may take it, with its place as its lock says.
    pub(super) left_out: Option<(u64, Cluster)>,
}

/// Whether a cluster takes part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AheadPart {
    /// The worker refuses it, whoever is placed.
    None,
    /// The worker may take it, and no other one does.
    OfWorker,
    /// What becomes of it is known by planning alone.
    Unknown,
}

impl<'p> ClustersAhead<'p> {
    pub(super) fn new(all: &'p WaitingAhead, run: &'p PlanRun<'p>) -> Self {
        let mut policies = run.input.fleet.policies.values();
        let are_named = policies.any(|policy| !policy.spec.cluster_selector.names.is_empty());
        Self { all, run, joined: BTreeSet::new(), are_named, plain: OnceCell::new() }
    }

    /// All of them, each as its tenant and its `spec` are.
    pub(super) fn clusters(&self) -> impl Iterator<Item = &'p Cluster> {
        let all = self.all;
        all.queue.clusters.iter().filter_map(|queued| all.first_like(queued))
    }

    /// Those that take part in a plan of this input, and in no earlier one did: of those that the sole worker may take the `most`
    /// that come first. They take part in all that follow; of those that cannot be placed nothing is decided there either.
    pub(super) fn joining(&mut self, input: &PlanInput<'_>, most: usize) -> Joining {
        let sole = input.sole.filter(|_| !self.are_named);
        let sole = sole.and_then(|s| Some((s, self.run.states.edited(input, s.worker)?)));
        let is_plain = sole.as_ref().is_some_and(|(sole, _)| self.is_plain(*sole));
        let mut parts = BTreeMap::new();
        let mut joining = Joining { clusters: Vec::new(), left_out: None };
        let mut of_worker = 0;
        for (place, queued) in self.all.queue.clusters.iter().enumerate() {
            let part = *parts
                .entry((queued.alike, queued.labels))
                .or_insert_with(|| self.part(queued, sole.as_ref()));
            if part == AheadPart::None {
                continue;
            }
            of_worker += usize::from(part == AheadPart::OfWorker);
            let Some(cluster) = self.all.cluster(queued) else { continue };
            if part == AheadPart::OfWorker && of_worker > most {
                joining.left_out.get_or_insert((queued.seen, cluster));
                if is_plain {
                    break;
                }
            } else if self.joined.insert(place) {
                let row = PendingRow::without_reasons(&cluster, queued.seen);
                joining.clusters.push((row, cluster));
            }
        }
        joining
    }

    /// Whether a worker has no room for any of them.
    pub(super) fn takes_nobody(&self, worker: &Candidate<'_>) -> bool {
        let mut demands = self.all.first.values().map(|cluster| &cluster.demand);
        demands.all(|demand| filter::lacks_capacity(demand, worker))
    }

    /// Whether all of them, and the cluster itself, are the sole worker's or nobody's.
    pub(super) fn is_plain_with(&self, cluster: &Name, sole: SoleWorker<'_>) -> bool {
        let counts = &self.run.states.counts;
        let request = self.run.request_of(cluster);
        request.is_some_and(|request| sole.is_sole_by_rules(&request, counts))
            && self.is_plain(sole)
    }

    /// Whether all of them are the sole worker's or nobody's. That is asked once, and not where a policy is another.
    fn is_plain(&self, sole: SoleWorker<'_>) -> bool {
        let is_plain = || {
            let queue = self.all.queue.clusters.iter();
            let sorts = queue.map(|queued| ((queued.alike, queued.labels), queued));
            let sorts: BTreeMap<_, _> = sorts.collect();
            sorts.into_values().all(|queued| self.of_sole(queued, sole, |_| true).is_some())
        };
        let is_as_it_was = sole.policy.is_none() && sole.cluster.is_none();
        is_as_it_was && !self.are_named && *self.plain.get_or_init(is_plain)
    }

    fn part(
        &self,
        queued: &QueuedCluster,
        sole: Option<&(SoleWorker<'_>, Candidate<'_>)>,
    ) -> AheadPart {
        let may_take = |(sole, worker): &(SoleWorker<'_>, Candidate<'_>)| {
            self.of_sole(queued, *sole, |request| !filter::refuses_for_good(request, worker))
        };
        match sole.and_then(may_take) {
            None => AheadPart::Unknown,
            Some(false) => AheadPart::None,
            Some(true) => AheadPart::OfWorker,
        }
    }

    /// What is asked of one that no other worker takes; `None` where another may.
    fn of_sole(
        &self,
        queued: &QueuedCluster,
        sole: SoleWorker<'_>,
        asked: impl FnOnce(&Request<'_>) -> bool,
    ) -> Option<bool> {
        let cluster = self.all.cluster(queued)?;
        let run: &PlanRun<'_> = self.run;
        let request = run.request(&cluster);
        // That its name is taken is so of that one alone.
        let is_sole = !request.is_name_taken && sole.is_sole_by_rules(&request, &run.states.counts);
        is_sole.then(|| asked(&request))
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use super::super::{remedies, remedies_after};
    use super::*;
    use crate::model::{ClusterPlan, Decision, Fleet, Plan, Previous, StandingClusters};
    use crate::plan::explain::Remedies;
    use crate::plan::laws::{Seen, todays_steps};
    use crate::plan::pool_workers::may_scale;
    use crate::plan::queue::is_served_in_order;
    use crate::plan::world::{World, name};
    use crate::plan::{is_counted_by, scale, standing};

    #[test]
    fn those_join_that_the_worker_may_take_the_first_ones_first() {
        let joined = |more: &str, most: &[usize]| -> Vec<String> {
            let world = World::read(&format!(
                "worker w1 cordoned; worker w2 cordoned; cluster a seen=1; cluster b seen=2 with:zone=1;
                 cluster c seen=3; cluster d seen=4; cluster e seen=5; {more}"
            ));
            scale::settle(&world.input(), |input, run, _| {
                let mut queue: Vec<_> = run.unplaced().map(|cluster| turn(&run, cluster)).collect();
                queue.sort();
                let all = ahead(&queue[..4], &input.fleet.clusters);
                let mut edited = input.fleet.clone();
                let worker = name("w1");
                edited.workers.get_mut(&worker).unwrap().spec.unschedulable = false;
                let sole = Some(SoleWorker { worker: &worker, cluster: None, policy: None });
                let edited = PlanInput { fleet: &edited, sole, ..*input };
                let mut clusters = ClustersAhead::new(&all, &run);
                let join = |most: &usize| {
                    let Joining { clusters, left_out } = clusters.joining(&edited, *most);
                    let names = clusters.iter().map(|(_, cluster)| cluster.name.as_str());
                    let names: Vec<&str> = names.collect();
                    let left_out =
                        left_out.map_or("nobody".to_owned(), |(_, c)| c.name.to_string());
                    format!("{} without {left_out}", names.join(" "))
                };
                most.iter().map(join).collect()
            })
        };
        assert_eq!(
            joined("", &[1, 2, 9, 9]),
            ["a without c", "c without d", "d without nobody", " without nobody"]
        );
        let named = "policy p for=a";
        assert_eq!(joined(named, &[1]), ["a b c d without nobody"]);
        let apart = "policy p apart:worker; cluster x on=w2";
        assert_eq!(joined(apart, &[1]), ["a b c d without nobody"]);
    }

    #[test]
    fn those_ahead_of_which_nothing_was_decided_take_part_in_what_may_be_theirs() {
        let (told, behind, counted) = <(Seen, Seen, Seen)>::default();
        todays_steps(|world, planning| {
            let input = PlanInput { settled: None, ..world.input() };
            scale::settle(&input, |input, run, _| {
                let mut queue: Vec<_> = run.unplaced().map(|cluster| turn(&run, cluster)).collect();
                queue.sort();
                let workers = run.states.considered().map(|candidate| &candidate.plan);
                let waiting = queue.iter().map(|(.., name)| name);
                let is_in_order = is_served_in_order(input.fleet, waiting, workers);
                if !run.is_still() || may_scale(input) || !is_in_order {
                    return Ok(());
                }
                let standing = standing(&planning.plan, &world.previous, &planning.counted);
                let is_quiet = input.rebalance.is_none() && is_quiet(&planning.plan);
                let standing = standing.filter(|_| is_quiet);
                for (at, (.., asked)) in queue.iter().enumerate().rev().take(3) {
                    // One that is new has another place in the queue where it is alone.
                    let previous = &input.previous.pending.clusters;
                    let Some(row) = previous.get_key_value(asked) else { continue };
                    let whole = remedies(input, &WaitingAhead::default(), &run, asked);
                    for first_asked in [1, usize::MAX] {
                        let queue = (&queue[..], at, first_asked);
                        let found = alone(input, queue, without(input, queue));
                        proptest::prop_assert_eq!(&found, &whole, "{}", asked);
                        let Some(standing) = standing.clone() else { continue };
                        let found = alone(input, queue, counted_only(input, row, standing));
                        proptest::prop_assert!(found.is_none() || found == whole, "{:?}", found);
                        counted.note(found.map_or(0, |found| found.list.len()));
                    }
                    for remedy in whole.into_iter().flat_map(|whole| whole.list) {
                        told.note(1);
                        behind.note(usize::from(!remedy.after.is_empty()));
                    }
                }
                Ok(())
            })
        });
        told.at_least_of(100);
        behind.at_least_of(10);
        counted.at_least_of(100);
    }

    /// Whether nobody is on the way, so that a baseline may speak for all that stand.
    fn is_quiet(plan: &Plan) -> bool {
        let is_still = |planned: &ClusterPlan| {
            !planned.is_told() && planned.deletion.is_none() && planned.resize_blocked.is_none()
        };
        plan.clusters.values().all(is_still) && plan.holds.is_empty() && plan.retirements.is_empty()
    }

    /// A queue, the place in it of the one that is asked for, and how many are asked first.
    type AskedInQueue<'q> = (&'q [(Reverse<i32>, u64, Name)], usize, usize);

    /// What stands and is desired without the others in the queue.
    fn without(input: &PlanInput<'_>, (queue, at, _): AskedInQueue<'_>) -> (Fleet, Previous) {
        let (mut fleet, mut previous) = (input.fleet.clone(), input.previous.clone());
        for (.., name) in queue.iter().filter(|(.., name)| *name != queue[at].2) {
            fleet.clusters.remove(name);
            previous.pending.clusters.remove(name);
        }
        (fleet, previous)
    }

    /// The one that is asked for alone, with what stands counted only.
    fn counted_only(
        input: &PlanInput<'_>,
        (asked, row): (&Name, &PendingRow),
        standing: StandingClusters,
    ) -> (Fleet, Previous) {
        let mut fleet = input.fleet.clone();
        fleet.clusters.retain(|name, _| name == asked);
        let mut previous = Previous {
            standing: Some(standing.into()),
            placed: Some(input.previous.bound()),
            partial: true,
            ..Previous::default()
        };
        previous.pending.clusters.insert(asked.clone(), row.clone());
        (fleet, previous)
    }

    /// The remedies of the one that is asked for, where nobody else in the queue was looked at.
    fn alone(
        input: &PlanInput<'_>,
        (queue, at, first_asked): AskedInQueue<'_>,
        (fleet, previous): (Fleet, Previous),
    ) -> Option<Remedies> {
        let ahead = (&ahead(&queue[..at], &input.fleet.clusters), first_asked);
        let few = PlanInput { fleet: &fleet, previous: &previous, ..*input };
        scale::settle(&few, |few, run, _| {
            let is_told = previous.standing.is_none() || is_counted_by(few);
            is_told.then(|| remedies_after(few, ahead, &run, &queue[at].2, true))?
        })
    }

    /// Where a cluster that waits stands in the queue: the smaller comes first.
    fn turn(run: &PlanRun<'_>, cluster: &Cluster) -> (Reverse<i32>, u64, Name) {
        let Decision::Wait { seen, .. } = run.clusters[&cluster.name].decision else {
            panic!("{} does not wait", cluster.name)
        };
        (Reverse(cluster.spec.priority.unwrap_or(0)), seen, cluster.name.clone())
    }

    /// A queue, of whose clusters those that say the same are there once.
    fn ahead(
        queue: &[(Reverse<i32>, u64, Name)],
        clusters: &BTreeMap<Name, Cluster>,
    ) -> WaitingAhead {
        let mut ahead = WaitingAhead::default();
        let mut labels = BTreeMap::new();
        for (at, (_, seen, name)) in queue.iter().enumerate() {
            let cluster = &clusters[name];
            let is_alike = |first: &Cluster| {
                first.tenant == cluster.tenant
                    && first.demand == cluster.demand
                    && *first.spec == *cluster.spec
            };
            let known = labels.len();
            let place = *labels.entry(cluster.labels.clone()).or_insert(known);
            if place == known {
                ahead.queue.labels.push(cluster.labels.clone());
            }
            let first =
                ahead.first.iter().find(|(_, first)| is_alike(first)).map(|(first, _)| *first);
            let alike = first.unwrap_or(at);
            ahead.first.entry(alike).or_insert_with(|| cluster.clone());
            let queued = QueuedCluster { name: name.clone(), seen: *seen, alike, labels: place };
            ahead.queue.clusters.push(queued);
        }
        ahead
    }
}
