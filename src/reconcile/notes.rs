//! What a person should know about a run besides what it did.

use super::once::Run;
use super::{Error, Names};

impl Run<'_> {
    /// Edits that are in the folder and not in the commit that was read.
    pub(super) fn notes(&self) -> Result<Vec<String>, Error> {
        let mut notes = self.rewritten.clone();
        let edits = self.repository.uncommitted(&self.place.prefix)?;
        if !edits.is_empty() {
            let shown = edits.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
            let more = if edits.len() > 3 { ", …" } else { "" };
            notes.push(format!(
                "{} uncommitted edits were not read ({shown}{more}); reconcile reads commits only",
                edits.len()
            ));
        }
        let branch = &self.names.branches.input;
        let local = self.repository.resolve(&Names::there(branch))?;
        if self.names.remote.is_some()
            && let Some(local) = local.filter(|local| *local != self.input)
            && !self.repository.is_ancestor(local, self.input)?
        {
            notes.push(format!(
                "the local branch {branch} has commits that are not on the remote, and they were not \
                 read; push them first"
            ));
        }
        Ok(notes)
    }
}
