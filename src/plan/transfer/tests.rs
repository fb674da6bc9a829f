//! Hand-overs in the words of the planner's tests: each step beside the report that lets it go on.

use crate::model::Decision;
use crate::plan::world::{World, check};

/// Two workers that report, of which the first is drained, and one cluster that manages itself.
const DRAINED: &str = "transfers capz; worker w1 agent:healthy drain; worker w2 agent:healthy; cluster a flavor=capz on=w1";
/// The same where nothing is drained.
const CALM: &str =
    "transfers capz; worker w1 agent:healthy; worker w2 agent:healthy; cluster a flavor=capz on=w1";
/// What the old worker reports before, and what once Flux leaves the cluster alone.
const HERE: &str = "seen w1 a other has=Cluster,Machine,Namespace uid machines=3";
/// What is left on it afterwards.
const LEFT: &str = "seen w1 a other has=Namespace,ManagedCluster,HelmChartProxy suspended";
/// What the new worker reports once it is prepared, and what once it has the cluster.
const READY: &str = "seen w2 a prepared has=Namespace,ManagedCluster";
const THERE: &str = "seen w2 a prepared has=Namespace,Cluster uid machines=3 reached";

fn at(world: &str, step: &str, seen: &[&str]) -> String {
    format!("{world} moving=w2 transfer={step}; {}", seen.join("; "))
}

#[test]
fn what_manages_itself_is_handed_over_and_all_else_stays_or_is_made_anew() {
    check(&format!("{DRAINED}; {HERE}"), "a w1 => w2 Prepare Drain");
    let others = format!("{DRAINED}; cluster b on=w1; cluster c on=w1 rebuild priority=1");
    check(
        &others.replacen("drain", "drain=2", 1),
        "a w1 => w2 Prepare Drain; b on w1 [Drain NotMovable]; c w1 => w2 D1 Drain",
    );
    check(&DRAINED.replacen("transfers capz; ", "", 1), "a on w1 [Drain NotMovable]");
    // One that says so too is handed over all the same: nothing of it need be lost.
    check(&format!("{DRAINED} rebuild"), "a w1 => w2 Prepare Drain");
    let tainted = DRAINED.replacen("drain", "taint:k=v:NoExecute", 1);
    check(&tainted, "a w1 => w2 Prepare NoExecute");
}

#[test]
fn it_begins_only_where_both_workers_report() {
    let silent =
        |worker: &str| DRAINED.replacen(worker, &worker.replacen("healthy", "silent", 1), 1);
    check(&silent("worker w1 agent:healthy"), "a on w1 [Drain NotHeard]");
    check(&silent("worker w2 agent:healthy"), "a on w1 [Drain NoWorkerFits]");
    let unseen = DRAINED.replacen("worker w2 agent:healthy", "worker w2", 1);
    check(&unseen, "a on w1 [Drain NoWorkerFits]");
    let third = unseen.replacen("cluster a", "worker w3 agent:healthy at=eastus; cluster a", 1);
    check(&third, "a w1 => w3 Prepare Drain");
    check(&format!("{DRAINED} paused"), "a on w1 [Drain Paused]");
    check(&format!("{DRAINED} unrendered"), "a on w1 [Drain NotRendered]");
    let lost = CALM.replacen("w1 agent:healthy", "w1 agent:silent", 1);
    let lost = format!("{lost}; policy p failover=60; now 100");
    check(&lost, "a on w1 [Failover NotMovable]");
}

#[test]
fn the_word_is_given_once_flux_lets_go_and_the_new_worker_is_prepared() {
    let ready = format!("{HERE} suspended");
    let word = |old: &str, new: &str, expected: &str| {
        check(&at(DRAINED, "Prepare", &[old, new]), &format!("a w1 => w2 {expected}"));
    };
    word(&ready, READY, "HandOver Drain (NotHandedOver)");
    word(HERE, READY, "Prepare Drain (NotSuspended)");
    word(&ready.replacen(" machines=3", "", 1), READY, "Prepare Drain (MachinesUnknown)");
    word(&format!("{ready} Updating"), READY, "Prepare Drain (ClusterNotRunning)");
    word(&format!("{ready} paused"), READY, "Prepare Drain (ClusterPaused)");
    word(&ready.replacen("seen w1", "seen w1:other", 1), READY, "Prepare Drain (OldWorkerUnheard)");
    word(
        &ready,
        &READY.replacen("seen w2", "seen w2:other", 1),
        "Prepare Drain (NewWorkerUnheard)",
    );
    word(&ready, &READY.replacen("prepared", "other", 1), "Prepare Drain (NotPrepared)");
    word(&ready, "", "Prepare Drain (NotPrepared)");
    word(&ready, &format!("{READY} uid"), "Prepare Drain (AlreadyThere)");
    let closed =
        at(&DRAINED.replacen("w2 agent", "w2 cordoned agent", 1), "Prepare", &[&ready, READY]);
    check(&closed, "a w1 => w2 Prepare Drain (NewWorkerClosed)");
}

