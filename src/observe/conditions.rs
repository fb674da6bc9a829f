//! The conditions of a cluster that a report repeats: those that say something to a person, bounded.

use super::object::{ObservedObject, ProviderCondition};
use crate::model::{Condition, ConditionStatus};

/// The longest message that is repeated, in characters. A row of a report stays below 2 KiB.
pub(super) const MOST_MESSAGE: usize = 256;

/// The conditions of a `Cluster` that are repeated, in this order.
const REPEATED: [&str; 8] = [
    "Available",
    "ControlPlaneAvailable",
    "WorkersAvailable",
    "InfrastructureReady",
    "RemoteConnectionProbe",
    "RollingOut",
    "Deleting",
    "Paused",
];

/// Of these it is normal that they do not hold, and then they are left out.
const NORMALLY_FALSE: [&str; 3] = ["RollingOut", "Deleting", "Paused"];

/// The conditions of a `Cluster`, and whether Flux applied its folder, as `Synced`.
pub(super) fn of(
    cluster: Option<&ObservedObject>,
    applied_by: Option<&ObservedObject>,
) -> Vec<Condition> {
    let own = REPEATED.iter().filter_map(|kind| {
        let seen = cluster?.condition(kind)?;
        let quiet = NORMALLY_FALSE.contains(kind) && seen.status != "True";
        (!quiet).then(|| repeated(seen, kind))
    });
    let synced = applied_by.and_then(|k| k.condition("Ready")).map(|c| repeated(c, "Synced"));
    own.chain(synced).collect()
}

/// A condition in carp's own form, under a name.
pub(super) fn repeated(seen: &ProviderCondition, kind: &str) -> Condition {
    let status = match seen.status.as_str() {
        "True" => ConditionStatus::True,
        "False" => ConditionStatus::False,
        _ => ConditionStatus::Unknown,
    };
    Condition {
        kind: kind.to_owned(),
        status,
        reason: if seen.reason.is_empty() { kind } else { &seen.reason }.to_owned(),
        // Of what is as it should be nobody reads a message, and Flux puts the revision into it.
        message: if status == ConditionStatus::True && !NORMALLY_FALSE.contains(&kind) {
            String::new()
        } else {
            bounded(&seen.message)
        },
        last_transition_time: seen.last_transition_time.clone(),
        observed_generation: seen.observed_generation,
    }
}

/// A message in one line, cut where it is too long.
pub(super) fn bounded(message: &str) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST_MESSAGE) {
        Some(_) => line.chars().take(MOST_MESSAGE - 1).chain(['…']).collect(),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(conditions: serde_json::Value) -> ObservedObject {
        serde_json::from_value(json!({"status": {"conditions": conditions}})).unwrap()
    }

    #[test]
    fn what_matters_is_repeated_and_what_is_normal_is_not() {
        let cluster = object(json!([
            {"type": "TopologyReconciled", "status": "True", "reason": "x"},
            {"type": "Paused", "status": "False", "reason": "NotPaused"},
            {"type": "WorkersAvailable", "status": "False", "reason": "NotAvailable", "message": "* a\n* b"},
            {"type": "Available", "status": "Unknown", "reason": "", "lastTransitionTime": "2026-11-01T00:00:00Z"},
        ]));
        let flux = object(
            json!([{"type": "Ready", "status": "True", "reason": "Succeeded", "message": "Applied revision: x"}]),
        );
        let all = of(Some(&cluster), Some(&flux));
        let told: Vec<_> = all
            .iter()
            .map(|c| format!("{} {:?} {} {}", c.kind, c.status, c.reason, c.message))
            .collect();
        assert_eq!(
            told,
            [
                "Available Unknown Available ",
                "WorkersAvailable False NotAvailable * a * b",
                "Synced True Succeeded ",
            ]
        );
        assert_eq!(all[0].last_transition_time.as_deref(), Some("2026-11-01T00:00:00Z"));
    }

    #[test]
    fn a_long_message_is_cut_at_a_character() {
        let long = bounded(&"ä".repeat(1000));
        assert_eq!(long.chars().count(), MOST_MESSAGE);
        assert!(long.ends_with('…'));
        assert_eq!(bounded(" a\n b "), "a b");
    }
}
