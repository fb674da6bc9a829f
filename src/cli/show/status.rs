//! Workers and clusters as they are known to be.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::age::since_text;
use super::data_stores;
use super::status_forms::summary;
use super::status_view::{
    ClusterStatusRow, PoolStatusRow, STATUS_SCHEMA, StatusView, WorkerStatusRow,
};
use super::tables::{Cell, LeftOut, fit, left_out_words, state, table, tone_of};
use super::wrap::wrap;
use super::{Palette, Tone};
use crate::model::api::ErrorStatus;
use crate::model::{Condition, ConditionStatus, ConditionType, Resources};

/// How much of a status is shown, and how wide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// More columns, and no line cut.
    pub wide: bool,
    /// The width of the terminal; `None` where nobody's lines are broken.
    pub width: Option<usize>,
}

/// How wide the conditions are at most where nobody knows how much room there is.
const ELSEWHERE: usize = 120;

/// The tables, the workers' first, and a line that sums them up.
#[must_use]
pub fn text(view: &StatusView, extent: Extent, palette: Palette) -> String {
    let (mut out, left_out) = tables(view, extent, palette);
    if out.is_empty() {
        return "No workers and no clusters.\n".to_owned();
    }
    let lines = summary(view);
    if !lines.is_empty() {
        out.push('\n');
        out.extend(lines.iter().map(|line| wrap(line, "", 2)));
    }
    let waiting = super::status_waiting::lines(view);
    if !waiting.is_empty() {
        out.push('\n');
        out.extend(waiting.iter().map(|line| wrap(line, "", 2)));
    }
    if let Some(words) = left_out_words(&left_out) {
        let told = wrap(&format!("not shown for want of room: {words} (-o wide)"), "", 2);
        let _ = writeln!(out, "{}", palette.paint(Tone::Faint, told.trim_end()));
    }
    out
}

/// The tables, and for those that are fitted the columns that did not fit.
fn tables(view: &StatusView, extent: Extent, palette: Palette) -> (String, Vec<LeftOut>) {
    let (mut parts, mut left_out) = (Vec::new(), Vec::new());
    let mut add = |name, (table, mut columns): (String, Vec<&'static str>)| {
        parts.push(table);
        columns.sort_unstable();
        left_out.push((name, columns));
    };
    if !view.workers.is_empty() {
        add("workers", workers(view, extent, palette));
    }
    let pools = (!view.pools.is_empty()).then(|| pools(view, palette));
    let at = usize::from(!view.workers.is_empty());
    if !view.clusters.is_empty() {
        add("clusters", clusters(view, extent, palette));
    }
    parts.splice(at..at, pools);
    (parts.join("\n"), left_out)
}

fn workers(view: &StatusView, extent: Extent, palette: Palette) -> (String, Vec<&'static str>) {
    let row = |w: &WorkerStatusRow| -> Vec<Cell> {
        let phase = w.status.phase.as_deref().unwrap_or("Unknown");
        let mut shown = state(phase);
        if w.unschedulable {
            shown.text.push_str(",SchedulingDisabled");
        }
        let mut row = vec![
            w.name.to_string().into(),
            shown,
            w.location.as_str().into(),
            w.version.as_str().into(),
            used(&w.status.allocated, &w.status.capacity).into(),
            ready(&w.status.conditions),
            why(&w.status.conditions).into(),
            age(&w.status.conditions, view.now).into(),
        ];
        if extent.wide {
            let free = w.status.available_capacity.get("clusters").map(ToString::to_string);
            let applied = w.status.applied_revision.as_deref().unwrap_or_default();
            let stores = data_stores::cell(&w.status.data_stores);
            row.extend([w.flavor.as_str().into(), free.unwrap_or_default().into()]);
            row.extend([stores.into(), applied.into()]);
        }
        row
    };
    let rows = view.workers.iter().map(row).collect();
    let header = [
        "worker", "phase", "location", "version", "clusters", "ready", "reason", "age", "flavor",
        "free", "stores", "applied",
    ];
    let shown = if extent.wide { &header[..] } else { &header[..8] };
    fit(shown, rows, &["ready", "version", "location"], "reason", extent.fitted(), palette)
}

impl Extent {
    /// The width to which tables are fitted.
    fn fitted(self) -> Option<usize> {
        self.width.filter(|_| !self.wide)
    }
}

fn pools(view: &StatusView, palette: Palette) -> String {
    let number = |number: Option<u32>| number.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let row = |pool: &PoolStatusRow| -> Vec<Cell> {
        let pending = match pool.overdue {
            0 => Cell::from(pool.pending.to_string()),
            late => Cell::toned(format!("{} ({late} late)", pool.pending), Tone::Bad),
        };
        vec![
            pool.name.to_string().into(),
            pool.workers.to_string().into(),
            number(pool.min).into(),
            number(pool.max).into(),
            pending,
            pool.leaving.to_string().into(),
        ]
    };
    let rows: Vec<_> = view.pools.iter().map(row).collect();
    table(&["pool", "workers", "min", "max", "pending", "leaving"], &rows, palette)
}

