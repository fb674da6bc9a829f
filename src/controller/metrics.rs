//! What `/metrics` says, with names and units as Prometheus wants them. `docs/operations.md` lists
//! them; a test holds the list.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

use jiff::Timestamp;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use super::process::Process;
use super::wakeup::Hint;
use crate::model::{FailureKind, Turn, TurnForge, TurnOutcome, TurnStatus};

/// The media type of what [`Metrics::text`] returns.
pub(super) const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The buckets of durations, in seconds: a turn without news takes milliseconds, a first one minutes.
const BUCKETS: [f64; 12] = [0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0, 600.0];
/// Phases of clusters, so that a phase without clusters says 0.
const CLUSTER_PHASES: [&str; 8] = [
    "Pending",
    "Scheduled",
    "Provisioning",
    "Running",
    "Updating",
    "Degraded",
    "Deleting",
    "Unknown",
];
/// Phases of workers.
const WORKER_PHASES: [&str; 6] =
    ["Pending", "Provisioning", "Running", "Degraded", "Unknown", "Terminating"];
/// How a webhook call ends.
const HOOK_RESULTS: [&str; 3] = ["accepted", "unauthorized", "refused"];
const SEVERITIES: [&str; 3] = ["error", "warning", "note"];

type Label = [(&'static str, String); 1];
type Real = Gauge<f64, AtomicU64>;

/// A gauge with one label. What is not there any more is 0, not gone.
#[derive(Debug)]
struct LabelledGauge {
    label: &'static str,
    family: Family<Label, Gauge>,
    known: Mutex<BTreeMap<String, u64>>,
}

impl LabelledGauge {
    fn new(label: &'static str, known: &[&str]) -> Self {
        let known: BTreeMap<_, _> = known.iter().map(|name| ((*name).to_owned(), 0)).collect();
        let counts = Self { label, family: Family::default(), known: Mutex::default() };
        counts.set(&known);
        counts
    }

    fn set(&self, counts: &BTreeMap<String, u64>) {
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        known.values_mut().for_each(|count| *count = 0);
        known.extend(counts.iter().map(|(name, count)| (name.clone(), *count)));
        for (name, count) in known.iter() {
            let gauge = self.family.get_or_create(&[(self.label, name.clone())]);
            gauge.set(i64::try_from(*count).unwrap_or(i64::MAX));
        }
    }
}

/// The metrics of one controller.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    turns: Family<Label, Counter>,
    failures: Family<Label, Counter>,
    duration: Histogram,
    races: Counter,
    status_commits: Counter,
    hints: Family<Label, Counter>,
    hooks: Family<Label, Counter>,
    forge: Family<Label, Counter>,
    clusters: LabelledGauge,
    workers: LabelledGauge,
    holds: LabelledGauge,
    findings: LabelledGauge,
    last_success: Real,
    valid_until: Real,
    failing: Gauge,
    breaker: Gauge,
    leader: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Registry::default(),
            turns: Family::default(),
            failures: Family::default(),
            duration: Histogram::new(BUCKETS),
            races: Counter::default(),
            status_commits: Counter::default(),
            hints: Family::default(),
            hooks: Family::default(),
            forge: Family::default(),
            clusters: LabelledGauge::new("phase", &CLUSTER_PHASES),
            workers: LabelledGauge::new("phase", &WORKER_PHASES),
            holds: LabelledGauge::new("kind", &[]),
            findings: LabelledGauge::new("severity", &SEVERITIES),
            last_success: Real::default(),
            valid_until: Real::default(),
            failing: Gauge::default(),
            breaker: Gauge::default(),
            leader: Gauge::default(),
        };
        // A series that begins at 0 shows its first increase.
        for (family, label, names) in [
            (&metrics.turns, "result", names(TurnOutcome::ALL).as_slice()),
            (&metrics.failures, "kind", names(FailureKind::ALL).as_slice()),
            (&metrics.hints, "hint", names(Hint::ALL).as_slice()),
            (&metrics.hooks, "result", &HOOK_RESULTS),
            (&metrics.forge, "result", &TurnForge::RESULTS),
        ] {
            for name in names {
                let _ = family.get_or_create(&[(label, (*name).to_owned())]);
            }
        }
        metrics.leader.set(1);
        metrics.register();
        metrics
    }
}

