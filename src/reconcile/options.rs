//! What a run of the reconciler is given besides its fleet.

use std::collections::BTreeMap;
use std::time::Duration;

use super::clock::RunClock;
use super::said::ForgeOptions;
use super::sources::Observing;
use crate::model::{Build, Digest, Name, Proposal, TurnConstraints};
use crate::pipeline::Update;

/// How a run is made.
pub struct Options {
    /// The time.
    pub clock: RunClock,
    /// Where reports come from.
    pub observing: Observing,
    /// Who runs.
    pub build: Build,
    /// What people read of a proposal, as Markdown, given the fleet's root in its repository.
    pub describe: fn(&Proposal, &str, &BTreeMap<Name, Update>) -> String,
    /// How long to wait after the n-th lost race; random, so that two writers do not keep in step.
    pub wait: fn(u32) -> Duration,
    /// What the controller holds back; nothing for a run of its own.
    pub orders: TurnConstraints,
    /// What tells this program from any other that may have run here; `None`: that is not known, and every
    /// run looks at everything.
    pub program: Option<Digest>,
    /// What the forge is told.
    pub forge: ForgeOptions,
    /// Whether somebody watches, who is told of uncommitted edits however long it takes to find them.
    pub watched: bool,
}
