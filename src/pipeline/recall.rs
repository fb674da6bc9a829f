//! What a lock does not say of a deletion that has begun is read of its folder.

use super::folders::read_folder;
use crate::model::{ClusterState, Previous, Store, StoreError};
use crate::render;

/// Reads of a deletion that has begun how far it is, where the lock does not say: another carp wrote the
/// lock, or it was lost. The folder says it itself.
pub(super) fn recall(store: &dyn Store, previous: &mut Previous) -> Result<(), StoreError> {
    let clusters = previous.workers.values_mut().flat_map(|lock| lock.clusters.values_mut());
    let clusters = clusters.map(|row| (row.state, row.folder, &mut row.deletion));
    let workers = previous.fleet.iter_mut().flat_map(|lock| lock.workers.values_mut());
    let workers = workers.map(|row| (row.state, row.folder, &mut row.deletion));
    for (state, folder, deletion) in clusters.chain(workers) {
        if let (ClusterState::Deleting, Some(folder), None) = (state, folder, &deletion) {
            *deletion = Some(render::deletion_row(&read_folder(store, folder)?, None));
        }
    }
    Ok(())
}
