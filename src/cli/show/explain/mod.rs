//! Why a cluster is where it is, what a worker needs, and where a policy applies.

mod bootstrap;
mod fits;
mod pool;

use std::fmt::Write as _;

pub use bootstrap::StepView;
pub use pool::{MemberRow, WaitRow};
use serde::Serialize;

use super::data_stores::{self, DataStoreRow};
use super::tables::{Cell, table};
use super::wrap::wrap;
use super::{Palette, Tone};

/// The version of the JSON form.
pub const EXPLAIN_SCHEMA: u32 = 2;

/// An explanation of a cluster's placement, of a worker, of a pool, or of a policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplainView {
    /// What is explained: `cluster/pay-eu`.
    pub object: String,
    /// Where it is, or what it is: `bound to we-1`, `pending, number 1 of 3 in the queue`.
    pub state: String,
    /// What people should know before they read it.
    pub warnings: Vec<String>,
    /// The line as users of kube-scheduler know it: `0/3 workers are available: …`. Pending clusters
    /// only.
    pub summary: Option<String>,
    /// The policy that applies.
    pub policy: Option<PolicyView>,
    /// The policies that select it and lost, best first.
    pub lost_policies: Vec<LostView>,
    /// The override policies that apply to it, in the order of their turns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<OverrideView>,
    /// The data store that a placed cluster is in, or will be; absent where its worker keeps none for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_store: Option<String>,
    /// The data stores of a worker.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub data_stores: Vec<DataStoreRow>,
    /// Every worker.
    pub rows: Vec<ExplainRow>,
    /// Every pool, with why it makes no worker. Pending clusters only.
    pub pools: Vec<PoolRow>,
    /// The worker on which a placed cluster is; it stays there whatever would be taken now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// The worker that would be taken now.
    pub winner: Option<String>,
    /// The worker that comes second.
    pub runner_up: Option<String>,
    /// The term that tells the first from the second.
    pub decided_by: Option<String>,
    /// By how much.
    pub margin: Option<String>,
    /// The smallest changes that would place it, each enough by itself.
    pub remedies: Vec<RemedyView>,
    /// The clusters to which a policy applies.
    pub applies_to: Vec<String>,
    /// The clusters that a policy selects and to which another one applies.
    pub loses: Vec<LossView>,
    /// The workers of a pool.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberRow>,
    /// The clusters that wait, the first of the queue, each with why the pool makes no worker for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<WaitRow>,
    /// The Secrets that Git must not hold.
    pub secrets: Vec<SecretView>,
    /// What brings a worker up, in order; only where it is asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bootstrap: Vec<StepView>,
    /// Anything else worth saying, a line each.
    pub notes: Vec<String>,
}

/// A policy and where it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyView {
    /// Its name.
    pub name: String,
    /// The file it stands in, or `built-in`.
    pub origin: String,
}

/// An override policy of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OverrideView {
    /// Its name.
    pub policy: String,
    /// The file it stands in.
    pub origin: String,
    /// The objects that it changes; none where the folder does not render.
    pub objects: Vec<String>,
}

/// A policy that does not apply to a cluster that it selects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LostView {
    /// Its name.
    pub policy: String,
    /// What the one that applies has over it.
    pub because: String,
}

/// A cluster to which another policy applies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LossView {
    /// The cluster.
    pub cluster: String,
    /// The policy that applies.
    pub to: String,
    /// What that one has over this one.
    pub because: String,
}

/// What one worker is to one cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplainRow {
    /// The worker.
    pub worker: String,
    /// Why it refuses, every reason; empty where it does not.
    pub refused: Vec<ReasonView>,
    /// Its terms in the order that workers are compared in: the term's name and its value.
    pub terms: Vec<(String, String)>,
}

/// Why a pool makes no worker for a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PoolRow {
    /// The pool.
    pub pool: String,
    /// Why.
    pub because: String,
}

/// One reason of one worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReasonView {
    /// Its kind, as decision records keep it.
    pub reason: String,
    /// The reason with its amounts.
    pub message: String,
}

