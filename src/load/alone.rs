//! Documents that are read by themselves, without the rest of the fleet.

use serde::de::DeserializeOwned;

use super::document::{self, Item};
use super::finding::Source;
use super::kind::{Root, Spec};
use super::split::split;
use super::{fleet_file, tree, yaml};
use crate::model::api::{FleetSpec, WorkerOverlaySpec};
use crate::model::{Id, Store, StoreError};

/// What `carp.yaml` of a tree says, and all defaults where it is missing or broken: enough to know the
/// names of the branches before the fleet is loaded.
///
/// # Errors
/// The store failed.
pub fn fleet_spec(store: &dyn Store, tree: Id, prefix: &str) -> Result<FleetSpec, StoreError> {
    Ok(readable_fleet_spec(store, tree, prefix)?.unwrap_or_default())
}

/// What `carp.yaml` of a tree says; `None` where it is missing or broken.
///
/// # Errors
/// The store failed.
pub fn readable_fleet_spec(
    store: &dyn Store,
    tree: Id,
    prefix: &str,
) -> Result<Option<FleetSpec>, StoreError> {
    let root = tree::dir_at(store, tree, prefix)?;
    Ok(fleet_file::read(store, root.as_deref(), prefix)?.spec)
}

/// The overlays that stand in a file's text, by the names of their workers, as the fleet reads them: short
/// forms too. One that does not load has the reason in the place of what it says.
#[must_use]
pub fn worker_overlays(text: &str) -> Vec<(String, Result<WorkerOverlaySpec, String>)> {
    let chunks = split(text);
    let source = |document| Source { file: "".into(), document };
    let items = (0..).zip(chunks).map(|(i, chunk)| document::read(chunk, source(i), Root::Fleet));
    items.filter(|item| item.kind.as_deref() == Some("WorkerOverlay")).map(overlay).collect()
}

fn overlay(item: Item) -> (String, Result<WorkerOverlaySpec, String>) {
    let name = item.name.unwrap_or_default();
    if let Some(Spec::WorkerOverlay(spec)) = item.body.map(|body| body.spec) {
        return (name, Ok(*spec));
    }
    let why = item.findings.list.into_iter().next().map(|finding| finding.message);
    (name, Err(why.unwrap_or_else(|| "it does not load".to_owned())))
}

/// Reads a document that carp wrote: a decision record, a status document.
///
/// # Errors
/// The bytes are not such a document; the message says why.
pub fn read_yaml<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    yaml::parse_written(text).map_err(|fault| fault.message)
}
