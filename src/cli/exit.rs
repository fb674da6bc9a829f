//! How a command ends: the one place where findings, holds and failures become exit codes, and the failures that are
//! not findings.

use std::fmt;
use std::process::ExitCode;

use crate::model::{GateReason, Proposal};
use crate::reconcile;

/// How a command ended; the same numbers in every command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// All is well.
    Fine,
    /// Something was found wrong, or something failed.
    Findings,
    /// `plan --detailed-exitcode`: there are changes.
    Changes,
    /// A guard held or refused something.
    Held,
    /// The command line itself is wrong.
    Usage,
    /// The process that did the work was ended by a signal with this number.
    Killed(u8),
}

impl Exit {
    /// The number that the process ends with.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Findings => 1,
            Self::Changes => 2,
            Self::Held => 3,
            Self::Usage => 64,
            // As shells do.
            Self::Killed(signal) => 128 | signal,
        }
    }

    /// The way that a process with this exit code ended. Another number is a failure: a panic has one.
    #[must_use]
    pub const fn of(code: i32) -> Self {
        match code {
            0 => Self::Fine,
            2 => Self::Changes,
            3 => Self::Held,
            64 => Self::Usage,
            _ => Self::Findings,
        }
    }

    /// How a command that proposes ends: stopped by a mistake before held, held before wrong.
    #[must_use]
    pub fn of_proposal(proposal: &Proposal) -> Self {
        let is_held = !proposal.plan.holds.is_empty()
            || proposal.gates.iter().any(|gate| gate.reason == GateReason::ResizeBlocked);
        match () {
            () if proposal.stopped && proposal.diagnostics.has_errors() => Self::Findings,
            () if is_held => Self::Held,
            () if proposal.diagnostics.has_errors() => Self::Findings,
            () => Self::Fine,
        }
    }
}

impl From<&reconcile::Error> for Exit {
    /// How a command ends that a failure of the rooms below ended. There is no default: whoever adds a failure says
    /// which it is.
    fn from(error: &reconcile::Error) -> Self {
        match error {
            reconcile::Error::OutputGone { .. }
            | reconcile::Error::OutputMoved { .. }
            | reconcile::Error::FirstRunNotAsked { .. }
            | reconcile::Error::ExampleRemote { .. } => Self::Held,
            reconcile::Error::NotTheRoot { .. }
            | reconcile::Error::NotATime { .. }
            | reconcile::Error::TwoRevisions { .. }
            | reconcile::Error::Revision { .. } => Self::Usage,
            reconcile::Error::Git(_)
            | reconcile::Error::Store(_)
            | reconcile::Error::Damaged { .. }
            | reconcile::Error::NoFleet(_)
            | reconcile::Error::NoFolder(_)
            | reconcile::Error::NoDefinitions(_)
            | reconcile::Error::Misnamed(_)
            | reconcile::Error::NoRepository(_)
            | reconcile::Error::NotOnRemote { .. }
            | reconcile::Error::NoCommit { .. }
            | reconcile::Error::InputBranch { .. }
            | reconcile::Error::OnlyElsewhere { .. }
            | reconcile::Error::MaybeElsewhere { .. }
            | reconcile::Error::Conflicts { .. }
            | reconcile::Error::Refused { .. }
            | reconcile::Error::Unknown { .. }
            | reconcile::Error::CheckedOut { .. }
            | reconcile::Error::Auth { .. }
            | reconcile::Error::Races { .. }
            | reconcile::Error::NoPast { .. }
            | reconcile::Error::PastGone { .. }
            | reconcile::Error::Observed { .. } => Self::Findings,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why a command could not do its work. Users' mistakes in the fleet are findings and no errors; this
/// is for the command line and for the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// How the process ends.
    pub exit: Exit,
    /// What went wrong, one sentence without a final stop.
    pub message: String,
    /// Why, outermost first.
    pub causes: Vec<String>,
    /// What to do.
    pub help: Option<String>,
}

impl Error {
    /// The world failed: a disk, a repository, a remote.
    #[must_use]
    pub fn failed(message: impl Into<String>) -> Self {
        Self { exit: Exit::Findings, message: message.into(), causes: Vec::new(), help: None }
    }

    /// The command line asks for something that cannot be.
    #[must_use]
    pub fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, ..Self::failed(message) }
    }

