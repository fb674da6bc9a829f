//! Moves as conditions: of a cluster, where it goes or why it stays; of a worker that is drained, what is
//! left on it.

use super::{StatusInput, condition};
use crate::model::api::WriteMode;
use crate::model::{
    Blocker, Condition, ConditionReason, ConditionStatus, ConditionType, Decision, MoveCause,
    MoveProgress, Name,
};

/// How many clusters a message names.
const MOST_NAMES: usize = 5;

/// `Moving` of a cluster that leaves its worker, or that something names and that stays; and
/// `PlacementViolated` where its policy would not place it there now.
pub(super) fn conditions(input: StatusInput<'_>, name: &Name) -> Vec<Condition> {
    let mut all = Vec::new();
    let Some(planned) = input.plan.clusters.get(name) else { return all };
    let git = input.fleet.spec.git.as_ref();
    let proposes = git.is_some_and(|git| git.write == WriteMode::PullRequest);
    if let Some(moved) = &planned.moved {
        let step = match &planned.decision {
            Decision::Move { step, .. } => *step,
            _ => None,
        };
        let told = match moved.progress {
            MoveProgress::Begins if proposes => false,
            MoveProgress::CalledOff => false,
            MoveProgress::Arrives | MoveProgress::Starts => moved.awaited,
            MoveProgress::Begins | MoveProgress::Leaves => true,
        };
        if told {
            let words = moved.words(name, step);
            all.push(condition(
                ConditionType::Moving,
                ConditionStatus::True,
                moved.cause.name(),
                words,
            ));
        }
    } else if let Some(stay) = &planned.stay {
        let message = format!("{} {}; {}", stay.worker, stay.cause.words(), stay.blocker);
        let reason = stay.blocker.name();
        all.push(condition(ConditionType::Moving, ConditionStatus::False, reason, message));
    }
    if planned.moved.is_none() && !planned.violations.is_empty() {
        let message: Vec<_> = planned.violations.iter().map(ToString::to_string).collect();
        let status = ConditionStatus::True;
        all.push(condition(
            ConditionType::PlacementViolated,
            status,
            ConditionReason::PolicyDiffers,
            message.join("; "),
        ));
    }
    all
}

/// `Drained` of a worker that is drained: true once nothing is left on it, and before that what is away,
/// what waits, and what stays for which reason.
pub(super) fn drained(input: StatusInput<'_>, name: &Name) -> Option<Condition> {
    input.fleet.workers.get(name).filter(|worker| worker.spec.is_draining())?;
    let (mut left, mut away, mut stays) = (0, Vec::new(), Vec::new());
    for (cluster, planned) in &input.plan.clusters {
        left += usize::from(planned.decision.worker() == Some(name));
        let leaves = planned.moved.as_ref().is_some_and(|m| m.from == *name && m.is_away());
        away.extend(leaves.then_some(cluster));
        let stay = planned.stay.as_deref().filter(|stay| stay.worker == *name);
        stays.extend(stay.map(|stay| (cluster, stay)));
    }
    if left == 0 {
        return Some(condition(
            ConditionType::Drained,
            ConditionStatus::True,
            ConditionReason::Empty,
            String::new(),
        ));
    }
    let mut parts = Vec::new();
    if !away.is_empty() {
        parts.push(format!("on the move: {}", listed(&away)));
    }
    let mut blocked = None;
    for kind in [
        "NotMovable",
        "Paused",
        "NotRendered",
        "NotHeard",
        "FolderKept",
        "NoWorkerFits",
        "DeletionsHeld",
        "WaitsItsTurn",
    ] {
        let of_kind = stays.iter().filter(|(_, stay)| stay.blocker.name() == kind);
        let of_kind: Vec<&Name> = of_kind
            .filter(|(_, stay)| stay.cause == MoveCause::Drain)
            .map(|(cluster, _)| *cluster)
            .collect();
        if !of_kind.is_empty() {
            parts.push(format!("{kind}: {}", listed(&of_kind)));
            let waits = kind == Blocker::WaitsItsTurn.name();
            blocked = blocked.or(Some(kind)).filter(|_| !waits || blocked.is_some());
        }
    }
    let waits = blocked.unwrap_or(ConditionReason::Waits.name());
    let reason = if away.is_empty() { waits } else { ConditionReason::Moving.name() };
    let message = format!("{left} left; {}", parts.join("; "));
    Some(condition(ConditionType::Drained, ConditionStatus::False, reason, message))
}

/// `3 (a, b, c)`, the first of them by name.
fn listed(names: &[&Name]) -> String {
    let first: Vec<_> = names.iter().take(MOST_NAMES).map(|name| name.as_str()).collect();
    let more = if names.len() > MOST_NAMES { ", …" } else { "" };
    format!("{} ({}{more})", names.len(), first.join(", "))
}
