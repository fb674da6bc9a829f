//! Every phase and the condition `Ready` beside it, as a table: what was decided, what is known, what is
//! said. A change of any of them shows here.

use std::fmt::Write as _;

use super::tests::{name, planned, reported, worker_document};
use super::*;
use crate::model::api::{Observation, WorkerSpec};
use crate::model::{
    Binding, Decision, DeletionStep, Freshness, ReasonCode, Refusal, StepWait, VersionStep,
    Versions, Worker, WorkerState,
};

const PHASES: [&str; 7] =
    ["Pending", "Provisioning", "Running", "Updating", "Degraded", "Deleting", "Odd"];

fn line(out: &mut String, what: &str, phase: Option<&String>, conditions: &[Condition]) {
    let kinds: Vec<_> = conditions.iter().map(|c| c.kind.as_str()).collect();
    let mut once = kinds.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), kinds.len(), "each condition has one writer: {kinds:?}");
    let ready = conditions.iter().find(|c| c.kind == "Ready").unwrap();
    let more = conditions.iter().find(|c| matches!(c.kind.as_str(), "Updating" | "ReportRefused"));
    let more = more.map(|c| format!(" {}={}", c.kind, c.reason)).unwrap_or_default();
    let (phase, status, reason) = (phase.unwrap(), ready.status, &ready.reason);
    writeln!(out, "{what:<36}{phase:<14}{status:?} {reason}{more}").unwrap();
}

/// The decisions about the cluster `c`, with and without a step of its version.
fn decisions() -> Vec<(&'static str, Plan)> {
    let worker = || name("w");
    let binding =
        Binding { worker: worker(), policy: None, decided_by: None, runner_up: None, group: None };
    let step = VersionStep {
        versions: Versions::parse("v1.33.10/v1.32.9").unwrap(),
        desired: "v1.34.2".to_owned(),
        waits: StepWait::ControlPlane,
        uid: None,
    };
    let keep = planned(Decision::Keep { worker: worker() });
    let mut stepping = keep.clone();
    stepping.clusters.get_mut("c").unwrap().version = Some(Box::new(step));
    vec![
        ("wait", planned(Decision::Wait { seen: 1, reasons: [ReasonCode::Capacity].into() })),
        ("bind", planned(Decision::Bind(binding))),
        ("keep", keep),
        ("step", stepping),
        ("delete", planned(Decision::Delete { worker: worker(), step: DeletionStep::D1 })),
    ]
}

fn fleet(observation: Observation) -> Fleet {
    let worker = Worker {
        name: name("w"),
        labels: crate::model::SharedMap::new(),
        facts: Digest::of(b"w"),
        file: "fleet/w.yaml".to_owned(),
        document: 0,
        spec: WorkerSpec { observation, ..WorkerSpec::default() }.into(),
        heartbeat_timeout_seconds: 3600,
        catalogue: crate::model::Catalogue::default(),
        made_by: None,
    };
    Fleet { workers: [(name("w"), worker)].into(), ..Fleet::default() }
}

#[test]
fn what_is_said_of_a_cluster() {
    let mut out = String::new();
    let mut say = |what: String, observation, plan: &Plan, observed: &Observed| {
        let (fleet, previous) = (fleet(observation), Previous::default());
        let input = StatusInput { fleet: &fleet, previous: &previous, observed, plan, gates: &[] };
        let status = cluster_status(input, &name("c")).unwrap().status;
        line(&mut out, &what, status.phase.as_ref(), &status.conditions);
    };
    for (decision, plan) in decisions() {
        let unknown = Observed::default();
        say(format!("{decision}, no report"), Observation::Agent, &plan, &unknown);
        say(format!("{decision}, no agent"), Observation::None, &plan, &unknown);
        for phase in PHASES {
            let fresh = reported(phase, Freshness::Fresh);
            say(format!("{decision}, reported {phase}"), Observation::Agent, &plan, &fresh);
        }
        let silent = reported("Running", Freshness::Silent);
        say(format!("{decision}, Running, then silent"), Observation::Agent, &plan, &silent);
    }
    insta::assert_snapshot!(out);
}

#[test]
fn what_is_said_of_a_worker() {
    let mut out = String::new();
    let all = [
        WorkerState::Desired,
        WorkerState::NotLoaded,
        WorkerState::RemovedInUse,
        WorkerState::Retiring,
        WorkerState::Kept,
    ];
    let unhealthy = |reason: &str| {
        let mut observed = reported("Running", Freshness::Fresh);
        let report = observed.workers.get_mut("w").unwrap();
        (report.healthy, report.reason) = (false, Some(reason.to_owned()));
        observed
    };
    let mut refused = reported("Running", Freshness::Fresh);
    refused.refused.insert(name("w"), Refusal::OtherCluster);
    let known = [
        ("no report", Observed::default()),
        ("well", reported("Running", Freshness::Fresh)),
        ("being made", unhealthy("LayerNotApplied")),
        ("unwell", unhealthy("ProviderNotReady")),
        ("silent", reported("Running", Freshness::Silent)),
        ("refused", refused),
    ];
    for state in all {
        for (what, observed) in &known {
            let spec = WorkerSpec { observation: Observation::Agent, ..WorkerSpec::default() };
            let status = worker_document(state, spec, observed).status;
            let what = format!("{state:?}, {what}");
            line(&mut out, &what, status.phase.as_ref(), &status.conditions);
        }
        let status = worker_document(state, WorkerSpec::default(), &Observed::default()).status;
        line(&mut out, &format!("{state:?}, no agent"), status.phase.as_ref(), &status.conditions);
    }
    insta::assert_snapshot!(out);
}

#[test]
fn a_worker_whose_folder_is_kept_says_so() {
    let finding = crate::diag::Diagnostic::new(crate::diag::Code::TemplateFailed, "no such filter");
    let gates = [
        Gate { name: name("other"), reason: GateReason::Collided, findings: Vec::new() },
        Gate { name: name("w"), reason: GateReason::RenderFailed, findings: vec![finding] },
    ];
    let (fleet, previous) = (fleet(Observation::Agent), Previous::default());
    let worker = crate::model::WorkerPlan {
        state: WorkerState::Desired,
        capacity: crate::model::Resources::new(),
        reserved: crate::model::Resources::new(),
        ceiling: crate::model::Resources::new(),
        allocated: crate::model::Resources::new(),
        clusters: 0,
        pending: None,
    };
    let plan = Plan { workers: [(name("w"), worker)].into(), ..Plan::default() };
    let observed = reported("Running", Freshness::Fresh);
    let said = |gates: &[Gate]| {
        let input = StatusInput {
            fleet: &fleet,
            previous: &previous,
            observed: &observed,
            plan: &plan,
            gates,
        };
        let status = worker_status(input, &name("w"), &DataStoreUse::default()).unwrap().status;
        let rendered = status.conditions.iter().find(|c| c.kind == "Rendered").unwrap();
        let errors: Vec<_> =
            status.errors.iter().map(|e| format!("{}: {}", e.code, e.message)).collect();
        (rendered.reason.clone(), errors)
    };
    let told = "template-failed: no such filter".to_owned();
    assert_eq!(said(&gates), ("RenderFailed".to_owned(), vec![told]));
    assert_eq!(said(&gates[..1]), ("Rendered".to_owned(), Vec::new()), "another's is not its own");
    let edited = [Gate { name: name("w"), reason: GateReason::Drifted, findings: Vec::new() }];
    let (reason, errors) = said(&edited);
    assert_eq!((reason.as_str(), errors.len()), ("Drifted", 1), "a reason without findings too");
}
