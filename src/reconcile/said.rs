//! What a run needs to tell the forge, and how a turn went, as far as the forge is told.

use std::collections::{BTreeMap, BTreeSet};

use super::outcome::Verdict;
use crate::forge::{self, ForgeReport, ProxySettings, Token};
use crate::model::api::{ForgeKind, ForgeSettings};
use crate::model::{Id, Name, Proposal, ReasonCode};

/// Whether the forge is told, as a run was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForgeChoice {
    /// As `carp.yaml` says.
    Fleet,
    /// It is not.
    Off,
    /// It is, and it is this one.
    On(ForgeKind),
}

/// What a run needs to tell the forge.
#[derive(Clone, Debug)]
pub struct ForgeOptions {
    /// Whether it is told.
    pub choice: ForgeChoice,
    /// The page of the repository there, where it does not follow from the remote's address.
    pub url: Option<String>,
    /// What opens the API, or why there is nothing.
    pub token: Result<Token, forge::Error>,
    /// What the environment says of proxies.
    pub proxies: ProxySettings,
    /// What is told, decided from how the turn went alone.
    pub report: fn(&Said<'_>) -> ForgeReport,
}

/// How a turn went, as far as the forge is told.
pub struct Said<'a> {
    /// The commit that people wrote.
    pub commit: Id,
    /// The branch that it is on.
    pub branch: &'a str,
    /// The fleet's root in its repository.
    pub prefix: &'a str,
    /// Whether a comment is wanted.
    pub comment: bool,
    /// What was proposed.
    pub proposal: &'a Proposal,
    /// How it ended.
    pub verdict: &'a Verdict,
    /// Who waits, and why.
    pub waiting: BTreeMap<Name, BTreeSet<ReasonCode>>,
    /// The commits on the output branch that came of the input commit, the newest first.
    pub made: Vec<Made>,
}

/// A commit of carp's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The commit.
    pub commit: Id,
    /// Its message, trailers included.
    pub message: String,
}

impl ForgeOptions {
    /// What tells these from any others, as far as it matters to whom something is told.
    pub(super) fn shown(&self) -> String {
        format!("{:?} {:?} {}", self.choice, self.url, self.token.is_ok())
    }

    pub(super) fn settings(&self, spec: Option<&ForgeSettings>) -> Option<ForgeSettings> {
        match self.choice {
            ForgeChoice::Off => None,
            ForgeChoice::Fleet => spec.cloned(),
            ForgeChoice::On(kind) => {
                let said = spec.cloned().unwrap_or_default();
                Some(ForgeSettings { kind: Some(kind), ..said })
            }
        }
    }
}