/// Changes that together would place a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RemedyView {
    /// The worker that would take it.
    pub worker: String,
    /// The changes.
    pub changes: Vec<String>,
    /// The clusters before it in the queue that the same changes place first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

/// A Secret that people make by hand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretView {
    /// `namespace/name`, or `entry KEY of ClusterSecretStore STORE`.
    pub name: String,
    /// The cluster that it must be on.
    pub cluster: String,
    /// For what it is made once: `fleet`, `worker`, or `cluster`.
    pub once: String,
    /// What needs it.
    pub why: String,
    /// The command that makes it.
    pub command: String,
}

/// The explanation as text.
#[must_use]
pub fn text(view: &ExplainView, palette: Palette) -> String {
    let strong = |text: &str| palette.paint(Tone::Strong, text);
    let mut out = format!("{}: {}\n", strong(&view.object), view.state);
    if let Some(summary) = &view.summary {
        out.push_str(&wrap(summary, "", 2));
    }
    out.push_str(&policy(view));
    out.push_str(&overrides(view));
    if let Some(store) = &view.data_store {
        let _ = writeln!(out, "data store: {store}");
    }
    if let Some(line) = decided(view) {
        out.push_str(&wrap(&line, "", 2));
    }
    out.push_str(&applies(view, palette));
    out.push_str(&fits::text(view, palette));
    out.push_str(&refusals(view));
    out.push_str(&pools(view));
    out.push_str(&pool::text(view, palette));
    if !view.remedies.is_empty() {
        let _ = writeln!(out, "\n{}", strong("Any one of these would place it:"));
        for RemedyView { worker, changes, after } in &view.remedies {
            let first = match after.as_slice() {
                [] => String::new(),
                names => format!(", after {}", super::plan::listed(names)),
            };
            let line = format!("{} (then {worker} takes it{first})", changes.join(" and "));
            out.push_str(&wrap(&line, "  - ", 4));
        }
    }
    out.push_str(&bootstrap::text(&view.bootstrap, palette));
    // One that has a command in it is for copying, and what there is to know comes before all that there is to do.
    let (commands, told): (Vec<_>, Vec<_>) =
        view.notes.iter().partition(|note| note.contains('\n'));
    let told: String = told.iter().map(|note| wrap(note, "", 2)).collect();
    let commands = commands.iter().fold(String::new(), |said, note| said + note + "\n");
    let stores = data_stores::text(&view.data_stores, palette);
    for part in [told, stores, secrets(view, palette), commands] {
        if !part.is_empty() {
            let _ = write!(out, "\n{}", part.trim_start_matches('\n'));
        }
    }
    out
}

/// What tells the best worker from the second. That another one would be taken now moves no placed cluster.
fn decided(view: &ExplainView) -> Option<String> {
    let first = view.winner.as_ref()?;
    let because = view.runner_up.as_ref().zip(view.decided_by.as_ref()).map(|(second, term)| {
        let margin = view.margin.as_ref().map_or(String::new(), |margin| format!(", {margin}"));
        format!("{term}{margin} ({first} before {second})")
    });
    match view.on.as_ref().filter(|on| *on != first) {
        None => because.map(|because| format!("decided by: {because}")),
        Some(on) => {
            let because =
                because.map_or_else(|| "no other takes it".to_owned(), |why| format!("by {why}"));
            Some(format!("it stays on {on}; placed anew it would go to {first}: {because}"))
        }
    }
}

/// The policy that applies to a cluster, and those that lost.
fn policy(view: &ExplainView) -> String {
    let Some(PolicyView { name, origin }) = &view.policy else { return String::new() };
    let mut out = wrap(&format!("policy: {name} ({origin})"), "", 2);
    for LostView { policy, because } in &view.lost_policies {
        out.push_str(&wrap(&format!("before {policy}: {because}"), "  ", 4));
    }
    out
}

