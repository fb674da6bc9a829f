//! The branch with the status: one file for each cluster, one commit for each change.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::super::Error;
use super::desired::ObjectKey;
use super::record::{KIND_RECORD_SCHEMA, KindRecord};
use crate::git::{CommitDraft, GitStore, PushOutcome, Repository};
use crate::load::{emit_yaml, read_yaml};
use crate::model::{Dir, Entry, EntryKind, Id, Store as _};

/// The remote of carp's own clone.
pub(super) const REMOTE: &str = "origin";

/// The branch as it was read, and what is to be written there.
pub(super) struct Branch<'r> {
    repository: &'r Repository,
    store: &'r GitStore<'r>,
    /// The full name of the ref.
    name: String,
    /// The commit that it is at; `None` before the first.
    tip: Option<Id>,
    /// Its files.
    pub(super) records: BTreeMap<ObjectKey, KindRecord>,
}

impl<'r> Branch<'r> {
    /// Reads a branch.
    ///
    /// # Errors
    /// A file of it cannot be read, or is of a newer carp.
    pub(super) fn read(
        repository: &'r Repository,
        store: &'r GitStore<'r>,
        name: String,
        tip: Option<Id>,
    ) -> Result<Self, Error> {
        let mut branch = Self { repository, store, name, tip, records: BTreeMap::new() };
        let Some(tip) = tip else { return Ok(branch) };
        for (namespace, entry) in store.dir(repository.commit_tree(tip)?)?.iter_bytes() {
            if entry.kind != EntryKind::Dir {
                continue;
            }
            let namespace = String::from_utf8_lossy(namespace).into_owned();
            for (file, entry) in store.dir(entry.id)?.iter_bytes() {
                let path = format!("{namespace}/{}", String::from_utf8_lossy(file));
                let record = branch.record(entry.id, &path)?;
                branch.records.insert((record.namespace.clone(), record.name.clone()), record);
            }
        }
        Ok(branch)
    }

    fn record(&self, id: Id, path: &str) -> Result<KindRecord, Error> {
        let failed = |detail: String| Error::Status {
            name: self.name.clone(),
            path: path.to_owned(),
            detail,
        };
        let bytes = self.store.blob(id)?;
        let schema = |bytes: &[u8]| -> Option<u64> {
            read_yaml::<serde_json::Value>(bytes).ok()?["schemaVersion"].as_u64()
        };
        if schema(&bytes).is_some_and(|schema| schema > KIND_RECORD_SCHEMA.into()) {
            return Err(failed("it is of a newer carp".to_owned()));
        }
        let record: KindRecord = read_yaml(&bytes).map_err(failed)?;
        let belongs = format!("{}/{}.yaml", record.namespace, record.name);
        if belongs == path { Ok(record) } else { Err(failed(format!("it is of {belongs}"))) }
    }

    /// Writes the records, if they are others than before, and pushes them. What was not pushed did not
    /// happen: nothing is made before its intent is there.
    ///
    /// # Errors
    /// The disk or the remote failed, or another process wrote meanwhile.
    pub(super) fn save(&mut self, message: &str, now: Timestamp) -> Result<(), Error> {
        let tree = self.tree()?;
        let before = self.tip.map(|tip| self.repository.commit_tree(tip)).transpose()?;
        if before == Some(tree) || (before.is_none() && self.records.is_empty()) {
            return Ok(());
        }
        let commit = self.store.commit(&CommitDraft {
            tree,
            parents: self.tip.into_iter().collect(),
            message: message.to_owned(),
            name: "carp".to_owned(),
            email: "carp@carp.dev".to_owned(),
            time: now,
        });
        self.store.flush()?;
        let refused = |detail: String| Error::Refused { name: self.name.clone(), detail };
        match self.repository.push(REMOTE, commit, &self.name, self.tip)? {
            PushOutcome::Done => {}
            PushOutcome::Unknown { text } => {
                if self.repository.remote_ref(REMOTE, &self.name)? != Some(commit) {
                    return Err(refused(text.to_string()));
                }
            }
            PushOutcome::Raced { text } => {
                return Err(refused(format!("another process wrote meanwhile ({text})")));
            }
            PushOutcome::Refused { text } | PushOutcome::Auth { text } => {
                return Err(refused(text.to_string()));
            }
        }
        self.tip = Some(commit);
        Ok(())
    }

    fn tree(&self) -> Result<Id, Error> {
        let mut folders: BTreeMap<&str, Dir> = BTreeMap::new();
        for ((namespace, name), record) in &self.records {
            let id = self.store.put_blob(emit_yaml(record).as_bytes())?;
            let folder = folders.entry(namespace).or_default();
            folder.insert(format!("{name}.yaml"), Entry { kind: EntryKind::File, id });
        }
        let mut root = Dir::default();
        for (namespace, folder) in folders {
            let id = self.store.put_dir(&folder)?;
            root.insert(namespace, Entry { kind: EntryKind::Dir, id });
        }
        Ok(self.store.put_dir(&root)?)
    }
}
