//! The first step of a deletion, for a cluster and for a worker's own cluster alike.

use super::folders::{put_folder, read_folder};
use crate::diag::Diagnostics;
use crate::model::{Id, Store, StoreError};
use crate::render::{self, Templates};

/// The folder after D1, made from the last good one: the `Cluster` and what it owns are gone, and what
/// must outlive it stays.
pub(super) fn first_step(
    store: &dyn Store,
    folder: Id,
    flavor: &str,
    templates: &Templates,
) -> Result<Result<Id, Diagnostics>, StoreError> {
    let last = read_folder(store, folder)?;
    match render::deletion_folder(flavor, &last, templates) {
        Ok(files) => put_folder(store, &files).map(Ok),
        Err(found) => Ok(Err(found)),
    }
}
