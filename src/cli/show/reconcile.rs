//! What one turn of the reconciler did.

use std::fmt::Write as _;

use super::super::engine::{ReconcileOutcome, Reconciled, WrittenCommit};
use super::plan::{PlanView, ack_command, gate_words, hold_words, kept, listed};
use super::{Palette, Tone, count};
use crate::model::{Turn, TurnForge};

/// The turn in a few lines, without the findings.
#[must_use]
pub fn text(turn: &Reconciled, palette: Palette) -> String {
    let proposal = &turn.opened.proposal;
    let source = &turn.opened.source;
    let view = PlanView::of(proposal, &source.label, &source.prefix, &[]);
    let mut out = outcome(&turn.outcome, &view, palette);
    if matches!(turn.outcome, ReconcileOutcome::Committed(_) | ReconcileOutcome::Proposes(_)) {
        out.push_str(&view.form_words());
    }
    match &turn.status {
        None => {}
        Some(Ok(status)) => {
            let _ = writeln!(out, "status: {}", written(status));
        }
        // A status push that fails never fails a run, but people should know.
        Some(Err(why)) => {
            let _ = writeln!(out, "{}: {why}", palette.paint(Tone::Warn, "status not written"));
        }
    }
    match &turn.forge {
        None => {}
        Some(told) => out.push_str(&forge(told.as_deref().map_err(String::as_str), palette)),
    }
    if turn.races > 0 {
        let times = count(u64::from(turn.races), "time");
        let _ = writeln!(out, "another writer was faster {times}; planned again each time");
    }
    for hold in &proposal.plan.holds {
        let title = palette.paint(Tone::Bad, &format!("held {}", hold.kind.name()));
        let words = hold_words(hold.kind);
        let _ = writeln!(out, "{title}: {}: {}", words.what, listed(&proposal.plan.lines_of(hold)));
        let _ = writeln!(out, "  help: {}", ack_command(hold).as_deref().unwrap_or(words.remedy));
    }
    for (reason, names) in kept(&proposal.gates) {
        let title = palette.paint(Tone::Warn, &format!("kept {}", reason.name()));
        let _ = writeln!(out, "{title}: {}: {}", gate_words(reason), listed(&names));
    }
    out
}

/// A turn that ended at once, because nothing is different.
#[must_use]
pub fn settled(turn: &Turn, palette: Palette) -> String {
    let told = match &turn.forge {
        None => String::new(),
        Some(TurnForge::Told { repository }) => forge(Ok(repository), palette),
        Some(TurnForge::Failed { message }) => forge(Err(message), palette),
    };
    nothing_to_commit(turn.counts.pending) + &told
}

/// Where the forge was told, or why it was not: that fails no run, but people should know.
fn forge(told: Result<&str, &str>, palette: Palette) -> String {
    match told {
        Ok(repository) => format!("forge: told {repository}\n"),
        Err(why) => format!("{}: {why}\n", palette.paint(Tone::Warn, "forge not told")),
    }
}

fn nothing_to_commit(waiting: impl std::fmt::Display) -> String {
    format!("nothing to commit; {waiting} waiting\n")
}

/// The document that `reconcile --once --output json` prints, with a final newline.
#[must_use]
pub fn json(turn: &Turn) -> String {
    let text = serde_json::to_string_pretty(turn);
    text.expect("a turn serialises to JSON") + "\n"
}

fn outcome(outcome: &ReconcileOutcome, view: &PlanView<'_>, palette: Palette) -> String {
    match outcome {
        ReconcileOutcome::Committed(commit) => {
            let done = palette.paint(Tone::Good, "committed");
            let subject = view.proposal.message.lines().next().unwrap_or_default();
            format!("{done} {}: {subject}\n", written(commit))
        }
        ReconcileOutcome::Proposes(commit) => {
            let done = palette.paint(Tone::Good, "proposed");
            let subject = view.proposal.message.lines().next().unwrap_or_default();
            format!("{done} {}: {subject}\n  it counts when it is merged\n", written(commit))
        }
        ReconcileOutcome::Proposed(commit) => {
            format!("proposed already: {}; it counts when it is merged\n", written(commit))
        }
        ReconcileOutcome::Approved(commit) => {
            format!("approved: {} stays as it is until it is merged\n", written(commit))
        }
        ReconcileOutcome::Unchanged => nothing_to_commit(view.waiting),
        ReconcileOutcome::Stopped => {
            format!("{}\n", palette.paint(Tone::Bad, "stopped: nothing was committed"))
        }
    }
}

fn written(written: &WrittenCommit) -> String {
    let WrittenCommit { branch, commit, remote } = written;
    let short = commit.get(..8).unwrap_or(commit);
    match remote {
        Some(remote) => format!("{branch} {short} (pushed to {remote})"),
        None => format!("{branch} {short}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::engine::{FleetSource, OpenedFleet};
    use super::super::plan::sample_proposal;
    use super::*;

    #[test]
    fn a_turn_says_what_it_wrote_and_what_it_held() {
        let commit = |branch: &str| WrittenCommit {
            branch: branch.into(),
            commit: "0123456789abcdef".into(),
            remote: Some("origin".into()),
        };
        let source = FleetSource {
            label: ".".into(),
            prefix: "eu".into(),
            shown_prefix: String::new(),
            notes: Vec::new(),
            text: Box::new(|_| None),
        };
        let mut turn = Reconciled {
            opened: OpenedFleet {
                proposal: sample_proposal(),
                source,
                diffs: Vec::new(),
                telling: 0,
                updates: std::collections::BTreeMap::new(),
                certificate: Vec::new(),
                against: None,
            },
            outcome: ReconcileOutcome::Committed(commit("carp/rendered")),
            status: Some(Ok(commit("carp/status"))),
            forge: Some(Err("github.com did not answer".into())),
            races: 2,
            now: jiff::Timestamp::UNIX_EPOCH,
        };
        insta::assert_snapshot!(text(&turn, Palette::plain()));
        turn.outcome = ReconcileOutcome::Unchanged;
        turn.status = Some(Err("the remote refused it".into()));
        turn.races = 0;
        let shown = text(&turn, Palette::plain());
        assert!(shown.starts_with("nothing to commit; 1 waiting\nstatus not written: the remote"));
    }
}
