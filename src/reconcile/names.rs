//! The full names of the refs of one fleet.

use crate::model::api::Branches;

/// Where the branches of a fleet are in a clone: with a remote, its tracking refs are the truth; without
/// one the local branches are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The remote, where there is one.
    pub remote: Option<String>,
    /// The branches, as `carp.yaml` calls them.
    pub branches: Branches,
}

impl Names {
    /// What people write.
    #[must_use]
    pub fn input(&self) -> String {
        self.here(&self.branches.input)
    }

    /// What carp writes.
    #[must_use]
    pub fn output(&self) -> String {
        self.here(&self.branches.output)
    }

    /// What carp knows.
    #[must_use]
    pub fn status(&self) -> String {
        self.here(&self.branches.status)
    }

    /// What the agents' report refs begin with, a `/` at the end.
    #[must_use]
    pub fn observed(&self) -> String {
        format!("{}/", self.here(&self.branches.observed))
    }

    /// The name of a branch in this clone.
    #[must_use]
    pub fn here(&self, branch: &str) -> String {
        match &self.remote {
            Some(remote) => format!("refs/remotes/{remote}/{branch}"),
            None => format!("refs/heads/{branch}"),
        }
    }

    /// The name of a branch where it is written: on the remote, or here.
    #[must_use]
    pub fn there(branch: &str) -> String {
        format!("refs/heads/{branch}")
    }

    /// The line that a person types to bring a branch.
    #[must_use]
    pub fn fetch_line(&self, branch: &str) -> String {
        let remote = self.remote.as_deref().unwrap_or("origin");
        format!("git fetch {remote} +refs/heads/{branch}:refs/remotes/{remote}/{branch}")
    }
}