#[test]
fn providers_of_the_new_worker_are_no_older() {
    let planned = |old: Option<&str>, new: Option<&str>| {
        let ready = format!("{HERE} suspended");
        let mut world = World::read(&at(DRAINED, "Prepare", &[&ready, READY]));
        for (worker, version) in [("w1", old), ("w2", new)] {
            let report = world.observed.workers.get_mut(worker).unwrap();
            let version = version.map(|version| ("azure".to_owned(), version.to_owned()));
            report.components = version.into_iter().collect();
        }
        world.describe(&world.plan().plan, "")
    };
    let may = "a w1 => w2 HandOver Drain (NotHandedOver)";
    let older = "a w1 => w2 Prepare Drain (ProviderOlder)";
    assert_eq!(planned(Some("v1.26.0"), Some("v1.26.0")), may);
    assert_eq!(planned(Some("v1.9.0"), Some("v1.10.0")), may);
    assert_eq!(planned(None, Some("v1.26.0")), may);
    assert_eq!(planned(Some("v1.26.1"), Some("v1.26.0")), older);
    assert_eq!(planned(Some("v1.26.0"), None), older);
    assert_eq!(planned(Some("v1.26.0"), Some("v1.26.0-rc.1")), older);
    assert_eq!(planned(Some("v1.26.0"), Some("latest")), older);
    assert_eq!(planned(Some("latest"), Some("latest")), may);
}

#[test]
fn the_new_worker_has_it_once_both_say_so() {
    let moved = |old: &str, new: &str, expected: &str| {
        check(&at(DRAINED, "HandOver", &[old, new]), &format!("a w1 => w2 {expected}"));
    };
    moved(LEFT, THERE, "Adopt Drain");
    moved("", THERE, "Adopt Drain");
    moved(&format!("{HERE} suspended"), THERE, "HandOver Drain (NotHandedOver)");
    moved(&LEFT.replacen("has=", "has=AzureMachine,", 1), THERE, "HandOver Drain (PartlyLeft)");
    moved(LEFT, READY, "HandOver Drain (NotArrived)");
    moved(LEFT, "", "HandOver Drain (NotArrived)");
    moved(LEFT, &THERE.replacen("=3", "=2", 1), "HandOver Drain (OtherMachines)");
    moved(LEFT, &format!("{THERE} at=10.0.0.9"), "HandOver Drain (OtherMachines)");
    moved(LEFT, &THERE.replacen(" reached", "", 1), "HandOver Drain (NotReached)");
    moved(LEFT, &format!("{THERE} paused"), "HandOver Drain (NotReached)");
    moved(&LEFT.replacen("w1", "w1:other", 1), THERE, "HandOver Drain (OldWorkerUnheard)");
    moved(LEFT, &THERE.replacen("w2", "w2:other", 1), "HandOver Drain (NewWorkerUnheard)");
    for (worker, wait) in [("w1", "OldWorkerUnheard"), ("w2", "NewWorkerUnheard")] {
        for state in ["silent", "incomplete"] {
            let other = format!("{worker} agent:{state}");
            let world = DRAINED.replacen(&format!("{worker} agent:healthy"), &other, 1);
            let world = at(&world, "HandOver", &[LEFT, THERE]);
            check(&world, &format!("a w1 => w2 HandOver Drain ({wait})"));
        }
    }
}

#[test]
fn machines_may_come_and_go_until_it_is_handed_over() {
    let world =
        at(DRAINED, "HandOver", &[&format!("{HERE} suspended").replacen("=3", "=4", 1), READY]);
    let world = World::read(&world);
    let after = world.after(&world.plan());
    let row = &after.previous.workers["w2"].clusters["a"].moves.as_ref().unwrap().transfer;
    assert_eq!(row.as_ref().unwrap().expects.as_ref().unwrap().machines.count, 4);
}

#[test]
fn before_the_word_it_is_called_off_and_after_it_goes_on() {
    let ready = format!("{HERE} suspended");
    check(&at(CALM, "Prepare", &[&ready, READY]), "a on w1 again");
    check(&at(CALM, "Prepare", &[&ready]), "a on w1 again");
    let unheard =
        at(&CALM.replacen("w1 agent:healthy", "w1 agent:silent", 1), "Prepare", &[&ready]);
    check(&unheard, "a w1 => w2 Prepare Drain (OldWorkerUnheard)");
    let twice = at(CALM, "Prepare", &[&ready, THERE]);
    check(&twice, "a w1 => w2 Prepare Drain (AlreadyThere)");
    check(&at(CALM, "HandOver", &[&ready, READY]), "a w1 => w2 HandOver Drain (NotHandedOver)");
    check(&at(CALM, "HandOver", &[LEFT, THERE]), "a w1 => w2 Adopt Drain");
}

