//! The guards, in words.

use std::collections::BTreeMap;

use super::*;
use crate::change::{mismatches, spend};
use crate::model::api::{
    AcknowledgementKind, AcknowledgementSettings, AcknowledgementSpec, DeletionPolicy, Guards,
};
use crate::model::{
    AcknowledgementSpent, Binding, ClusterPlan, ClusterRow, Deletion, DeletionStep, Digest,
    FLEET_LOCK_SCHEMA, FleetLock, HeldSet, Id, IndexRow, Missing, Resources, Sourced, Unloaded,
    Vouching, WORKER_LOCK_SCHEMA, WorkerLock, WorkerPlan,
};

mod early;
mod tenants;

pub(super) fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn row(state: ClusterState) -> ClusterRow {
    ClusterRow {
        state,
        deletion: None,
        moves: None,
        suspended: false,
        facts: Digest::of(b"f"),
        render_key: Digest::of(b"k"),
        folder: None,
        files: BTreeMap::new(),
        record: None,
        versions: None,
        group: None,
        data_store: None,
        demand: Resources::new(),
        row: IndexRow {
            labels: [].into(),
            tenant: "t".into(),
            location: "westeurope".into(),
            version: "v1.34.2".into(),
            flavor: "kamaji-capz".into(),
            priority: 0,
            class: None,
            deletion_policy: Some(DeletionPolicy::Delete),
            spread: Vec::new(),
            anti_affinity: Vec::new(),
        },
    }
}

/// `count` clusters called c0, c1, … on w1.
pub(super) fn placed(count: usize) -> Previous {
    let clusters = (0..count).map(|i| (name(&format!("c{i}")), row(ClusterState::Bound))).collect();
    let lock = WorkerLock {
        schema_version: WORKER_LOCK_SCHEMA,
        worker: name("w1"),
        facts: Digest::of(b"f"),
        render_key: Digest::of(b"k"),
        clusters,
        files: BTreeMap::new(),
    };
    Previous { workers: [(name("w1"), lock)].into(), ..Previous::default() }
}

pub(super) fn deleting(count: usize) -> Plan {
    let decision = Decision::Delete { worker: name("w1"), step: DeletionStep::D1 };
    let planned = ClusterPlan::new(decision, Resources::new());
    let clusters = (0..count).map(|i| (name(&format!("c{i}")), planned.clone())).collect();
    Plan { clusters, ..Plan::default() }
}

fn run(plan: &mut Plan, fleet: &Fleet, previous: &Previous) -> Vec<Name> {
    let acknowledged = Acknowledged::new(fleet, previous.fleet.as_ref(), &Vouching::default());
    guard(plan, GuardInput { fleet, previous, now: now() }, &acknowledged).spent
}

pub(super) fn now() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

/// A lock that says nothing.
pub(super) fn fleet_lock() -> FleetLock {
    FleetLock {
        schema_version: FLEET_LOCK_SCHEMA,
        guards: Guards::default(),
        roots: crate::model::api::Roots::default(),
        tenants: Vec::new(),
        signers: crate::model::Signers::default(),
        spent: Vec::new(),
        held: Vec::new(),
        recent: Vec::new(),
        render_key: Digest::of(b"k"),
        pools: BTreeMap::new(),
        workers: BTreeMap::new(),
        files: BTreeMap::new(),
    }
}

pub(super) fn kept(plan: &Plan) -> usize {
    plan.clusters.values().filter(|p| matches!(p.decision, Decision::Keep { .. })).count()
}

pub(super) fn acknowledging(hold: &Hold) -> Fleet {
    let value = AcknowledgementSpec {
        of: AcknowledgementKind::Deletions,
        count: u32::try_from(hold.names.len()).unwrap(),
        digest: hold.digest().to_string(),
        rebalance: None,
    };
    let sourced = Sourced { file: "fleet/ack.yaml".into(), document: 0, value };
    Fleet { acknowledgements: [(name("yes"), sourced)].into(), ..Fleet::default() }
}

