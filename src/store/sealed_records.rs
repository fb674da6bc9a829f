//! A file of records, each of which is read by itself: which run needs which of them is not known when they are written.
//!
//! Whoever asks knows where a value begins and ends. Each has its digest, so that one with a flipped bit is not believed,
//! and says what it is about, so that one of another run is not either.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::medium;
use super::memo_file::{seal, unseal};
use crate::model::StoreError;

/// Whoever asked for that many asks for most of them: more than one is read at once then.
const FEW: u32 = 16;

/// How much is read at once, in bytes. Whoever asks in the order in which the records stand there reads no more of the file
/// than up to the last one, and keeps this much.
const PIECE: u64 = 1 << 18;

/// The records of a file. It is opened when one is asked for.
pub(super) struct SealedRecords {
    path: PathBuf,
    /// With its length.
    file: OnceCell<Option<(File, u64)>>,
    asked: Cell<u32>,
    piece: RefCell<ReadAhead>,
}

/// A part of the file.
#[derive(Default)]
struct ReadAhead {
    bytes: Vec<u8>,
    /// Where it begins in the file.
    start: u64,
    /// How much of the file was read so far.
    so_far: u64,
}

impl SealedRecords {
    /// Those of this file.
    pub(super) fn at(path: PathBuf) -> Self {
        let (asked, piece) = (Cell::new(0), RefCell::default());
        Self { path, file: OnceCell::new(), asked, piece }
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
        self.asked.set(self.asked.get().saturating_add(1));
        if self.asked.get() > FEW {
            let mut piece = self.piece.borrow_mut();
            if piece.get(at).is_none() {
                piece.read(file, at, *length)?;
            }
            return says(unseal(piece.get(at)?)?);
        }
        says(unseal(&read(file, at.start, at.end.checked_sub(at.start)?)?)?)
    }

    fn open(&self) -> Option<(File, u64)> {
        let file = File::open(&self.path).ok()?;
        let length = file.metadata().ok()?.len();
        Some((file, length))
    }
}

impl ReadAhead {
    fn get(&self, at: &Range<u64>) -> Option<&[u8]> {
        let [from, to] = [at.start, at.end].map(|place| place.checked_sub(self.start));
        self.bytes.get(usize::try_from(from?).ok()?..usize::try_from(to?).ok()?)
    }

    /// Reads what stands there with what follows, or all of it, where as much was read already: whoever asks asks in no order.
    fn read(&mut self, file: &File, at: &Range<u64>, length: u64) -> Option<()> {
        let asked = at.end.checked_sub(at.start)?;
        let is_whole = self.so_far >= length || length <= PIECE;
        let start = if is_whole { 0 } else { at.start };
        let much = if is_whole { length } else { asked.max(PIECE).min(length - start) };
        // What was read before is not kept beside it.
        self.bytes = Vec::new();
        self.bytes = read(file, start, much)?;
        self.start = start;
        self.so_far = self.so_far.saturating_add(much);
        Some(())
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
    fn whoever_asks_in_order_keeps_a_piece_and_whoever_does_not_reads_the_file_twice_at_most() {
        let (_folder, path, places) = saved(2_000);
        let length = places[&1_999].end;
        assert!(length > 6 * PIECE);
        let in_order = SealedRecords::at(path.clone());
        for (i, at) in &places {
            assert_eq!(get(&in_order, at), Some(text(*i)));
        }
        let piece = in_order.piece.into_inner();
        assert!(piece.bytes.len() as u64 <= PIECE && piece.so_far <= 2 * length);
        let far_apart = SealedRecords::at(path);
        for i in (0..1_000).flat_map(|i| [i, 1_999 - i]) {
            assert_eq!(get(&far_apart, &places[&i]), Some(text(i)));
        }
        let piece = far_apart.piece.into_inner();
        assert!(piece.bytes.len() as u64 == length && piece.so_far <= 2 * length + PIECE);
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
    fn a_place_in_a_long_file_that_is_not_true_has_nothing() {
        let (_folder, path, places) = saved(2_000);
        let records = SealedRecords::at(path);
        for (i, Range { start, end }) in places {
            assert_eq!(get(&records, &(start + 1..end)), None);
            assert_eq!(get(&records, &(end..start)), None);
            assert_eq!(get(&records, &(start..end)), Some(text(i)));
        }
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
