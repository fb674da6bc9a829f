//! Why a cluster is where it is, and what a worker needs.

use std::fmt::Write as _;

use serde::Serialize;

use super::tables::{Cell, table};
use super::{Palette, Tone};

/// The version of the JSON form.
pub const EXPLAIN_SCHEMA: u32 = 1;

/// An explanation of a cluster's placement, or of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplainView {
    /// What is explained: `cluster/pay-eu`.
    pub object: String,
    /// Where it is, or what it is: `bound to we-1`, `pending, number 3 in the queue`.
    pub state: String,
    /// The line as users of kube-scheduler know it: `0/3 workers are available: …`. Pending clusters
    /// only.
    pub summary: Option<String>,
    /// The policy that applies.
    pub policy: Option<String>,
    /// The policies that select it and lost, best first.
    pub lost_policies: Vec<String>,
    /// Every worker.
    pub rows: Vec<ExplainRow>,
    /// The worker that would be taken now, or that the cluster is on.
    pub winner: Option<String>,
    /// The worker that comes second.
    pub runner_up: Option<String>,
    /// The term that tells the first from the second.
    pub decided_by: Option<String>,
    /// The smallest changes that would place it, each enough by itself.
    pub remedies: Vec<String>,
    /// The Secrets that Git must not hold.
    pub secrets: Vec<SecretView>,
    /// Anything else worth saying, a line each.
    pub notes: Vec<String>,
}

/// What one worker is to one cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplainRow {
    /// The worker.
    pub worker: String,
    /// Why it refuses, every reason; empty where it does not.
    pub refused: Vec<String>,
    /// Its terms in the order that workers are compared in: the term's name and its value.
    pub terms: Vec<(String, String)>,
}

/// A Secret that people make by hand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretView {
    /// `namespace/name`.
    pub name: String,
    /// The cluster that it must be on.
    pub cluster: String,
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
        let _ = writeln!(out, "{summary}");
    }
    if let Some(policy) = &view.policy {
        let lost = match view.lost_policies.as_slice() {
            [] => String::new(),
            lost => format!(" (before {})", lost.join(", ")),
        };
        let _ = writeln!(out, "policy: {policy}{lost}");
    }
    if let (Some(first), Some(second), Some(term)) =
        (&view.winner, &view.runner_up, &view.decided_by)
    {
        let _ = writeln!(out, "decided by: {term} ({first} before {second})");
    }
    out.push_str(&fits(view, palette));
    out.push_str(&refusals(view, palette));
    if !view.remedies.is_empty() {
        let _ = writeln!(out, "\n{}", strong("Any one of these would place it:"));
        for remedy in &view.remedies {
            let _ = writeln!(out, "  - {remedy}");
        }
    }
    out.push_str(&secrets(view, palette));
    if !view.notes.is_empty() {
        let _ = writeln!(out, "\n{}", view.notes.join("\n"));
    }
    out
}

/// The workers that would take it, best first, with their terms as columns.
fn fits(view: &ExplainView, palette: Palette) -> String {
    let fit: Vec<_> = view.rows.iter().filter(|r| r.refused.is_empty()).collect();
    let Some(first) = fit.first() else { return String::new() };
    let mut header = vec!["worker"];
    header.extend(first.terms.iter().map(|(name, _)| name.as_str()));
    let rows: Vec<Vec<Cell>> = fit
        .iter()
        .map(|row| {
            let is_winner = view.winner.as_deref() == Some(row.worker.as_str());
            let name = if is_winner {
                Cell::toned(row.worker.as_str(), Tone::Good)
            } else {
                row.worker.as_str().into()
            };
            std::iter::once(name).chain(row.terms.iter().map(|(_, v)| v.as_str().into())).collect()
        })
        .collect();
    format!("\n{}", table(&header, &rows, palette))
}

fn refusals(view: &ExplainView, palette: Palette) -> String {
    let rows: Vec<Vec<Cell>> = view
        .rows
        .iter()
        .filter(|r| !r.refused.is_empty())
        .map(|r| vec![r.worker.as_str().into(), r.refused.join("; ").into()])
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("\n{}", table(&["worker", "refuses because"], &rows, palette))
}

