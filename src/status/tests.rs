//! Phases, conditions and their times.

use jiff::Timestamp;

use super::*;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::model::api::{Observation, WorkerSpec};
use crate::model::{
    ClusterPlan, Decision, DeletionStep, FleetCounts, FoldedCluster, FoldedReport, Freshness,
    GateReason, Hold, HoldKind, ReasonCode, ReportedError, Resources, Worker, WorkerPlan,
    WorkerState, fixture,
};

/// When the report came that the tests fold.
pub(super) const SEEN: &str = "2026-11-01T12:00:00Z";

pub(super) fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// What documents are made from; what is not given is empty.
#[derive(Default)]
pub(super) struct Given {
    pub(super) fleet: Fleet,
    pub(super) previous: Previous,
    pub(super) observed: Observed,
    pub(super) plan: Plan,
    pub(super) gates: Vec<Gate>,
}

impl Given {
    pub(super) fn input(&self) -> StatusInput<'_> {
        let Self { fleet, previous, observed, plan, gates } = self;
        StatusInput { fleet, previous, observed, plan, gates }
    }
}

pub(super) fn planned(decision: Decision) -> Plan {
    let planned = ClusterPlan::new(decision, Resources::new());
    Plan { clusters: [(name("c"), planned)].into(), ..Plan::default() }
}

pub(super) fn reported(phase: &str, freshness: Freshness) -> Observed {
    let since = SEEN.parse().unwrap();
    let version = Some("v1.34.2".to_owned());
    let cluster = FoldedCluster { version, ..fixture::folded(phase, since) };
    let report = FoldedReport {
        freshness,
        clusters: [(name("c"), cluster)].into(),
        ..fixture::folded_report("w", since)
    };
    Observed { workers: [(name("w"), report)].into(), ..Observed::default() }
}

pub(super) fn document(plan: &Plan, observed: &Observed) -> ClusterDocument {
    let (fleet, previous) = (Fleet::default(), Previous::default());
    let input = StatusInput { fleet: &fleet, previous: &previous, observed, plan, gates: &[] };
    cluster_status(input, &name("c")).unwrap()
}

fn phase(decision: Decision, observed: &Observed) -> String {
    document(&planned(decision), observed).status.phase.unwrap()
}

#[test]
fn phases_follow_the_decision_and_then_the_report() {
    let keep = || Decision::Keep { worker: name("w") };
    let wait = Decision::Wait { seen: 1, reasons: [ReasonCode::Capacity].into() };
    let delete = Decision::Delete { worker: name("w"), step: DeletionStep::D1 };
    let running = reported("Running", Freshness::Fresh);
    assert_eq!(phase(wait, &running), "Pending");
    assert_eq!(phase(keep(), &Observed::default()), "Scheduled");
    assert_eq!(phase(keep(), &running), "Running");
    assert_eq!(phase(keep(), &reported("Provisioning", Freshness::Fresh)), "Provisioning");
    assert_eq!(phase(keep(), &reported("Running", Freshness::Silent)), "Unknown");
    assert_eq!(phase(delete, &running), "Deleting");
}

#[test]
fn a_time_is_that_of_the_transition() {
    let (first, later): (Timestamp, Timestamp) =
        ("2026-11-01T00:00:00Z".parse().unwrap(), "2026-11-02T00:00:00Z".parse().unwrap());
    let keep = planned(Decision::Keep { worker: name("w") });
    let mut old = document(&keep, &Observed::default());
    set_transition_times(&mut old, None, first);
    let mut new = document(&keep, &reported("Running", Freshness::Fresh));
    assert_ne!(timeless_digest(&old), timeless_digest(&new));
    set_transition_times(&mut new, Some(old.clone()), later);
    let time = |d: &ClusterDocument, kind: &str| {
        let c = d.status.conditions.iter().find(|c| c.kind == kind).unwrap();
        c.last_transition_time.clone().unwrap()
    };
    assert_eq!(time(&new, "Placed"), first.to_string(), "it was placed before");
    assert_eq!(time(&new, "Ready"), SEEN, "it became ready when the worker saw it");
    let mut same = document(&keep, &Observed::default());
    assert_eq!(timeless_digest(&old), timeless_digest(&same), "times make no difference");
    set_transition_times(&mut same, Some(old.clone()), later);
    assert_eq!(same, old);
}

