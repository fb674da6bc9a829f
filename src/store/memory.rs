//! A store in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::lock;
use crate::model::{Dir, Id, Store, StoreError, blob_id};

/// Files and directories in memory, for tests and for runs that write nothing.
#[derive(Debug, Default)]
pub struct MemoryStore {
    dirs: Mutex<BTreeMap<Id, Arc<Dir>>>,
    blobs: Mutex<BTreeMap<Id, Arc<[u8]>>>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many different objects were put.
    pub fn len(&self) -> usize {
        lock(&self.dirs).len() + lock(&self.blobs).len()
    }

    /// Whether nothing was put.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn missing(&self, id: Id, wanted: &str) -> StoreError {
        let store = "memory".to_owned();
        let other = if wanted == "directory" {
            lock(&self.blobs).contains_key(&id).then_some("a file")
        } else {
            lock(&self.dirs).contains_key(&id).then_some("a directory")
        };
        match other {
            Some(other) => {
                StoreError::Damaged { id, store, detail: format!("it is {other}, not a {wanted}") }
            }
            None => StoreError::Absent { id, store },
        }
    }
}

impl Clone for MemoryStore {
    /// A store with the same objects, which are shared. What is put into either later is not in the other.
    fn clone(&self) -> Self {
        let dirs = lock(&self.dirs).clone();
        let blobs = lock(&self.blobs).clone();
        Self { dirs: Mutex::new(dirs), blobs: Mutex::new(blobs) }
    }
}

impl Store for MemoryStore {
    fn dir(&self, id: Id) -> Result<Arc<Dir>, StoreError> {
        let found = lock(&self.dirs).get(&id).cloned();
        match found {
            Some(dir) => Ok(dir),
            None if id == Id::EMPTY_DIR => Ok(Arc::default()),
            None => Err(self.missing(id, "directory")),
        }
    }

    fn blob(&self, id: Id) -> Result<Arc<[u8]>, StoreError> {
        let found = lock(&self.blobs).get(&id).cloned();
        found.ok_or_else(|| self.missing(id, "file"))
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Id, StoreError> {
        let id = blob_id(bytes);
        lock(&self.blobs).entry(id).or_insert_with(|| Arc::from(bytes));
        Ok(id)
    }

    fn put_dir(&self, dir: &Dir) -> Result<Id, StoreError> {
        let id = dir.id();
        lock(&self.dirs).entry(id).or_insert_with(|| Arc::new(dir.clone()));
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Entry, EntryKind};

    #[test]
    fn what_was_put_reads_back_once() {
        let store = MemoryStore::new();
        let id = store.put_blob(b"hello").unwrap();
        assert_eq!(store.put_blob(b"hello").unwrap(), id);
        let mut dir = Dir::default();
        dir.insert("a", Entry { kind: EntryKind::File, id });
        let tree = store.put_dir(&dir).unwrap();
        assert_eq!(*store.dir(tree).unwrap(), dir);
        assert_eq!(&*store.blob(id).unwrap(), b"hello");
        assert_eq!(store.blob_size(id).unwrap(), 5);
        assert_eq!(store.len(), 2);
    }

    #[test]
    fn a_copy_shares_the_objects_until_then_and_none_of_later() {
        let store = MemoryStore::new();
        let id = store.put_blob(b"hello").unwrap();
        let copy = store.clone();
        assert!(Arc::ptr_eq(&copy.blob(id).unwrap(), &store.blob(id).unwrap()));
        let ours = store.put_blob(b"ours").unwrap();
        let theirs = copy.put_blob(b"theirs").unwrap();
        assert!(store.blob(theirs).is_err() && copy.blob(ours).is_err());
    }

    #[test]
    fn absent_and_of_another_kind_are_told_apart() {
        let store = MemoryStore::new();
        let id = store.put_blob(b"x").unwrap();
        assert!(matches!(store.dir(id), Err(StoreError::Damaged { .. })));
        assert!(matches!(store.blob(blob_id(b"y")), Err(StoreError::Absent { .. })));
    }
}
