//! Stores that are no Git repository: memory, a plain folder, layers of others; the way back from a
//! tree to files; and the file that the memo is kept in.
//!
//! All of them compute Git's own ids, so the same files have the same tree everywhere.
#![expect(clippy::disallowed_methods, reason = "this room reads and writes files")]

mod bounded;
mod checkout;
mod cluster_files;
mod document_database;
mod fact_records;
mod folder;
mod hashing;
mod memo_file;
mod memory;
mod opened;
mod overlay;
mod save_documents;
mod scan;
mod sealed_records;
mod stand;
mod stat_cache;
mod stat_data;
mod whole_file;

pub use bounded::BoundedStore;
pub use checkout::{CheckedOut, Prune, checkout};
pub use document_database::DocumentDatabase;
pub use folder::FolderStore;
pub use hashing::{HashingStore, Puts};
pub use memo_file::{load_memo, load_sealed, save_memo, save_sealed};
pub use memory::MemoryStore;
pub use overlay::Overlay;
pub use save_documents::save_documents;
pub use scan::Limits;
pub use stand::FilesStand;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::model::StoreError;

/// The error of a file operation: what was tried, on what, and what came back.
fn medium(store: &str, tried: &str, path: &Path, cause: impl std::fmt::Display) -> StoreError {
    StoreError::Medium {
        store: store.to_owned(),
        detail: format!("{tried} `{}` failed: {cause}", path.display()),
    }
}

/// Locks what only whole inserts change, so a panic elsewhere leaves nothing half done in it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