#[test]
fn a_condition_that_an_older_carp_wrote_keeps_its_time() {
    let (first, later): (Timestamp, Timestamp) =
        ("2026-11-01T00:00:00Z".parse().unwrap(), "2026-11-02T00:00:00Z".parse().unwrap());
    let called = |kind: &str| {
        let mut document =
            document(&planned(Decision::Keep { worker: name("w") }), &Observed::default());
        let waits = super::condition(
            ConditionType::Empty,
            ConditionStatus::False,
            "NotObserved",
            String::new(),
        );
        document.status.conditions = vec![Condition { kind: kind.to_owned(), ..waits }];
        document
    };
    let (mut old, mut new) = (called("LetGo"), called(ConditionType::Orphaned.name()));
    set_transition_times(&mut old, None, first);
    set_transition_times(&mut new, Some(old), later);
    assert_eq!(new.status.conditions[0].last_transition_time, Some(first.to_string()));
}

#[test]
fn an_overcommitted_worker_says_so() {
    let amount = |n| Resources::from([("clusters".to_owned(), crate::model::Quantity::units(n))]);
    let worker = WorkerPlan {
        state: WorkerState::Desired,
        capacity: amount(5),
        reserved: Resources::new(),
        ceiling: Resources::new(),
        allocated: amount(8),
        clusters: 8,
        pending: None,
    };
    let plan = Plan { workers: [(name("w"), worker)].into(), ..Plan::default() };
    let given = Given { plan, ..Given::default() };
    let status = worker_status(given.input(), &name("w"), &DataStoreUse::default()).unwrap().status;
    let over = status.conditions.iter().find(|c| c.kind == "CapacityRespected").unwrap();
    assert_eq!((over.reason.as_str(), over.message.as_str()), ("Overcommitted", "clusters 8/5"));
}

/// The reason of a condition of the one cluster.
fn cluster_reason(plan: &Plan, gates: &[Gate], kind: &str) -> String {
    let (fleet, previous) = (Fleet::default(), Previous::default());
    let observed = reported("Running", Freshness::Fresh);
    let input =
        StatusInput { fleet: &fleet, previous: &previous, observed: &observed, plan, gates };
    let status = cluster_status(input, &name("c")).unwrap().status;
    status.conditions.into_iter().find(|c| c.kind == kind).unwrap().reason
}

fn keep() -> Plan {
    planned(Decision::Keep { worker: name("w") })
}

fn holding(kind: HoldKind) -> Plan {
    let hold = Hold { kind, names: vec!["c".to_owned()], allowed: None };
    Plan { holds: vec![hold], ..keep() }
}

#[test]
fn a_cluster_that_is_forgotten_has_no_document() {
    let given = Given { plan: planned(Decision::Forget), ..Given::default() };
    let input = given.input();
    assert!(cluster_status(input, &name("c")).is_none());
}

#[test]
fn a_deletion_that_is_held_is_said_on_its_cluster() {
    assert_eq!(cluster_reason(&keep(), &[], "Placed"), "Bound");
    for kind in [HoldKind::DeletionPolicyUnset, HoldKind::MassDeletion, HoldKind::DeletionsHeld] {
        assert_eq!(cluster_reason(&holding(kind), &[], "Placed"), "DeletionHeld", "{kind:?}");
    }
    assert_eq!(cluster_reason(&holding(HoldKind::WorkerInUse), &[], "Placed"), "Bound");
}

#[test]
fn a_cluster_is_rendered_unless_a_gate_or_its_placement_says_no() {
    let wait = planned(Decision::Wait { seen: 1, reasons: [ReasonCode::Capacity].into() });
    let finding = Diagnostic::new(Code::ImmutableField, "it may not change");
    let gate =
        Gate { name: name("c"), reason: GateReason::ForbiddenChange, findings: vec![finding] };
    assert_eq!(cluster_reason(&keep(), &[], "Rendered"), "Rendered");
    assert_eq!(cluster_reason(&wait, &[], "Rendered"), "NotPlaced");
    let gates = [gate];
    assert_eq!(cluster_reason(&keep(), &gates, "Rendered"), GateReason::ForbiddenChange.name());
}