#[test]
fn whoever_was_before_the_word_is_taken_at_it() {
    let early = at(DRAINED, "Prepare", &[LEFT, THERE]);
    check(&early, "a w1 => w2 Prepare Drain (OtherMachines)");
    let mut world = World::read(&at(DRAINED, "HandOver", &[LEFT, THERE]));
    let lock = world.previous.workers.get_mut("w2").unwrap();
    let moves = lock.clusters.get_mut("a").unwrap().moves.as_mut().unwrap();
    moves.transfer.as_mut().unwrap().step = crate::model::TransferStep::Prepare;
    assert_eq!(world.describe(&world.plan().plan, ""), "a w1 => w2 Adopt Drain");
}

#[test]
fn what_is_left_behind_goes_by_evidence_and_the_place_is_free_then() {
    let adopted = format!("{DRAINED} moving=w2 transfer=Adopt step=D2; cluster b at=westeurope");
    let full = adopted.replacen("w1 agent:healthy drain", "w1 0/1 agent:healthy drain", 1);
    let full = full.replacen("w2 agent:healthy", "w2 0/1 agent:healthy", 1);
    check(&format!("{full}; {THERE}"), "a w1 => w2 Adopt Drain; b waits Capacity Draining");
    let gone = format!("{full}; seen w1 a D2 has=Namespace; {THERE}");
    check(&gone, "a on w2 handed over from w1; b waits Capacity Draining; a ends Deleted");
    let lost = full.replacen("w1 0/1 agent:healthy", "w1 0/1 agent:silent", 1);
    check(&format!("{lost}; {THERE}"), "a w1 => w2 Adopt Drain; b waits Silent Capacity Draining");
    check(
        &format!("{lost}; {THERE}; abandon a"),
        "a on w2 handed over from w1; b waits Silent Capacity Draining; a ends Abandoned",
    );
}

#[test]
fn it_goes_nowhere_else_whatever_becomes_of_the_new_worker() {
    let third = DRAINED.replacen("cluster a", "worker w3 agent:healthy; cluster a", 1);
    for step in ["Prepare", "HandOver", "Adopt step=D2"] {
        for other in ["cordoned agent:healthy", "drain agent:healthy", "agent:silent"] {
            let world = third.replacen("w2 agent:healthy", &format!("w2 {other}"), 1);
            let world = World::read(&format!("{world} moving=w2 transfer={step}"));
            let plan = world.plan().plan;
            let moves_to = plan.clusters["a"].decision.reserved().map(crate::model::Name::as_str);
            assert_eq!(moves_to, Some("w2"), "{step} {other}");
        }
    }
    let gone = third.replacen("w2 agent:healthy", "w2 agent:healthy gone", 1);
    let gone = World::read(&at(&gone, "HandOver", &[LEFT, THERE]));
    assert!(matches!(gone.plan().plan.clusters["a"].decision, Decision::Move { .. }));
}

#[test]
fn a_document_that_is_removed_counts_once_the_hand_over_is_over() {
    let ready = format!("{HERE} suspended");
    let gone = DRAINED.replacen("on=w1", "on=w1 gone policy=Delete", 1);
    // Nobody was told to move it: it is deleted where it is.
    check(&at(&gone, "Prepare", &[&ready, READY]), "a deletes w1");
    check(&at(&gone, "Prepare", &[READY]), "a w1 => w2 Prepare Drain (ClusterNotRunning)");
    // It may be anywhere.
    check(&at(&gone, "HandOver", &[&ready, READY]), "a w1 => w2 HandOver Drain (NotHandedOver)");
    check(&at(&gone, "HandOver", &[LEFT, THERE]), "a w1 => w2 Adopt Drain");
    let adopted = format!("{gone} moving=w2 transfer=Adopt step=D2; {THERE}");
    check(&adopted, "a w1 => w2 Adopt Drain");
    check(
        &format!("{adopted}; seen w1 a D2 has=Namespace"),
        "a on w2 handed over from w1; a ends Deleted",
    );
    let unset = gone.replacen(" policy=Delete", "", 1);
    let unset = at(&unset, "Prepare", &[&ready, READY]);
    check(&unset, "a on w1; hold DeletionPolicyUnset a");
}

#[test]
fn kept_files_hold_it_where_it_is() {
    let ready = format!("{HERE} suspended");
    for what in ["cluster a", "worker w2", "worker w1"] {
        for step in ["Prepare", "HandOver"] {
            let world = format!("{}; kept {what}", at(DRAINED, step, &[&ready, READY]));
            let plan = World::read(&world).plan().plan;
            let waits = plan.moved("a").unwrap().transfer.as_ref().unwrap().waits;
            assert_eq!(waits.map(crate::model::TransferWait::name), Some("FilesKept"), "{world}");
        }
    }
}

#[test]
fn the_next_one_waits_until_it_is_there() {
    let two = format!("{DRAINED}; cluster b flavor=capz on=w1");
    check(&two, "a w1 => w2 Prepare Drain; b on w1 [Drain WaitsItsTurn]");
    let arrived = two.replacen("on=w1", "on=w2 from=w1", 1);
    check(&arrived, "a on w2 from w1; b on w1 [Drain WaitsItsTurn]");
    check(&format!("{arrived}; {THERE}"), "a on w2; b w1 => w2 Prepare Drain");
}
