//! What the forge is told of a turn: a status in a line, and a comment for those who merged the change.
//!
//! It follows from the turn alone and has no time in it, so that a turn with nothing new tells nothing new.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::count;
use super::plan::{ack_command, gate_words, hold_words, kept, listed};
use crate::diag::{Severity, visible};
use crate::forge::{ForgeReport, MOST_COMMENT, MOST_DESCRIPTION, ReportState};
use crate::model::{GateReason, HeldBack, Name, Proposal, ReasonCode};
use crate::reconcile::{Made, Said, Verdict};

/// The most rows of who waits, and the most findings that are named.
const ROWS: usize = 30;
/// How many characters of a commit's message are shown.
const MOST_MESSAGE: usize = 8_000;

/// What is told of a turn.
#[must_use]
pub fn report(said: &Said<'_>) -> ForgeReport {
    let (context, marker) = match said.prefix {
        "" => ("carp".to_owned(), "<!-- carp reconcile -->".to_owned()),
        // Nothing in a path may end the comment.
        prefix => (
            format!("carp/{prefix}"),
            format!("<!-- carp reconcile {} -->", prefix.replace("--", "- -")),
        ),
    };
    let (placed, facts) = (placed(said.proposal), facts(said));
    let line = [placed.as_str(), &facts, &waiting_line(said)].concat();
    ForgeReport {
        commit: said.commit,
        branch: said.branch.to_owned(),
        context,
        state: state(said),
        description: cut(&visible::line(&line), MOST_DESCRIPTION),
        marker,
        comment: said.comment.then(|| comment(said, &format!("{placed}{facts}"))),
    }
}

fn state(said: &Said<'_>) -> ReportState {
    let proposal = said.proposal;
    let is_held = !proposal.plan.holds.is_empty()
        || proposal.gates.iter().any(|gate| gate.reason == GateReason::ResizeBlocked);
    let failed = matches!(said.verdict, Verdict::Stopped | Verdict::Held(_));
    match () {
        () if failed || proposal.diagnostics.has_errors() => ReportState::Failed,
        () if is_held => ReportState::Held,
        () if proposal.counts.pending > 0 => ReportState::Waits,
        () => ReportState::Fine,
    }
}

/// `11 of 12 placed`.
fn placed(proposal: &Proposal) -> String {
    let counts = &proposal.counts;
    let all = counts.bound + counts.pending;
    match counts.deleting {
        0 => format!("{} of {all} placed", counts.bound),
        deleting => format!("{} of {all} placed, {deleting} being deleted", counts.bound),
    }
}

/// What is wrong or held, each after a comma.
fn facts(said: &Said<'_>) -> String {
    let proposal = said.proposal;
    let mut out = match said.verdict {
        Verdict::Stopped => ", stopped: nothing was committed".to_owned(),
        Verdict::Held(HeldBack::Refused) => ", held back: the remote refuses the commit".to_owned(),
        Verdict::Held(HeldBack::Breaker) => {
            ", held back: too many commits from the same inputs".to_owned()
        }
        Verdict::Proposes(c) | Verdict::Proposed(c) | Verdict::Approved(c) => {
            format!(", once {} is merged", c.branch)
        }
        Verdict::Committed(_) | Verdict::Unchanged => String::new(),
    };
    let errors = proposal.diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
    if errors > 0 {
        let _ = write!(out, ", {}", count(errors as u64, "error"));
    }
    for hold in &proposal.plan.holds {
        let _ = write!(out, ", {} held ({})", hold.names.len(), hold.kind.name());
    }
    out
}

/// `, 1 waits: pay-eu (Capacity)`.
fn waiting_line(said: &Said<'_>) -> String {
    let pending = said.proposal.counts.pending;
    if pending == 0 {
        return String::new();
    }
    // A status has room for the codes alone; the comment has sentences.
    let words = |(name, reasons): (&Name, &BTreeSet<ReasonCode>)| {
        let codes: Vec<_> = reasons.iter().map(|reason| format!("{reason:?}")).collect();
        format!("{name} ({})", codes.join(", "))
    };
    let names: Vec<_> = said.waiting.iter().map(words).collect();
    let wait = if pending == 1 { "waits" } else { "wait" };
    match names.as_slice() {
        [] => format!(", {pending} {wait}"),
        names => format!(", {pending} {wait}: {}", names.join(", ")),
    }
}

