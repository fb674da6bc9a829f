//! Hand-overs in the words of the tests: how far one is, and what is reported of it.

use super::deleting::digest;
use crate::model::{
    ClusterPlan, ClusterRow, Condition, ConditionStatus, Decision, Digest, FoldedCluster, Id, Move,
    ReportedMachines, TransferEvidence, TransferRow, TransferStep,
};

/// What the folder that prepares a hand-over is called in reports.
const PREPARED: &str = "prepared";

/// What a lock keeps at a step; what must arrive is three machines.
pub(super) fn row(step: &str) -> TransferRow {
    let step = TransferStep::ALL.iter().find(|known| known.name() == step);
    let step = *step.expect("it is a step of a hand-over");
    let expects = (step != TransferStep::Prepare).then(|| evidence(machines(3), None));
    known(TransferRow {
        step,
        prepared: None,
        leaves: [].into(),
        from_uid: Some("uid".to_owned()),
        to_uid: Some("uid".to_owned()),
        expects,
    })
}

/// A row once its folder was made.
fn known(row: TransferRow) -> TransferRow {
    let leaves = ["Namespace", "ManagedCluster", "ConfigMap", "HelmChartProxy"];
    let leaves = leaves.map(str::to_owned).into();
    TransferRow { prepared: Some(digest(PREPARED)), leaves, ..row }
}

fn evidence(machines: ReportedMachines, endpoint: Option<String>) -> TransferEvidence {
    TransferEvidence { endpoint, machines }
}

fn machines(count: u32) -> ReportedMachines {
    ReportedMachines { count, digest: Digest::of(&count.to_le_bytes()) }
}

/// The place that is kept for a cluster, with what a hand-over has there.
pub(super) fn reserved(mut row: ClusterRow, transfer: Option<TransferRow>) -> ClusterRow {
    if let (Some(transfer), Some(moves)) = (transfer, row.moves.as_mut()) {
        moves.transfer = Some(transfer);
        row.folder = Some(Id::EMPTY_DIR);
    }
    row
}

/// What a commit keeps of a hand-over.
pub(super) fn committed(moved: &Move) -> Option<TransferRow> {
    Some(known(moved.transfer.as_ref()?.row.clone()))
}

/// Whether a commit tells Flux to leave a cluster alone.
pub(super) fn is_suspended(planned: &ClusterPlan) -> bool {
    let moved = planned.moved.as_ref().and_then(|moved| moved.transfer.as_ref());
    let leaves = matches!(planned.decision, Decision::Move { .. });
    leaves && moved.is_some_and(|transfer| transfer.row.suspends())
}

/// `w1 => w2 HandOver Drain (NotHandedOver)`.
pub(super) fn told(moved: &Move) -> Option<String> {
    let transfer = moved.transfer.as_ref()?;
    let (from, to, cause) = (&moved.from, &moved.to, moved.cause.name());
    let waits = transfer.waits.map(|wait| format!(" ({})", wait.name())).unwrap_or_default();
    Some(format!("{from} => {to} {} {cause}{waits}", transfer.row.step.name()))
}

/// A word of what is reported; whether it is one of these.
pub(super) fn of_report(seen: &mut FoldedCluster, key: &str, value: &str) -> bool {
    match (key, value) {
        ("machines", count) => seen.machines = Some(machines(count.parse().unwrap())),
        ("suspended", "") => seen.suspended = true,
        ("paused", "") => seen.conditions.push(condition("Paused")),
        ("reached", "") => seen.conditions.push(condition("RemoteConnectionProbe")),
        ("at", endpoint) => seen.endpoint = Some(endpoint.to_owned()),
        _ => return false,
    }
    true
}

fn condition(kind: &str) -> Condition {
    Condition {
        kind: kind.to_owned(),
        status: ConditionStatus::True,
        reason: kind.to_owned(),
        message: String::new(),
        last_transition_time: None,
        observed_generation: None,
    }
}
