//! The index of the fleet's documents: in which file each stands, and what the policies' files say. It is an
//! embedded database, of which a reader touches the pages on the way to a name and no others, however many
//! documents there are.
//!
//! A file of it is written once and put into place whole, so a reader never meets one that is half written, and needs no lock
//! against a writer. Whoever keeps one keeps its digest, so that one with a flipped bit is thrown away and not believed. All of it
//! is read for that, so what most runs do not ask for is in files of its own beside it: where the clusters' documents stand
//! ([`ClusterFiles`]), what documents say ([`SealedRecords`]), those of clusters that wait apart, and what stands on all workers.

use std::cell::OnceCell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use redb::{
    ReadOnlyDatabase, ReadOnlyTable, ReadableDatabase as _, ReadableTableMetadata as _,
    TableDefinition,
};

use super::cluster_files::ClusterFiles;
use super::fact_records;
use super::memo_file::load_sealed;
use super::sealed_records::SealedRecords;
use crate::model::{
    Digest, DocumentIndex, DocumentName, Fact, FactFile, Id, Name, PendingReasons,
    StandingClusters, WaitingQueue,
};

/// Kind and name to the file.
pub(super) const FILES: TableDefinition<'_, (&str, &str), &str> = TableDefinition::new("files");
/// The id of a file's blob to where what it says begins and ends among the facts.
pub(super) const FACT_PLACES: TableDefinition<'_, &[u8], (u64, u64)> =
    TableDefinition::new("facts");
/// The digest of the file with what stands on all workers, under its name.
pub(super) const DIGESTS: TableDefinition<'_, &str, &str> = TableDefinition::new("digests");
/// Where the clusters' documents stand.
pub(super) const CLUSTERS: &str = "clusters";
/// Where the documents stand of the clusters that wait, and what they say.
pub(super) const WAITING_CLUSTERS: &str = "waiting-clusters";
/// What files say.
pub(super) const FACTS: &str = "facts";
/// What the documents of clusters that wait say.
pub(super) const WAITING: &str = "waiting";
/// What stands on all workers.
pub(super) const STANDING: &str = "standing";
/// Who waits for what.
pub(super) const PENDING: &str = "pending";
/// Who waits, in the order in which they are served.
pub(super) const QUEUE: &str = "queue";

/// The table of [`FACT_PLACES`], open for reading.
type FactPlaces = ReadOnlyTable<&'static [u8], (u64, u64)>;

/// An index that is open for reading.
pub struct DocumentDatabase {
    database: ReadOnlyDatabase,
    /// The place of each file's facts: whoever asks for one asks for many.
    fact_places: OnceCell<Option<FactPlaces>>,
    clusters: Option<ClusterFiles>,
    waiting_clusters: Option<ClusterFiles>,
    /// What files say, each with the id of its blob.
    facts: SealedRecords,
    /// What the documents of clusters that wait say, each with the id of its file's blob.
    waiting: SealedRecords,
    standing_file: PathBuf,
    /// What that file says, once it was asked for.
    standing: OnceCell<Option<Arc<StandingClusters>>>,
    pending_file: PathBuf,
    queue_file: PathBuf,
}

