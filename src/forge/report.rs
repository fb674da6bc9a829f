//! What a forge is told, as a value.

use serde::{Deserialize, Serialize};

use crate::model::Id;

/// How many characters of a status are told: GitHub refuses more than 140, GitLab more than 255.
pub const MOST_DESCRIPTION: usize = 140;

/// How many characters a comment may have: GitHub refuses more than 65,536.
pub const MOST_COMMENT: usize = 60_000;

/// How a commit fared, for the forge that it is on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgeReport {
    /// The commit that people wrote.
    pub commit: Id,
    /// The branch that it is on.
    pub branch: String,
    /// What the status is called there: one for each fleet of a repository.
    pub context: String,
    /// How it fared.
    pub state: ReportState,
    /// How it fared, in a line of at most [`MOST_DESCRIPTION`] characters.
    pub description: String,
    /// What the comment on the request begins with, by which it is found again.
    pub marker: String,
    /// The comment as Markdown, without its marker, of at most [`MOST_COMMENT`] characters; `None`: no comment.
    pub comment: Option<String>,
}

impl ForgeReport {
    /// The comment as it is sent.
    #[must_use]
    pub fn body(&self) -> Option<String> {
        self.comment.as_ref().map(|text| format!("{}\n{text}", self.marker))
    }
}

/// How a commit fared, in the order in which the worse counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ReportState {
    /// All of it is done.
    Fine,
    /// Clusters wait for a worker.
    Waits,
    /// Guards hold something, and people decide.
    Held,
    /// Something is wrong.
    Failed,
}
