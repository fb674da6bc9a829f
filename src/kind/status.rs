//! What an object's status says after each thing that happened. Pure: the same for the controller and
//! for Git.

use jiff::Timestamp;

use super::plan::Record;
use super::reason::{KindReason, cut};
use crate::model::api::{
    HistoryRow, Initialization, KINDClusterSpec, KINDClusterStatus, MOST_HISTORY, MadeFrom,
};
use crate::model::{Condition, ConditionStatus};

/// The longest message in a status, in bytes.
const MOST_MESSAGE: usize = 1000;

/// What a look at a cluster found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterHealth {
    /// Whether `/readyz` of its API server is fine.
    pub answers: bool,
    /// What was said instead.
    pub said: String,
    /// The API server's version.
    pub version: Option<String>,
    /// How many nodes kind made.
    pub nodes: u32,
    /// How many of them say that they are ready; `None` where they could not be asked for.
    pub ready_nodes: Option<u32>,
}

/// A status that something is told to.
pub struct StatusBuilder<'a> {
    /// The status.
    pub status: &'a mut KINDClusterStatus,
    /// When.
    pub now: Timestamp,
    /// The generation that it is about; `None` where there is none, as in Git.
    pub generation: Option<i64>,
}

/// What was begun in an object's name.
#[must_use]
pub fn record(status: &KINDClusterStatus) -> Record {
    match (&status.provider_id, &status.made) {
        (None, _) => Record::None,
        (Some(_), None) => Record::Intended,
        (Some(_), Some(_)) => Record::Made,
    }
}

/// The machine that the record names.
#[must_use]
pub fn recorded_host(status: &KINDClusterStatus) -> Option<&str> {
    let id = status.provider_id.as_deref()?.strip_prefix("kind://")?;
    id.rsplit_once('/').map(|(host, _)| host)
}

/// Moves the rows that the first provider kept among the conditions to the history.
pub fn upgrade(status: &mut KINDClusterStatus) {
    let (rows, conditions) =
        std::mem::take(&mut status.conditions).into_iter().partition(|c| c.kind.is_empty());
    status.conditions = conditions;
    let rows: Vec<Condition> = rows;
    let rows = rows.into_iter().map(|row| HistoryRow {
        timestamp: row.last_transition_time,
        message: row.message,
        reason: row.reason,
    });
    let mut history: Vec<_> = rows.chain(std::mem::take(&mut status.history)).collect();
    history.drain(..history.len().saturating_sub(MOST_HISTORY));
    status.history = history;
}

