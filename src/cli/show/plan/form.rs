//! What of a plan is the same in another form.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::count;
use super::{PlanView, listed};
use crate::change::workers_of;
use crate::model::{Proposal, paths};

impl PlanView<'_> {
    /// How many files say the same in another form, with the locks that follow them.
    pub(super) fn form_files(&self) -> u64 {
        self.proposal.form.as_ref().map_or(0, |form| super::super::len(&form.changes))
    }

    /// What changes only its form, in words; empty where nothing does.
    #[must_use]
    pub fn form_words(&self) -> String {
        let Some(form) = &self.proposal.form else { return String::new() };
        let workers: Vec<_> = workers_of(&form.changes, self.prefix).into_iter().collect();
        let of = if workers.is_empty() { "the control plane".into() } else { listed(&workers) };
        let apart = match self.proposal.form_step() {
            Some(_) => "; a commit of its own, before the rest",
            None => "",
        };
        format!("format only: {} ({of}){apart}\n", count(self.form_files(), "file"))
    }
}

/// The clusters of which only the form changes.
pub(super) fn clusters(proposal: &Proposal, root: &str) -> BTreeSet<String> {
    let all = proposal.form.iter().flat_map(|form| &form.changes);
    let cluster = |path: &str| {
        let mut parts = path.strip_prefix(root).unwrap_or(path).split('/').skip(2);
        (parts.next() == Some(paths::CLUSTERS)).then(|| parts.next()).flatten().map(str::to_owned)
    };
    all.filter_map(|change| cluster(&change.path)).collect()
}

/// What changes only its form, for programs.
pub(super) fn value(view: &PlanView<'_>) -> Value {
    let form = view.proposal.form.as_ref();
    let workers = form.map(|form| workers_of(&form.changes, view.prefix)).unwrap_or_default();
    json!({
        "tree": form.map(|form| form.tree),
        "files": view.form_files(),
        "workers": workers,
        "ownCommit": view.proposal.form_step().is_some(),
    })
}