fn comment(said: &Said<'_>, headline: &str) -> String {
    let mut out = format!("### carp: {}\n", visible::line(headline));
    let pending = said.proposal.counts.pending;
    if pending > 0 {
        out.push_str("\n| waits | why |\n| --- | --- |\n");
        for (name, reasons) in said.waiting.iter().take(ROWS) {
            let _ = writeln!(out, "| `{name}` | {} |", ReasonCode::sentence(reasons));
        }
        let more = usize::try_from(pending).unwrap_or(usize::MAX).saturating_sub(ROWS);
        if more > 0 {
            let _ = writeln!(out, "\nand {more} more");
        }
        out.push_str("\n`carp explain cluster/NAME` says what would place one of them.\n");
    }
    out.push_str(&held(said.proposal));
    out.push_str(&errors(said.proposal));
    for made in &said.made {
        let next = made_text(made);
        if out.chars().count() + next.chars().count() > MOST_COMMENT - 100 {
            out.push_str("\nEarlier commits are left out.\n");
            break;
        }
        out.push_str(&next);
    }
    cut(&out, MOST_COMMENT)
}

fn held(proposal: &Proposal) -> String {
    let mut out = String::new();
    for hold in &proposal.plan.holds {
        let words = hold_words(hold);
        let names = visible::line(&listed(&hold.lines())).into_owned();
        let (kind, what) = (hold.kind.name(), words.what);
        let _ = writeln!(out, "\n> [!WARNING]\n> **Held** ({kind}): {what}: {names}\n>");
        let _ = match ack_command(hold) {
            Some(command) => writeln!(out, "> {}: `{command}`", words.remedy),
            None => writeln!(out, "> {}", words.remedy),
        };
    }
    for (reason, names) in kept(&proposal.gates) {
        let _ =
            writeln!(out, "\n> [!NOTE]\n> **Kept**: {}: {}", gate_words(reason), listed(&names));
    }
    out
}

fn errors(proposal: &Proposal) -> String {
    let sorted = proposal.diagnostics.sorted();
    let all: Vec<_> = sorted.iter().filter(|d| d.severity == Severity::Error).collect();
    if all.is_empty() {
        return String::new();
    }
    let line = |d: &&&crate::diag::Diagnostic| match &d.place {
        Some(place) => {
            format!("error[{}]: {}: {}", d.code.name(), visible::line(&place.file), d.message)
        }
        None => format!("error[{}]: {}", d.code.name(), d.message),
    };
    let mut lines: Vec<_> = all.iter().take(ROWS).map(|d| line(&d)).collect();
    if all.len() > ROWS {
        lines.push(format!("and {} more: `carp validate` shows all", all.len() - ROWS));
    }
    format!("\n{}", fenced(&lines.join("\n")))
}

/// A commit with what its message says, which names for each deletion and move what forced it.
fn made_text(made: &Made) -> String {
    let Made { commit, message } = made;
    let mut lines = message.lines();
    let subject = lines.next().unwrap_or_default();
    let subject = visible::line(subject.strip_prefix("carp: ").unwrap_or(subject));
    let body: Vec<_> = lines.take_while(|line| !line.starts_with("Carp-Input: ")).collect();
    let body = cut(body.join("\n").trim(), MOST_MESSAGE);
    let short = commit.short();
    let subject = subject.replace('<', "&lt;");
    match body.as_str() {
        "" => format!("\nCommit {short}: {subject}\n"),
        body => format!(
            "\n<details><summary>Commit {short}: {subject}</summary>\n\n{}\n</details>\n",
            fenced(body)
        ),
    }
}

