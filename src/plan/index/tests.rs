//! The index says what the plain scan says, and rests on what the rules declare.

use std::collections::BTreeMap;
use std::fmt::Debug;

use proptest::prelude::*;

use super::class::is_by_domain;
use super::keys::{Depends, Keys, depends};
use super::rooms::Rooms;
use super::{Index, MOST, is_known};
use crate::model::api::Strategy;
use crate::model::{Decision, ReasonCode};
use crate::plan::candidate::{Candidate, Request};
use crate::plan::choose::choose;
use crate::plan::depends_on::DependsOn;
use crate::plan::filter::{self, FILTERS, Filter};
use crate::plan::laws::{Seen, todays_steps, unsettled};
use crate::plan::pick::{SelectedWorker, Selection};
use crate::plan::policy::Policies;
use crate::plan::pre_filter_state::PreFilterState;
use crate::plan::score::{self, MovingTerms, STILL};
use crate::plan::signature::Signatures;
use crate::plan::world::World;
use crate::plan::{Queue, SearchMode, cycle};

fn by(world: &World, way: SearchMode) -> crate::plan::Planning {
    Queue::new(&world.input(), way).serve()
}

#[test]
fn the_index_decides_as_the_plain_scan_does() {
    let (by_index, bound, waiting, constrained) = <(Seen, Seen, Seen, Seen)>::default();
    todays_steps(|world, _| {
        for world in [world.clone(), unsettled(world)] {
            let (scan, index) = (by(&world, SearchMode::Scan), by(&world, SearchMode::Index));
            prop_assert_eq!(&scan.plan, &index.plan);
            prop_assert_eq!(scan.context, index.context);
            // Of those that are alike only one is looked at again.
            prop_assert!(index.searched <= scan.searched && scan.indexed == 0);
            by_index.note(usize::try_from(index.indexed).unwrap());
            for planned in index.plan.clusters.values() {
                match &planned.decision {
                    Decision::Bind(_) => bound.note(1),
                    Decision::Wait { reasons, .. } => {
                        let rules =
                            [ReasonCode::Spread, ReasonCode::AntiAffinity, ReasonCode::Quota];
                        constrained.note(rules.iter().filter(|r| reasons.contains(r)).count());
                        waiting.note(1);
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    });
    by_index.at_least_of(5000);
    bound.at_least_of(1000);
    waiting.at_least_of(1000);
    constrained.at_least_of(100);
}

#[test]
fn what_is_told_by_signature_is_what_the_plain_scan_says() {
    let (selected, refused) = <(Seen, Seen)>::default();
    todays_steps(|world, _| {
        let input = world.input();
        let mut run = cycle::begin(&input).by(SearchMode::Index);
        run.sign();
        let Some(mut index) = Index::new(&world.fleet) else { return Ok(()) };
        for (cluster, alike, parts) in run.alike() {
            let (request, signature) = (run.request(cluster), alike.signature());
            let pre_filter = PreFilterState::of(&request, &run.states, &run.states.counts);
            let scan = choose(&request.within(&pre_filter), &run.states);
            match index.select(&request, (cluster, signature), parts, &run.states) {
                Selection::Unknown => {}
                Selection::Refused => {
                    prop_assert!(scan.is_err(), "{} is refused", cluster.name);
                    refused.note(1);
                }
                Selection::Selected(worker) => {
                    let scan = scan.map(|pick| SelectedWorker::of(&pick, &run.states));
                    prop_assert_eq!(Ok(worker), scan, "{}", cluster.name);
                    selected.note(1);
                }
            }
        }
        Ok(())
    });
    selected.at_least_of(5000);
    refused.at_least_of(1000);
}

#[test]
fn who_came_between_two_that_are_alike_keeps_the_second_away() {
    // `c` has the parts of `a`, of whose clusters nobody kept away when they were numbered.
    let world = World::read(
        "worker w1 0/9; worker w2 0/9; policy p for:dr=x apart:worker=@app=s;
         cluster a label:app=s needs=4; cluster b label:dr=x; cluster c label:app=s needs=4",
    );
    for way in [SearchMode::Scan, SearchMode::Index] {
        let told = world.describe(&by(&world, way).plan, "");
        assert_eq!(told, "a -> w1; b -> w2; c -> w1", "{way:?}");
    }
}

#[test]
fn an_index_that_has_kept_too_much_begins_anew() {
    let world = World::read("worker w1 0/2; worker w2 0/3; cluster a; cluster b needs=2");
    let input = world.input();
    let mut run = cycle::begin(&input).by(SearchMode::Index);
    run.sign();
    let (_, _, parts) = run.alike().next().unwrap();
    let mut index = Index::new(&world.fleet).unwrap();
    let [a, b] = ["a", "b"].map(|name| run.request(&world.fleet.clusters[name]));
    let first = index.select(&a, (a.cluster, 0), parts, &run.states);
    // Signatures that nobody asked about take no room.
    assert_eq!(index.select(&b, (b.cluster, 1 << 20), parts, &run.states), first);
    assert_eq!(index.by_key.len(), 2);
    index.classes.kept = MOST + 1;
    assert_eq!(index.select(&a, (a.cluster, 0), parts, &run.states), first);
    assert_eq!(index.by_key.len(), 1);
    assert!(index.classes.kept < 1000);
}

#[test]
fn clusters_with_one_signature_have_one_key() {
    let alike = Seen::default();
    todays_steps(|world, _| {
        let input = world.input();
        let run = cycle::begin(&input);
        let policies = Policies::of(&world.fleet);
        let mut signatures = Signatures::new(&world.fleet, &policies, run.states.counts.groups());
        let (mut keys, mut known) = (Keys::new(&world.fleet), BTreeMap::new());
        for cluster in world.fleet.clusters.values() {
            let request = run.request(cluster);
            if run.is_told_by_name(cluster) {
                continue;
            }
            let says = (keys.of(&request), request.policy.map(|policy| &policy.name));
            let signature = signatures.of(cluster);
            let before = known.insert(signature, says);
            prop_assert!(before.is_none_or(|before| before == says), "{}", cluster.name);
            alike.note(usize::from(before.is_some()));
        }
        Ok(())
    });
    alike.at_least_of(1000);
}

#[test]
fn what_there_is_room_for_is_what_the_rules_say() {
    let (room, none) = <(Seen, Seen)>::default();
    todays_steps(|world, _| {
        let input = world.input();
        let mut run = cycle::begin(&input);
        for grows in [false, true] {
            if grows {
                run.states.grow();
            }
            let mut rooms = Rooms::default();
            for (number, cluster) in (1..).zip(world.fleet.clusters.values()) {
                rooms.add(number, &cluster.demand, &run.states);
                let request = run.request(cluster);
                let documented = run.states.places().filter(|(_, c)| c.worker.is_some());
                let mut seen: Vec<((i128, i128), u64, MovingTerms)> = Vec::new();
                for (place, candidate) in documented {
                    let has_room =
                        filter::capacity_codes(&cluster.demand, candidate).next().is_none();
                    let told = rooms.moving(place, number, &run.states);
                    prop_assert_eq!(
                        told.is_some(),
                        has_room,
                        "{} on {}",
                        cluster.name,
                        candidate.name
                    );
                    let Some(told) = told.filter(|_| request.strategy() == Strategy::Spread) else {
                        none.note(usize::from(!has_room));
                        continue;
                    };
                    let share @ (used, of) = score::share::after(&request, candidate);
                    let clusters = candidate.plan.clusters;
                    for ((other_used, other_of), there, other) in &seen {
                        let order = (used * other_of, clusters).cmp(&(other_used * of, *there));
                        prop_assert_eq!(told.is_better(other, false), order.is_lt());
                        prop_assert_eq!(other.is_better(&told, false), order.is_gt());
                        prop_assert_eq!(told == *other, order.is_eq());
                    }
                    seen.push((share, clusters, told));
                    room.note(1);
                }
            }
        }
        Ok(())
    });
    room.at_least_of(5000);
    none.at_least_of(1000);
}

/// A rule: how a failure calls it, what it declares to read, and how it is asked.
type Rule<R> = (String, &'static [DependsOn], R);

/// Puts every request that the index knows to the rules that stay, and counts the requests. Two requests
/// that are the same in what a rule declares to read are told the same of every worker.
fn told_alike<R, S: Clone + Debug + PartialEq>(
    rules: impl Iterator<Item = Rule<R>>,
    say: impl Fn(&R, &Request<'_>, &Candidate<'_>) -> S,
) -> Seen {
    let (rules, asked): (Vec<_>, _) = (rules.collect(), Seen::default());
    todays_steps(|world, _| {
        let input = world.input();
        let run = cycle::begin(&input);
        let mut keys = Keys::new(&world.fleet);
        let mut told = BTreeMap::new();
        for cluster in world.fleet.clusters.values() {
            let request = run.request(cluster);
            if !is_known(&request, &run.states) {
                continue;
            }
            let key = keys.of(&request);
            for (name, reads, rule) in &rules {
                let Depends::Still(mask) = depends(reads) else { continue };
                let said: Vec<_> =
                    run.states.considered().map(|c| say(rule, &request, c)).collect();
                let before = told.entry((name, key.only(mask))).or_insert(said.clone());
                prop_assert_eq!(&*before, &said, "{} reads more of {}", name, cluster.name);
            }
            asked.note(1);
        }
        Ok(())
    });
    asked
}

#[test]
fn a_rule_that_stays_reads_no_more_of_a_cluster_than_it_declares() {
    let filters = FILTERS.iter().map(|f| (f.name.to_owned(), f.reads, f.refuse));
    let asked = told_alike(filters, |refuse, request, candidate| {
        let mut reasons = Vec::new();
        refuse(request, candidate, &mut reasons);
        reasons
    });
    asked.at_least_of(5000);
}

#[test]
fn a_term_that_stays_reads_no_more_of_a_cluster_than_it_declares() {
    let terms = STILL.iter().enumerate().map(|(at, t)| (format!("term {at}"), t.reads, t.of));
    let asked = told_alike(terms, |of, request, candidate| {
        candidate.worker.map(|worker| of(request, worker))
    });
    asked.at_least_of(5000);
}

#[test]
fn every_term_is_known_to_the_index() {
    // Soft violations move by the domain, and stay as far as they are taints.
    let moves: Vec<_> = score::READS.iter().map(|r| depends(r) == Depends::Moving).collect();
    assert_eq!(moves, [false, false, true, false, false, true, true, false]);
    assert!(STILL.iter().all(|term| depends(term.reads) != Depends::Moving));
}

#[test]
fn every_filter_that_depends_on_what_is_placed_is_known_to_the_index() {
    // Another one would be asked anew for every worker that comes first, which is right but slow where
    // it refuses many.
    let moving = FILTERS.iter().filter(|f| depends(f.reads) == Depends::Moving);
    let (by_domain, others): (Vec<_>, Vec<_>) = moving.partition(|f| is_by_domain(f));
    let names = |filters: Vec<&Filter>| filters.iter().map(|f| f.name).collect::<Vec<_>>();
    assert_eq!(names(by_domain), ["spread", "anti-affinity", "quota"]);
    assert_eq!(names(others), ["capacity"]);
}

#[test]
fn amounts_of_any_size_are_told_apart() {
    // In thousandths these are more than 64 bits have.
    let large = "000000000000000000";
    let workers = format!(
        "worker w1 0/9 cap:mem=9{large}; worker w2 0/9 cap:mem=5{large}; worker w3 0/9 cap:mem=7"
    );
    let clusters = (1..=7).map(|at| format!("cluster c{at} needs:mem=2{large}"));
    let all: Vec<String> = std::iter::once(workers).chain(clusters).collect();
    let world = World::read(&all.join("; "));
    for way in [SearchMode::Scan, SearchMode::Index] {
        let told = world.describe(&by(&world, way).plan, "");
        let expected =
            "c1 -> w1; c2 -> w2; c3 -> w1; c4 -> w1; c5 -> w2; c6 -> w1; c7 waits Capacity";
        assert_eq!(told, expected, "{way:?}");
    }
}

#[test]
fn a_worker_that_was_given_a_cluster_comes_later() {
    let world = World::read("worker w1 0/2; worker w2 0/3; cluster a; cluster b; cluster c");
    let plan = by(&world, SearchMode::Index).plan;
    assert_eq!(world.describe(&plan, ""), "a -> w2; b -> w1; c -> w2");
}

#[test]
fn reasons_are_shared_by_clusters_that_are_alike_and_follow_what_is_placed() {
    // `a` is looked at while w1 has room; `c`, which needs the same, when it has none left.
    let world = World::read(
        "worker w1 0/1; cluster a with:z=1 priority=2; cluster b priority=1; cluster c with:z=1",
    );
    let plan = by(&world, SearchMode::Index).plan;
    let told = "a waits Capacity AffinityLabels; b -> w1; c waits Capacity AffinityLabels";
    assert_eq!(world.describe(&plan, ""), told);
}

#[test]
fn a_soft_rule_of_single_workers_is_left_to_the_plain_scan() {
    let world = World::read(
        "worker w1; worker w2; policy p soft-spread:worker=1; cluster a; cluster b; cluster c",
    );
    let planning = by(&world, SearchMode::Index);
    assert_eq!(planning.plan, by(&world, SearchMode::Scan).plan);
    assert_eq!(planning.indexed, 0);
}

#[test]
fn domains_are_told_apart_and_filled_in_turn() {
    let world = World::read(
        "worker w1 label:z=1; worker w2 label:z=1; worker w3 label:z=2; worker w4;
         policy p spread:z=1; cluster a; cluster b; cluster c; cluster d",
    );
    let plan = by(&world, SearchMode::Index).plan;
    assert_eq!(world.describe(&plan, ""), "a -> w1; b -> w3; c -> w2; d -> w3");
}

/// How many keys and classes the clusters of a fleet have, where no one is placed.
fn keys_and_classes(fleet: &str) -> (usize, usize) {
    let world = World::read(fleet);
    let input = world.input();
    let run = cycle::begin(&input);
    let mut index = Index::new(&world.fleet).unwrap();
    for cluster in world.fleet.clusters.values() {
        let request = run.request(cluster);
        let pre_filter = index.pre_filter(&request, &run.states);
        index.choose(&request, &pre_filter, &run.states).unwrap().unwrap();
    }
    (index.by_key.len(), index.classes.list.len())
}

#[test]
fn clusters_of_which_the_rules_say_the_same_are_one_class() {
    let workers = "worker w1 label:z=1; worker w2; worker w3 label:z=1;";
    let alike = "policy p for:t=1 with:z=1; policy q for:t=2 with:z=1;
        cluster a label:t=1; cluster b label:t=2; cluster c label:t=1 with:z=1; cluster d label:t=2";
    assert_eq!(keys_and_classes(&format!("{workers} {alike}")), (3, 1));
    // By what they may use, by the order, and by what makes workers one domain; what they take makes none.
    for (policy, cluster, classes) in [
        ("", "", 2),
        ("with:z=1 prefer:1:z=1", "", 2),
        ("with:z=1 spread:z=1", "", 2),
        ("with:z=1", "needs:cpu=0", 1),
    ] {
        let other = format!("policy r for:t=3 {policy}; cluster e label:t=3 {cluster}");
        let fleet = format!("{workers} {alike}; {other}");
        assert_eq!(keys_and_classes(&fleet), (4, classes), "{other}");
    }
}