fn secrets(view: &ExplainView, palette: Palette) -> String {
    if view.secrets.is_empty() {
        return String::new();
    }
    let title = palette.paint(Tone::Strong, "Secrets that Git must not hold:");
    let mut out = format!("\n{title}\n");
    for secret in &view.secrets {
        let SecretView { name, cluster, why, command } = secret;
        let _ = writeln!(out, "  {name} on {cluster}: {why}");
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
mod tests {
    use super::*;

    fn row(worker: &str, refused: &[&str], terms: &[(&str, &str)]) -> ExplainRow {
        ExplainRow {
            worker: worker.into(),
            refused: refused.iter().map(ToString::to_string).collect(),
            terms: terms.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect(),
        }
    }

    #[test]
    fn a_placed_cluster_shows_who_would_take_it_and_who_not() {
        let view = ExplainView {
            object: "cluster/pay-eu".into(),
            state: "bound to we-1".into(),
            policy: Some("near".into()),
            lost_policies: vec!["default".into()],
            rows: vec![
                row("we-1", &[], &[("distance", "0"), ("share", "3/10")]),
                row("ne-1", &[], &[("distance", "1"), ("share", "1/10")]),
                row("eu-2", &["cordoned", "needs 1 clusters, 0 free"], &[]),
            ],
            winner: Some("we-1".into()),
            runner_up: Some("ne-1".into()),
            decided_by: Some("location distance".into()),
            ..ExplainView::default()
        };
        insta::assert_snapshot!(text(&view, Palette::plain()), @r"
        cluster/pay-eu: bound to we-1
        policy: near (before default)
        decided by: location distance (we-1 before ne-1)

        WORKER   DISTANCE   SHARE
        we-1     0          3/10
        ne-1     1          1/10

        WORKER   REFUSES BECAUSE
        eu-2     cordoned; needs 1 clusters, 0 free
        ");
        assert!(json(&view).starts_with("{\n  \"schemaVersion\": 1,\n"), "{}", json(&view));
    }

    #[test]
    fn a_pending_cluster_shows_what_would_place_it() {
        let view = ExplainView {
            object: "cluster/ml".into(),
            state: "pending, number 1 in the queue".into(),
            summary: Some("0/1 workers are available: 1 worker(s) had untolerated taint {gpu=true:NoSchedule}.".into()),
            rows: vec![row("we-1", &["untolerated taint {gpu=true:NoSchedule}"], &[])],
            remedies: vec!["tolerate taint gpu=true:NoSchedule".into()],
            ..ExplainView::default()
        };
        insta::assert_snapshot!(text(&view, Palette::plain()), @r"
        cluster/ml: pending, number 1 in the queue
        0/1 workers are available: 1 worker(s) had untolerated taint {gpu=true:NoSchedule}.

        WORKER   REFUSES BECAUSE
        we-1     untolerated taint {gpu=true:NoSchedule}

        Any one of these would place it:
          - tolerate taint gpu=true:NoSchedule
        ");
    }

    #[test]
    fn a_worker_shows_the_secrets_it_needs() {
        let view = ExplainView {
            object: "worker/we-1".into(),
            state: "Running".into(),
            secrets: vec![SecretView {
                name: "flux-system/fleet-read".into(),
                cluster: "hub".into(),
                why: "its Flux reads the output with it".into(),
                command: "kubectl create secret generic fleet-read \\\n  --from-file=identity"
                    .into(),
            }],
            notes: vec!["capacity: 10 clusters".into()],
            ..ExplainView::default()
        };
        insta::assert_snapshot!(text(&view, Palette::plain()), @r"
        worker/we-1: Running

        Secrets that Git must not hold:
          flux-system/fleet-read on hub: its Flux reads the output with it
            kubectl create secret generic fleet-read \
              --from-file=identity

        capacity: 10 clusters
        ");
    }
}
