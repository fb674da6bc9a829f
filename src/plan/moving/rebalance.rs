//! A rebalance: a few moves that even the workers out, begun only where a person has seen exactly these.
//!
//! What a move gains is how much less the new worker is used with the cluster than the old one is, by the
//! largest share of a resource that the cluster takes. The move that gains most comes first, and counts
//! for those after it: it keeps its place on the new worker, and the old one is taken to be less full by
//! it already. Its old place is given to nobody before it is gone; but if it went on counting in the
//! gain, a list of moves would empty the fullest worker into the emptiest one, and the next list would
//! bring them back.
//!
//! The new worker is the one that the planner would choose without the old one, and it must not be worse
//! by what comes before the share in the order: nothing goes further away to be evenly spread.

use std::collections::BTreeMap;

use super::begin::{Named, blocked, elsewhere, go};
use crate::model::api::{Rebalance, Strategy};
use crate::model::{
    Cluster, ClusterPlan, Decision, MoveCause, Name, Rank, Rebalanced, Resources, WorkerState,
};
use crate::plan::assign::PlanRun;
use crate::plan::candidate::{Leaving, Request};
use crate::plan::open::is_well;
use crate::plan::pre_filter_state::PreFilterState;
use crate::plan::score::{self, share};
use crate::plan::{amounts, move_cause, transfer};

/// A share: numerator and denominator.
type Share = (i128, i128);

/// A cluster that may move, and how full its worker is with it.
struct Movable<'n, 'a> {
    named: &'n Named<'a>,
    share: Share,
}

/// Begins the rebalance that is asked for. As drains do, it comes before anything that waits is placed:
/// so what it moves does not depend on what is new, and planning again begins no more.
pub(in crate::plan) fn rebalance(run: &mut PlanRun<'_>) {
    let Some(Rebalance { most, gain }) = run.input.rebalance else { return };
    if run.input.deletions_wait() || run.input.fleet.holds_placements() {
        return;
    }
    let mut all = may_move(run);
    for _ in 0..most {
        let Some((name, gain)) = best(run, &all, gain) else { return };
        let Some(at) = all.iter().position(|one| one.cluster.name == name) else { return };
        let one = all.swap_remove(at);
        if go(run, &one).is_err() {
            return;
        }
        let Some(moved) = run.moves.get(&name) else { return };
        let (from, to) = (moved.from.clone(), moved.to.clone());
        run.rebalanced.push(Rebalanced { cluster: name, from, to, gain });
    }
}

/// The placed clusters that may move and that nothing else names.
fn may_move<'a>(run: &PlanRun<'a>) -> Vec<Named<'a>> {
    let input = run.input;
    let of = |(name, planned): (&Name, &ClusterPlan)| {
        let Decision::Keep { worker: on } = &planned.decision else { return None };
        let cluster = input.fleet.clusters.get(name)?;
        let worker = input.fleet.workers.get(on)?;
        let named = Named { cluster, on: on.clone(), cause: MoveCause::Rebalance };
        let desired = run.states.get(on)?.plan.state == WorkerState::Desired;
        let held = planned.resize_blocked.is_some() || input.frozen.contains(name);
        let busy = run.moves.contains_key(name)
            || move_cause::named(&input, &run.policies, cluster, on).is_some();
        // A policy that packs clusters wants full workers.
        let spreads = run.request(cluster).strategy() == Strategy::Spread;
        let may = desired && is_well(&input, worker) && spreads && !held && !busy;
        (may && blocked(run, &named, false).is_none()).then_some(named)
    };
    run.clusters.iter().filter_map(of).collect()
}