/// A run has held a set and left that in the lock, beside these acknowledgements of it.
fn left(previous: &mut Previous, hold: &Hold, early: &[&str]) {
    let set = HeldSet {
        of: hold.kind.acknowledged_by().unwrap(),
        count: hold.names.len(),
        digest: hold.digest(),
        early: early.iter().map(|early| name(early)).collect(),
        tenants: BTreeSet::new(),
    };
    let lock = previous.fleet.take().unwrap_or_else(|| lock(Vec::new()));
    previous.fleet = Some(FleetLock { held: vec![set], ..lock });
}

#[test]
fn three_deletions_go_and_a_fourth_holds_them_all() {
    let mut plan = deleting(3);
    assert!(run(&mut plan, &Fleet::default(), &placed(10)).is_empty());
    assert_eq!((kept(&plan), plan.holds.len()), (0, 0));

    let mut plan = deleting(4);
    run(&mut plan, &Fleet::default(), &placed(10));
    assert_eq!(kept(&plan), 4);
    assert_eq!(plan.holds[0].kind, HoldKind::MassDeletion);
    assert_eq!(plan.holds[0].names, ["c0", "c1", "c2", "c3"]);
}

#[test]
fn a_deletion_that_has_begun_is_not_counted_again() {
    let mut previous = placed(10);
    let lock = previous.workers.values_mut().next().unwrap();
    for row in lock.clusters.values_mut() {
        row.state = ClusterState::Deleting;
    }
    let mut plan = deleting(10);
    run(&mut plan, &Fleet::default(), &previous);
    assert!(plan.holds.is_empty());
}

#[test]
fn an_acknowledgement_lets_exactly_its_set_through_and_is_spent() {
    let mut plan = deleting(4);
    let mut previous = placed(10);
    run(&mut plan, &Fleet::default(), &previous);
    let hold = plan.holds[0].clone();
    let fleet = acknowledging(&hold);
    left(&mut previous, &hold, &[]);

    let mut plan = deleting(4);
    let used = run(&mut plan, &fleet, &previous);
    assert_eq!(used, [name("yes")]);
    assert_eq!((kept(&plan), plan.holds.len()), (0, 0));

    let good = Acknowledged::new(&fleet, None, &Vouching::default());
    let mut other = deleting(5);
    run(&mut other, &fleet, &previous);
    assert_eq!(kept(&other), 5, "five are not the four that were seen");
    assert_eq!(mismatches(&fleet, &good, &other.holds, &[]).len(), 1);
    let used: Vec<_> = fleet.acknowledgements.keys().cloned().collect();
    assert_eq!(
        mismatches(&fleet, &good, &other.holds, &used),
        [],
        "what is used is not another set's"
    );

    let spent = spend(&fleet, None, &good, &used);
    assert_eq!(spent.iter().map(|a| &a.name).collect::<Vec<_>>(), [&name("yes")]);
    previous.fleet = Some(lock(spent));
    left(&mut previous, &hold, &[]);
    let mut again = deleting(4);
    assert!(run(&mut again, &fleet, &previous).is_empty(), "none is valid twice");
    assert_eq!(kept(&again), 4);
}

#[test]
fn an_acknowledgement_of_another_kind_covers_nothing() {
    let mut plan = deleting(4);
    let mut previous = placed(10);
    run(&mut plan, &Fleet::default(), &previous);
    left(&mut previous, &plan.holds[0], &[]);
    let mut fleet = acknowledging(&plan.holds[0]);
    for of in [AcknowledgementKind::Moves, AcknowledgementKind::Rewind] {
        fleet.acknowledgements.get_mut("yes").unwrap().value.of = of;
        let mut plan = deleting(4);
        assert!(run(&mut plan, &fleet, &previous).is_empty(), "{of:?}");
        assert_eq!(kept(&plan), 4, "{of:?}");
    }
}

