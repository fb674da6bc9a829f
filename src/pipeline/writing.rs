//! The writing of a tree as it goes. What is done with it stands with each kind of file.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::contents::Contents;
use super::loss_guards::Remembered;
use super::run::Run;
use crate::change::TreeEdit;
use crate::model::{AcknowledgementSpent, ClusterState, Drifted, Id, Name, Owned, Previous};
use crate::render::Appliers;

/// What a run wrote.
pub(super) struct WrittenTree {
    pub(super) tree: Id,
    /// The tree with only what is the same in another form.
    pub(super) form: Option<Id>,
    /// What a file that carp does not own is in the way of, with those files.
    pub(super) taken: BTreeMap<Owned, BTreeSet<String>>,
    /// The lock of the clusters that wait.
    pub(super) pending: Id,
    /// What was edited by hand and is as it was again.
    pub(super) set_back: Vec<Drifted>,
}

/// The writing as it goes.
pub(super) struct Writing<'a> {
    pub(super) run: Run<'a>,
    pub(super) contents: Contents,
    pub(super) spent: Vec<AcknowledgementSpent>,
    pub(super) remembered: Remembered,
    pub(super) edit: TreeEdit,
    pub(super) taken: BTreeMap<Owned, BTreeSet<String>>,
    /// The accounts of the platform layers that were read, by the layer's text.
    pub(super) appliers: BTreeMap<Id, Rc<Appliers>>,
    /// The clusters of all locks, once somebody asks.
    pub(super) placed: OnceCell<ListedClusters<'a>>,
}

impl<'a> Writing<'a> {
    pub(super) fn new(
        run: Run<'a>,
        contents: Contents,
        spent: Vec<AcknowledgementSpent>,
        remembered: Remembered,
    ) -> Self {
        Self {
            run,
            contents,
            spent,
            remembered,
            edit: TreeEdit::default(),
            taken: BTreeMap::new(),
            appliers: BTreeMap::new(),
            placed: OnceCell::new(),
        }
    }
}

/// The clusters of all worker locks: asked for each cluster, and looked through once a run.
pub(super) struct ListedClusters<'a> {
    pub(super) names: BTreeSet<&'a Name>,
    /// Those for which a place is kept.
    pub(super) reserved: BTreeSet<&'a Name>,
}

impl<'a> ListedClusters<'a> {
    pub(super) fn of(previous: &'a Previous) -> Self {
        let rows = || previous.workers.values().flat_map(|lock| &lock.clusters);
        let kept = rows().filter(|(_, row)| row.state == ClusterState::Reserved);
        Self {
            reserved: kept.map(|(name, _)| name).collect(),
            names: rows().map(|(name, _)| name).collect(),
        }
    }
}
