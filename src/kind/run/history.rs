//! Events: what is new in a history, for `kubectl describe`.

use kube::Resource as _;
use kube::runtime::events::{Event, EventType, Recorder};
use tracing::debug;

use super::super::reason::cut;
use crate::model::api::{KINDCluster, KINDClusterStatus};

/// The longest note of an event, in bytes (Kubernetes, `staging/src/k8s.io/api/events/v1/types.go`).
const MOST_NOTE: usize = 1000;

/// What is new: whether it is a warning, its reason, its words.
fn news(before: &KINDClusterStatus, after: &KINDClusterStatus) -> Option<(bool, String, String)> {
    let row = after.history.last().filter(|row| before.history.last() != Some(*row))?;
    let said = if row.reason.is_empty() { String::new() } else { format!(": {}", row.reason) };
    let ready = || {
        let kind = if after.ready == Some(true) { "Ready" } else { "ClusterCreated" };
        after.conditions.iter().find(|c| c.kind == kind).map(|c| c.reason.clone())
    };
    let reason = after.failure_reason.clone().or_else(ready).unwrap_or_default();
    let is_warning = after.failure_reason.is_some();
    Some((is_warning, reason, cut(&format!("{}{said}", row.message), MOST_NOTE)))
}

/// Publishes what is new. That an event is lost changes nothing.
pub(super) async fn publish(
    recorder: &Recorder,
    object: &KINDCluster,
    before: &KINDClusterStatus,
    after: &KINDClusterStatus,
) {
    if let Some((is_warning, reason, note)) = news(before, after) {
        say(recorder, object, is_warning, reason, note).await;
    }
}

/// Publishes one event.
pub(super) async fn say(
    recorder: &Recorder,
    object: &KINDCluster,
    is_warning: bool,
    reason: String,
    note: String,
) {
    let type_ = if is_warning { EventType::Warning } else { EventType::Normal };
    let event =
        Event { type_, reason, note: Some(note), action: "Reconcile".to_owned(), secondary: None };
    if let Err(error) = recorder.publish(&event, &object.object_ref(&())).await {
        debug!("an event was not taken: {error}");
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::super::super::{KindReason, StatusBuilder};
    use super::*;
    use crate::model::api::KINDClusterSpec;

    #[test]
    fn what_is_new_is_told_and_what_is_known_is_not() {
        let mut status = KINDClusterStatus::default();
        let before = status.clone();
        let spec = KINDClusterSpec::named("a");
        let now = Timestamp::UNIX_EPOCH;
        StatusBuilder { status: &mut status, now, generation: None }.set_desired(&spec, "box", "");
        let told = news(&before, &status).unwrap();
        assert_eq!(told, (false, "Creating".to_owned(), "Cluster is being created".to_owned()));
        assert_eq!(news(&status, &status), None);
        let before = status.clone();
        StatusBuilder { status: &mut status, now, generation: None }
            .creation_failed(KindReason::ImagePullFailed, &"x".repeat(5000));
        let (is_warning, reason, note) = news(&before, &status).unwrap();
        assert!(is_warning && reason == "ImagePullFailed" && note.len() <= MOST_NOTE, "{note}");
    }
}
