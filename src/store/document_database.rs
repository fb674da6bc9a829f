//! The index of the fleet's documents: in which file each stands, and what the policies' files say. It is an
//! embedded database, of which a reader touches the pages on the way to a name and no others, however many
//! documents there are.
//!
//! A file of it is written once and put into place whole, so a reader never meets one that is half written, and
//! needs no lock against a writer. Where the clusters' documents stand is in a file of its own beside it
//! ([`ClusterFiles`]), and what those say that wait in a third ([`WaitingFacts`]). Whoever keeps one keeps its digest,
//! so that one with a flipped bit is thrown away and not believed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use redb::{
    Database, ReadOnlyDatabase, ReadableDatabase as _, ReadableTable as _, TableDefinition,
};

use super::cluster_files::{ClusterFiles, save_cluster_files};
use super::medium;
use super::waiting_facts::{WaitingFacts, save_waiting_facts};
use crate::model::{
    Digest, DocumentIndex, DocumentName, Fact, FactFile, Id, KnownDocuments, Name,
    StandingClusters, StandingWorker, StoreError,
};

const STORE: &str = "the index of documents";

/// Kind and name to the file.
const FILES: TableDefinition<'_, (&str, &str), &str> = TableDefinition::new("files");
/// The id of a file's blob to what it says, as JSON.
const FACTS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("facts");
/// A worker's name to what stands on it, as JSON. The rules by which it was counted are under [`RULES`].
const STANDING: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("standing");
/// No worker's name.
const RULES: &str = "";

/// An index that is open for reading.
pub struct DocumentDatabase {
    database: ReadOnlyDatabase,
    clusters: Option<ClusterFiles>,
    waiting: WaitingFacts,
}

impl DocumentDatabase {
    /// Opens the index with this digest; `None` where there is another one, or none.
    #[must_use]
    pub fn open(path: &Path, digest: Digest) -> Option<Self> {
        let is_whole = Digest::of(&fs::read(path).ok()?) == digest;
        let database = is_whole.then(|| ReadOnlyDatabase::open(path).ok())??;
        let clusters = ClusterFiles::open(&clusters_beside(path));
        Some(Self { database, clusters, waiting: WaitingFacts::at(waiting_beside(path)) })
    }
}

impl DocumentIndex for DocumentDatabase {
    fn file_of(&self, document: &DocumentName) -> Option<String> {
        let files = self.database.begin_read().ok()?.open_table(FILES).ok()?;
        let file = files.get((document.kind.as_str(), document.name.as_str())).ok()??;
        Some(file.value().to_owned())
    }

    fn file_of_cluster(&self, cluster: &Name) -> Option<String> {
        self.clusters.as_ref()?.file_of(cluster)
    }

    fn fact_of_waiting(&self, cluster: &Name, file: Id) -> Option<Fact> {
        let at = self.clusters.as_ref()?.fact_of(cluster)?;
        self.waiting.fact(at, cluster, file)
    }

    fn all_of(&self, kind: &str) -> Vec<(DocumentName, String)> {
        self.files_of_kind(kind).unwrap_or_default()
    }

    fn standing(&self) -> Option<StandingClusters> {
        let table = self.database.begin_read().ok()?.open_table(STANDING).ok()?;
        let mut standing = StandingClusters::default();
        let mut known = false;
        for row in table.iter().ok()? {
            let (name, row) = row.ok()?;
            if name.value() == RULES {
                standing.rules = serde_json::from_slice(row.value()).ok()?;
                known = true;
                continue;
            }
            let worker: StandingWorker = serde_json::from_slice(row.value()).ok()?;
            standing.workers.insert(Name::parse(name.value()).ok()?, worker);
        }
        known.then_some(standing)
    }

    fn facts_of(&self, file: Id) -> Option<Arc<FactFile>> {
        let facts = self.database.begin_read().ok()?.open_table(FACTS).ok()?;
        let row = facts.get(&file.as_bytes()[..]).ok()??;
        serde_json::from_slice(row.value()).ok().map(Arc::new)
    }
}

