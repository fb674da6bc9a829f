//! `Acknowledgement`: a person has seen what a guard holds, and means it.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lets exactly the named set through a guard, once.
#[derive(CustomResource, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "carp.dev",
    version = "v1alpha1",
    kind = "Acknowledgement",
    doc = "Lets exactly the named set through a guard, once.",
    namespaced,
    category = "carp",
    printcolumn = r#"{"name":"Of","type":"string","jsonPath":".spec.of"}"#,
    printcolumn = r#"{"name":"Count","type":"integer","jsonPath":".spec.count"}"#
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AcknowledgementSpec {
    /// What is acknowledged, in the word that `carp plan` prints beside the hold.
    pub of: AcknowledgementKind,
    /// How many names the set has that is let through. With another number nothing is.
    #[schemars(range(min = 1))]
    pub count: u32,
    /// The digest of the sorted names, as `plan` prints it.
    #[schemars(regex(pattern = r"^(sha256:)?[0-9a-f]{64}$"))]
    pub digest: String,
    /// The numbers that the set was worked out with; for `of: rebalance`, and for nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebalance: Option<Rebalance>,
}

/// `spec.acknowledgements` of a fleet: whose acknowledgements count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AcknowledgementSettings {
    /// Lets an Acknowledgement count only if the commit that brought it, as it is now, is signed by one of these: lines
    /// of an SSH allowed-signers file, such as `alice@example.com ssh-ed25519 AAAA…`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_signers: Vec<String>,
    /// Whether that must be another person than those who signed the commits that brought what is acknowledged. Default:
    /// no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub two_person: bool,
}

/// The bounds of a rebalance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rebalance {
    /// How many clusters move at most.
    #[schemars(range(min = 1, max = 1000))]
    pub most: u32,
    /// By how many percent points less the new worker must be used after the move than the old one was
    /// before it.
    #[schemars(range(min = 1, max = 100))]
    pub gain: u32,
}

/// What a guard held.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum AcknowledgementKind {
    /// More deletions than `guards.maxDeletions`.
    Deletions,
    /// More moves than `guards.maxMoves`.
    Moves,
    /// Deletions on a worker that will never say how far they are.
    Abandon,
    /// The input branch was rewound; the digest is that of the commit's id.
    Rewind,
    /// Moves that even the workers out, as `carp simulate --rebalance` proposes them.
    Rebalance,
    /// Objects with machines, storage or network behind them that are left out of their folders.
    Objects,
    /// Machines that are replaced by others.
    Machines,
}

impl AcknowledgementKind {
    /// Whether it answers what a run has held, which the run left in the lock. What is stuck or may be evened out is so
    /// by what was there before, and a run that holds a rewind writes nothing.
    #[must_use]
    pub const fn answers_a_run(self) -> bool {
        match self {
            Self::Deletions | Self::Moves | Self::Objects | Self::Machines => true,
            Self::Abandon | Self::Rewind | Self::Rebalance => false,
        }
    }
}

impl std::fmt::Display for AcknowledgementKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Deletions => "deletions",
            Self::Moves => "moves",
            Self::Abandon => "abandon",
            Self::Rewind => "rewind",
            Self::Rebalance => "rebalance",
            Self::Objects => "objects",
            Self::Machines => "machines",
        })
    }
}
