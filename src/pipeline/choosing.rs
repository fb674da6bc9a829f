//! The choice of folders as it goes. What is done with it stands with each kind of folder.

use std::collections::{BTreeMap, BTreeSet};

use super::at_parameters::TrialRenders;
use super::contents::{Choice, Contents, ControlPlaneContents, Forms, OwnFiles, ToldOfFolders};
use super::found::FolderFindings;
use super::loss_guards::LossGuards;
use super::run::Run;
use super::standing::FolderStanding;
use crate::diag::{Diagnostic, Place};
use crate::gate::{Chosen, Objection};
use crate::model::{ClusterRow, Gate, Name, packed};
use crate::render::Forbidden;

/// The choice as it goes.
pub(super) struct Choosing<'a> {
    pub(super) run: Run<'a>,
    pub(super) gates: Vec<Gate>,
    pub(super) found: FolderFindings,
    pub(super) forms: Forms,
    pub(super) losses: LossGuards,
    pub(super) standing: FolderStanding,
    pub(super) rows: BTreeMap<Name, BTreeMap<Name, ClusterRow>>,
    pub(super) not_resized: BTreeSet<Name>,
    pub(super) rendered: u64,
    pub(super) trials: TrialRenders,
}

impl<'a> Choosing<'a> {
    pub(super) fn new(run: Run<'a>, losses: LossGuards) -> Self {
        Self {
            run,
            gates: Vec::new(),
            found: FolderFindings::default(),
            forms: Forms::default(),
            losses,
            standing: FolderStanding::default(),
            rows: BTreeMap::new(),
            not_resized: BTreeSet::new(),
            rendered: 0,
            trials: TrialRenders::default(),
        }
    }

    pub(super) fn close(
        mut self,
        own: BTreeMap<Name, OwnFiles>,
        control_plane: Option<ControlPlaneContents>,
    ) -> Choice {
        self.gates.sort_by(|a, b| (&a.name, a.reason).cmp(&(&b.name, b.reason)));
        // A worker has two folders, which may stay as they are for the same reason.
        self.gates.dedup();
        let Run { read, .. } = self.run;
        let rows = self.rows.into_iter().map(|(worker, rows)| (worker, packed(rows))).collect();
        Choice {
            contents: Contents { rows, own, control_plane, forms: self.forms },
            standing: self.standing,
            told: ToldOfFolders {
                gates: self.gates,
                found: self.found.told(&read.diagnostics, &read.loaded.fleet),
                rendered: self.rendered,
            },
            not_resized: self.not_resized,
            losses: self.losses,
        }
    }

    /// Takes what was chosen of a folder, and notes why where that is the last good one.
    pub(super) fn chosen<F>(&mut self, name: &Name, chosen: Chosen<F>) -> F {
        if let Some(objection) = chosen.objection {
            self.object(name, objection);
        }
        chosen.folder
    }

    /// Notes that a folder keeps its last good content.
    pub(super) fn object(&mut self, name: &Name, objection: Objection) {
        for finding in &objection.findings {
            self.found.on(name, finding.clone());
        }
        self.gates.push(objection.of(name));
    }
}

/// A finding about a rendered folder, shown at the document that the folder was made from unless it has its place.
pub(super) fn placed_at(found: Forbidden, file: &str, document: usize) -> Diagnostic {
    if found.finding.place.is_some() {
        return found.finding;
    }
    found.finding.at(Place::field(file, document, found.field))
}