impl DocumentDatabase {
    fn files_of_kind(&self, kind: &str) -> Option<Vec<(DocumentName, String)>> {
        let files = self.database.begin_read().ok()?.open_table(FILES).ok()?;
        let mut found = Vec::new();
        for row in files.range((kind, "")..).ok()? {
            let (document, file) = row.ok()?;
            let (of, name) = document.value();
            if of != kind {
                break;
            }
            found.push((DocumentName::new(kind, name), file.value().to_owned()));
        }
        Some(found)
    }
}

/// The file that knows where the clusters' documents stand.
fn clusters_beside(path: &Path) -> PathBuf {
    path.with_extension("clusters")
}

/// The file with what the clusters say that wait.
fn waiting_beside(path: &Path) -> PathBuf {
    path.with_extension("waiting")
}

/// Writes an index whole or not at all, and returns its digest. A caller may ignore the error: the next run takes
/// longer.
///
/// # Errors
/// The folder cannot be made, or the file cannot be written or moved into place.
pub fn save_documents(path: &Path, documents: &KnownDocuments) -> Result<Digest, StoreError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|e| medium(STORE, "writing", path, e))?;
    let facts = save_waiting_facts(&waiting_beside(path), &documents.waiting)?;
    save_cluster_files(&clusters_beside(path), &documents.clusters, &facts)?;
    let file = tempfile::NamedTempFile::new_in(folder);
    let file = file.map_err(|e| medium(STORE, "writing", path, e))?;
    fill(file.path(), documents).map_err(|e| medium(STORE, "writing", path, e))?;
    let bytes = fs::read(file.path()).map_err(|e| medium(STORE, "reading", path, e))?;
    file.persist(path).map_err(|e| medium(STORE, "writing", path, e.error))?;
    Ok(Digest::of(&bytes))
}

fn fill(path: &Path, documents: &KnownDocuments) -> Result<(), redb::Error> {
    let mut database = Database::create(path)?;
    let write = database.begin_write()?;
    {
        let mut files = write.open_table(FILES)?;
        for (document, file) in &documents.files {
            files.insert((document.kind.as_str(), document.name.as_str()), file.as_str())?;
        }
        let mut facts = write.open_table(FACTS)?;
        for (id, file) in &documents.facts {
            // What cannot be encoded is read from its file.
            let Ok(bytes) = serde_json::to_vec(&**file) else { continue };
            facts.insert(&id.as_bytes()[..], &bytes[..])?;
        }
        let mut standing = write.open_table(STANDING)?;
        for (name, row) in documents.standing.iter().flat_map(standing_rows) {
            standing.insert(name, &row[..])?;
        }
    }
    write.commit()?;
    // Whoever opens it reads all of it once, to know that it is whole.
    database.compact()?;
    Ok(())
}

