//! What was verified of a fleet, brought forward over a change: policy tests that ran, policies that tie or select nobody.
//!
//! What a policy says of a placed cluster hangs on what others read of it, which is the same ([`neutral`](super::neutral)). What
//! hangs on more (what a test expects of a cluster of the fleet, the names and labels of which a finding speaks, what an
//! override finds to do) is verified by looking at everything.

use std::collections::BTreeSet;

use super::told;
use crate::load::ChangedDocuments;
use crate::model::{Fleet, Name, Verification};
use crate::plan;

/// What differs between two inputs.
pub(super) struct DifferingDocuments {
    /// The files, be it in form alone.
    pub(super) files: BTreeSet<String>,
    /// Whether no document says anything else.
    pub(super) is_form_only: bool,
    /// The clusters that say something else, those that are new included.
    edited: BTreeSet<Name>,
    /// How many of them are new.
    added: u64,
    /// Whether a cluster's document is gone.
    removes: bool,
    /// Whether a file differs that is not read.
    has_unread: bool,
}

impl DifferingDocuments {
    pub(super) fn of(changed: &ChangedDocuments) -> Self {
        Self {
            files: changed.files().clone(),
            is_form_only: changed.is_form_only(),
            edited: changed.clusters().into_keys().collect(),
            added: changed.added().len() as u64,
            removes: !changed.removed().is_empty(),
            has_unread: changed.has_unread(),
        }
    }
}

/// What is verified after a change that was looked at by itself; `None` where that takes a look at everything. `fleet` has
/// all policies, and the clusters that were looked at.
pub(super) fn after(
    before: &Verification,
    differing: &DifferingDocuments,
    fleet: &Fleet,
) -> Option<Verification> {
    let tells = |finding| told::is_of(finding, &differing.files);
    if differing.has_unread || before.findings.iter().any(tells) {
        return None;
    }
    if differing.is_form_only {
        return Some(before.clone());
    }
    // Of a fleet without clusters it is not told what selects none.
    let is_first = before.clusters == 0 && differing.added > 0;
    let speaks_of_clusters = !before.findings.is_empty() || !fleet.overrides.is_empty();
    let is_staged = differing.edited.iter().any(|name| before.staged.contains(name));
    if is_first
        || speaks_of_clusters
        || is_staged
        || differing.removes
        || !plan::policy_ties(fleet).is_empty()
    {
        return None;
    }
    Some(Verification { clusters: before.clusters + differing.added, ..before.clone() })
}
