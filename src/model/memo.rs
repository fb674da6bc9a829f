//! The memo: what carp need not read or work out again.
//!
//! Every entry is a pure function of the object that its key names, so a memo can be missing, old or
//! taken from another machine and `propose` still gives the same bytes; it only takes longer. Entries
//! of files with findings are never kept, so findings are always found again.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Clean, Counted, Digest, Id, WorkerLock};

/// The version of the memo's format together with carp's own; a memo of any other is discarded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoKey {
    /// The version of the format.
    pub format: u32,
    /// carp's version and the digest of what is built into it.
    pub build: String,
}

/// A cache, never an input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memo {
    /// Who wrote it.
    pub key: Option<MemoKey>,
    /// The documents of a desired file, by the id of its blob.
    pub files: BTreeMap<Id, Arc<FactFile>>,
    /// The worker locks, by the id of their blob.
    pub locks: BTreeMap<Id, Arc<WorkerLock>>,
    /// The digest of a status document without its times, by the id of its blob.
    pub status: BTreeMap<Id, Digest>,
    /// The last state in which nothing that waits could be placed.
    pub settled: Option<Settled>,
    /// Where every file is as its lock says.
    #[serde(default)]
    pub clean: Clean,
    /// How the clusters of the worker locks count for spread, anti-affinity and quota.
    #[serde(default)]
    pub counted: Counted,
}

/// The documents of one desired file, in canonical form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactFile {
    /// In the order of the file.
    pub facts: Vec<Fact>,
}

/// One document: everything that matters of it, and nothing of how it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// The document in its file, from 0.
    pub document: usize,
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
    /// The digest of `value`.
    pub digest: Digest,
    /// The document in canonical JSON, short forms expanded and default-valued fields left out.
    pub value: String,
}

/// A state in which planning again changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// The digest of everything that a waiting cluster's decision depends on besides the cluster: the
    /// workers after the run, the policies, the tenants.
    pub context: Digest,
    /// The pending lock that was the outcome.
    pub pending: Id,
}