impl Metrics {
    fn register(&mut self) {
        let version = vec![("version", env!("CARGO_PKG_VERSION"))];
        self.registry.register_collector(Box::new(Process));
        let r = self.registry.sub_registry_with_prefix("carp");
        r.register("build", "The version that runs", Info::new(version));
        r.register("reconcile", "Turns of the reconciler by how they ended", self.turns.clone());
        r.register("reconcile_failures", "Turns that failed, by kind", self.failures.clone());
        let help = "How long turns took";
        r.register_with_unit("reconcile_duration", help, Unit::Seconds, self.duration.clone());
        r.register("push_races", "Pushes lost to another writer", self.races.clone());
        let help = "Commits on the status branch, apart from folds";
        r.register("status_commits", help, self.status_commits.clone());
        r.register("hints", "Pauses that ended early, by who said so", self.hints.clone());
        r.register("hooks", "Webhook calls by result", self.hooks.clone());
        r.register(
            "forge",
            "Turns that had something to tell the forge, by result",
            self.forge.clone(),
        );
        r.register("clusters", "ManagedClusters by phase", self.clusters.family.clone());
        r.register("workers", "Workers by phase", self.workers.family.clone());
        r.register("holds", "Names that guards hold, by guard", self.holds.family.clone());
        r.register("findings", "Findings in the fleet by severity", self.findings.family.clone());
        let help = "When a turn last ended well";
        let gauge = self.last_success.clone();
        r.register_with_unit("last_success_timestamp", help, Unit::Seconds, gauge);
        let help = "Until when the last plan stands; 0: no time ends it";
        let gauge = self.valid_until.clone();
        r.register_with_unit("valid_until_timestamp", help, Unit::Seconds, gauge);
        r.register("failing_turns", "Turns that failed in a row", self.failing.clone());
        r.register("breaker_open", "1 while commits are held back", self.breaker.clone());
        r.register("leader", "1 while this process acts", self.leader.clone());
    }

    /// Takes note of a turn that ended at a time, the n-th failure in a row where it failed.
    pub fn ended(&self, turn: &Turn, now: Timestamp, failures: u32, is_breaker_open: bool) {
        self.turns.get_or_create(&[("result", turn.outcome.name().to_owned())]).inc();
        if let Some(failure) = &turn.failure {
            self.failures.get_or_create(&[("kind", failure.kind.name().to_owned())]).inc();
        }
        #[expect(clippy::cast_precision_loss, reason = "no turn takes 2⁵² milliseconds")]
        self.duration.observe(turn.milliseconds as f64 / 1000.0);
        self.races.inc_by(u64::from(turn.races));
        if matches!(turn.status, Some(TurnStatus::Committed(_))) {
            self.status_commits.inc();
        }
        if let Some(forge) = &turn.forge {
            self.forge.get_or_create(&[("result", forge.result().to_owned())]).inc();
        }
        self.failing.set(i64::from(failures));
        self.breaker.set(i64::from(is_breaker_open));
        if turn.outcome == TurnOutcome::Failed {
            return;
        }
        self.holds.set(&turn.holds);
        self.findings.set(&turn.findings);
        if matches!(turn.outcome, TurnOutcome::Stopped | TurnOutcome::Held) {
            return;
        }
        self.clusters.set(&turn.counts.clusters);
        self.workers.set(&turn.counts.workers);
        self.valid_until.set(turn.valid_until.map_or(0.0, seconds));
        self.last_success.set(seconds(now));
    }

    /// A pause ended early.
    pub fn woken(&self, hint: Hint) {
        self.hints.get_or_create(&[("hint", hint.name().to_owned())]).inc();
    }

