//! What a run decided and nobody has merged yet: where carp proposes, it does not count.

use std::collections::BTreeSet;

use super::{StatusInput, condition};
use crate::model::api::WriteMode;
use crate::model::{
    ClusterState, Condition, ConditionReason, ConditionStatus, ConditionType, Decision,
    MoveProgress, Name, WorkerLock,
};

/// The decision that counts in place of one that is only proposed, and the condition that says so.
/// `None` where the decision counts itself.
pub(super) fn proposed(
    input: StatusInput<'_>,
    name: &Name,
    decision: &Decision,
) -> Option<(Decision, Condition)> {
    let git = input.fleet.spec.git.as_ref()?;
    if git.write == WriteMode::Direct {
        return None;
    }
    match decision {
        Decision::Bind(binding) => {
            let message = format!("on {}, once the proposal is merged", binding.worker);
            let before = input.previous.placements().find(|(cluster, _)| *cluster == name);
            let (status, decision) = if let Some((_, worker)) = before {
                (ConditionStatus::True, Decision::Keep { worker: worker.clone() })
            } else {
                (ConditionStatus::False, Decision::Wait { seen: 0, reasons: BTreeSet::new() })
            };
            Some((decision, placed(status, ConditionReason::Proposed, message)))
        }
        Decision::Delete { worker, .. } => {
            let row = input.previous.workers.get(worker).and_then(|lock| lock.clusters.get(name));
            row.filter(|row| row.state == ClusterState::Bound)?;
            let message = "its deletion begins once the proposal is merged".to_owned();
            let condition =
                placed(ConditionStatus::True, ConditionReason::DeletionProposed, message);
            Some((Decision::Keep { worker: worker.clone() }, condition))
        }
        Decision::Forget => {
            let ending = |(worker, lock): (&Name, &WorkerLock)| {
                let step = lock.clusters.get(name)?.deletion.as_ref()?.step;
                Some(Decision::Delete { worker: worker.clone(), step })
            };
            let decision = input.previous.workers.iter().find_map(ending)?;
            let message = "its deletion ends once the proposal is merged".to_owned();
            Some((decision, placed(ConditionStatus::True, ConditionReason::EndProposed, message)))
        }
        Decision::Move { from, binding, .. } => {
            let begins = input.plan.moved(name).map(|moved| moved.progress);
            begins.filter(|progress| *progress == MoveProgress::Begins)?;
            let to = &binding.worker;
            let message = format!("its move to {to} begins once the proposal is merged");
            let condition = placed(ConditionStatus::True, ConditionReason::MoveProposed, message);
            Some((Decision::Keep { worker: from.clone() }, condition))
        }
        Decision::Keep { .. } | Decision::Wait { .. } => None,
    }
}

fn placed(status: ConditionStatus, reason: ConditionReason, message: String) -> Condition {
    condition(ConditionType::Placed, status, reason, message)
}
