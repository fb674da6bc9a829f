//! What one turn of the reconciler did.

use std::fmt::Write as _;

use super::findings::{Finding, tells_hold, tells_kept};
use super::plan::{PlanView, ack_command, gate_words, hold_words, kept, listed};
use super::{Palette, Tone, count};
use crate::model::{Hold, Proposal, Turn, TurnCommit, TurnForge, TurnStatus};
use crate::reconcile::Verdict;

/// What one turn of the reconciler did, as far as people are told.
#[derive(Clone, Copy)]
pub struct TurnView<'a> {
    /// What was proposed.
    pub proposal: &'a Proposal,
    /// What the user called the fleet.
    pub label: &'a str,
    /// The fleet's root in its repository.
    pub prefix: &'a str,
    /// How the turn ended.
    pub verdict: &'a Verdict,
    /// How the status branch fared: `None` where nothing was to be written.
    pub status: Option<&'a TurnStatus>,
    /// How the forge was told; `None` where there was nothing to tell.
    pub forge: Option<&'a TurnForge>,
    /// How often a push was lost to another writer and planned again.
    pub races: u32,
}

/// The turn in a few lines, without the findings, which are shown beside it.
#[must_use]
pub fn text(turn: &TurnView<'_>, findings: &[Finding], palette: Palette) -> String {
    let proposal = turn.proposal;
    let view = PlanView::of(proposal, turn.label, turn.prefix, &[]);
    let mut out = outcome(turn.verdict, &view, palette);
    if matches!(turn.verdict, Verdict::Committed(_) | Verdict::Proposes(_)) {
        out.push_str(&view.form_words());
    }
    match turn.status {
        // What can wait is not told.
        None | Some(TurnStatus::Waiting { .. }) => {}
        Some(TurnStatus::Committed(status)) => {
            let _ = writeln!(out, "status: {}", written(status));
        }
        // A status push that fails never fails a run, but people should know.
        Some(TurnStatus::Failed { message }) => {
            let _ = writeln!(out, "{}: {message}", palette.paint(Tone::Warn, "status not written"));
        }
    }
    out.extend(turn.forge.map(|told| forge(told, palette)));
    if turn.races > 0 {
        let times = count(u64::from(turn.races), "time");
        let _ = writeln!(out, "another writer was faster {times}; planned again each time");
    }
    let told = |hold: &&Hold| tells_hold(findings, hold.kind);
    for hold in proposal.plan.holds.iter().filter(|hold| !told(hold)) {
        let title = palette.paint(Tone::Bad, &format!("held {}", hold.kind.name()));
        let words = hold_words(hold);
        let _ = writeln!(out, "{title}: {}: {}", words.what, listed(&proposal.plan.lines_of(hold)));
        let _ = writeln!(out, "  help: {}", ack_command(hold).as_deref().unwrap_or(words.remedy));
    }
    let kept = kept(&proposal.gates).into_iter();
    for (reason, names) in
        kept.filter(|(reason, _)| !tells_kept(findings, &proposal.gates, *reason))
    {
        let title = palette.paint(Tone::Warn, &format!("kept {}", reason.name()));
        let _ = writeln!(out, "{title}: {}: {}", gate_words(reason), listed(&names));
    }
    out
}

/// A turn that ended at once, because nothing is different.
#[must_use]
pub fn settled(turn: &Turn, palette: Palette) -> String {
    let told = turn.forge.as_ref().map(|told| forge(told, palette));
    nothing_to_commit(turn.counts.pending) + &told.unwrap_or_default()
}

/// Where the forge was told, or why it was not: that fails no run, but people should know.
fn forge(told: &TurnForge, palette: Palette) -> String {
    match told {
        TurnForge::Told { repository } => format!("forge: told {repository}\n"),
        TurnForge::Failed { message } => {
            format!("{}: {message}\n", palette.paint(Tone::Warn, "forge not told"))
        }
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

fn outcome(outcome: &Verdict, view: &PlanView<'_>, palette: Palette) -> String {
    match outcome {
        Verdict::Committed(commit) => {
            let done = palette.paint(Tone::Good, "committed");
            let subject = view.proposal.message.lines().next().unwrap_or_default();
            format!("{done} {}: {subject}\n", written(commit))
        }
        Verdict::Proposes(commit) => {
            let done = palette.paint(Tone::Good, "proposed");
            let subject = view.proposal.message.lines().next().unwrap_or_default();
            format!("{done} {}: {subject}\n  it counts when it is merged\n", written(commit))
        }
        Verdict::Proposed(commit) => {
            format!("proposed already: {}; it counts when it is merged\n", written(commit))
        }
        Verdict::Approved(commit) => {
            format!("approved: {} stays as it is until it is merged\n", written(commit))
        }
        // Only orders hold back, and a run of its own has none.
        Verdict::Unchanged | Verdict::Held(_) => nothing_to_commit(view.waiting),
        Verdict::Stopped => {
            format!("{}\n", palette.paint(Tone::Bad, "stopped: nothing was committed"))
        }
    }
}

fn written(written: &TurnCommit) -> String {
    let TurnCommit { branch, commit, remote } = written;
    let short = commit.short();
    match remote {
        Some(remote) => format!("{branch} {short} (pushed to {remote})"),
        None => format!("{branch} {short}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::sample_proposal;
    use super::*;
    use crate::model::Id;

    #[test]
    fn a_turn_says_what_it_wrote_and_what_it_held() {
        let commit = |branch: &str| TurnCommit {
            branch: branch.into(),
            commit: Id::from_bytes([
                0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            ]),
            remote: Some("origin".into()),
        };
        let proposal = sample_proposal();
        let verdict = Verdict::Committed(commit("carp/rendered"));
        let status = TurnStatus::Committed(commit("carp/status"));
        let forge = TurnForge::Failed { message: "github.com did not answer".into() };
        let turn = TurnView {
            proposal: &proposal,
            label: ".",
            prefix: "eu",
            verdict: &verdict,
            status: Some(&status),
            forge: Some(&forge),
            races: 2,
        };
        insta::assert_snapshot!(text(&turn, &[], Palette::plain()));
        let refused = TurnStatus::Failed { message: "the remote refused it".into() };
        let (verdict, status) = (&Verdict::Unchanged, Some(&refused));
        let turn = TurnView { verdict, status, races: 0, ..turn };
        let shown = text(&turn, &[], Palette::plain());
        assert!(shown.starts_with("nothing to commit; 1 waiting\nstatus not written: the remote"));
    }
}