/// The cluster whose move gains most, and so much at least, and what it gains. Of equal ones it is the
/// least important, then the first by name.
fn best(run: &PlanRun<'_>, all: &[Named<'_>], least: u32) -> Option<(Name, u32)> {
    let leaving = leaving(run);
    let none = Resources::new();
    let share = |Named { cluster, on, .. }: &Named<'_>| {
        let without = leaving.get(on).unwrap_or(&none);
        share::there(&run.request(cluster), run.states.get(on)?, without)
    };
    let movable = all.iter().filter_map(|named| Some(Movable { named, share: share(named)? }));
    let mut movable: Vec<_> = movable.collect();
    // The fullest first: no move gains more than all that its worker is used.
    movable.sort_by(|a, b| (b.share.0 * a.share.1).cmp(&(a.share.0 * b.share.1)));
    let rank = |cluster: &Cluster| (cluster.spec.priority.unwrap_or(0), cluster.name.clone());
    let mut best: Option<(u32, &Cluster)> = None;
    for Movable { named, share } in movable {
        let wanted = best.map_or(least, |(gain, _)| gain.max(least));
        if points(share, (0, 1)) < wanted {
            break;
        }
        let Some(gain) = gain(run, named, share).filter(|gain| *gain >= wanted) else { continue };
        let better = best.is_none_or(|(most, other)| {
            gain > most || (gain == most && rank(named.cluster) < rank(other))
        });
        if better {
            best = Some((gain, named.cluster));
        }
    }
    best.map(|(gain, cluster)| (cluster.name.clone(), gain))
}

/// What is on its way out of each worker.
fn leaving(run: &PlanRun<'_>) -> BTreeMap<Name, Resources> {
    let mut leaving: BTreeMap<Name, Resources> = BTreeMap::new();
    for planned in run.clusters.values() {
        if let Decision::Move { from: worker, .. } | Decision::Delete { worker, .. } =
            &planned.decision
        {
            amounts::add(leaving.entry(worker.clone()).or_default(), &planned.demand);
        }
    }
    leaving
}

/// What a move of a cluster gains, in percent points; `None` where no other worker takes it, or only one
/// that is worse for it.
fn gain(run: &PlanRun<'_>, named: &Named<'_>, share: Share) -> Option<u32> {
    let Named { cluster, on, .. } = named;
    let how = transfer::kind(&run.input, cluster, MoveCause::Rebalance);
    let to = elsewhere(run, cluster, (on, how)).ok()?.best;
    let gain = points(share, to.share);
    (gain > 0 && !is_worse(run, cluster, on, &to)).then_some(gain)
}

/// Whether a worker is worse for a cluster than its own, by the terms before the share.
fn is_worse(run: &PlanRun<'_>, cluster: &Cluster, on: &Name, to: &Rank) -> bool {
    let takes = run.takes(&cluster.name);
    let how = transfer::kind(&run.input, cluster, MoveCause::Rebalance);
    let leaving = Leaving { worker: on, takes: &takes, how };
    let request = Request { leaving: Some(leaving), ..run.request(cluster) };
    let pre_filter = PreFilterState::of(&request, &run.states, &run.states.counts);
    let Some(candidate) = run.states.get(on) else { return true };
    let Some(worker) = candidate.worker else { return true };
    let here = score::rank(&request.within(&pre_filter), candidate, worker);
    let (share, clusters, worker) = (to.share, to.clusters, to.worker.clone());
    to.compare(&Rank { share, clusters, worker, ..here }).0.is_gt()
}

