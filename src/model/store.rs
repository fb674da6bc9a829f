//! The one door through which bytes come and go.

use std::sync::Arc;

use super::{Dir, Id};

/// A content-addressed store of files and directories: a Git repository, a plain folder, memory.
///
/// A read that fails ends [`propose`](crate::pipeline::propose) with nothing written. It is never a
/// diagnostic and never taken for an absent file.
pub trait Store {
    /// The directory with that id.
    ///
    /// # Errors
    /// The object is absent, damaged or not a directory, or the medium failed.
    fn dir(&self, id: Id) -> Result<Arc<Dir>, StoreError>;

    /// The bytes of the file with that id.
    ///
    /// # Errors
    /// The object is absent, damaged or not a file, or the medium failed.
    fn blob(&self, id: Id) -> Result<Arc<[u8]>, StoreError>;

    /// The size in bytes of the file with that id, without reading it where the medium allows that.
    ///
    /// # Errors
    /// As for [`Store::blob`].
    fn blob_size(&self, id: Id) -> Result<u64, StoreError> {
        self.blob(id).map(|bytes| bytes.len() as u64)
    }

    /// Keeps a file and returns its id.
    ///
    /// # Errors
    /// The medium failed.
    fn put_blob(&self, bytes: &[u8]) -> Result<Id, StoreError>;

    /// Keeps a directory and returns its id. The objects it names need not be in the store yet.
    ///
    /// # Errors
    /// The medium failed.
    fn put_dir(&self, dir: &Dir) -> Result<Id, StoreError>;
}

/// Why a store could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store does not have the object.
    #[error("object {id} is not in {store}")]
    Absent {
        /// The object asked for.
        id: Id,
        /// The store, as a person would name it.
        store: String,
    },
    /// The object is there and cannot be what was asked for.
    #[error("object {id} in {store} is damaged: {detail}")]
    Damaged {
        /// The object asked for.
        id: Id,
        /// The store, as a person would name it.
        store: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The disk, the repository or the memory below failed.
    #[error("{store}: {detail}")]
    Medium {
        /// The store, as a person would name it.
        store: String,
        /// What was tried, and what came back.
        detail: String,
    },
}

impl StoreError {
    /// Whether the objects are not what they were, so that another copy of them would do.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Absent { .. } | Self::Damaged { .. })
    }
}
