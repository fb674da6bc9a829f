//! What is said of folders that kept their last good content, on the cluster or worker that each is of.

use super::{StatusInput, condition};
use crate::model::api::ErrorStatus;
use crate::model::{Condition, ConditionReason, ConditionStatus, ConditionType, Gate, Name};

/// The gates of one name. It is asked for every cluster, so it looks only where these are.
pub(super) fn gates<'a>(input: StatusInput<'a>, name: &Name) -> impl Iterator<Item = &'a Gate> {
    let first = input.gates.partition_point(|gate| gate.name < *name);
    let end = input.gates.partition_point(|gate| gate.name <= *name);
    input.gates[first..end].iter()
}

/// Whether the folder is as its document wants it; `placed` says whether there is to be one at all.
pub(super) fn rendered(input: StatusInput<'_>, name: &Name, placed: bool) -> Condition {
    let Some(gate) = gates(input, name).next() else {
        let (status, reason) = if placed {
            (ConditionStatus::True, ConditionReason::Rendered)
        } else {
            (ConditionStatus::False, ConditionReason::NotPlaced)
        };
        return condition(ConditionType::Rendered, status, reason, String::new());
    };
    let message = gate.findings.first().map(|finding| finding.message.clone());
    let reason = gate.reason;
    let message = message.unwrap_or_else(|| reason.words().to_owned());
    condition(ConditionType::Rendered, ConditionStatus::False, reason.name(), message)
}

/// What kept the folder: its findings, each with its code, or the reason itself where there are none.
pub(super) fn kept_errors(input: StatusInput<'_>, name: &Name) -> Vec<ErrorStatus> {
    let error = |code: String, message: String| ErrorStatus { code, message, user_error: true };
    let mut all = Vec::new();
    for gate in gates(input, name) {
        let findings = gate.findings.iter();
        all.extend(findings.map(|f| error(f.code.to_string(), f.message.clone())));
        if gate.findings.is_empty() {
            all.push(error(gate.reason.name().to_owned(), gate.reason.words().to_owned()));
        }
    }
    all
}