/// A text in which nothing is Markdown: the fence is longer than any run of backticks in it.
fn fenced(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(visible::line).collect();
    let text = lines.join("\n");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}text\n{text}\n{fence}\n")
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::plan::sample_proposal;
    use super::*;
    use crate::model::{FleetCounts, Id, Name, ReasonCode};

    fn said<'a>(proposal: &'a Proposal, verdict: &'a Verdict) -> Said<'a> {
        let name = Name::parse("pay-eu").unwrap();
        let made = Made {
            commit: Id::from_bytes([0xab; 20]),
            message: "carp: 1 worker, +1 -0 ~0 clusters\n\nbind a to w1\n```\n\nCarp-Input: 00\n"
                .to_owned(),
        };
        Said {
            commit: Id::from_bytes([1; 20]),
            branch: "main",
            prefix: "",
            comment: true,
            proposal,
            verdict,
            waiting: BTreeMap::from([(name, [ReasonCode::Capacity].into())]),
            made: vec![made],
        }
    }

    fn twelve() -> Proposal {
        let mut proposal = sample_proposal();
        proposal.counts = FleetCounts { bound: 11, pending: 1, ..FleetCounts::default() };
        proposal.diagnostics = crate::diag::Diagnostics::default();
        proposal
    }

    #[test]
    fn who_waits_stands_in_the_line_and_what_is_held_makes_it_red() {
        let mut proposal = twelve();
        proposal.plan.holds.clear();
        proposal.gates.clear();
        let told = report(&said(&proposal, &Verdict::Unchanged));
        assert_eq!(told.description, "11 of 12 placed, 1 waits: pay-eu (Capacity)");
        assert_eq!((told.state, told.context.as_str()), (ReportState::Waits, "carp"));
        proposal.counts.pending = 0;
        let told = report(&said(&proposal, &Verdict::Unchanged));
        assert_eq!((told.state, told.description.as_str()), (ReportState::Fine, "11 of 11 placed"));
        let told = report(&said(&proposal, &Verdict::Stopped));
        assert_eq!(told.state, ReportState::Failed);
        let nested = report(&Said { prefix: "eu", ..said(&proposal, &Verdict::Stopped) });
        assert_eq!(nested.context, "carp/eu");
        assert_ne!(nested.marker, told.marker, "two fleets of a repository have a comment each");
    }

    #[test]
    fn the_comment_says_who_waits_what_is_held_and_what_was_done() {
        let proposal = twelve();
        let told = report(&said(&proposal, &Verdict::Unchanged));
        assert_eq!(told.state, ReportState::Held);
        let comment = told.body().unwrap();
        for part in [
            "<!-- carp reconcile -->\n### carp: 11 of 12 placed, ",
            "| `pay-eu` | all workers have too little room (Capacity) |",
            "> **Held** (",
            "carp ack deletions --count",
            "<summary>Commit abababab: 1 worker, +1 -0 ~0 clusters</summary>",
            "````text\nbind a to w1\n```\n````\n",
        ] {
            assert!(comment.contains(part), "{part} in\n{comment}");
        }
        assert!(!comment.contains("Carp-Input"), "{comment}");
    }

    #[test]
    fn what_is_told_is_never_longer_than_forges_take() {
        let mut proposal = twelve();
        proposal.counts.pending = 5000;
        let names = (0..5000).map(|n| Name::parse(&format!("cluster-{n}")).unwrap());
        let waiting = names.map(|name| (name, [ReasonCode::Capacity].into())).collect();
        let message = format!("carp: x\n\n{}", "a long line of a message\n".repeat(10_000));
        let made = vec![Made { commit: Id::from_bytes([2; 20]), message }; 20];
        let told = report(&Said { waiting, made, ..said(&proposal, &Verdict::Unchanged) });
        assert_eq!(told.description.chars().count(), MOST_DESCRIPTION);
        assert!(told.body().unwrap().chars().count() <= MOST_COMMENT + told.marker.len() + 1);
    }
}