fn clusters(view: &StatusView, extent: Extent, palette: Palette) -> (String, Vec<&'static str>) {
    let row = |c: &ClusterStatusRow| -> Vec<Cell> {
        let status = &c.status;
        let nodes = status.nodes.map(|n| format!("{}/{}", n.ready, n.desired));
        let mut row = vec![
            c.name.to_string().into(),
            c.tenant.as_str().into(),
            state(status.phase.as_deref().unwrap_or("Unknown")),
            status.assigned_worker.as_deref().unwrap_or_default().into(),
            status.version.as_deref().unwrap_or(&c.version).into(),
            nodes.unwrap_or_default().into(),
            ready(&status.conditions),
            why(&status.conditions).into(),
            age(&status.conditions, view.now).into(),
        ];
        if extent.wide {
            let class = c.class.as_deref().unwrap_or_default();
            let endpoint = status.endpoint.as_deref().unwrap_or_default();
            let store = status.data_store.as_deref().unwrap_or_default();
            row.extend([c.location.as_str(), class, endpoint, store].map(Cell::from));
        }
        row
    };
    let rows = view.clusters.iter().map(row).collect();
    let header = [
        "cluster", "tenant", "phase", "worker", "version", "nodes", "ready", "reason", "age",
        "location", "class", "endpoint", "store",
    ];
    let shown = if extent.wide { &header[..] } else { &header[..9] };
    fit(shown, rows, &["ready", "nodes", "version", "tenant"], "reason", extent.fitted(), palette)
}

/// One object at full length: its conditions and errors.
#[must_use]
pub fn detail(view: &StatusView, extent: Extent, palette: Palette) -> String {
    let (mut out, _) = tables(view, extent, palette);
    for worker in &view.workers {
        out.push_str(&data_stores::known(&worker.status.data_stores, palette));
    }
    let statuses = view
        .workers
        .iter()
        .map(|w| (&w.status.conditions, &w.status.errors))
        .chain(view.clusters.iter().map(|c| (&c.status.conditions, &c.status.errors)));
    for (conditions, errors) in statuses {
        out.push_str(&conditions_table(conditions, view.now, extent, palette));
        out.push_str(&error_lines(errors, palette));
    }
    out
}

fn conditions_table(
    conditions: &[Condition],
    now: Timestamp,
    extent: Extent,
    palette: Palette,
) -> String {
    if conditions.is_empty() {
        return String::new();
    }
    let row = |c: &Condition| -> Vec<Cell> {
        vec![
            c.kind.as_str().into(),
            state(word(c.status)),
            c.reason.as_str().into(),
            c.message.as_str().into(),
            since_text(c.last_transition_time.as_deref(), now).into(),
        ]
    };
    let rows: Vec<_> = conditions.iter().map(row).collect();
    let header = ["condition", "status", "reason", "message", "age"];
    // A log or a file is read by people too: only `-o wide` has lines of any length.
    let width = extent.fitted().or((!extent.wide).then_some(ELSEWHERE));
    let (shown, left_out) = fit(&header, rows, &["message"], "reason", width, palette);
    let mut out = format!("\n{shown}");
    if !left_out.is_empty() {
        // What does not fit beside the others stands below them, whole.
        out.push('\n');
        for c in conditions.iter().filter(|c| !c.message.is_empty()) {
            out.push_str(&wrap(&c.message, &format!("{}: ", c.kind), 2));
        }
    }
    out
}

fn error_lines(errors: &[ErrorStatus], palette: Palette) -> String {
    let mut out = String::new();
    for error in errors {
        let label = palette.paint(Tone::Bad, &format!("error[{}]", error.code));
        let whose = if error.user_error { " (mended in the fleet repository)" } else { "" };
        let _ = write!(out, "\n{label}: {}{whose}", error.message);
    }
    if out.is_empty() { out } else { out + "\n" }
}

const fn word(status: ConditionStatus) -> &'static str {
    match status {
        ConditionStatus::True => "True",
        ConditionStatus::False => "False",
        ConditionStatus::Unknown => "Unknown",
    }
}

fn ready_condition(conditions: &[Condition]) -> Option<&Condition> {
    conditions.iter().find(|c| c.kind == ConditionType::Ready.name())
}

fn ready(conditions: &[Condition]) -> Cell {
    let text = ready_condition(conditions).map_or("-", |c| word(c.status));
    Cell { text: text.to_owned(), tone: tone_of(text) }
}

/// The reason of what is not ready; one that is needs none.
fn why(conditions: &[Condition]) -> &str {
    ready_condition(conditions)
        .filter(|c| c.status != ConditionStatus::True)
        .map_or("", |c| c.reason.as_str())
}