/// The rows of what stands.
fn standing_rows(standing: &StandingClusters) -> Vec<(&str, Vec<u8>)> {
    // Without one row what stands is not known, and whoever asks looks at everything.
    let row = |name, bytes: serde_json::Result<Vec<u8>>| Some((name, bytes.ok()?));
    let rules = row(RULES, serde_json::to_vec(&standing.rules));
    let workers = standing.workers.iter();
    let workers = workers.map(|(name, worker)| row(name.as_str(), serde_json::to_vec(worker)));
    std::iter::once(rules).chain(workers).collect::<Option<_>>().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::model::{KnownFact, blob_id};

    fn documents(count: usize) -> KnownDocuments {
        let one = |i| (DocumentName::new("Worker", &format!("w{i}")), format!("fleet/{i}.yaml"));
        let files = (0..count).map(one).collect();
        let cluster = |i| (Name::parse(&format!("c{i}")).unwrap(), format!("fleet/c/{i}.yaml"));
        let clusters = (0..count).map(cluster).collect();
        let standing = Some(standing(count));
        let facts = [(blob_id(b"policies"), policies())].into();
        let waits = |i: usize| (Name::parse(&format!("c{i}")).unwrap(), waiting(i));
        let waiting = (0..count).step_by(10).map(waits).collect();
        KnownDocuments { files, clusters, facts, waiting, standing }
    }

    fn waiting(i: usize) -> KnownFact {
        let value = format!("{{\"name\":\"c{i}\"}}");
        let (file, digest) = (blob_id(value.as_bytes()), Digest::of(value.as_bytes()));
        let (kind, name) = ("ManagedCluster".to_owned(), format!("c{i}"));
        let facts = vec![Fact { document: 0, kind, name, digest, value }];
        KnownFact { file, facts: Arc::new(FactFile { facts }), nth: 0 }
    }

    fn standing(count: usize) -> StandingClusters {
        let worker = |i: usize| StandingWorker { clusters: i as u64, ..StandingWorker::default() };
        let workers = (0..count).map(|i| (Name::parse(&format!("w{i}")).unwrap(), worker(i)));
        StandingClusters { rules: Some(Digest::of(b"rules")), workers: workers.collect() }
    }

    fn policies() -> Arc<FactFile> {
        let fact = Fact {
            document: 0,
            kind: "PlacementPolicy".to_owned(),
            name: "all".to_owned(),
            digest: Digest::of(b"all"),
            value: "{}".to_owned(),
        };
        Arc::new(FactFile { facts: vec![fact] })
    }

    #[test]
    fn every_document_is_found_in_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("carp/documents.redb");
        let all = documents(3_000);
        let digest = save_documents(&path, &all).unwrap();
        let index = DocumentDatabase::open(&path, digest).unwrap();
        let found = |(document, file): (&DocumentName, &String)| {
            index.file_of(document).as_ref() == Some(file)
        };
        assert!(all.files.iter().all(found));
        let found = |(name, file)| index.file_of_cluster(name).as_ref() == Some(file);
        assert!(all.clusters.iter().all(found));
        for (name, known) in &all.waiting {
            assert_eq!(index.fact_of_waiting(name, known.file).as_ref(), known.fact());
        }
        let placed = Name::parse("c1").unwrap();
        assert_eq!(index.fact_of_waiting(&placed, waiting(1).file), None);
        assert_eq!(index.facts_of(blob_id(b"policies")), Some(policies()));
        assert_eq!(index.facts_of(blob_id(b"others")), None);
        assert_eq!(index.all_of("Worker"), all.all_of("Worker"));
        assert_eq!(index.all_of("Worker").len(), 3_000);
        assert!(index.all_of("Work").is_empty() && index.all_of("WorkerOverlay").is_empty());
        assert_eq!(index.standing(), Some(standing(3_000)));
        assert_eq!(index.file_of(&DocumentName::new("Worker", "w3000")), None);
        assert_eq!(index.file_of(&DocumentName::new("WorkerOverlay", "w1")), None);
    }

    #[test]
    fn a_new_index_takes_the_place_of_one_that_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("documents.redb");
        let first = save_documents(&path, &documents(1)).unwrap();
        let before = DocumentDatabase::open(&path, first).unwrap();
        let digest = save_documents(&path, &documents(2)).unwrap();
        let second = DocumentName::new("Worker", "w1");
        assert_eq!(before.file_of(&second), None);
        assert!(DocumentDatabase::open(&path, digest).unwrap().file_of(&second).is_some());
        assert!(DocumentDatabase::open(&path, first).is_none(), "it is another one");
    }

    #[test]
    fn one_that_is_missing_or_damaged_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("documents.redb");
        assert!(DocumentDatabase::open(&path, Digest::of(b"")).is_none());
        let digest = save_documents(&path, &documents(100)).unwrap();
        let whole = fs::read(&path).unwrap();
        let mut flipped = whole.clone();
        flipped[whole.len() / 3] ^= 1;
        for bytes in [&whole[..whole.len() / 2], &flipped, b"no database"] {
            fs::write(&path, bytes).unwrap();
            assert!(DocumentDatabase::open(&path, digest).is_none());
        }
        fs::write(&path, b"").unwrap();
        assert!(DocumentDatabase::open(&path, Digest::of(b"")).is_none(), "it is no database");
    }
}
