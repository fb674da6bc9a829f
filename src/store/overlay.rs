//! Stores in layers.

use std::sync::Arc;

use crate::model::{Dir, Id, Store, StoreError};

/// Reads from the upper store first and then from the lower ones in order; puts go to the upper one.
///
/// Only an absent object lets a read fall through: a damaged object or a failing disk ends it.
pub struct Overlay<'a> {
    /// What is read first, and written to.
    pub upper: &'a dyn Store,
    /// What is read next, in order.
    pub lower: Vec<&'a dyn Store>,
}

impl<'a> Overlay<'a> {
    /// One store over another.
    pub fn new(upper: &'a dyn Store, lower: &'a dyn Store) -> Self {
        Self { upper, lower: vec![lower] }
    }

    fn read<T>(&self, read: impl Fn(&dyn Store) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut absent_from = Vec::new();
        let mut missing = None;
        for store in std::iter::once(self.upper).chain(self.lower.iter().copied()) {
            match read(store) {
                Err(StoreError::Absent { id, store }) => {
                    absent_from.push(store);
                    missing = Some(id);
                }
                other => return other,
            }
        }
        let id = missing.expect("the upper store is always asked, and it did not have the object");
        Err(StoreError::Absent { id, store: absent_from.join(" or ") })
    }
}

impl Store for Overlay<'_> {
    fn dir(&self, id: Id) -> Result<Arc<Dir>, StoreError> {
        self.read(|store| store.dir(id))
    }

    fn blob(&self, id: Id) -> Result<Arc<[u8]>, StoreError> {
        self.read(|store| store.blob(id))
    }

    fn blob_size(&self, id: Id) -> Result<u64, StoreError> {
        self.read(|store| store.blob_size(id))
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Id, StoreError> {
        self.upper.put_blob(bytes)
    }

    fn put_dir(&self, dir: &Dir) -> Result<Id, StoreError> {
        self.upper.put_dir(dir)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{HashingStore, MemoryStore};
    use super::*;
    use crate::model::blob_id;

    /// A store whose disk fails.
    struct Broken;

    impl Store for Broken {
        fn dir(&self, _: Id) -> Result<Arc<Dir>, StoreError> {
            Err(StoreError::Medium { store: "broken".to_owned(), detail: "I/O error".to_owned() })
        }
        fn blob(&self, id: Id) -> Result<Arc<[u8]>, StoreError> {
            self.dir(id).map(|_| Arc::default())
        }
        fn put_blob(&self, _: &[u8]) -> Result<Id, StoreError> {
            self.dir(Id::EMPTY_DIR).map(|_| Id::EMPTY_DIR)
        }
        fn put_dir(&self, _: &Dir) -> Result<Id, StoreError> {
            self.dir(Id::EMPTY_DIR).map(|_| Id::EMPTY_DIR)
        }
    }

    #[test]
    fn reads_fall_through_and_puts_stay_on_top() {
        let (upper, lower) = (HashingStore::new(), MemoryStore::new());
        let below = lower.put_blob(b"below").unwrap();
        let overlay = Overlay::new(&upper, &lower);
        assert_eq!(&*overlay.blob(below).unwrap(), b"below");
        assert_eq!(overlay.blob_size(below).unwrap(), 5);
        overlay.put_blob(b"new").unwrap();
        assert_eq!((lower.len(), upper.puts().blobs), (1, 1));
        let error = overlay.blob(blob_id(b"nowhere")).unwrap_err().to_string();
        assert!(error.contains("only hashes or memory"), "{error}");
    }

    #[test]
    fn a_failing_disk_is_never_taken_for_an_absent_file() {
        let lower = MemoryStore::new();
        let id = lower.put_blob(b"there").unwrap();
        let overlay = Overlay::new(&Broken, &lower);
        assert!(matches!(overlay.blob(id), Err(StoreError::Medium { .. })));
    }
}
