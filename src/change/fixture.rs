//! A store for tests, and folders in it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::TreeEdit;
use crate::model::{Dir, Id, Store, StoreError, blob_id};

/// A store in memory; this floor may not use the one of another room.
#[derive(Default)]
pub(super) struct Memory {
    dirs: RefCell<BTreeMap<Id, Arc<Dir>>>,
    blobs: RefCell<BTreeMap<Id, Arc<[u8]>>>,
}

fn absent(id: Id) -> StoreError {
    StoreError::Absent { id, store: "memory".to_owned() }
}

impl Store for Memory {
    fn dir(&self, id: Id) -> Result<Arc<Dir>, StoreError> {
        let known = self.dirs.borrow().get(&id).cloned();
        known.or_else(|| (id == Id::EMPTY_DIR).then(Arc::default)).ok_or_else(|| absent(id))
    }

    fn blob(&self, id: Id) -> Result<Arc<[u8]>, StoreError> {
        self.blobs.borrow().get(&id).cloned().ok_or_else(|| absent(id))
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Id, StoreError> {
        let id = blob_id(bytes);
        self.blobs.borrow_mut().insert(id, bytes.into());
        Ok(id)
    }

    fn put_dir(&self, dir: &Dir) -> Result<Id, StoreError> {
        self.dirs.borrow_mut().insert(dir.id(), Arc::new(dir.clone()));
        Ok(dir.id())
    }
}

/// `a=1 b/c=2`: a folder with these files.
pub(super) fn folder(store: &Memory, files: &str) -> Id {
    let mut edit = TreeEdit::default();
    for file in files.split_whitespace() {
        let (path, text) = file.split_once('=').unwrap();
        edit.file(path, store.put_blob(text.as_bytes()).unwrap());
    }
    edit.apply(store, None).unwrap()
}
