//! The files that the memo, and what else may be lost, are kept in, inside the Git directory.
//!
//! Its first line is the digest of the rest, so that a memo with a flipped bit is thrown away and not
//! believed. Whatever is wrong with the file, the run goes on with an empty memo: it costs time only.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::medium;
use crate::fault::{self, Point};
use crate::model::{Digest, Memo, MemoKey, StoreError};

const STORE: &str = "the memo";

/// Reads the memo. A missing or damaged one, and one of another key, is an empty one.
pub fn load_memo(path: &Path, key: &MemoKey) -> Memo {
    let empty = || Memo { key: Some(key.clone()), ..Memo::default() };
    load_sealed(path).filter(|memo: &Memo| memo.key.as_ref() == Some(key)).unwrap_or_else(empty)
}

/// Reads a value that [`save_sealed`] wrote; `None` where the file is missing or damaged, or holds another.
pub fn load_sealed<T: DeserializeOwned>(path: &Path) -> Option<T> {
    unsealed(&fs::read(path).ok()?)
}

/// Writes the memo whole or not at all. A caller may ignore the error: the next run takes longer.
///
/// # Errors
/// The folder cannot be made, or the file cannot be written or moved into place.
pub fn save_memo(path: &Path, memo: &Memo) -> Result<(), StoreError> {
    let failed = |e: std::io::Error| medium(STORE, "writing", path, e);
    fault::at(Point::BeforeMemo).map_err(failed)?;
    save_sealed(path, memo)?;
    fault::at(Point::AfterMemo).map_err(failed)
}

/// Writes a value whole or not at all, with the digest of its bytes before them.
///
/// # Errors
/// As for [`save_memo`].
pub fn save_sealed<T: Serialize>(path: &Path, value: &T) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let failed = |e: std::io::Error| medium(STORE, "writing", path, e);
    fs::create_dir_all(folder).map_err(failed)?;
    let bytes = sealed(value).map_err(|e| medium(STORE, "encoding", path, e))?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(&bytes).map_err(failed)?;
    fault::at(Point::HalfMemo).map_err(failed)?;
    let _: File = file.persist(path).map_err(|e| failed(e.error))?;
    Ok(())
}

/// A value as JSON, behind a line with the digest of that.
pub(super) fn sealed<T: Serialize>(value: &T) -> serde_json::Result<Vec<u8>> {
    seal(|bytes| serde_json::to_writer(bytes, value))
}

/// What `fill` writes, behind a line with the digest of that.
pub(super) fn seal<E>(fill: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<Vec<u8>, E> {
    // The digest is put in where room was left for it: what is sealed may be large, and is not copied.
    let digest = |body: &[u8]| format!("{}\n", Digest::of(body)).into_bytes();
    let mut bytes = digest(&[]);
    let room = bytes.len();
    fill(&mut bytes)?;
    let digest = digest(&bytes[room..]);
    bytes[..room].copy_from_slice(&digest);
    Ok(bytes)
}

/// What [`sealed`] made bytes of; `None` where they are damaged, or of another type.
pub(super) fn unsealed<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(unseal(bytes)?).ok()
}

/// What [`seal`] was given; `None` where it is damaged.
pub(super) fn unseal(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    let (digest, body) = (&bytes[..end], &bytes[end + 1..]);
    (digest == Digest::of(body).to_string().as_bytes()).then_some(body)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::model::{CountedLock, CountedPart, Fact, FactFile, Settled, blob_id};

    fn key(build: &str) -> MemoKey {
        MemoKey { format: 1, build: build.to_owned() }
    }

    fn memo(build: &str, texts: &[String]) -> Memo {
        let mut memo = Memo { key: Some(key(build)), ..Memo::default() };
        for text in texts {
            let fact = Fact {
                document: 0,
                kind: "ManagedCluster".to_owned(),
                name: text.clone(),
                digest: Digest::of(text.as_bytes()),
                value: text.clone(),
            };
            let id = blob_id(text.as_bytes());
            memo.files.insert(id, Arc::new(FactFile { facts: vec![fact] }));
            memo.status.insert(id, Digest::of(text.as_bytes()));
            memo.settled = Some(Settled { context: Digest::of(b"context"), pending: id });
            let part = CountedPart { rule: 1, values: vec![text.clone()], rows: vec![0, 2] };
            let lock = CountedLock { groups: vec![part], ..CountedLock::default() };
            memo.counted.locks.insert(id, Arc::new(lock));
        }
        memo
    }

    proptest! {
        #[test]
        fn a_memo_reads_back_as_it_was_saved(texts in prop::collection::vec(any::<String>(), 0..5)) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("carp/memo.json");
            let memo = memo("b", &texts);
            save_memo(&path, &memo).unwrap();
            prop_assert_eq!(load_memo(&path, &key("b")), memo);
        }
    }

    #[test]
    fn missing_damaged_and_foreign_memos_are_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memo.json");
        let empty = memo("b", &[]);
        assert_eq!(load_memo(&path, &key("b")), empty);
        save_memo(&path, &memo("b", &["x".to_owned()])).unwrap();
        assert_ne!(load_memo(&path, &key("b")), empty);
        assert_eq!(load_memo(&path, &key("another")), memo("another", &[]));
        let mut bytes = fs::read(&path).unwrap();
        let at = bytes.iter().rposition(|&b| b == b'x').unwrap();
        bytes[at] = b'y';
        fs::write(&path, bytes).unwrap();
        assert_eq!(load_memo(&path, &key("b")), empty, "still JSON, but not what was saved");
    }

    #[test]
    fn a_failed_save_leaves_the_old_memo() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file/memo.json");
        fs::write(folder.path().join("file"), "in the way").unwrap();
        assert!(save_memo(&path, &memo("b", &[])).is_err());
        assert_eq!(fs::read(folder.path().join("file")).unwrap(), b"in the way");
    }
}