#[test]
fn the_errors_of_the_gate_and_of_the_worker_stand_together() {
    let finding = Diagnostic::new(Code::ImmutableField, "it may not change");
    let gate =
        Gate { name: name("c"), reason: GateReason::ForbiddenChange, findings: vec![finding] };
    let mut observed = reported("Degraded", Freshness::Fresh);
    let report = observed.workers.get_mut("w").unwrap();
    let error = ReportedError {
        code: "QuotaExceeded".to_owned(),
        message: "no cores left".to_owned(),
        user_error: false,
    };
    report.clusters.get_mut("c").unwrap().errors.push(error);
    let given = Given { observed, plan: keep(), gates: vec![gate], ..Given::default() };
    let errors = cluster_status(given.input(), &name("c")).unwrap().status.errors;
    let said: Vec<_> = errors.iter().map(|e| (e.message.as_str(), e.user_error)).collect();
    assert_eq!(said, [("it may not change", true), ("no cores left", false)]);
}

/// The document of the one worker.
pub(super) fn worker_document(
    state: WorkerState,
    spec: WorkerSpec,
    observed: &Observed,
) -> WorkerDocument {
    let worker = Worker {
        name: name("w"),
        labels: crate::model::SharedMap::new(),
        facts: Digest::of(b"w"),
        file: "fleet/w.yaml".to_owned(),
        document: 0,
        spec: spec.into(),
        heartbeat_timeout_seconds: 3600,
        catalogue: crate::model::Catalogue::default(),
        made_by: None,
    };
    let fleet = Fleet { workers: [(name("w"), worker)].into(), ..Fleet::default() };
    let planned = WorkerPlan {
        state,
        capacity: Resources::new(),
        reserved: Resources::new(),
        ceiling: Resources::new(),
        allocated: Resources::new(),
        clusters: 2,
        pending: None,
    };
    let plan = Plan { workers: [(name("w"), planned)].into(), ..Plan::default() };
    let previous = Previous::default();
    let input =
        StatusInput { fleet: &fleet, previous: &previous, observed, plan: &plan, gates: &[] };
    worker_status(input, &name("w"), &DataStoreUse::default()).unwrap()
}

#[test]
fn a_worker_says_what_is_wrong_with_it() {
    let desired = |spec, observed| worker_document(WorkerState::Desired, spec, observed).status;
    let reason = |status: &WorkerStatus, kind: &str| {
        status.conditions.iter().find(|c| c.kind == kind).unwrap().reason.clone()
    };
    let agent = WorkerSpec { observation: Observation::Agent, ..WorkerSpec::default() };
    let unseen = WorkerSpec { observation: Observation::None, ..WorkerSpec::default() };
    let cordoned = WorkerSpec { unschedulable: true, ..agent.clone() };
    let fresh = reported("Running", Freshness::Fresh);
    let silent = reported("Running", Freshness::Silent);
    let mut unhealthy = fresh.clone();
    unhealthy.workers.get_mut("w").unwrap().healthy = false;

    assert_eq!(reason(&desired(agent.clone(), &fresh), "Schedulable"), "Schedulable");
    assert_eq!(reason(&desired(cordoned, &fresh), "Schedulable"), "Cordoned");
    assert_eq!(reason(&desired(unseen, &fresh), "Ready"), "NotObserved");
    assert_eq!(desired(agent.clone(), &fresh).fresh_since.as_deref(), Some(SEEN));
    assert_eq!(desired(agent.clone(), &silent).fresh_since, None);
    let codes =
        |status: WorkerStatus| status.errors.into_iter().map(|e| e.code).collect::<Vec<_>>();
    assert!(codes(desired(agent.clone(), &fresh)).is_empty());
    assert_eq!(codes(desired(agent.clone(), &unhealthy)), ["NotHealthy"]);
    let removed = worker_document(WorkerState::RemovedInUse, agent, &fresh).status;
    assert_eq!(codes(removed), ["WorkerInUse"]);
}

