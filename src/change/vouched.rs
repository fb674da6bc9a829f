//! Whom a past run believed, from what it committed.

use super::entry_at;
use crate::model::{
    FLEET_LOCK_SCHEMA, FleetLock, Id, Store, StoreError, Vouching, lock_from_bytes, paths,
};

/// The acknowledgements that counted for the run that left an output tree: those that it spent. Signatures are not
/// looked at again, so a key that has left the list since then changes no past decision.
///
/// # Errors
/// The store failed.
pub fn vouched_then(store: &dyn Store, output: Id, prefix: &str) -> Result<Vouching, StoreError> {
    let path = format!("{}/{}", paths::CONTROL_PLANE, paths::FLEET_LOCK);
    let entry = entry_at(store, output, &paths::in_repository(prefix, &path))?;
    let bytes = entry.map(|entry| store.blob(entry.id)).transpose()?;
    let lock = bytes.and_then(|b| lock_from_bytes::<FleetLock>(&b, FLEET_LOCK_SCHEMA).ok());
    let spent = lock.map(|lock| lock.spent).unwrap_or_default();
    Ok(Vouching::of_all(spent.into_iter().map(|spent| spent.name)))
}
