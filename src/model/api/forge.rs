//! `spec.forge`: what is told to the forge that hosts the fleet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What carp tells the forge: a status on the input commit, and one comment on the request that brought it. The
/// token comes from the environment of the run, and where it is sent to from the remote's own address: neither
/// can be said here, where a change of the fleet could send it elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForgeSettings {
    /// Which forge it is. Unset: guessed where the remote's host leaves no doubt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ForgeKind>,
    /// Whether the request that brought the commit gets a comment, beside the status.
    #[serde(default = "ForgeSettings::default_comment")]
    pub comment: bool,
}

impl ForgeSettings {
    const fn default_comment() -> bool {
        true
    }
}

impl Default for ForgeSettings {
    fn default() -> Self {
        Self { kind: None, comment: Self::default_comment() }
    }
}

/// The forges whose APIs carp speaks.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum ForgeKind {
    /// github.com, and GitHub Enterprise.
    GitHub,
    /// gitlab.com, and GitLab elsewhere.
    GitLab,
    /// Gitea, and Forgejo, whose API is the same.
    Gitea,
}

impl ForgeKind {
    /// The name as users see it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::GitHub => "GitHub",
            Self::GitLab => "GitLab",
            Self::Gitea => "Gitea",
        }
    }
}