#[test]
fn the_fleet_counts_what_is_held_and_what_was_found() {
    let given = Given { plan: holding(HoldKind::MassDeletion), ..Given::default() };
    let finding = Diagnostic::new(Code::ImmutableField, "it may not change");
    let from = FleetInput {
        name: "demo",
        counts: &FleetCounts::default(),
        holds: &given.plan.holds,
        findings: &Diagnostics::from_iter([finding]),
    };
    let status = fleet_status(from, None, None);
    assert_eq!(status.findings.values().copied().collect::<Vec<_>>(), [1]);
    let held: Vec<_> = status.held.iter().map(|h| (h.guard.as_str(), h.count)).collect();
    assert_eq!(held, [(HoldKind::MassDeletion.name(), 1)]);
    assert_eq!(status.held[0].digest, given.plan.holds[0].digest());
}

#[test]
fn a_workers_phase_follows_its_state_and_then_its_reports() {
    let agent = || WorkerSpec { observation: Observation::Agent, ..WorkerSpec::default() };
    let phase = |state, spec, observed: &Observed| {
        worker_document(state, spec, observed).status.phase.unwrap()
    };
    let desired = |observed: &Observed| phase(WorkerState::Desired, agent(), observed);
    let fresh = reported("Running", Freshness::Fresh);
    let mut unhealthy = fresh.clone();
    unhealthy.workers.get_mut("w").unwrap().healthy = false;
    assert_eq!(desired(&Observed::default()), "Pending");
    assert_eq!(desired(&fresh), "Running");
    assert_eq!(desired(&unhealthy), "Degraded");
    assert_eq!(desired(&reported("Running", Freshness::Silent)), "Unknown");
    assert_eq!(phase(WorkerState::Retiring, agent(), &fresh), "Terminating");
    let unseen = WorkerSpec { observation: Observation::None, ..WorkerSpec::default() };
    let unobserved = phase(WorkerState::Desired, unseen, &Observed::default());
    assert_eq!(unobserved, "Running", "nobody looks");
}

fn ready_since(conditions: &[Condition]) -> Option<&str> {
    let ready = conditions.iter().find(|c| c.kind == "Ready").unwrap();
    ready.last_transition_time.as_deref()
}

#[test]
fn a_worker_is_ready_since_the_later_of_two_transitions() {
    let later = "2026-11-01T13:00:00Z";
    let since = |freshness| {
        let mut observed = reported("Running", freshness);
        observed.workers.get_mut("w").unwrap().healthy_since = later.parse().unwrap();
        let agent = WorkerSpec { observation: Observation::Agent, ..WorkerSpec::default() };
        let document = worker_document(WorkerState::Desired, agent, &observed);
        ready_since(&document.status.conditions).map(str::to_owned)
    };
    assert_eq!(since(Freshness::Fresh).as_deref(), Some(later));
    assert_eq!(since(Freshness::Silent).as_deref(), Some(SEEN), "it is silent since then");
}

#[test]
fn what_a_silent_worker_said_of_a_cluster_dates_nothing() {
    let fresh = document(&keep(), &reported("Running", Freshness::Fresh));
    assert_eq!(ready_since(&fresh.status.conditions), Some(SEEN));
    let silent = document(&keep(), &reported("Running", Freshness::Silent));
    assert_eq!(ready_since(&silent.status.conditions), None, "the run that sees it does");
}

#[test]
fn what_is_only_proposed_is_not_placed() {
    let git = crate::model::api::GitSettings {
        write: crate::model::api::WriteMode::PullRequest,
        ..Default::default()
    };
    let mut fleet = Fleet::default();
    fleet.spec.git = Some(git);
    let binding = crate::model::Binding {
        worker: name("w"),
        policy: None,
        decided_by: None,
        runner_up: None,
        group: None,
    };
    let given = Given { fleet, plan: planned(Decision::Bind(binding)), ..Given::default() };
    let input = given.input();
    let status = cluster_status(input, &name("c")).unwrap().status;
    assert_eq!((status.phase.as_deref(), status.assigned_worker), (Some("Pending"), None));
    let placed = &status.conditions[1];
    assert_eq!((&*placed.kind, placed.status), ("Placed", ConditionStatus::False));
    assert_eq!(placed.reason, "Proposed");
    assert_eq!(placed.message, "on w, once the proposal is merged");
    assert_eq!(status.conditions[2].reason, "NotPlaced");
    let direct = Fleet::default();
    let status =
        cluster_status(StatusInput { fleet: &direct, ..input }, &name("c")).unwrap().status;
    assert_eq!(status.phase.as_deref(), Some("Scheduled"));
}
