//! Writes the index of the fleet's documents, and the files beside it.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;

use redb::Database;
use serde::Serialize;

use super::cluster_files::save_cluster_files;
use super::document_database::{
    CLUSTERS, DIGESTS, FACT_PLACES, FACTS, FILES, PENDING, QUEUE, STANDING, WAITING,
    WAITING_CLUSTERS, beside,
};
use super::fact_records;
use super::medium;
use super::memo_file::sealed;
use super::sealed_records::save_records;
use super::whole_file::write_whole;
use crate::model::{Digest, Id, KnownDocuments, StandingClusters, StoreError};

const STORE: &str = "the index of documents";

/// Writes an index whole or not at all, and returns its digest. A caller may ignore the error: the next run takes
/// longer.
///
/// # Errors
/// The folder cannot be made, or the file cannot be written or moved into place.
pub fn save_documents(path: &Path, documents: &KnownDocuments) -> Result<Digest, StoreError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|e| medium(STORE, "writing", path, e))?;
    let waiting = documents.waiting.iter();
    let waiting =
        waiting.filter_map(|(name, known)| Some((name.clone(), (known.file, known.fact()?))));
    let waiting = save_records(STORE, &beside(path, WAITING), waiting, |into, (file, fact)| {
        fact_records::write(into, file, [fact])
    })?;
    let clusters = &documents.clusters;
    let all = clusters.iter().map(|(name, file)| (name, file, None));
    save_cluster_files(&beside(path, CLUSTERS), all)?;
    let waits = |(name, at)| Some((name, clusters.get(name)?, Some(at)));
    save_cluster_files(&beside(path, WAITING_CLUSTERS), waiting.iter().filter_map(waits))?;
    // In the order in which they are asked for: files mostly are called like what is in them.
    let mut facts: Vec<_> = documents.facts.iter().collect();
    facts.sort_by_key(|(_, file)| file.facts.first().map(|fact| (&fact.kind, &fact.name)));
    let facts = facts.into_iter().map(|(id, file)| (*id, (*id, &file.facts)));
    let facts = save_records(STORE, &beside(path, FACTS), facts, |into, (id, facts)| {
        fact_records::write(into, id, facts)
    })?;
    let standing = save_standing(&beside(path, STANDING), documents.standing.as_deref())?;
    save_of_lock(&beside(path, PENDING), documents.pending.as_ref())?;
    save_of_lock(&beside(path, QUEUE), documents.queue.as_ref())?;
    let failed = |e: std::io::Error| medium(STORE, "writing", path, e);
    let file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    fill(file.path(), documents, (&facts, standing))
        .map_err(|e| medium(STORE, "writing", path, e))?;
    let bytes = fs::read(file.path()).map_err(|e| medium(STORE, "reading", path, e))?;
    file.persist(path).map_err(|e| failed(e.error))?;
    Ok(Digest::of(&bytes))
}

/// Writes what stands on all workers, and returns the digest of the file; `None` where that is not known.
fn save_standing(
    path: &Path,
    standing: Option<&StandingClusters>,
) -> Result<Option<Digest>, StoreError> {
    // What cannot be encoded is not known either, and whoever asks looks at everything.
    let Some(Ok(bytes)) = standing.map(serde_json::to_vec) else { return Ok(None) };
    write_whole(path, &bytes).map_err(|e| medium(STORE, "writing", path, e))?;
    Ok(Some(Digest::of(&bytes)))
}

/// Writes what a lock says. Where that is not known, what stands in the file is of another lock.
fn save_of_lock<T: Serialize>(path: &Path, said: Option<&(Id, T)>) -> Result<(), StoreError> {
    let Some(Ok(bytes)) = said.map(sealed) else { return Ok(()) };
    write_whole(path, &bytes).map_err(|e| medium(STORE, "writing", path, e))
}

fn fill(
    path: &Path,
    documents: &KnownDocuments,
    (facts, standing): (&BTreeMap<Id, Range<u64>>, Option<Digest>),
) -> Result<(), redb::Error> {
    let mut database = Database::create(path)?;
    let write = database.begin_write()?;
    {
        let mut files = write.open_table(FILES)?;
        for (document, file) in &documents.files {
            files.insert((document.kind.as_str(), document.name.as_str()), file.as_str())?;
        }
        let mut places = write.open_table(FACT_PLACES)?;
        for (id, at) in facts {
            places.insert(&id.as_bytes()[..], (at.start, at.end))?;
        }
        let mut digests = write.open_table(DIGESTS)?;
        if let Some(standing) = standing {
            digests.insert(STANDING, standing.to_string().as_str())?;
        }
    }
    write.commit()?;
    // Whoever opens it reads all of it once, to know that it is whole.
    database.compact()?;
    Ok(())
}
