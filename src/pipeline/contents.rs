//! What is chosen and then written: the folders of the tree, and what is told of them.

use std::collections::{BTreeMap, BTreeSet};

use super::loss_guards::LossGuards;
use super::standing::FolderStanding;
use crate::diag::Diagnostics;
use crate::model::paths::{CLUSTERS_INDEX, SENTINEL};
use crate::model::{ClusterRow, ControlPlaneRow, Digest, Gate, Id, Name, WorkerLock};
use crate::render::Appliers;

/// What was chosen.
pub(super) struct Choice {
    pub(super) contents: Contents,
    pub(super) standing: FolderStanding,
    pub(super) told: ToldOfFolders,
    /// Clusters that keep their last good folder, and with it another demand than was planned.
    pub(super) not_resized: BTreeSet<Name>,
    /// What folders lose, and what of it is held.
    pub(super) losses: LossGuards,
}

/// The folders of the tree.
pub(super) struct Contents {
    /// The rows of each worker's lock after the run, without what becomes of moves.
    pub(super) rows: BTreeMap<Name, BTreeMap<Name, ClusterRow>>,
    /// The own files of each worker whose folder is written.
    pub(super) own: BTreeMap<Name, OwnFiles>,
    /// `control-plane/`; `None` where it is not written.
    pub(super) control_plane: Option<ControlPlaneContents>,
    pub(super) forms: Forms,
}

/// What a proposal tells of the folders.
pub(super) struct ToldOfFolders {
    pub(super) gates: Vec<Gate>,
    pub(super) found: Diagnostics,
    pub(super) rendered: u64,
}

/// The files of a worker itself, and what they were made from.
pub(super) struct OwnFiles {
    pub(super) facts: Digest,
    pub(super) render_key: Digest,
    /// Without the sentinel, and without the index of its clusters unless that stays as it is.
    pub(super) files: BTreeMap<String, Id>,
    /// The accounts that apply its clusters, where the files were just made; else they are to be read.
    pub(super) appliers: Option<Appliers>,
}

impl OwnFiles {
    /// What a lock knows of a worker whose document has these facts.
    pub(super) fn kept(lock: &WorkerLock, facts: Digest) -> Self {
        let made = |path: &str| !matches!(path, CLUSTERS_INDEX | SENTINEL);
        let files = lock.files.iter().filter(|(path, _)| made(path));
        let files = files.map(|(path, id)| (path.clone(), *id)).collect();
        Self { facts, render_key: lock.render_key, files, appliers: None }
    }
}

/// What the control plane syncs.
pub(super) struct ControlPlaneContents {
    /// The row of each worker whose own cluster the control plane makes.
    pub(super) workers: BTreeMap<Name, ControlPlaneRow>,
    pub(super) render_key: Digest,
    /// Its own files, without the list of the workers.
    pub(super) files: BTreeMap<String, Id>,
}

/// The folders that a run made anew and that say the same, each with what its lock says of it then.
#[derive(Default)]
pub(super) struct Forms {
    /// Whether one of them has other bytes. Where none has, there is nothing to tell.
    pub(super) differ: bool,
    /// Of clusters: the render key and the folder.
    pub(super) clusters: BTreeMap<Name, (Digest, Id)>,
    /// Of workers: the render key and the worker's own files.
    pub(super) workers: BTreeMap<Name, (Digest, BTreeMap<String, Id>)>,
    /// Of the clusters that are workers.
    pub(super) made: BTreeMap<Name, ControlPlaneRow>,
    /// Of the control plane itself.
    pub(super) control_plane: Option<(Digest, BTreeMap<String, Id>)>,
}

impl Forms {
    /// Takes note of a cluster's folder, which was `old`.
    pub(super) fn cluster(&mut self, name: &Name, old: Option<Id>, new: (Digest, Id)) {
        self.differ |= old != Some(new.1);
        self.clusters.insert(name.clone(), new);
    }

    /// Takes note of the folder of a worker's own cluster, which was `old`.
    pub(super) fn made(&mut self, name: &Name, old: Option<Id>, row: ControlPlaneRow) {
        self.differ |= old != row.folder;
        self.made.insert(name.clone(), row);
    }
}
