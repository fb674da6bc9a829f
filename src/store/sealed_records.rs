//! A file of records, each of which is read by itself: which run needs which of them is not known when they are written.
//!
//! Whoever asks knows where a value begins and ends. Each has its digest, so that one with a flipped bit is not believed,
//! and says what it is about, so that one of another run is not either.

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::medium;
use super::memo_file::{seal, unseal};
use crate::model::StoreError;

/// Whoever asked for that many asks for most of them: the whole file is read then, instead of piece by piece.
const FEW: u32 = 16;

/// The records of a file. It is opened when one is asked for.
pub(super) struct SealedRecords {
    path: PathBuf,
    /// With its length.
    file: OnceCell<Option<(File, u64)>>,
    asked: Cell<u32>,
    whole: OnceCell<Vec<u8>>,
}

impl SealedRecords {
    /// Those of this file.
    pub(super) fn at(path: PathBuf) -> Self {
        Self { path, file: OnceCell::new(), asked: Cell::new(0), whole: OnceCell::new() }
    }

    /// What `says` makes of the record that stands there; `None` where there is none, or another one.
    pub(super) fn get<T>(
        &self,
        at: &Range<u64>,
        says: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Option<T> {
        let (file, length) = self.file.get_or_init(|| self.open()).as_ref()?;
        // A place that is not true makes no room.
        if at.end > *length {
            return None;
        }
        let [start, end] = [at.start, at.end].map(usize::try_from);
        let (start, end) = (start.ok()?, end.ok()?);
        self.asked.set(self.asked.get().saturating_add(1));
        if self.asked.get() > FEW {
            let whole = self.whole.get_or_init(|| read(file, 0, *length).unwrap_or_default());
            return says(unseal(whole.get(start..end)?)?);
        }
        says(unseal(&read(file, at.start, at.end.checked_sub(at.start)?)?)?)
    }

    fn open(&self) -> Option<(File, u64)> {
        let file = File::open(&self.path).ok()?;
        let length = file.metadata().ok()?.len();
        Some((file, length))
    }
}

fn read(mut file: &File, start: u64, length: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    file.seek(SeekFrom::Start(start)).ok()?;
    file.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

/// Writes records whole or not at all, and returns where each begins and ends. What cannot be encoded is left out.
///
/// # Errors
/// The file cannot be written or moved into place.
pub(super) fn save_records<K: Ord, R>(
    store: &str,
    path: &Path,
    records: impl IntoIterator<Item = (K, R)>,
    write: impl Fn(&mut Vec<u8>, R) -> std::io::Result<()>,
) -> Result<BTreeMap<K, Range<u64>>, StoreError> {
    let failed = |e: std::io::Error| medium(store, "writing", path, e);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = BufWriter::new(tempfile::NamedTempFile::new_in(folder).map_err(failed)?);
    let (mut places, mut start) = (BTreeMap::new(), 0);
    for (key, record) in records {
        let Ok(record) = seal(|bytes| write(bytes, record)) else { continue };
        file.write_all(&record).map_err(failed)?;
        let end = start + record.len() as u64;
        places.insert(key, start..end);
        start = end;
    }
    let file = file.into_inner().map_err(|e| failed(e.into_error()))?;
    file.persist(path).map_err(|e| failed(e.error))?;
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records of growing length, written to a file.
    fn saved(count: usize) -> (tempfile::TempDir, PathBuf, BTreeMap<usize, Range<u64>>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records");
        let records = (0..count).map(|i| (i, text(i)));
        let write = |bytes: &mut Vec<u8>, text: String| bytes.write_all(text.as_bytes());
        let places = save_records("the records", &path, records, write).unwrap();
        (folder, path, places)
    }

    fn text(i: usize) -> String {
        format!("{i} {}", "x".repeat(i))
    }

    fn get(records: &SealedRecords, at: &Range<u64>) -> Option<String> {
        records.get(at, |bytes| Some(String::from_utf8_lossy(bytes).into_owned()))
    }

    #[test]
    fn each_value_is_found_in_whatever_order_it_is_asked_for() {
        let (_folder, path, places) = saved(100);
        let records = SealedRecords::at(path);
        for (i, at) in places.iter().rev().chain(&places) {
            assert_eq!(get(&records, at), Some(text(*i)));
        }
    }

    #[test]
    fn a_place_that_is_not_true_has_nothing() {
        let (_folder, path, places) = saved(2);
        let records = SealedRecords::at(path);
        let Range { start, end } = places[&1];
        // Among the first, that are read by themselves, and after them.
        for _ in 0..20 {
            for at in [0..end, start + 1..end, start..end + 1, 3..u64::MAX, end..start, end..end] {
                assert_eq!(get(&records, &at), None, "{at:?}");
            }
            assert_eq!(get(&records, &(start..end)), Some(text(1)));
        }
        assert_eq!(records.get(&(start..end), |_| None::<u8>), None, "of another sort");
    }

    #[test]
    fn what_is_damaged_or_missing_is_not_believed() {
        let (_folder, path, places) = saved(40);
        let whole = std::fs::read(&path).unwrap();
        for flipped in (0..whole.len()).step_by(37) {
            let mut bytes = whole.clone();
            bytes[flipped] ^= 1;
            std::fs::write(&path, bytes).unwrap();
            let records = SealedRecords::at(path.clone());
            let found = |at: &Range<u64>| get(&records, at).is_some();
            let lost: Vec<_> = places.values().filter(|at| !found(at)).collect();
            assert_eq!(lost.len(), 1, "{flipped}");
            assert!(lost[0].contains(&(flipped as u64)));
        }
        std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        let records = SealedRecords::at(path.clone());
        let found = places.values().filter(|at| get(&records, at).is_some());
        assert!((20..40).contains(&found.count()));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(get(&SealedRecords::at(path), &places[&1]), None);
    }
}