#[test]
fn as_many_others_are_not_what_was_acknowledged() {
    let (mut plan, mut previous) = (deleting(4), placed(10));
    run(&mut plan, &Fleet::default(), &previous);
    let fleet = acknowledging(&plan.holds[0]);
    left(&mut previous, &plan.holds[0], &[]);
    let mut others = deleting(5);
    others.clusters.remove("c0");
    assert!(run(&mut others, &fleet, &previous).is_empty());
    assert_eq!(kept(&others), 4);
}

#[test]
fn an_acknowledgement_that_counts_otherwise_covers_nothing() {
    let (mut plan, mut previous) = (deleting(4), placed(10));
    run(&mut plan, &Fleet::default(), &previous);
    let mut fleet = acknowledging(&plan.holds[0]);
    left(&mut previous, &plan.holds[0], &[]);
    fleet.acknowledgements.get_mut("yes").unwrap().value.count = 3;
    let mut plan = deleting(4);
    assert!(run(&mut plan, &fleet, &previous).is_empty());
    assert_eq!(kept(&plan), 4);
}

#[test]
fn what_was_spent_is_remembered_as_long_as_its_document_is_there() {
    let mut plan = deleting(4);
    run(&mut plan, &Fleet::default(), &placed(10));
    let fleet = acknowledging(&plan.holds[0]);
    let good = Acknowledged::new(&fleet, None, &Vouching::default());
    let spent = lock(spend(&fleet, None, &good, &[name("yes")]));
    assert_eq!(spend(&fleet, Some(&spent), &good, &[]), spent.spent);
    assert_eq!(spend(&Fleet::default(), Some(&spent), &good, &[]), []);
    let broken = Unloaded {
        file: "fleet/ack.yaml".into(),
        document: None,
        kind: None,
        name: None,
        blocks_placements: false,
        tenants: Vec::new(),
    };
    let broken = Fleet { unloaded: vec![broken], ..Fleet::default() };
    assert_eq!(spend(&broken, Some(&spent), &good, &[]), spent.spent, "it may be there still");
}

fn lock(spent: Vec<AcknowledgementSpent>) -> FleetLock {
    FleetLock { spent, ..fleet_lock() }
}

#[test]
fn a_move_without_a_reason_of_its_own_is_held() {
    let binding = Binding {
        worker: name("w2"),
        policy: None,
        decided_by: None,
        runner_up: None,
        group: None,
    };
    let planned = ClusterPlan::new(Decision::Bind(binding), Resources::new());
    let mut plan = Plan { clusters: [(name("c0"), planned)].into(), ..Plan::default() };
    run(&mut plan, &Fleet::default(), &placed(1));
    assert_eq!(plan.holds[0].kind, HoldKind::MassMove);
    assert_eq!(plan.clusters["c0"].decision, Decision::Keep { worker: name("w1") });
}

#[test]
fn what_is_forgotten_moves_nowhere() {
    let planned = ClusterPlan::new(Decision::Forget, Resources::new());
    let mut plan = Plan { clusters: [(name("c0"), planned)].into(), ..Plan::default() };
    run(&mut plan, &Fleet::default(), &placed(1));
    assert!(plan.holds.is_empty());
    assert_eq!(plan.clusters["c0"].decision, Decision::Forget);
}

/// `count` empty workers called e0, e1, … whose documents are gone.
fn retiring(count: usize) -> (Plan, Previous) {
    let names = || (0..count).map(|i| name(&format!("e{i}")));
    let worker = WorkerPlan {
        state: WorkerState::Retiring,
        capacity: Resources::new(),
        reserved: Resources::new(),
        ceiling: Resources::new(),
        allocated: Resources::new(),
        clusters: 0,
        pending: None,
    };
    let row = ControlPlaneRow {
        state: ClusterState::Bound,
        deletion: None,
        render_key: Digest::of(b"k"),
        folder: Some(Id::EMPTY_DIR),
        files: BTreeMap::new(),
    };
    let mut made = lock(Vec::new());
    made.workers = names().map(|name| (name, row.clone())).collect();
    let workers = names().map(|name| (name, worker.clone())).collect();
    let previous = Previous { fleet: Some(made), ..Previous::default() };
    (Plan { workers, ..Plan::default() }, previous)
}

