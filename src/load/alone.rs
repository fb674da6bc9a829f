//! Documents that are read by themselves, without the rest of the fleet.

use serde::de::DeserializeOwned;

use super::{fleet_file, tree, yaml};
use crate::model::api::FleetSpec;
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

/// Reads a document that carp wrote: a decision record, a status document.
///
/// # Errors
/// The bytes are not such a document; the message says why.
pub fn read_yaml<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    yaml::parse_written(text).map_err(|fault| fault.message)
}