/// The override policies of a cluster or worker: the last has the last word.
fn overrides(view: &ExplainView) -> String {
    let mut out = String::new();
    for OverrideView { policy, origin, objects } in &view.overrides {
        let changes = if objects.is_empty() { "nothing".to_owned() } else { objects.join(", ") };
        let line = format!("override: {policy} ({origin}) changes {changes}");
        out.push_str(&wrap(&line, "", 2));
    }
    out
}

/// Where a policy applies, and where it does not though it selects.
fn applies(view: &ExplainView, palette: Palette) -> String {
    let mut out = String::new();
    if !view.applies_to.is_empty() {
        let of = super::count(super::len(&view.applies_to), "cluster");
        let _ = write!(out, "\napplies to {of}:\n{}", wrap(&view.applies_to.join(", "), "  ", 2));
    }
    let row =
        |l: &LossView| [&l.cluster, &l.to, &l.because].map(|text| text.as_str().into()).into();
    if !view.loses.is_empty() {
        let rows: Vec<Vec<Cell>> = view.loses.iter().map(row).collect();
        let header = ["cluster", "policy that applies", "because"];
        let _ = write!(
            out,
            "\nselects too, and does not apply to:\n{}",
            table(&header, &rows, palette)
        );
    }
    out
}

/// How many names of workers that say the same stand in a line.
const NAMES: usize = 5;

/// The workers that refuse it, with all their reasons, one a line. What many say alike is said once.
fn refusals(view: &ExplainView) -> String {
    let mut groups: Vec<(Vec<&str>, &[ReasonView])> = Vec::new();
    for row in view.rows.iter().filter(|row| !row.refused.is_empty()) {
        let known = groups.iter_mut().find(|(_, reasons)| *reasons == row.refused);
        match known {
            Some((names, _)) => names.push(&row.worker),
            None => groups.push((vec![&row.worker], &row.refused)),
        }
    }
    let alone = groups.iter().filter_map(|(names, _)| match names.as_slice() {
        [one] => Some(one.chars().count()),
        _ => None,
    });
    let Some(width) = alone.chain([0]).max().filter(|_| !groups.is_empty()) else {
        return String::new();
    };
    let width = width.max("WORKER".len()) + 3;
    let mut out = format!("\n{:width$}REFUSES BECAUSE\n", "WORKER");
    for (names, reasons) in groups {
        if names.len() > 1 {
            out.push_str(&wrap(&super::first(&names, NAMES), "", 2));
        }
        for (i, refused) in reasons.iter().enumerate() {
            let name = if i == 0 && names.len() == 1 { names[0] } else { "" };
            out.push_str(&wrap(&refused.message, &format!("{name:width$}"), width + 2));
        }
    }
    out
}

fn pools(view: &ExplainView) -> String {
    let Some(widest) = view.pools.iter().map(|row| row.pool.chars().count()).max() else {
        return String::new();
    };
    let width = widest.max("POOL".len()) + 3;
    let mut out = format!("\n{:width$}MAKES NO WORKER BECAUSE\n", "POOL");
    for PoolRow { pool, because } in &view.pools {
        out.push_str(&wrap(because, &format!("{pool:width$}"), width + 2));
    }
    out
}

fn secrets(view: &ExplainView, palette: Palette) -> String {
    if view.secrets.is_empty() {
        return String::new();
    }
    let title = palette.paint(Tone::Strong, "Secrets that Git must not hold:");
    let mut out = format!("\n{title}\n");
    for secret in &view.secrets {
        let SecretView { name, cluster, once, why, command } = secret;
        let once = if once == "fleet" { ", once per fleet" } else { "" };
        let _ = writeln!(out, "  {name} on {cluster}{once}: {why}");
        let _ = writeln!(out, "    {}", command.replace('\n', "\n    "));
    }
    out
}

/// The explanation as JSON, with a final newline.
#[must_use]
pub fn json(view: &ExplainView) -> String {
    super::versioned(EXPLAIN_SCHEMA, view)
}

#[cfg(test)]
mod tests;
