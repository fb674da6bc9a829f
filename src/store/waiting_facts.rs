//! What the documents of the clusters that wait say: all of them are asked for where one of them is, and they stand in many
//! files.
//!
//! One file holds them, and the index of clusters says where each begins in it. Each has its digest, so that one with a
//! flipped bit, and one that an older index points to, is not believed: then its document is read.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::medium;
use super::memo_file::{sealed, unsealed};
use crate::model::{Fact, Id, KnownFact, Name, StoreError};

const STORE: &str = "what waiting clusters say";

/// The facts of the clusters that wait. Their file is opened when one is asked for.
pub(super) struct WaitingFacts {
    path: PathBuf,
    /// With its length.
    file: OnceCell<Option<(File, u64)>>,
}

impl WaitingFacts {
    /// Those of this file.
    pub(super) fn at(path: PathBuf) -> Self {
        Self { path, file: OnceCell::new() }
    }

    /// What the cluster's document says in the file with that id; `None` where it is not known.
    pub(super) fn fact(&self, at: Range<u64>, cluster: &Name, of: Id) -> Option<Fact> {
        let (file, length) = self.file.get_or_init(|| self.open()).as_ref()?;
        let mut file = file;
        // A place that is not true makes no room.
        let many = at.end.checked_sub(at.start).filter(|_| at.end <= *length)?;
        let mut bytes = vec![0; usize::try_from(many).ok()?];
        file.seek(SeekFrom::Start(at.start)).ok()?;
        file.read_exact(&mut bytes).ok()?;
        let (id, fact): (Id, Fact) = unsealed(&bytes)?;
        (id == of && fact.name == cluster.as_str()).then_some(fact)
    }

    fn open(&self) -> Option<(File, u64)> {
        let file = File::open(&self.path).ok()?;
        let length = file.metadata().ok()?.len();
        Some((file, length))
    }
}

/// Writes the facts whole or not at all, and returns where each begins and ends.
///
/// # Errors
/// The file cannot be written or moved into place.
pub(super) fn save_waiting_facts(
    path: &Path,
    facts: &BTreeMap<Name, KnownFact>,
) -> Result<BTreeMap<Name, Range<u64>>, StoreError> {
    let failed = |e: std::io::Error| medium(STORE, "writing", path, e);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = BufWriter::new(tempfile::NamedTempFile::new_in(folder).map_err(failed)?);
    let (mut places, mut start) = (BTreeMap::new(), 0);
    for (name, known) in facts {
        // What cannot be encoded is read from its file.
        let Some(Ok(record)) = known.fact().map(|fact| sealed(&(known.file, fact))) else {
            continue;
        };
        file.write_all(&record).map_err(failed)?;
        let end = start + record.len() as u64;
        places.insert(name.clone(), start..end);
        start = end;
    }
    let file = file.into_inner().map_err(|e| failed(e.into_error()))?;
    file.persist(path).map_err(|e| failed(e.error))?;
    Ok(places)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{Digest, FactFile, blob_id};

    /// The second document of a file whose bytes are the name.
    fn known(of: &str) -> (Name, KnownFact) {
        let facts = Arc::new(FactFile { facts: vec![fact("other"), fact(of)] });
        (name(of), KnownFact { file: blob_id(of.as_bytes()), facts, nth: 1 })
    }

    fn fact(name: &str) -> Fact {
        let value = format!("{{\"name\":\"{name}\"}}");
        let digest = Digest::of(value.as_bytes());
        Fact {
            document: 1,
            kind: "ManagedCluster".to_owned(),
            name: name.to_owned(),
            digest,
            value,
        }
    }

    fn name(name: &str) -> Name {
        Name::parse(name).unwrap()
    }

    #[test]
    fn a_fact_is_that_of_the_cluster_in_the_file_with_these_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("waiting");
        let places = save_waiting_facts(&path, &["a", "bb"].map(known).into()).unwrap();
        let known = WaitingFacts::at(path);
        let at = |of: &str| places[&name(of)].clone();
        for of in ["a", "bb"] {
            assert_eq!(known.fact(at(of), &name(of), blob_id(of.as_bytes())), Some(fact(of)));
        }
        assert_eq!(known.fact(at("a"), &name("bb"), blob_id(b"a")), None, "of another cluster");
        assert_eq!(known.fact(at("a"), &name("a"), blob_id(b"bb")), None, "of other bytes");
        assert_eq!(known.fact(3..u64::MAX, &name("a"), blob_id(b"a")), None, "somewhere else");
    }

    #[test]
    fn what_is_damaged_or_missing_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("waiting");
        let places = save_waiting_facts(&path, &[known("a")].into()).unwrap();
        let at = places[&name("a")].clone();
        let whole = std::fs::read(&path).unwrap();
        for flipped in (0..whole.len()).step_by(7) {
            let mut bytes = whole.clone();
            bytes[flipped] ^= 1;
            std::fs::write(&path, bytes).unwrap();
            let known = WaitingFacts::at(path.clone());
            assert_eq!(known.fact(at.clone(), &name("a"), blob_id(b"a")), None, "{flipped}");
        }
        std::fs::remove_file(&path).unwrap();
        assert_eq!(WaitingFacts::at(path).fact(at, &name("a"), blob_id(b"a")), None);
    }
}
