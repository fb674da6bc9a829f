//! Why a cluster is where it is, what a worker needs, and where a policy applies.

use std::fmt::Write as _;

use serde::Serialize;

use super::tables::{Cell, table};
use super::wrap::{WIDTH, wrap};
use super::{Palette, Tone};

/// The version of the JSON form.
pub const EXPLAIN_SCHEMA: u32 = 2;

/// An explanation of a cluster's placement, of a worker, or of a policy.
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
    pub policy: Option<PolicyView>,
    /// The policies that select it and lost, best first.
    pub lost_policies: Vec<LostView>,
    /// Every worker.
    pub rows: Vec<ExplainRow>,
    /// The worker that would be taken now, or that the cluster is on.
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
    /// The Secrets that Git must not hold.
    pub secrets: Vec<SecretView>,
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

/// One reason of one worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReasonView {
    /// Its kind, as decision records keep it.
    pub reason: String,
    /// The same with its amounts.
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
        out.push_str(&wrap(summary, "", 2));
    }
    out.push_str(&policy(view));
    if let (Some(first), Some(second), Some(term)) =
        (&view.winner, &view.runner_up, &view.decided_by)
    {
        let margin = view.margin.as_ref().map_or(String::new(), |margin| format!(", {margin}"));
        out.push_str(&wrap(
            &format!("decided by: {term}{margin} ({first} before {second})"),
            "",
            2,
        ));
    }
    out.push_str(&applies(view, palette));
    out.push_str(&fits(view, palette));
    out.push_str(&refusals(view));
    if !view.remedies.is_empty() {
        let _ = writeln!(out, "\n{}", strong("Any one of these would place it:"));
        for RemedyView { worker, changes } in &view.remedies {
            let line = format!("{} (then {worker} takes it)", changes.join(" and "));
            out.push_str(&wrap(&line, "  - ", 4));
        }
    }
    out.push_str(&secrets(view, palette));
    if !view.notes.is_empty() {
        out.push('\n');
    }
    for note in &view.notes {
        // One that has a command in it is for copying.
        let told = if note.contains('\n') { format!("{note}\n") } else { wrap(note, "", 2) };
        out.push_str(&told);
    }
    out
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

/// The workers that would take it, best first, with their terms as columns; where that is too wide, a
/// line each.
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
    let plain = table(&header, &rows, Palette::plain());
    if plain.lines().all(|line| line.chars().count() <= WIDTH) {
        return format!("\n{}", table(&header, &rows, palette));
    }
    let mut out = "\nworkers that can take it, best first:\n".to_owned();
    for row in fit {
        let terms: Vec<_> =
            row.terms.iter().map(|(term, value)| format!("{term} {value}")).collect();
        out.push_str(&wrap(&format!("{}: {}", row.worker, terms.join(", ")), "  ", 4));
    }
    out
}

