//! What was verified of a fleet, brought forward over a change: policy tests that ran, policies that tie or select nobody.
//!
//! What is verified hangs on few clusters: those of which tests speak, those that two policies select alike, the last one that
//! a selector selects, and those on which an override was tried. Where one of these may be another now, everything is looked
//! at; so it is where what helps names the labels that clusters have, and these change.

use std::collections::{BTreeMap, BTreeSet};

use super::told;
use crate::load::{ChangedDocuments, WeighedPolicies};
use crate::model::{Cluster, IndexRow, Name, Override, Proposal, TriedClusters, Verification};
use crate::plan;

/// What differs between two inputs.
pub(super) struct DifferingDocuments {
    /// The files, be it in form alone.
    pub(super) files: BTreeSet<String>,
    /// Whether no document says anything else.
    pub(super) is_form_only: bool,
    /// The clusters that say something else and were there before.
    edited: BTreeSet<Name>,
    /// The clusters that are new.
    added: BTreeSet<Name>,
    /// The clusters whose documents are gone.
    removed: BTreeSet<Name>,
    /// Whether a file differs that is not read.
    has_unread: bool,
    /// Whether a policy weighs otherwise.
    weighs: bool,
}

impl DifferingDocuments {
    pub(super) fn of(changed: &ChangedDocuments, weighed: &WeighedPolicies) -> Self {
        let added = changed.added().clone();
        let mut edited: BTreeSet<Name> = changed.clusters().into_keys().collect();
        edited.retain(|name| !added.contains(name));
        Self {
            files: changed.files() | &weighed.files,
            is_form_only: changed.is_form_only() && !weighed.otherwise,
            edited,
            added,
            removed: changed.removed().keys().cloned().collect(),
            has_unread: changed.has_unread(),
            weighs: weighed.otherwise,
        }
    }
}

/// What is verified after a change that was looked at by itself; `None` where that takes a look at everything. `proposal` has
/// all policies, the clusters that were looked at, and the rows that they had; `label_keys` are those of labels that any rule
/// reads.
pub(super) fn after(
    before: &Verification,
    differing: &DifferingDocuments,
    proposal: &Proposal,
    label_keys: &BTreeSet<String>,
) -> Option<Verification> {
    let tells = |finding| told::is_of(finding, &differing.files);
    // What a test expects hangs on what weighs, and whether any worker meets a term that is preferred.
    if differing.has_unread || differing.weighs || before.findings.iter().any(tells) {
        return None;
    }
    if differing.is_form_only {
        return Some(before.clone());
    }
    let DifferingDocuments { edited, added, removed, .. } = differing;
    let all = || edited.iter().chain(added).chain(removed);
    let rows = proposal.previous.index_rows();
    let changed = ChangedClusters { before, proposal, label_keys, rows };
    let stands = all().all(|name| !before.staged.contains(name))
        && edited.iter().all(|name| changed.is_as_good(name))
        && added.iter().all(|name| changed.may_come(name))
        && removed.iter().all(|name| changed.may_go(name));
    let clusters = before.clusters + added.len() as u64;
    let clusters = clusters.checked_sub(removed.len() as u64)?;
    // Of a fleet without clusters it is not told what selects none.
    if !stands || before.clusters == 0 || clusters == 0 {
        return None;
    }
    let mut witnesses = before.witnesses.clone();
    for known in witnesses.values_mut().flatten() {
        let selects = !known.is_empty();
        known.retain(|name| !removed.contains(name));
        if selects && known.is_empty() {
            return None;
        }
    }
    Some(Verification { clusters, witnesses, ..before.clone() })
}

/// The clusters that differ, as they were and as they are.
struct ChangedClusters<'a> {
    before: &'a Verification,
    proposal: &'a Proposal,
    label_keys: &'a BTreeSet<String>,
    rows: BTreeMap<&'a Name, &'a IndexRow>,
}

impl ChangedClusters<'_> {
    /// Whether an edited cluster is to all that is verified what it was.
    fn is_as_good(&self, name: &Name) -> bool {
        let cluster = self.proposal.fleet.clusters.get(name);
        let Some((row, cluster)) = self.rows.get(name).zip(cluster) else { return false };
        let is_named = self.before.unmatched && row.labels != cluster.labels;
        let mut read = self.label_keys.iter();
        let is_selected_alike = read.all(|key| row.labels.get(key) == cluster.labels.get(key));
        !is_named
            && is_selected_alike
            && row.flavor == cluster.flavor()
            && self.proposal.fleet.overrides.values().all(|policy| {
                let selected = policy.selects_cluster(name, &cluster.labels);
                let is_tried = self.tried(policy).is_some_and(|on| on.names.contains(name));
                selected == policy.selects_cluster(name, &row.labels)
                    && (!selected || (!is_tried && self.tried(policy).is_some()))
            })
    }

    /// Whether a new cluster says nothing else of any policy.
    fn may_come(&self, name: &Name) -> bool {
        let Some(cluster) = self.proposal.fleet.clusters.get(name) else { return false };
        let overrides = || self.proposal.fleet.overrides.values();
        let mut selecting =
            overrides().filter(|policy| policy.selects_cluster(name, &cluster.labels));
        !self.before.unmatched
            && !plan::is_tied(&self.proposal.fleet, name, &cluster.labels)
            && selecting.all(|policy| self.tried(policy).is_some_and(|on| comes_after(on, cluster)))
    }

    /// Whether a cluster that is gone says nothing else of any policy, but that it may be the last one.
    fn may_go(&self, name: &Name) -> bool {
        let Some(row) = self.rows.get(name) else { return false };
        let is_tried = |on: &TriedClusters| on.names.contains(name);
        !self.before.unmatched
            && !plan::is_tied(&self.proposal.fleet, name, &row.labels)
            && !self.before.tried.values().any(is_tried)
            && self.proposal.fleet.overrides.values().all(|policy| {
                let is_selected = policy.selects_cluster(name, &row.labels);
                !is_selected || self.tried(policy).is_some()
            })
    }

    fn tried(&self, policy: &Override) -> Option<&TriedClusters> {
        self.before.tried.get(&policy.name)
    }
}

/// Whether a policy that was tried on these is tried on no other where this cluster comes: it would be the last one.
fn comes_after(on: &TriedClusters, cluster: &Cluster) -> bool {
    let is_last = on.names.last().is_some_and(|last| *last < cluster.name);
    // One of a new flavor comes before the others of those that are there.
    let is_in_turn = on.flavors.contains(cluster.flavor()) || on.flavors.len() == on.names.len();
    !on.all && is_last && is_in_turn
}
