//! What one turn of the reconciler was told and what it did, as documents: a turn may run in a process
//! of its own, and then this is all that its parent sees.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::words::words;
use super::{Digest, FleetCounts, Id, Work};

/// The format of [`Turn`].
pub const TURN_SCHEMA: u32 = 1;

/// What one turn of the reconciler did: observe, propose, commit, push.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Turn {
    /// [`TURN_SCHEMA`].
    pub schema_version: u32,
    /// How it ended on the output branch.
    pub outcome: TurnOutcome,
    /// The turn in one line that a person can read.
    pub summary: String,
    /// What failed; only with [`TurnOutcome::Failed`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<TurnFailure>,
    /// Why nothing was committed although there was something; only with [`TurnOutcome::Held`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<HeldBack>,
    /// The commit on the output branch; only with [`TurnOutcome::Committed`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<TurnCommit>,
    /// How the status branch fared; absent where nothing was to be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TurnStatus>,
    /// How the forge was told; absent where there was nothing to tell, or nobody to tell it to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forge: Option<TurnForge>,
    /// How often a push was lost to another writer and planned again.
    #[serde(default)]
    pub races: u32,
    /// How many pushes reached the remote, lost ones included.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pushes: u32,
    /// How many a minute the fleet allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push_budget: Option<u32>,
    /// What was seen and would be written; absent where the turn failed before it knew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Attempt>,
    /// The digest of what others decide: the input commit, and what the workers report apart from how
    /// far they have followed carp. While it stays, carp has nothing to commit but once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Digest>,
    /// What there is.
    #[serde(default)]
    pub counts: FleetCounts,
    /// How many names guards hold, by guard.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub holds: BTreeMap<String, u64>,
    /// How many findings there are, by severity.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub findings: BTreeMap<String, u64>,
    /// How much was done.
    #[serde(default)]
    pub work: Work,
    /// When the next turn is due at the latest, whatever happens; absent: no time makes one due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
    /// The time that was used.
    pub now: Timestamp,
    /// How long it took, in milliseconds.
    #[serde(default)]
    pub milliseconds: u64,
    /// What a person should know: edits that were not read, errors of the fleet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

words! {
    /// How a turn ended on the output branch.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub TurnOutcome:
    /// A commit was made, and pushed where there is a remote.
    Committed = "committed",
    /// There was nothing to commit.
    Unchanged = "unchanged",
    /// Nothing may be committed: a broken `carp.yaml`, an empty read.
    Stopped = "stopped",
    /// There was something to commit, and the controller's orders held it back.
    Held = "held",
    /// The world failed.
    Failed = "failed",
}

/// What failed in a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnFailure {
    /// The kind, which decides when the next turn comes.
    pub kind: FailureKind,
    /// What was tried, on what, and what happens next. Without credentials.
    pub message: String,
}

words! {
    /// The kinds of failures of a turn.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub FailureKind:
    /// The remote refused the commit for good. The same commit is not tried again before something
    /// changed.
    Refused = "refused",
    /// The remote did not let us in.
    Auth = "auth",
    /// Whether the push arrived is not known; the next turn looks.
    Unknown = "unknown",
    /// Another writer was faster every time.
    Races = "races",
    /// The remote did not answer.
    Remote = "remote",
    /// The repository here could not be read or written.
    Repository = "repository",
    /// The fleet cannot be reconciled as it is: a branch is missing, or a value in `carp.yaml` is wrong.
    Fleet = "fleet",
    /// The turn took too long and was stopped.
    Deadline = "deadline",
    /// The turn needed more memory than it may have.
    Memory = "memory",
    /// The process of the turn ended without saying how it went.
    Crashed = "crashed",
}

/// Why a turn was not to commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HeldBack {
    /// The remote refused the same commit for good, and nothing changed since.
    Refused,
    /// carp made too many commits from the same inputs: they feed themselves, or another writer undoes
    /// them.
    Breaker,
}

/// A commit on a branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnCommit {
    /// The branch.
    pub branch: String,
    /// The commit.
    pub commit: Id,
    /// The remote that has it, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
}

/// How the status branch fared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum TurnStatus {
    /// A commit was made.
    Committed(TurnCommit),
    /// What changed can wait, because the last status commit is young.
    Waiting {
        /// When it is written at the latest.
        until: Timestamp,
    },
    /// It could not be written; the turn succeeded all the same, and the next one tries again.
    Failed {
        /// Why.
        message: String,
    },
}

/// How the forge was told of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TurnForge {
    /// Its status says how the commit fared, and so does its comment, where there is a request for it.
    Told {
        /// The repository there: `github.com/org/fleet`.
        repository: String,
    },
    /// It could not be told; the turn succeeded all the same, and the next one tries again.
    Failed {
        /// Why.
        message: String,
    },
}

impl TurnForge {
    /// Every result, as users see it.
    pub const RESULTS: [&str; 2] = ["told", "failed"];

    /// The result as users see it.
    #[must_use]
    pub const fn result(&self) -> &'static str {
        match self {
            Self::Told { .. } => Self::RESULTS[0],
            Self::Failed { .. } => Self::RESULTS[1],
        }
    }
}

/// What a turn would write, and on what: two attempts that are equal would make the same commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Attempt {
    /// The input commit.
    pub input: Id,
    /// The tip of the output branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Id>,
    /// The tree that is proposed for it.
    pub tree: Id,
}

impl Turn {
    /// A turn that failed before anything was known.
    #[must_use]
    pub fn failed(kind: FailureKind, message: impl Into<String>, now: Timestamp) -> Self {
        let message = message.into();
        Self {
            schema_version: TURN_SCHEMA,
            outcome: TurnOutcome::Failed,
            summary: format!("failed: {message}"),
            failure: Some(TurnFailure { kind, message }),
            held: None,
            written: None,
            status: None,
            forge: None,
            races: 0,
            pushes: 0,
            push_budget: None,
            attempt: None,
            inputs: None,
            counts: FleetCounts::default(),
            holds: BTreeMap::new(),
            findings: BTreeMap::new(),
            work: Work::default(),
            valid_until: None,
            now,
            milliseconds: 0,
            notes: Vec::new(),
        }
    }
}

/// What a turn is told besides the fleet. Nothing of it changes what is proposed, only whether and when
/// it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TurnConstraints {
    /// The attempt that was refused for good: it is not made again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Attempt>,
    /// The inputs from which nothing more is committed; see [`Turn::inputs`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breaker: Option<Digest>,
    /// How many seconds lie between two status commits, except for what is worth telling at once.
    pub status_pause: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_come_back_as_they_were_given() {
        let orders = TurnConstraints {
            refused: Some(Attempt {
                input: Id::from_bytes([1; 20]),
                output: None,
                tree: Id::from_bytes([2; 20]),
            }),
            breaker: Some(Digest::of(b"x")),
            status_pause: 60,
        };
        let text = serde_json::to_string(&orders).unwrap();
        assert_eq!(serde_json::from_str::<TurnConstraints>(&text).unwrap(), orders);
        assert_eq!(
            serde_json::from_str::<TurnConstraints>("{}").unwrap(),
            TurnConstraints::default()
        );
    }

    #[test]
    fn a_failed_turn_says_so_in_its_line() {
        let turn = Turn::failed(FailureKind::Auth, "no way in", Timestamp::UNIX_EPOCH);
        assert_eq!(turn.summary, "failed: no way in");
        let text = serde_json::to_string(&turn).unwrap();
        assert_eq!(serde_json::from_str::<Turn>(&text).unwrap(), turn);
    }
}