/// The workers that refuse it, each with all its reasons, one a line.
fn refusals(view: &ExplainView) -> String {
    let refuse: Vec<_> = view.rows.iter().filter(|r| !r.refused.is_empty()).collect();
    let Some(widest) = refuse.iter().map(|row| row.worker.chars().count()).max() else {
        return String::new();
    };
    let width = widest.max("WORKER".len()) + 3;
    let mut out = format!("\n{:width$}REFUSES BECAUSE\n", "WORKER");
    for row in refuse {
        for (i, refused) in row.refused.iter().enumerate() {
            let name = if i == 0 { row.worker.as_str() } else { "" };
            out.push_str(&wrap(&refused.message, &format!("{name:width$}"), width + 2));
        }
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
            refused: refused
                .iter()
                .map(|message| ReasonView { reason: "Word".into(), message: (*message).into() })
                .collect(),
            terms: terms.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect(),
        }
    }

    #[test]
    fn a_placed_cluster_shows_who_would_take_it_and_who_not() {
        let view = ExplainView {
            object: "cluster/pay-eu".into(),
            state: "bound to we-1".into(),
            policy: Some(PolicyView { name: "near".into(), origin: "policies/p.yaml".into() }),
            lost_policies: vec![LostView {
                policy: "default".into(),
                because: "the fleet's own, not built in".into(),
            }],
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
        policy: near (policies/p.yaml)
          before default: the fleet's own, not built in
        decided by: location distance (we-1 before ne-1)

        WORKER   DISTANCE   SHARE
        we-1     0          3/10
        ne-1     1          1/10

        WORKER   REFUSES BECAUSE
        eu-2     cordoned
                 needs 1 clusters, 0 free
        ");
        assert!(json(&view).starts_with("{\n  \"schemaVersion\": 2,\n"), "{}", json(&view));
    }

    #[test]
    fn a_pending_cluster_shows_what_would_place_it() {
        let view = ExplainView {
            object: "cluster/ml".into(),
            state: "pending, number 1 in the queue".into(),
            summary: Some("0/1 workers are available: 1 worker(s) had untolerated taint {gpu=true:NoSchedule}.".into()),
            rows: vec![row("we-1", &["untolerated taint {gpu=true:NoSchedule}"], &[])],
            remedies: vec![RemedyView {
                worker: "we-1".into(),
                changes: vec!["tolerate taint gpu=true:NoSchedule".into(), "uncordon we-1".into()],
            }],
            ..ExplainView::default()
        };
        insta::assert_snapshot!(text(&view, Palette::plain()), @r"
        cluster/ml: pending, number 1 in the queue
        0/1 workers are available: 1 worker(s) had untolerated taint
          {gpu=true:NoSchedule}.

        WORKER   REFUSES BECAUSE
        we-1     untolerated taint {gpu=true:NoSchedule}

        Any one of these would place it:
          - tolerate taint gpu=true:NoSchedule and uncordon we-1 (then we-1 takes it)
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

    #[test]
    fn a_policy_shows_where_it_applies_and_where_it_does_not() {
        let view = ExplainView {
            object: "policy/gold".into(),
            state: "policies/p.yaml, priority 0, selects tier=gold".into(),
            applies_to: vec!["pay-eu".into(), "pay-us".into()],
            loses: vec![LossView {
                cluster: "ml".into(),
                to: "gpu".into(),
                because: "higher priority".into(),
            }],
            ..ExplainView::default()
        };
        insta::assert_snapshot!(text(&view, Palette::plain()), @r"
        policy/gold: policies/p.yaml, priority 0, selects tier=gold

        applies to 2 clusters:
          pay-eu, pay-us

        selects too, and does not apply to:
        CLUSTER   POLICY THAT APPLIES   BECAUSE
        ml        gpu                   higher priority
        ");
    }

    #[test]
    fn the_longest_names_and_reasons_fit_into_eighty_columns() {
        let long = "w".repeat(40);
        let terms = [("soft", "0"), ("preferred", "0"), ("distance", "0"), ("share used", "100%")];
        let view = ExplainView {
            object: format!("cluster/{long}"),
            state: "pending".into(),
            summary: Some(
                "0/9 workers are available: ".to_owned() + &"1 worker(s) did not ".repeat(9),
            ),
            policy: Some(PolicyView {
                name: long.clone(),
                origin: format!("policies/{long}.yaml"),
            }),
            rows: vec![
                row(&long, &[], &terms),
                row(&long, &[&"several words of a reason ".repeat(5), "cordoned"], &[]),
            ],
            winner: Some(long.clone()),
            runner_up: Some(long.clone()),
            decided_by: Some("share used".into()),
            remedies: vec![RemedyView {
                worker: long.clone(),
                changes: vec![format!("uncordon {long}"), format!("label {long} zone=1")],
            }],
            notes: vec!["word ".repeat(40)],
            ..ExplainView::default()
        };
        for line in text(&view, Palette::plain()).lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
    }
}
