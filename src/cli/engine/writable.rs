//! A folder that commands add files to.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::super::{Context, Error, FolderArgs, ObservedArgs};
use super::{open, reconcile};
use crate::change::leftover;
use crate::model::{Hold, Name, Unloaded};

/// A fleet in a folder that a command may add a file to.
pub struct Writable {
    /// The fleet's root, as it is seen from the current folder.
    pub root: PathBuf,
    /// `spec.roots.fleet` of its `carp.yaml`.
    pub fleet_folder: String,
    /// The workers that are declared, those among them whose document does not load.
    pub workers: BTreeSet<Name>,
    /// What guards hold of it now; `None` where the output branch is not here to tell.
    pub holds: Option<Vec<Hold>>,
    /// The files of acknowledgements that commits have used, by their names.
    pub spent: Vec<(Name, String)>,
}

/// Finds the fleet that a folder is in, for commands that add a file to it.
///
/// # Errors
/// There is no fleet, or its `carp.yaml` does not load.
pub fn writable(context: &mut Context<'_, '_>, args: &FolderArgs) -> Result<Writable, Error> {
    let named = reconcile::argument(&args.fleet);
    let root = open::find(context, &named)?.folder.unwrap_or_else(|| args.fleet.clone());
    let look = open::look_at_input(context, &named, &ObservedArgs::default(), None)?;
    let fleet = &look.opened.proposal.fleet;
    if look.opened.proposal.stopped && fleet.name.is_empty() {
        return Err(Error::failed(format!("{}/carp.yaml does not load", root.display()))
            .help("`carp validate` shows why"));
    }
    let used = leftover(fleet, look.opened.proposal.previous.fleet.as_ref()).into_iter();
    let spent = used.map(|(name, sourced)| (name.clone(), sourced.file.clone())).collect();
    // Whoever takes a worker out of service is not to mend its document first.
    let is_worker = |whole: &&Unloaded| whole.kind.as_deref() == Some("Worker");
    let unloaded = fleet.unloaded.iter().filter(is_worker);
    let unloaded = unloaded.filter_map(|whole| Name::parse(whole.name.as_ref()?).ok());
    Ok(Writable {
        spent,
        root,
        fleet_folder: fleet.spec.roots.clone().unwrap_or_default().fleet,
        workers: fleet.workers.keys().cloned().chain(unloaded).collect(),
        holds: look.opened.proposal.base.map(|_| look.opened.proposal.plan.holds.clone()),
    })
}