impl DocumentDatabase {
    /// Opens the index with this digest; `None` where there is another one, or none.
    #[must_use]
    pub fn open(path: &Path, digest: Digest) -> Option<Self> {
        let is_whole = Digest::of_reader(File::open(path).ok()?).ok()? == digest;
        let database = is_whole.then(|| ReadOnlyDatabase::open(path).ok())??;
        let [clusters, waiting_clusters] =
            [CLUSTERS, WAITING_CLUSTERS].map(|of| ClusterFiles::open(&beside(path, of)));
        let [facts, waiting] = [FACTS, WAITING].map(|of| SealedRecords::at(beside(path, of)));
        let (standing_file, standing) = (beside(path, STANDING), OnceCell::new());
        let [pending_file, queue_file] = [PENDING, QUEUE].map(|of| beside(path, of));
        Some(Self {
            database,
            fact_places: OnceCell::new(),
            clusters,
            waiting_clusters,
            facts,
            waiting,
            standing_file,
            standing,
            pending_file,
            queue_file,
        })
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

    fn file_of_waiting(&self, cluster: &Name) -> Option<String> {
        let known = self.waiting_clusters.as_ref().and_then(|known| known.file_of(cluster));
        known.or_else(|| self.file_of_cluster(cluster))
    }

    fn fact_of_waiting(&self, cluster: &Name, file: Id) -> Option<Fact> {
        let at = self.waiting_clusters.as_ref()?.fact_of(cluster)?;
        let (of, FactFile { facts }) = self.waiting.get(&at, fact_records::read)?;
        facts.into_iter().find(|fact| of == file && fact.name == cluster.as_str())
    }

    fn all_of(&self, kind: &str) -> Vec<(DocumentName, String)> {
        self.files_of_kind(kind).unwrap_or_default()
    }

    fn standing(&self) -> Option<Arc<StandingClusters>> {
        self.standing.get_or_init(|| self.read_standing().map(Arc::new)).clone()
    }

    fn facts_of(&self, file: Id) -> Option<Arc<FactFile>> {
        let open = || self.database.begin_read().ok()?.open_table(FACT_PLACES).ok();
        let places = self.fact_places.get_or_init(open).as_ref()?;
        let (start, end) = places.get(&file.as_bytes()[..]).ok()??.value();
        let (of, facts) = self.facts.get(&(start..end), fact_records::read)?;
        (of == file).then(|| Arc::new(facts))
    }

    fn pending(&self, lock: Id) -> Option<PendingReasons> {
        let (of, pending): (Id, PendingReasons) = load_sealed(&self.pending_file)?;
        (of == lock).then_some(pending)
    }

    fn queue(&self, lock: Id) -> Option<WaitingQueue> {
        let (of, queue): (Id, WaitingQueue) = load_sealed(&self.queue_file)?;
        (of == lock).then_some(queue)
    }
}

impl DocumentDatabase {
    fn read_standing(&self) -> Option<StandingClusters> {
        let digests = self.database.begin_read().ok()?.open_table(DIGESTS).ok()?;
        let digest = digests.get(STANDING).ok()??;
        let bytes = fs::read(&self.standing_file).ok()?;
        let is_whole = Digest::of(&bytes).to_string() == digest.value();
        is_whole.then(|| serde_json::from_slice(&bytes).ok())?
    }

