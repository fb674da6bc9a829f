//! A proposal that has one of everything, for the tests of its forms.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::model::{
    Binding, Change, ChangeKind, ClusterPlan, ClusterRow, ClusterState, Decision, DeletionStep,
    Digest, Fleet, FleetCounts, Gate, GateReason, Hold, HoldKind, Id, IndexRow, Name, Observed,
    PendingReasons, PendingRow, Plan, PlanOverrides, Previous, Proposal, Quantity, ReasonCode,
    Resources, StepWait, Survey, Term, VersionStep, Versions, WORKER_LOCK_SCHEMA, WaitingAhead,
    Work, WorkerLock, WorkerPlan, WorkerState, blob_id,
};

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn clusters(number: i64) -> Resources {
    [("clusters".to_owned(), Quantity::units(number))].into()
}

fn row() -> IndexRow {
    IndexRow {
        labels: [].into(),
        tenant: "shop".into(),
        location: "westeurope".into(),
        version: "v1.34.2".into(),
        flavor: "kamaji-capz".into(),
        priority: 0,
        class: None,
        deletion_policy: None,
        spread: Vec::new(),
        anti_affinity: Vec::new(),
    }
}

/// A proposal that changes nothing.
pub(in crate::cli::show) fn unchanged() -> Proposal {
    Proposal {
        tree: Id::EMPTY_DIR,
        base: Some(Id::EMPTY_DIR),
        fold_tree: Id::EMPTY_DIR,
        status_tree: Id::EMPTY_DIR,
        status_base: None,
        changes: Vec::new(),
        form: None,
        fleet: Fleet { name: "demo".into(), ..Fleet::default() },
        previous: Previous::default(),
        observed: Observed::default(),
        asked: PlanOverrides::default(),
        plan: Plan::default(),
        pending: PendingReasons::default(),
        ahead: WaitingAhead::default(),
        gates: Vec::new(),
        survey: Survey::default(),
        diagnostics: Diagnostics::default(),
        stopped: false,
        work: Work::default(),
        counts: FleetCounts::default(),
        reported: Observed::default().digest(),
        valid_until: None,
        message: "carp: nothing to do".into(),
    }
}

/// A proposal with one of everything.
pub(in crate::cli) fn proposal() -> Proposal {
    Proposal {
        tree: blob_id(b"after"),
        base: Some(blob_id(b"before")),
        changes: changes(),
        previous: previous(),
        plan: plan(),
        gates: vec![Gate {
            name: name("pay"),
            reason: GateReason::RenderFailed,
            findings: vec![Diagnostic::new(Code::TemplateFailed, "`size` is undefined | @team")],
        }],
        work: Work {
            blobs_parsed: 1,
            clusters_planned: 4,
            workers_counted: 2,
            clusters_rendered: 2,
            objects_written: 14,
        },
        counts: FleetCounts {
            pending: 1,
            workers: [("Running".to_owned(), 2)].into(),
            ..FleetCounts::default()
        },
        valid_until: Some("2026-11-01T10:00:00Z".parse().unwrap()),
        message: "carp: +2 -1 ~1 clusters on 2 workers".into(),
        ..unchanged()
    }
}

fn changes() -> Vec<Change> {
    let change = |path: &str, kind| {
        let id = |on: bool| on.then(|| blob_id(path.as_bytes()));
        Change {
            path: format!("eu/{path}"),
            kind,
            before: id(kind != ChangeKind::Create),
            after: id(kind != ChangeKind::Delete),
        }
    };
    vec![
        change("control-plane/fleet.lock", ChangeKind::Update),
        change("decisions/pending.lock", ChangeKind::Update),
        change("workers/w1/carp.lock", ChangeKind::Update),
        change("workers/w1/clusters/docs/cluster.yaml", ChangeKind::Create),
        change("workers/w1/clusters/old/cluster.yaml", ChangeKind::Delete),
        change("workers/w1/clusters/pay/cluster.yaml", ChangeKind::Update),
        change("workers/w2/carp.lock", ChangeKind::Create),
        change("workers/w2/clusters/shop/cluster.yaml", ChangeKind::Create),
    ]
}