/// How much more one share is than another, in whole percent points, rounded down; 0 where it is less.
fn points((used, of): Share, (other, of_other): Share) -> u32 {
    let (more, mut unit) = (used * of_other - other * of, of * of_other);
    if more <= 0 {
        return 0;
    }
    let (whole, mut rest) = (more / unit, more % unit);
    while rest > i128::MAX / 100 {
        (rest, unit) = (rest >> 1, unit >> 1);
    }
    u32::try_from(whole.saturating_mul(100).saturating_add(rest * 100 / unit)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::points;
    use crate::plan::world::{World, check};

    #[track_caller]
    fn chosen(world: &str, expected: &str) {
        assert_eq!(World::read(world).rebalanced(), expected, "{world}");
    }

    /// Clusters of these names that may move, on a worker.
    fn movable(names: &str, on: &str) -> String {
        let one = |name| format!("cluster {name} on={on} rebuild; ");
        names.split(' ').map(one).collect()
    }

    #[test]
    fn nothing_moves_without_a_request() {
        check(&format!("worker w1 5/9; worker w2; {}", movable("a", "w1")), "a on w1");
    }

    #[test]
    fn the_move_that_gains_most_comes_first_and_what_it_gains_is_told() {
        // w1 6/10, w2 9/10, w3 1/10 with the cluster, then 2/10.
        let world = format!(
            "worker w1 4/10; worker w2 8/10; worker w3 0/10; {}{}",
            movable("a b", "w1"),
            movable("c", "w2")
        );
        chosen(&format!("{world} rebalance 1:20"), "c w2 => w3 80");
        chosen(&format!("{world} rebalance 2:20"), "c w2 => w3 80; a w1 => w3 40");
        chosen(&format!("{world} rebalance 3:20"), "c w2 => w3 80; a w1 => w3 40; b w1 => w3 20");
        check(
            &format!("{world} rebalance 2:20"),
            "a w1 => w3 D1 Rebalance; b on w1; c w2 => w3 D1 Rebalance",
        );
    }

    #[test]
    fn of_equal_gains_the_least_important_goes_first_then_the_first_by_name() {
        let world = "worker w1 3/10; worker w2 0/10; cluster a on=w1 rebuild priority=5;
            cluster c on=w1 rebuild; cluster b on=w1 rebuild;";
        chosen(&format!("{world} rebalance 1:20"), "b w1 => w2 50");
        chosen(&format!("{world} rebalance 9:20"), "b w1 => w2 50; c w1 => w2 30");
    }

    #[test]
    fn moves_do_not_go_further_than_even() {
        // If what leaves went on counting, six would go, and the next list would bring some back.
        let world = format!("worker w1 0/8; worker w2 0/8; {}", movable("a b c d e f g h", "w1"));
        chosen(&format!("{world} rebalance 9:20"), "a w1 => w2 87; b w1 => w2 62; c w1 => w2 37");
        let planning = World::read(&format!("{world} rebalance 9:1")).plan();
        assert_eq!(planning.rebalanced.len(), 4);
        // What was on its way before the request counts as gone too.
        let moving = "cluster i on=w1 rebuild moving=w3 step=D1 cause=Drain; worker w3 cordoned";
        let world = format!("worker w1 2/8; worker w2 3/8; {moving}; cluster a on=w1 rebuild");
        chosen(&format!("{world}; rebalance 1:1"), "");
    }

    #[test]
    fn what_is_even_stays_so() {
        let world = format!(
            "worker w1 2/9; worker w2 2/9; {}{} rebalance 9:1",
            movable("a", "w1"),
            movable("b", "w2")
        );
        chosen(&world, "");
        check(&world, "a on w1; b on w2");
        chosen("worker w1 1/1; rebalance 9:1", "");
    }

    #[test]
    fn a_gain_is_reached_or_missed_by_a_point() {
        // 5/9 and 2/9 are 33.3 points apart.
        let world = format!("worker w1 4/9; worker w2 1/9; {}", movable("a", "w1"));
        chosen(&format!("{world} rebalance 1:33"), "a w1 => w2 33");
        chosen(&format!("{world} rebalance 1:34"), "");
    }

    #[test]
    fn the_fullest_of_the_resources_that_the_cluster_takes_counts() {
        let world = "worker w1 0/10 cap:mem=8; worker w2 0/10 cap:mem=8; cluster a on=w1 rebuild needs:mem=2;
            cluster b on=w1 needs:mem=4; cluster c on=w1 rebuild;";
        // By memory 6/8 and 2/8; c takes none, and by clusters it is 3/10 and 1/10.
        chosen(&format!("{world} rebalance 1:10"), "a w1 => w2 50");
        let alone = world.replacen("on=w1 rebuild needs", "on=w1 needs", 1);
        chosen(&format!("{alone} rebalance 1:10"), "c w1 => w2 20");
        // It is not known how much memory w1 has.
        let unknown = world.replacen("w1 0/10 cap:mem=8", "w1 0/10", 1);
        chosen(&format!("{unknown} rebalance 9:10"), "c w1 => w2 20");
    }

    #[test]
    fn only_what_may_move_and_nothing_else_names_moves() {
        let world = "worker w1 5/10; worker w2 0/10; cluster a on=w1 rebuild";
        let asked = |world: &str| format!("{world}; rebalance 9:20");
        chosen(&asked(world), "a w1 => w2 50");
        for word in ["", "rebuild paused", "rebuild unrendered"] {
            chosen(&asked(&world.replacen("rebuild", word, 1)), "");
        }
        let healthy = world.replacen("5/10", "5/10 agent:healthy", 1);
        chosen(&asked(&healthy), "a w1 => w2 50");
        chosen(&asked(&healthy.replacen("rebuild", "rebuild from=w2", 1)), "");
        for said in [
            "kept cluster a",
            "kept worker w1",
            "unloaded ManagedCluster x",
            "unloaded PlacementPolicy ? blocking",
            "policy p packs",
            "lost w2",
        ] {
            chosen(&asked(&format!("{world}; {said}")), "");
        }
        for word in ["agent:silent", "agent:unhealthy", "agent", "drain", "gone", "?"] {
            chosen(&asked(&world.replacen("5/10", &format!("5/10 {word}"), 1)), "");
        }
        // What leaves for another reason leaves for that.
        check(&asked(&world.replacen("5/10", "5/10 drain", 1)), "a w1 => w2 D1 Drain");
        check(
            &asked(&format!("{world}; policy p only=w2 violations=move")),
            "a w1 => w2 D1 Violation",
        );
        // A worker that takes nothing new may be made less full.
        chosen(&asked(&world.replacen("5/10", "5/10 cordoned", 1)), "a w1 => w2 50");
    }

    #[test]
    fn no_worker_is_given_what_a_filter_refuses() {
        let world = "worker w1 5/10; worker w2 0/10; worker w3 2/10; cluster a on=w1 rebuild";
        chosen(&format!("{world}; rebalance 1:20"), "a w1 => w2 50");
        for word in ["cordoned", "drain", "taint:k=v:NoSchedule", "agent:silent", "cap:clusters=0"]
        {
            let world = world.replacen("w2 0/10", &format!("w2 0/10 {word}"), 1);
            chosen(&format!("{world}; rebalance 1:20"), "a w1 => w3 30");
        }
        chosen(&format!("{world} only=w1,w3; rebalance 1:20"), "a w1 => w3 30");
        chosen(&format!("{world} only=w1; rebalance 1:20"), "");
        // What moves first takes its place: nothing else goes where only one fits.
        let full = "worker w1 5/10; worker w2 0/10 reserved=9; cluster a on=w1 rebuild; cluster b on=w1 rebuild";
        chosen(&format!("{full}; rebalance 2:10"), "a w1 => w2 60");
    }

    #[test]
    fn nothing_goes_where_the_planner_would_like_it_less() {
        let world = "worker w1 8/10 at=westeurope; worker w2 0/10 at=eastus; cluster a on=w1 rebuild at=westeurope";
        chosen(&format!("{world}; rebalance 1:20"), "");
        let nearer = world.replacen("at=eastus", "at=westeurope", 1);
        chosen(&format!("{nearer}; rebalance 1:20"), "a w1 => w2 80");
        chosen(&format!("{nearer} prefer:10:zone=1; rebalance 1:20"), "a w1 => w2 80");
        let liked = nearer.replacen("8/10", "8/10 label:zone=1", 1);
        chosen(&format!("{liked} prefer:10:zone=1; rebalance 1:20"), "");
    }

    #[test]
    fn planning_again_begins_nothing_and_nothing_calls_a_move_off() {
        let world = World::read(&format!(
            "worker w1 0/8 agent:healthy; worker w2 0/8 agent:healthy; cluster n; {} rebalance 2:20",
            movable("a b c d e f", "w1")
        ));
        let planning = world.plan();
        assert_eq!(planning.rebalanced.len(), 2);
        let after = world.after(&planning);
        let again = after.plan();
        let told = "a w1 => w2 D1 Rebalance; b w1 => w2 D1 Rebalance; c on w1; d on w1; e on w1; f on w1; n on w2";
        assert_eq!(after.describe(&again.plan, told), told);
        // The worker says that nothing was deleted yet.
        check(
            "worker w1 agent:healthy; worker w2; cluster a on=w1 rebuild moving=w2 step=D1 cause=Rebalance;
             seen w1 a other has=Cluster",
            "a w1 => w2 D1 Rebalance",
        );
    }

    #[test]
    fn points_are_exact_and_never_too_many() {
        assert_eq!(points((5, 9), (2, 9)), 33);
        assert_eq!(points((8, 5), (0, 1)), 160);
        assert_eq!(points((1, 3), (1, 2)), 0);
        assert_eq!(points((29, 100), (0, 1)), 29);
        let large = i128::from(i64::MAX);
        assert_eq!(points((large, large - 1), (1, large)), 100);
        assert_eq!(points((large - 1, large), (0, large)), 99);
    }
}
