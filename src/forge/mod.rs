//! The forge that hosts the fleet's repository: GitHub, GitLab, Gitea and Forgejo through their REST APIs. A turn
//! tells there how it went: a status on the input commit, and one comment on the request that brought it.
//!
//! - What is told is decided before, purely, as a [`ForgeReport`]; this room only sends it.
//! - What is there already is read first, and nothing is written that says the same: a turn may be repeated as
//!   often as one likes.
//! - Everything is bounded: the time of a call and of all of them, the size of an answer, the tries. A forge that
//!   is down costs a turn no more than that.
//! - The token goes to the address that it was given for and nowhere else: no redirect is followed, nothing but
//!   https is spoken (and http on this machine), and no message has it.
//!
//! Files of releases are published by forges, too: `download` has them, without any credential.
//!
//! The requests are those of the forges' own pages: GitHub "Create a commit status", "List pull requests
//! associated with a commit", "Issue comments"; GitLab "Set commit pipeline status", "List merge requests
//! associated with a commit", "Notes"; Gitea's swagger, `repoCreateStatus`, `repoGetCommitPullRequest` and
//! `issueCreateComment`.

mod address;
mod call;
mod client;
mod download;
mod download_error;
mod error;
mod gitea;
mod github;
mod gitlab;
mod hop;
mod location;
mod proxy;
mod report;
mod tell;

pub use address::ForgeTarget;
pub use client::{CallLimits, Token};
pub use download::{DownloadLimits, Downloads};
pub use download_error::DownloadError;
pub use error::Error;
pub use proxy::ProxySettings;
pub use report::{ForgeReport, MOST_COMMENT, MOST_DESCRIPTION, ReportState};
pub use tell::tell;
