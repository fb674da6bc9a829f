//! A turn as the document that the controller, its metrics and its logs read.

use std::collections::BTreeMap;

use super::outcome::{Outcome, Verdict};
use super::{Error, coalesce};
use crate::diag::{Diagnostic, Severity};
use crate::git;
use crate::model::{
    Attempt, FailureKind, HeldBack, Proposal, TURN_SCHEMA, Turn, TurnCommit, TurnOutcome,
    TurnStatus,
};

/// The most errors of a fleet that a turn repeats.
const MOST_ERRORS: usize = 20;

impl Outcome {
    /// The turn, without how long it took.
    #[must_use]
    pub fn turn(&self) -> Turn {
        let proposal = &self.proposal;
        let (outcome, held) = match &self.verdict {
            Verdict::Committed(_) | Verdict::Proposes(_) => (TurnOutcome::Committed, None),
            Verdict::Unchanged | Verdict::Proposed(_) | Verdict::Approved(_) => {
                (TurnOutcome::Unchanged, None)
            }
            Verdict::Stopped => (TurnOutcome::Stopped, None),
            Verdict::Held(held) => (TurnOutcome::Held, Some(*held)),
        };
        let written = match &self.verdict {
            Verdict::Committed(committed) | Verdict::Proposes(committed) => Some(committed.clone()),
            _ => None,
        };
        let waits = match &self.status {
            Some(TurnStatus::Waiting { until }) => Some(*until),
            _ => None,
        };
        Turn {
            schema_version: TURN_SCHEMA,
            outcome,
            summary: self.summary(),
            failure: None,
            held,
            written,
            status: self.status.clone(),
            forge: self.forge.clone(),
            races: self.races,
            pushes: self.pushes,
            push_budget: proposal.fleet.spec.git.as_ref().and_then(|git| git.push_budget),
            attempt: Some(self.attempt.clone()),
            inputs: Some(coalesce::inputs(self.people, proposal.reported)),
            counts: proposal.counts.clone(),
            holds: holds(proposal),
            findings: findings(proposal),
            work: proposal.work,
            valid_until: [proposal.valid_until, waits].into_iter().flatten().min(),
            now: self.now,
            milliseconds: 0,
            notes: self.turn_notes(),
        }
    }

    /// The turn in one line.
    fn summary(&self) -> String {
        let subject = self.proposal.message.lines().next().unwrap_or_default();
        let subject = subject.strip_prefix("carp: ").unwrap_or(subject);
        let waiting = self.proposal.counts.pending;
        let mut line = match &self.verdict {
            Verdict::Committed(TurnCommit { branch, commit, remote }) => {
                let pushed = match remote {
                    Some(remote) => format!(" (pushed to {remote})"),
                    None => String::new(),
                };
                format!("committed {branch} {}{pushed}: {subject}", commit.short())
            }
            Verdict::Proposes(TurnCommit { branch, commit, .. }) => {
                format!("proposed {branch} {}: {subject}", commit.short())
            }
            Verdict::Proposed(TurnCommit { branch, commit, .. }) => {
                format!("the proposal {branch} {} waits to be merged", commit.short())
            }
            Verdict::Approved(TurnCommit { branch, commit, .. }) => {
                format!(
                    "the proposal {branch} {} is approved and waits to be merged",
                    commit.short()
                )
            }
            Verdict::Unchanged => format!("nothing to commit; {waiting} waiting"),
            Verdict::Stopped => "stopped: nothing was committed".to_owned(),
            Verdict::Held(HeldBack::Refused) => {
                "held back: the remote refused this commit before, and nothing changed since"
                    .to_owned()
            }
            Verdict::Held(HeldBack::Breaker) => {
                "held back: too many commits came from the same inputs; another writer may undo \
                 them"
                    .to_owned()
            }
        };
        let held: u64 = holds(&self.proposal).values().sum();
        let errors = findings(&self.proposal).get("error").copied().unwrap_or_default();
        for (number, what) in [(held, "held by guards"), (errors, "errors")] {
            if number > 0 {
                line = format!("{line}; {number} {what}");
            }
        }
        line
    }

    fn turn_notes(&self) -> Vec<String> {
        let errors = self.proposal.diagnostics.sorted();
        let errors = errors.iter().filter(|finding| finding.severity == Severity::Error);
        self.notes.iter().cloned().chain(errors.take(MOST_ERRORS).map(told)).collect()
    }
}

impl Error {
    /// The turn that failed with this.
    #[must_use]
    pub fn turn(&self, now: jiff::Timestamp) -> Turn {
        let attempt = match self {
            Self::Refused { attempt, .. } => attempt.as_deref().cloned(),
            _ => None,
        };
        Turn { attempt, ..Turn::failed(self.kind(), self.to_string(), now) }
    }

    /// This failure, with what was refused where the remote refused for good.
    pub(super) fn of_attempt(self, attempted: Attempt) -> Self {
        match self {
            Self::Refused { branch, detail, .. } => {
                Self::Refused { branch, detail, attempt: Some(Box::new(attempted)) }
            }
            other => other,
        }
    }

    /// What kind of failure this is, as far as it matters to when the next turn comes.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::Refused { .. } => FailureKind::Refused,
            Self::Auth { .. } | Self::Git(git::Error::Auth { .. }) => FailureKind::Auth,
            Self::Unknown { .. } => FailureKind::Unknown,
            Self::Races { .. } => FailureKind::Races,
            Self::Git(git::Error::Remote { .. } | git::Error::RemoteMissing { .. }) => {
                FailureKind::Remote
            }
            Self::Git(_) | Self::Store(_) => FailureKind::Repository,
            _ => FailureKind::Fleet,
        }
    }
}

/// A finding in one line.
fn told(finding: &Diagnostic) -> String {
    let Diagnostic { severity, code, place, message, .. } = finding;
    match place {
        Some(place) => format!("{severity}[{}]: {}: {message}", code.name(), place.file),
        None => format!("{severity}[{}]: {message}", code.name()),
    }
}

fn holds(proposal: &Proposal) -> BTreeMap<String, u64> {
    let mut holds = BTreeMap::new();
    for hold in &proposal.plan.holds {
        *holds.entry(hold.kind.name().to_owned()).or_default() += hold.names.len() as u64;
    }
    holds
}

fn findings(proposal: &Proposal) -> BTreeMap<String, u64> {
    let mut findings = BTreeMap::new();
    for finding in &proposal.diagnostics {
        *findings.entry(finding.severity.to_string()).or_default() += 1;
    }
    findings
}