impl StatusBuilder<'_> {
    /// A creation begins: written before it does, so that what an interrupted one leaves is known.
    pub fn set_desired(&mut self, spec: &KINDClusterSpec, host: &str, why: &str) {
        let name = &spec.cluster_name;
        self.status.cluster_name = Some(name.clone());
        self.status.provider_id = Some(format!("kind://{host}/{name}"));
        self.status.made = None;
        self.status.ready = Some(false);
        self.status.initialization = None;
        (self.status.version, self.status.nodes, self.status.ready_nodes) = (None, None, None);
        self.row("Cluster is being created", why);
        self.condition("ClusterCreated", false, "Creating", "");
        self.condition("Available", false, "Creating", "");
        self.ready(false, "Creating", "");
    }

    /// The cluster is there: made (with the digest of what from) or taken over.
    pub fn made(&mut self, spec_digest: &str, adopted: bool) {
        self.status.made =
            Some(MadeFrom { time: self.time(), spec_digest: spec_digest.to_owned() });
        self.clear_failure();
        let word = if adopted { "Adopted" } else { "Created" };
        let message =
            if adopted { "Cluster was taken over" } else { "Cluster was successfully created" };
        self.row(message, "");
        self.condition("ClusterCreated", true, word, "");
        self.status.external_managed_control_plane = true;
        self.initialized(|i| i.provisioned = true);
    }

    /// An object takes over the cluster that has its name.
    pub fn adopt(&mut self, spec: &KINDClusterSpec, host: &str) {
        let name = &spec.cluster_name;
        self.status.cluster_name = Some(name.clone());
        self.status.provider_id = Some(format!("kind://{host}/{name}"));
        self.made("", true);
    }

    /// What a look at the cluster found.
    pub fn checked(&mut self, spec: &KINDClusterSpec, health: &ClusterHealth) {
        self.status.nodes = Some(health.nodes);
        self.status.ready_nodes = health.ready_nodes;
        if health.answers {
            if self.status.ready != Some(true) {
                self.row("Cluster is ready", "");
            }
            self.status.version.clone_from(&health.version);
            self.clear_failure();
            self.initialized(|i| i.control_plane_initialized = true);
            self.condition("Available", true, "Available", "");
            self.ready(true, "Ready", "");
        } else {
            let said = cut(&health.said, MOST_MESSAGE);
            self.condition("Available", false, KindReason::NotReady.word(), &said);
            self.trouble(KindReason::NotReady, &said);
            self.row("Cluster does not answer", &said);
        }
        self.up_to_date(spec);
    }

    /// The kubeconfig is where it belongs.
    pub fn kubeconfig_ready(&mut self) {
        self.condition("KubeconfigReady", true, "Written", "");
    }

    /// The kubeconfig could not be written.
    pub fn kubeconfig_failed(&mut self, said: &str) {
        let said = cut(said, MOST_MESSAGE);
        self.condition("KubeconfigReady", false, KindReason::KubeconfigFailed.word(), &said);
        self.trouble(KindReason::KubeconfigFailed, &said);
    }

    /// A creation failed.
    pub fn creation_failed(&mut self, reason: KindReason, said: &str) {
        let said = cut(said, MOST_MESSAGE);
        self.condition("ClusterCreated", false, reason.word(), &said);
        self.trouble(reason, &format!("Cluster cannot be created: {said}"));
        self.row("Cluster cannot be created", &said);
    }

    /// The name belongs to a cluster that is not this object's: nothing is recorded any more.
    pub fn disown(&mut self) {
        (self.status.provider_id, self.status.cluster_name, self.status.made) = (None, None, None);
        self.status.initialization = None;
    }

    /// carp does not do what is asked for.
    pub fn not_done(&mut self, reason: KindReason, said: &str) {
        if record(self.status) == Record::None {
            self.condition("ClusterCreated", false, reason.word(), said);
        }
        self.trouble(reason, said);
        self.row(said, reason.word());
    }

    /// A deletion goes on, or could not.
    pub fn deleting(&mut self, failed: Option<(KindReason, &str)>) {
        match failed {
            None => self.ready(false, "Deleting", ""),
            Some((reason, said)) => {
                let said = cut(said, MOST_MESSAGE);
                self.trouble(reason, &format!("Cluster cannot be deleted: {said}"));
                self.row("Cluster cannot be deleted", &said);
            }
        }
    }

    /// Whether carp leaves the object alone, and why.
    pub fn paused(&mut self, paused: bool) {
        if paused {
            self.condition("Paused", true, "Paused", "");
        } else if self.status.conditions.iter().any(|c| c.kind == "Paused") {
            self.condition("Paused", false, "NotPaused", "");
        }
    }

    fn trouble(&mut self, reason: KindReason, said: &str) {
        self.status.failure_reason = Some(reason.word().to_owned());
        self.status.failure_message = Some(said.to_owned());
        self.ready(false, reason.word(), said);
    }

    fn clear_failure(&mut self) {
        (self.status.failure_reason, self.status.failure_message) = (None, None);
    }

    fn up_to_date(&mut self, spec: &KINDClusterSpec) {
        let made = self.status.made.as_ref().map_or("", |made| made.spec_digest.as_str());
        // Nobody knows what a cluster that was taken over was made from.
        if made.is_empty() || made == spec.digest() {
            self.condition("UpToDate", true, "UpToDate", "");
        } else {
            let message = "the spec changed since the cluster was made, and kind cannot change a \
                           cluster: delete the object and make it anew";
            self.condition("UpToDate", false, "SpecChanged", message);
        }
    }

    fn initialized(&mut self, set: impl FnOnce(&mut Initialization)) {
        set(self.status.initialization.get_or_insert_default());
    }

    fn ready(&mut self, ready: bool, reason: &str, message: &str) {
        self.status.ready = Some(ready);
        self.condition("Ready", ready, reason, message);
        self.status.observed_generation = self.generation;
    }

    /// Sets a condition; its time stays while its status does.
    fn condition(&mut self, kind: &str, holds: bool, reason: &str, message: &str) {
        let status = if holds { ConditionStatus::True } else { ConditionStatus::False };
        let before = self.status.conditions.iter().position(|c| c.kind == kind);
        let since = before
            .map(|at| &self.status.conditions[at])
            .filter(|before| before.status == status)
            .and_then(|before| before.last_transition_time.clone());
        let condition = Condition {
            kind: kind.to_owned(),
            status,
            reason: reason.to_owned(),
            message: message.to_owned(),
            last_transition_time: Some(since.unwrap_or_else(|| self.time())),
            observed_generation: self.generation,
        };
        match before {
            Some(at) => self.status.conditions[at] = condition,
            None => self.status.conditions.push(condition),
        }
        self.status.conditions.sort_by(|a, b| a.kind.cmp(&b.kind));
    }

    /// Adds a row to the history, unless it says what the last one says.
    fn row(&mut self, message: &str, reason: &str) {
        let last = self.status.history.last();
        if last.is_some_and(|last| last.message == message && last.reason == reason) {
            return;
        }
        self.status.history.push(HistoryRow {
            timestamp: Some(self.time()),
            message: message.to_owned(),
            reason: reason.to_owned(),
        });
        let more = self.status.history.len().saturating_sub(MOST_HISTORY);
        self.status.history.drain(..more);
    }

    /// The time as Kubernetes writes it: to the second.
    fn time(&self) -> String {
        Timestamp::from_second(self.now.as_second()).unwrap_or(self.now).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn telling(status: &mut KINDClusterStatus, second: i64) -> StatusBuilder<'_> {
        StatusBuilder { status, now: at(second), generation: Some(1) }
    }

    fn condition<'a>(status: &'a KINDClusterStatus, kind: &str) -> &'a Condition {
        status.conditions.iter().find(|c| c.kind == kind).unwrap()
    }

    fn healthy() -> ClusterHealth {
        ClusterHealth {
            answers: true,
            version: Some("v1.37.0".to_owned()),
            nodes: 1,
            ..ClusterHealth::default()
        }
    }

    #[test]
    fn a_cluster_is_recorded_made_and_ready_in_this_order() {
        let (spec, mut status) = (KINDClusterSpec::named("a"), KINDClusterStatus::default());
        assert_eq!(record(&status), Record::None);
        telling(&mut status, 0).set_desired(&spec, "box", "");
        assert_eq!((record(&status), recorded_host(&status)), (Record::Intended, Some("box")));
        assert_eq!((status.ready, status.initialization), (Some(false), None));
        telling(&mut status, 60).made(&spec.digest(), false);
        assert_eq!((record(&status), status.ready), (Record::Made, Some(false)));
        assert!(status.initialization.unwrap().provisioned);
        assert!(!status.initialization.unwrap().control_plane_initialized, "nobody answered yet");
        telling(&mut status, 90).checked(&spec, &healthy());
        assert_eq!(status.ready, Some(true));
        assert!(status.initialization.unwrap().control_plane_initialized);
        assert_eq!(status.version.as_deref(), Some("v1.37.0"));
        let ready = condition(&status, "Ready");
        assert_eq!(ready.last_transition_time.as_deref(), Some("1970-01-01T00:01:30Z"));
        let before = status.clone();
        telling(&mut status, 400).checked(&spec, &healthy());
        assert_eq!(status, before, "no news, no write");
    }

    #[test]
    fn a_failure_is_told_once_and_vanishes_with_the_trouble() {
        let (spec, mut status) = (KINDClusterSpec::named("a"), KINDClusterStatus::default());
        telling(&mut status, 0).set_desired(&spec, "box", "");
        for second in 1..100 {
            telling(&mut status, second)
                .creation_failed(KindReason::ImagePullFailed, "no such image");
        }
        assert_eq!(status.history.len(), 2, "{:?}", status.history);
        let row = &status.history[1];
        assert_eq!(
            (row.message.as_str(), row.reason.as_str()),
            ("Cluster cannot be created", "no such image")
        );
        let message = status.failure_message.as_deref();
        assert_eq!(message, Some("Cluster cannot be created: no such image"));
        telling(&mut status, 200).made("x", false);
        assert_eq!((status.failure_reason, status.failure_message), (None, None));
    }

    #[test]
    fn a_history_keeps_the_newest() {
        let mut status = KINDClusterStatus::default();
        for second in 0..100 {
            let said = second.to_string();
            telling(&mut status, second).creation_failed(KindReason::KindFailed, &said);
        }
        assert_eq!(status.history.len(), MOST_HISTORY);
        assert_eq!(status.history.last().unwrap().reason, "99");
    }

    #[test]
    fn a_cluster_that_stops_answering_is_no_longer_ready_and_stays_initialized() {
        let (spec, mut status) = (KINDClusterSpec::named("a"), KINDClusterStatus::default());
        telling(&mut status, 0).set_desired(&spec, "box", "");
        telling(&mut status, 1).made(&spec.digest(), false);
        telling(&mut status, 2).checked(&spec, &healthy());
        let silent = ClusterHealth {
            said: "connection refused".to_owned(),
            nodes: 1,
            ..ClusterHealth::default()
        };
        telling(&mut status, 3).checked(&spec, &silent);
        assert_eq!(status.ready, Some(false));
        assert_eq!(status.failure_reason.as_deref(), Some("NotReady"));
        assert!(status.initialization.unwrap().control_plane_initialized);
        telling(&mut status, 4).checked(&spec, &healthy());
        assert_eq!((status.ready, status.failure_reason), (Some(true), None));
    }

    #[test]
    fn what_was_changed_since_is_told_and_nothing_is_torn_down() {
        let (spec, mut status) = (KINDClusterSpec::named("a"), KINDClusterStatus::default());
        telling(&mut status, 0).set_desired(&spec, "box", "");
        telling(&mut status, 1).made(&spec.digest(), false);
        let newer = KINDClusterSpec { kubernetes_version: "1.36".to_owned(), ..spec };
        telling(&mut status, 2).checked(&newer, &healthy());
        assert_eq!(condition(&status, "UpToDate").reason, "SpecChanged");
        assert_eq!(status.ready, Some(true));
    }

    #[test]
    fn rows_of_the_first_provider_become_history() {
        let mut status: KINDClusterStatus = serde_json::from_value(serde_json::json!({
            "ready": true,
            "conditions": [{"timestamp": "2021-09-01T00:00:00Z", "message": "m", "reason": "r"}],
        }))
        .unwrap();
        upgrade(&mut status);
        assert_eq!(status.conditions, []);
        assert_eq!(status.history[0].timestamp.as_deref(), Some("2021-09-01T00:00:00Z"));
        assert_eq!(record(&status), Record::None, "it owns nothing until it is taken over");
    }
}