/// Since when it is, or is not, ready.
fn age(conditions: &[Condition], now: Timestamp) -> String {
    since_text(ready_condition(conditions).and_then(|c| c.last_transition_time.as_deref()), now)
}

fn used(allocated: &Resources, capacity: &Resources) -> String {
    let used = allocated.get("clusters").copied().unwrap_or_default();
    capacity.get("clusters").map_or_else(|| format!("{used}/?"), |c| format!("{used}/{c}"))
}

/// The status as JSON, with a final newline.
#[must_use]
pub fn json(view: &StatusView) -> String {
    super::versioned(STATUS_SCHEMA, view)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::model::api::{ManagedClusterStatus, NodeCounts, WorkerStatus};
    use crate::model::{Name, Quantity};

    fn ready(status: ConditionStatus, reason: &str) -> Vec<Condition> {
        vec![Condition {
            kind: "Ready".into(),
            status,
            reason: reason.into(),
            message: "a message".into(),
            last_transition_time: Some("2026-11-01T06:00:00Z".into()),
            observed_generation: None,
        }]
    }

    fn view() -> StatusView {
        let clusters = |n| Resources::from([("clusters".to_owned(), Quantity::units(n))]);
        let worker = |name: &str, phase: &str, status, reason: &str| WorkerStatusRow {
            name: Name::parse(name).unwrap(),
            location: "westeurope".into(),
            version: "v1.34.2".into(),
            unschedulable: name == "we-2",
            flavor: "capz".into(),
            labels: BTreeMap::from([("env".into(), "prod".into())]),
            spec: None,
            status: WorkerStatus {
                phase: Some(phase.into()),
                conditions: ready(status, reason),
                capacity: clusters(10),
                allocated: clusters(3),
                ..WorkerStatus::default()
            },
        };
        let cluster = |name: &str, worker: Option<&str>| ClusterStatusRow {
            name: Name::parse(name).unwrap(),
            tenant: "shop".into(),
            version: "v1.34.2".into(),
            location: "westeurope".into(),
            class: Some("small".into()),
            labels: [].into(),
            spec: None,
            status: ManagedClusterStatus {
                phase: Some(if worker.is_some() { "Running" } else { "Pending" }.into()),
                assigned_worker: worker.map(Into::into),
                nodes: worker.map(|_| NodeCounts { desired: 3, ready: 2 }),
                conditions: worker.map_or_else(Vec::new, |_| ready(ConditionStatus::True, "Up")),
                errors: vec![ErrorStatus {
                    code: "unknown-class".into(),
                    message: "there is no class `xl`".into(),
                    user_error: true,
                }],
                ..ManagedClusterStatus::default()
            },
        };
        StatusView {
            now: "2026-11-01T09:04:00Z".parse().unwrap(),
            warnings: Vec::new(),
            workers: vec![
                worker("we-1", "Running", ConditionStatus::True, "Healthy"),
                worker("we-2", "Degraded", ConditionStatus::False, "EtcdSlow"),
            ],
            pools: Vec::new(),
            clusters: vec![cluster("pay-eu", Some("we-1")), cluster("ml", None)],
        }
    }

    #[test]
    fn the_tables_read_like_kubectls() {
        insta::assert_snapshot!(text(&view(), Extent::default(), Palette::plain()));
    }

    #[test]
    fn pools_have_a_table_of_their_own() {
        let pool = |name: &str, most: Option<u32>| PoolStatusRow {
            name: Name::parse(name).unwrap(),
            spec: None,
            workers: 2,
            min: most.map(|_| 0),
            max: most,
            pending: usize::from(most.is_some()),
            overdue: usize::from(most == Some(5)),
            leaving: usize::from(most.is_none()),
        };
        let pools = vec![pool("eu", Some(3)), pool("old", None), pool("us", Some(5))];
        let view = StatusView { pools, workers: Vec::new(), clusters: Vec::new(), ..view() };
        insta::assert_snapshot!(text(&view, Extent::default(), Palette::plain()), @r"
        POOL   WORKERS   MIN   MAX   PENDING      LEAVING
        eu     2         0     3     1            0
        old    2         -     -     0            1
        us     2         0     5     1 (1 late)   0
        ");
    }

    #[test]
    fn one_object_shows_its_conditions_and_errors() {
        let mut one = view();
        one.workers.clear();
        one.clusters.truncate(1);
        insta::assert_snapshot!(detail(&one, Extent::default(), Palette::plain()));
    }

    #[test]
    fn an_empty_fleet_says_so() {
        let empty = StatusView { workers: Vec::new(), clusters: Vec::new(), ..view() };
        assert_eq!(
            text(&empty, Extent::default(), Palette::plain()),
            "No workers and no clusters.\n"
        );
        assert!(json(&empty).contains("\"schemaVersion\": 1"));
    }
}