    /// A guard refused.
    #[must_use]
    pub fn held(message: impl Into<String>) -> Self {
        Self { exit: Exit::Held, ..Self::failed(message) }
    }

    /// The same failure, with what lies beneath it.
    #[must_use]
    pub fn because(mut self, cause: impl fmt::Display) -> Self {
        self.causes.push(cause.to_string());
        self
    }

    /// The same failure, with what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The reader of our output went away (`carp plan | head`): no failure of ours.
    #[must_use]
    pub(super) fn reader_gone() -> Self {
        Self { exit: Exit::Fine, ..Self::failed("") }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        for cause in &self.causes {
            write!(f, "\n  because: {cause}")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\nhelp: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::super::show::plan::sample_proposal;
    use super::*;
    use crate::diag::{Code, Diagnostic};
    use crate::model::{Hold, HoldKind};

    #[test]
    fn every_end_has_a_number_of_its_own() {
        use Exit::{Changes, Findings, Fine, Held, Killed, Usage};
        let all = [Fine, Findings, Changes, Held, Usage];
        assert_eq!(all.map(Exit::code), [0, 1, 2, 3, 64]);
        for exit in all {
            assert_eq!(Exit::of(exit.code().into()), exit);
        }
        assert_eq!(Killed(9).code(), 137);
        assert_eq!(Exit::of(101), Findings, "a panic is a failure");
    }

    #[test]
    fn every_hold_exits_3_and_of_what_is_kept_only_what_has_no_room() {
        let proposal = || {
            let mut proposal = sample_proposal();
            proposal.plan.holds.clear();
            proposal
        };
        for &kind in HoldKind::ALL {
            let mut held = proposal();
            held.plan.holds = vec![Hold { kind, names: vec!["a".to_owned()], allowed: None }];
            assert_eq!(Exit::of_proposal(&held), Exit::Held, "{}", kind.name());
        }
        for &reason in GateReason::ALL {
            let mut kept = proposal();
            kept.gates[0].reason = reason;
            let wanted = if reason == GateReason::ResizeBlocked { Exit::Held } else { Exit::Fine };
            assert_eq!(Exit::of_proposal(&kept), wanted, "{}", reason.name());
        }
    }

    #[test]
    fn what_is_held_exits_3_and_what_is_wrong_1() {
        let mut proposal = sample_proposal();
        assert_eq!(Exit::of_proposal(&proposal), Exit::Held);
        proposal.plan.holds.clear();
        assert_eq!(
            Exit::of_proposal(&proposal),
            Exit::Fine,
            "a template that failed is a finding, not a hold"
        );
        proposal.diagnostics.push(Diagnostic::new(Code::TemplateFailed, "x"));
        assert_eq!(Exit::of_proposal(&proposal), Exit::Findings);
        proposal.gates[0].reason = GateReason::ResizeBlocked;
        assert_eq!(Exit::of_proposal(&proposal), Exit::Held);
        proposal.stopped = true;
        assert_eq!(Exit::of_proposal(&proposal), Exit::Findings);
    }

    #[test]
    fn a_failure_of_the_rooms_below_is_the_worlds_the_command_lines_or_a_refusal() {
        let of = |error| Exit::from(&error);
        assert_eq!(of(reconcile::Error::NoFolder("x".into())), Exit::Findings);
        assert_eq!(of(reconcile::Error::Revision { revision: "x".to_owned() }), Exit::Usage);
        assert_eq!(of(reconcile::Error::ExampleRemote { remote: "x".to_owned() }), Exit::Held);
    }

    #[test]
    fn an_error_says_what_why_and_what_to_do() {
        let error = Error::failed("failed to push `carp/rendered` to origin")
            .because("the remote refused it")
            .help("see its rules for that branch");
        insta::assert_snapshot!(error, @r"
        failed to push `carp/rendered` to origin
          because: the remote refused it
        help: see its rules for that branch
        ");
    }
}