    fn files_of_kind(&self, kind: &str) -> Option<Vec<(DocumentName, String)>> {
        let files = self.database.begin_read().ok()?.open_table(FILES).ok()?;
        let mut found = Vec::with_capacity(usize::try_from(files.len().ok()?).ok()?);
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

/// A file beside the index, by what it holds.
pub(super) fn beside(path: &Path, of: &str) -> PathBuf {
    path.with_extension(of)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::save_documents;
    use super::*;
    use crate::model::{
        KnownDocuments, KnownFact, QueuedCluster, ReasonCode, StandingWorker, blob_id,
    };

    fn documents(count: usize) -> KnownDocuments {
        let one = |i| (DocumentName::new("Worker", &format!("w{i}")), format!("fleet/{i}.yaml"));
        let files = (0..count).map(one).collect();
        let cluster = |i| (Name::parse(&format!("c{i}")).unwrap(), format!("fleet/c/{i}.yaml"));
        let clusters = (0..count).map(cluster).collect();
        let standing = Some(standing(count).into());
        let facts = (0..count).map(|i| (blob_id(format!("{i}").as_bytes()), policies(i))).collect();
        let waits = |i: usize| (Name::parse(&format!("c{i}")).unwrap(), waiting(i));
        let waiting = (0..count).step_by(10).map(waits).collect();
        let (pending, queue) = (Some(pending(count)), Some(queue(count)));
        KnownDocuments { files, clusters, facts, waiting, standing, pending, queue }
    }

    fn queue(count: usize) -> (Id, WaitingQueue) {
        let name = |i| Name::parse(&format!("c{i}")).unwrap();
        let queued = |i| QueuedCluster {
            name: name(i),
            seen: i as u64,
            alike: count - 1 - i,
            labels: i % 2,
        };
        let labels = (0..2).map(|i| BTreeMap::from([("l".to_owned(), i.to_string())]).into());
        let clusters = (0..count).rev().map(queued).collect();
        let queue =
            WaitingQueue { clusters, labels: labels.collect(), keys: ["l".to_owned()].into() };
        (blob_id(format!("lock {count}").as_bytes()), queue)
    }

    fn pending(count: usize) -> (Id, PendingReasons) {
        let names = (0..count).map(|i| Name::parse(&format!("c{i}")).unwrap());
        let waiting = vec![([ReasonCode::Capacity].into(), names.collect())];
        (blob_id(format!("lock {count}").as_bytes()), PendingReasons(waiting))
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

    fn policies(i: usize) -> Arc<FactFile> {
        let fact = Fact {
            document: 0,
            kind: "PlacementPolicy".to_owned(),
            name: format!("p{i}"),
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
        let found = |(name, file): (&Name, &String)| {
            let files = [index.file_of_cluster(name), index.file_of_waiting(name)];
            files.iter().all(|found| found.as_ref() == Some(file))
        };
        assert!(all.clusters.iter().all(found));
        for (name, known) in &all.waiting {
            assert_eq!(index.fact_of_waiting(name, known.file).as_ref(), known.fact());
        }
        let placed = Name::parse("c1").unwrap();
        assert_eq!(index.fact_of_waiting(&placed, waiting(1).file), None);
        for (id, facts) in &all.facts {
            assert_eq!(index.facts_of(*id).as_ref(), Some(facts));
        }
        assert_eq!(index.facts_of(blob_id(b"others")), None);
        assert_eq!(index.all_of("Worker"), all.all_of("Worker"));
        assert_eq!(index.all_of("Worker").len(), 3_000);
        assert!(index.all_of("Work").is_empty() && index.all_of("WorkerOverlay").is_empty());
        assert_eq!(index.standing(), Some(standing(3_000).into()));
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
    fn what_a_document_says_is_that_of_its_file_or_not_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("documents.redb");
        let digest = save_documents(&path, &documents(10)).unwrap();
        let open = || DocumentDatabase::open(&path, digest).unwrap();
        let (first, name) = (blob_id(b"0"), Name::parse("c0").unwrap());
        assert_eq!(open().fact_of_waiting(&name, waiting(1).file), None, "of other bytes");
        // Of another run, whose values stand in the same places.
        let mut others = documents(10);
        let other = |i: usize| blob_id(format!("other {i}").as_bytes());
        others.facts = (0..10).map(|i| (other(i), policies(i))).collect();
        others.waiting.values_mut().for_each(|known| known.file = other(0));
        let elsewhere = folder.path().join("others.redb");
        save_documents(&elsewhere, &others).unwrap();
        for (of, found) in [(FACTS, first), (WAITING, waiting(0).file)] {
            let known = |index: DocumentDatabase| match of {
                FACTS => index.facts_of(found).is_some(),
                _ => index.fact_of_waiting(&name, found).is_some(),
            };
            let [here, there] = [&path, &elsewhere].map(|path| beside(path, of));
            let whole = fs::read(&here).unwrap();
            assert_eq!(whole.len(), fs::read(&there).unwrap().len());
            assert!(known(open()), "{of}");
            fs::copy(there, &here).unwrap();
            assert!(!known(open()), "{of}");
            fs::remove_file(here).unwrap();
            assert!(!known(open()), "{of}");
        }
    }

    #[test]
    fn what_stands_is_that_of_the_index_and_whole_or_not_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("documents.redb");
        let digest = save_documents(&path, &documents(2)).unwrap();
        let standing_now = || DocumentDatabase::open(&path, digest).unwrap().standing();
        let file = beside(&path, STANDING);
        let whole = fs::read(&file).unwrap();
        let other = serde_json::to_vec(&standing(3)).unwrap();
        for bytes in [other, whole[..whole.len() / 2].to_vec(), Vec::new()] {
            fs::write(&file, bytes).unwrap();
            assert_eq!(standing_now(), None);
        }
        fs::write(&file, whole).unwrap();
        assert_eq!(standing_now(), Some(standing(2).into()));
        let unknown = KnownDocuments { standing: None, ..documents(2) };
        let digest = save_documents(&path, &unknown).unwrap();
        assert_eq!(DocumentDatabase::open(&path, digest).unwrap().standing(), None);
    }

    #[test]
    fn who_waits_is_said_of_one_lock_or_not_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("documents.redb");
        let digest = save_documents(&path, &documents(2)).unwrap();
        let index = DocumentDatabase::open(&path, digest).unwrap();
        let (lock, known) = pending(2);
        assert_eq!(index.pending(lock), Some(known.clone()));
        assert_eq!(index.pending(pending(3).0), None, "of another lock");
        let file = beside(&path, PENDING);
        let whole = fs::read(&file).unwrap();
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            fs::write(&file, flipped).unwrap();
            assert_eq!(index.pending(lock), None, "{at}");
        }
        fs::write(&file, whole).unwrap();
        let unknown = KnownDocuments { pending: None, ..documents(3) };
        let digest = save_documents(&path, &unknown).unwrap();
        let next = DocumentDatabase::open(&path, digest).unwrap();
        assert_eq!(next.pending(lock), Some(known), "it says the same of the same lock");
        assert_eq!(next.pending(pending(3).0), None);
        fs::remove_file(file).unwrap();
        assert_eq!(next.pending(lock), None);
    }

    #[test]
    fn a_queue_is_that_of_its_lock_or_not_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("documents.redb");
        let digest = save_documents(&path, &documents(3)).unwrap();
        let index = DocumentDatabase::open(&path, digest).unwrap();
        let (lock, known) = queue(3);
        assert_eq!(index.queue(lock), Some(known));
        assert_eq!(index.queue(queue(2).0), None, "of another lock");
        let file = beside(&path, QUEUE);
        let cut_off = fs::read(&file).unwrap();
        fs::write(&file, &cut_off[..cut_off.len() - 1]).unwrap();
        assert_eq!(index.queue(lock), None);
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
