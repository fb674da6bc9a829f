//! How a command ends: the one place where findings, holds and failures become exit codes, and the failures that are
//! not findings.

use std::fmt;
use std::process::ExitCode;

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

impl From<anyhow::Error> for Error {
    fn from(error: anyhow::Error) -> Self {
        let mut chain = error.chain().map(ToString::to_string);
        let message = chain.next().unwrap_or_default();
        Self { causes: chain.collect(), ..Self::failed(message) }
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
    use super::*;

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

    #[test]
    fn the_chain_of_an_error_becomes_its_causes() {
        let chain = anyhow::anyhow!("no such file").context("failed to read carp.yaml");
        let error = Error::from(chain);
        assert_eq!(error.message, "failed to read carp.yaml");
        assert_eq!(error.causes, ["no such file"]);
        assert_eq!(error.exit, Exit::Findings);
    }
}