fn step() -> VersionStep {
    VersionStep {
        versions: Versions::parse("v1.33.10/v1.32.9").unwrap(),
        desired: "v1.34.2".to_owned(),
        waits: StepWait::NotApplied,
        uid: None,
    }
}

fn previous() -> Previous {
    let cluster = ClusterRow {
        state: ClusterState::Bound,
        deletion: None,
        moves: None,
        suspended: false,
        facts: Digest::of(b"facts"),
        render_key: Digest::of(b"key"),
        folder: None,
        files: BTreeMap::new(),
        record: None,
        versions: None,
        group: None,
        data_store: None,
        demand: clusters(1),
        row: row(),
    };
    let lock = WorkerLock {
        schema_version: WORKER_LOCK_SCHEMA,
        worker: name("w1"),
        facts: Digest::of(b"facts"),
        render_key: Digest::of(b"key"),
        clusters: ["old", "pay"].map(|n| (name(n), cluster.clone())).into(),
        files: BTreeMap::new(),
    };
    let mut previous = Previous { workers: [(name("w1"), lock)].into(), ..Previous::default() };
    previous.pending.clusters.insert(name("lost"), pending([ReasonCode::Capacity].into()));
    previous.pending.clusters.insert(name("huge"), pending([ReasonCode::Capacity].into()));
    previous
}

fn pending(reasons: BTreeSet<ReasonCode>) -> PendingRow {
    PendingRow {
        seen: 1,
        facts: Digest::of(b"facts"),
        reasons,
        demand: clusters(1),
        record: None,
        row: row(),
    }
}

/// Makes a cluster wait before for these reasons.
pub(super) fn wait_before(proposal: &mut Proposal, cluster: &str, reasons: BTreeSet<ReasonCode>) {
    proposal.previous.pending.clusters.insert(name(cluster), pending(reasons));
}

fn plan() -> Plan {
    let planned = |decision| ClusterPlan::new(decision, clusters(1));
    let bind = |worker, runner_up: Option<&str>| {
        planned(Decision::Bind(Binding {
            worker: name(worker),
            policy: runner_up.map(|_| name("near")),
            decided_by: runner_up.map(|_| Term::LocationDistance),
            runner_up: runner_up.map(name),
            group: None,
        }))
    };
    let reasons = [ReasonCode::Capacity, ReasonCode::Taint].into();
    let pay = planned(Decision::Keep { worker: name("w1") });
    let delete = Decision::Delete { worker: name("w1"), step: DeletionStep::D1 };
    Plan {
        clusters: [
            (name("docs"), bind("w1", None)),
            (name("huge"), planned(Decision::Wait { seen: 1, reasons })),
            (name("lost"), planned(Decision::Forget)),
            (name("old"), planned(delete)),
            (name("pay"), ClusterPlan { version: Some(Box::new(step())), ..pay }),
            (name("shop"), bind("w2", Some("w1"))),
        ]
        .into(),
        workers: [("w1", 3), ("w2", 1)].map(|(n, on)| (name(n), worker(on))).into(),
        retirements: BTreeMap::new(),
        pools: BTreeMap::new(),
        holds: vec![
            Hold {
                kind: HoldKind::MassDeletion,
                names: vec!["old-1".into(), "old-2".into()],
                allowed: Some(1),
            },
            Hold { kind: HoldKind::WorkerInUse, names: vec!["w9".into()], allowed: None },
        ],
        evaluated: 4,
        valid_until: None,
    }
}

fn worker(on: u32) -> WorkerPlan {
    WorkerPlan {
        state: WorkerState::Desired,
        capacity: clusters(10),
        reserved: Resources::new(),
        ceiling: Resources::new(),
        allocated: clusters(i64::from(on)),
        clusters: u64::from(on),
        pending: None,
    }
}