    /// The webhook was called.
    pub fn hooked(&self, result: &str) {
        self.hooks.get_or_create(&[("result", result.to_owned())]).inc();
    }

    /// Whether this process acts.
    pub fn leads(&self, leads: bool) {
        self.leader.set(i64::from(leads));
    }

    /// All of it, in the text form of `OpenMetrics`, which Prometheus reads.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// The words of an enum.
fn names<W: AsRef<str>>(words: &'static [W]) -> Vec<&'static str> {
    words.iter().map(AsRef::as_ref).collect()
}

fn seconds(time: Timestamp) -> f64 {
    time.as_duration().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, series: &str) -> Option<f64> {
        text.lines().find_map(|l| l.strip_prefix(series)?.strip_prefix(' ')?.parse().ok())
    }

    #[test]
    fn a_turn_shows_in_its_metrics() {
        let metrics = Metrics::default();
        let now: Timestamp = "2026-11-01T00:00:00Z".parse().unwrap();
        let mut turn = Turn {
            outcome: TurnOutcome::Committed,
            failure: None,
            races: 2,
            forge: Some(TurnForge::Failed { message: "down".to_owned() }),
            milliseconds: 1500,
            valid_until: Some(now),
            holds: BTreeMap::from([("MassDeletion".to_owned(), 7)]),
            ..Turn::failed(FailureKind::Races, "", now)
        };
        turn.counts.clusters = BTreeMap::from([("Running".to_owned(), 3)]);
        metrics.ended(&turn, now, 0, false);
        let text = metrics.text();
        for (series, wanted) in [
            ("carp_reconcile_total{result=\"committed\"}", 1.0),
            ("carp_reconcile_total{result=\"failed\"}", 0.0),
            ("carp_reconcile_duration_seconds_sum", 1.5),
            ("carp_push_races_total", 2.0),
            ("carp_clusters{phase=\"Running\"}", 3.0),
            ("carp_clusters{phase=\"Degraded\"}", 0.0),
            ("carp_holds{kind=\"MassDeletion\"}", 7.0),
            ("carp_last_success_timestamp_seconds", 1_793_491_200.0),
            ("carp_valid_until_timestamp_seconds", 1_793_491_200.0),
            ("carp_leader", 1.0),
            ("carp_forge_total{result=\"failed\"}", 1.0),
            ("carp_forge_total{result=\"told\"}", 0.0),
        ] {
            assert_eq!(value(&text, series), Some(wanted), "{series} in\n{text}");
        }
        assert!(text.contains("carp_build_info{version="), "{text}");

        metrics.ended(&Turn::failed(FailureKind::Remote, "gone", now), now, 1, true);
        turn.holds.clear();
        metrics.ended(&turn, now, 0, true);
        let text = metrics.text();
        assert_eq!(value(&text, "carp_reconcile_failures_total{kind=\"remote\"}"), Some(1.0));
        assert_eq!(value(&text, "carp_holds{kind=\"MassDeletion\"}"), Some(0.0), "not gone");
        assert_eq!(value(&text, "carp_breaker_open"), Some(1.0));
    }

    #[test]
    fn the_operations_page_lists_every_metric_and_no_other() {
        let metrics = Metrics::default();
        metrics.holds.set(&BTreeMap::from([("MassDeletion".to_owned(), 1)]));
        let text = metrics.text();
        let families = text.lines().filter_map(|l| l.strip_prefix("# TYPE ")?.split_once(' '));
        let shown: std::collections::BTreeSet<String> = families
            .map(|(name, kind)| match kind {
                "counter" => format!("{name}_total"),
                "info" => format!("{name}_info"),
                _ => name.to_owned(),
            })
            .collect();
        let page = include_str!("../../docs/operations.md");
        let listed: std::collections::BTreeSet<String> = page
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split(['`', '{']).next())
            .filter(|name| name.starts_with("carp_") || name.starts_with("process_"))
            .map(str::to_owned)
            .collect();
        assert_eq!(listed, shown);
    }
}