#[test]
fn empty_workers_that_are_taken_down_are_deletions_too() {
    let states = |plan: &Plan| plan.workers.values().map(|w| w.state).collect::<Vec<_>>();
    let (mut plan, previous) = retiring(3);
    run(&mut plan, &Fleet::default(), &previous);
    assert!(plan.holds.is_empty());
    assert_eq!(states(&plan), [WorkerState::Retiring; 3]);

    let (mut plan, previous) = retiring(4);
    run(&mut plan, &Fleet::default(), &previous);
    assert_eq!(plan.holds[0].kind, HoldKind::MassDeletion);
    assert_eq!(plan.holds[0].names, ["e0", "e1", "e2", "e3"]);
    assert_eq!(states(&plan), [WorkerState::NotLoaded; 4], "they stay as they are");
}

#[test]
fn what_is_not_below_another_root_was_not_removed() {
    let mut previous = placed(1);
    let mut other = lock(Vec::new());
    other.roots.fleet = "clusters".to_owned();
    previous.fleet = Some(other);
    let mut plan = deleting(1);
    run(&mut plan, &Fleet::default(), &previous);
    assert_eq!(plan.holds[0].kind, HoldKind::RootChanged);
    assert_eq!(kept(&plan), 1);

    previous.fleet = Some(lock(Vec::new()));
    let mut plan = deleting(1);
    run(&mut plan, &Fleet::default(), &previous);
    assert_eq!((kept(&plan), plan.holds.len()), (0, 0));
}

#[test]
fn workers_whose_folder_goes_at_once_are_deletions_too() {
    let (mut plan, mut previous) = retiring(4);
    previous.fleet = Some(lock(Vec::new()));
    for name in plan.workers.keys() {
        let (reporter, step, missing) = (None, None, None);
        let progress = Progress::Ends(Ending::Detached);
        plan.retirements.insert(name.clone(), Deletion { reporter, step, progress, missing });
    }
    run(&mut plan, &Fleet::default(), &previous);
    assert_eq!(plan.holds[0].kind, HoldKind::MassDeletion);
    assert!(plan.retirements.is_empty(), "nothing may say that they are gone");
}

#[test]
fn a_retirement_that_has_not_begun_is_not_counted() {
    let (mut plan, previous) = retiring(4);
    for name in plan.workers.keys() {
        let missing = Some(Missing::Incomplete);
        let (reporter, step, progress) = (None, None, Progress::Waits);
        plan.retirements.insert(name.clone(), Deletion { reporter, step, progress, missing });
    }
    run(&mut plan, &Fleet::default(), &previous);
    assert!(plan.holds.is_empty());
}

#[test]
fn what_is_made_anew_after_its_deletion_does_not_move() {
    let binding = Binding {
        worker: name("w2"),
        policy: None,
        decided_by: None,
        runner_up: None,
        group: None,
    };
    let decision = Decision::Bind(binding);
    let deletion = Deletion {
        reporter: Some(name("w1")),
        step: Some(DeletionStep::D2),
        progress: Progress::Ends(Ending::Deleted),
        missing: None,
    };
    let planned = ClusterPlan {
        deletion: Some(Box::new(deletion)),
        ..ClusterPlan::new(decision, Resources::new())
    };
    let mut plan = Plan { clusters: [(name("c0"), planned)].into(), ..Plan::default() };
    run(&mut plan, &Fleet::default(), &placed(1));
    assert!(plan.holds.is_empty());
}
