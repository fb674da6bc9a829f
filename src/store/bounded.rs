//! A store that keeps what it can afford.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::{HashingStore, lock};
use crate::model::{Dir, Id, Store, StoreError};

/// A store for a run whose files are shown if they are few: the bytes of the first ones are kept, of all
/// others only their ids. A file that was dropped is absent when it is asked for.
#[derive(Debug)]
pub struct BoundedStore {
    ids: HashingStore,
    kept: Mutex<KeptBytes>,
}

#[derive(Debug)]
struct KeptBytes {
    blobs: BTreeMap<Id, Arc<[u8]>>,
    left: usize,
}

impl BoundedStore {
    /// An empty store that keeps at most so many bytes of files.
    pub fn new(bytes: usize) -> Self {
        let kept = Mutex::new(KeptBytes { blobs: BTreeMap::new(), left: bytes });
        Self { ids: HashingStore::new(), kept }
    }
}

impl Store for BoundedStore {
    fn dir(&self, id: Id) -> Result<Arc<Dir>, StoreError> {
        self.ids.dir(id)
    }

    fn blob(&self, id: Id) -> Result<Arc<[u8]>, StoreError> {
        let kept = lock(&self.kept).blobs.get(&id).cloned();
        kept.map_or_else(|| self.ids.blob(id), Ok)
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Id, StoreError> {
        let id = self.ids.put_blob(bytes)?;
        let mut kept = lock(&self.kept);
        if bytes.len() <= kept.left && !kept.blobs.contains_key(&id) {
            kept.left -= bytes.len();
            kept.blobs.insert(id, bytes.into());
        }
        Ok(id)
    }

    fn put_dir(&self, dir: &Dir) -> Result<Id, StoreError> {
        self.ids.put_dir(dir)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_cannot_afford_has_an_id_and_no_bytes() {
        let store = BoundedStore::new(8);
        let small = store.put_blob(b"small").unwrap();
        let large = store.put_blob(b"too large for it").unwrap();
        assert_eq!(&*store.blob(small).unwrap(), b"small");
        assert!(matches!(store.blob(large), Err(StoreError::Absent { .. })));
        assert_eq!(large, HashingStore::new().put_blob(b"too large for it").unwrap());
    }
}
