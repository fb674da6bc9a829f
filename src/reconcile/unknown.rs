//! A push of which nobody knows what became: only the remote can tell.

use super::Names;
use super::outcome::Published;
use crate::git::{Gone, RefSpec, Repository};
use crate::model::Id;

/// What was pushed.
pub(super) struct PushedCommits<'a> {
    pub(super) remote: &'a str,
    pub(super) branch: &'a str,
    /// Where the branch was to go; `None` where it was to go away.
    pub(super) commit: Option<Id>,
    /// Where the branch was before.
    pub(super) expected: Option<Id>,
}

/// Looks where the branch is. It took the commit if it is there, or if what is there came after it;
/// another tip was a faster writer's. `None` where the branch has not moved, for the push may still be
/// under way, and where the remote cannot say: the next run looks first.
pub(super) fn settle(
    repository: &Repository,
    names: &Names,
    asked: &PushedCommits<'_>,
) -> Option<Published> {
    let name = Names::there(asked.branch);
    let tip = repository.remote_ref(asked.remote, &name).ok()?;
    if tip == asked.commit {
        return Some(Published::Done);
    }
    if tip == asked.expected {
        return None;
    }
    let (Some(tip), Some(commit)) = (tip, asked.commit) else { return Some(Published::Raced) };
    let spec = RefSpec::new(name, names.written(asked.branch));
    repository.fetch(asked.remote, &[spec], Gone::Keep).ok()?;
    match repository.is_ancestor(commit, tip) {
        Ok(true) => Some(Published::Done),
        Ok(false) => Some(Published::Raced),
        Err(_) => None,
    }
}
