//! What the last run left standing: what a run with few changes need not load, decide and compare again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    Digest, Fact, FactFile, FleetCounts, Gate, Hold, Id, Name, PendingReasons, Refusal,
    StandingClusters, StandingWorker, Unloaded, WaitingQueue,
};
use crate::diag::Diagnostic;

/// The version of [`Baseline`]'s format.
pub const BASELINE_FORMAT: u32 = 10;

/// The state of a fleet in which planning it again would change nothing and tell nothing new, apart from the
/// clusters in `unsettled`.
///
/// It is a cache and never an input: it counts only where everything that it names is as it says, and a run
/// without it looks at everything and comes to the same end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// [`BASELINE_FORMAT`].
    pub format: u32,
    /// carp's version.
    pub build: String,
    /// The fleet's root in its repository.
    pub prefix: String,
    /// The input tree.
    pub input: Id,
    /// What carp owns on the output branch, by its roots.
    pub output: BTreeMap<String, Id>,
    /// What stands on the status branch, `fleet.yaml` apart.
    pub status: BTreeMap<String, Id>,
    /// What tells the reports that were read from any others.
    pub reports: Digest,
    /// The time of the run.
    pub from: Timestamp,
    /// Until when no time changes anything; `None`: for ever.
    pub until: Option<Timestamp>,
    /// The clusters that the run wrote, each with its file: the next run looks at them again, until one
    /// changes nothing of them.
    pub unsettled: BTreeMap<Name, String>,
    /// The keys of clusters' labels that any rule reads.
    pub label_keys: BTreeSet<String>,
    /// The clusters that say themselves which workers they may use, where any rule of spread refuses workers: an edit
    /// of one may change the domains over which it is spread. `None` where none refuses.
    pub narrowed: Option<BTreeSet<Name>>,
    /// Whether nobody behind a cluster in the queue makes a difference to it, as long as the queue is the same.
    pub in_order: bool,
    /// What there is, as the documents on the status branch say.
    pub counts: FleetCounts,
    /// The digest of what the workers say.
    pub reported: Digest,
    /// The workers whose reports do not count, and why: their statuses go on telling it.
    pub refused: BTreeMap<Name, Refusal>,
    /// The clusters and workers that are on their way, or of which something is told: a run to which one of them
    /// matters looks at everything.
    pub busy: BTreeSet<Name>,
    /// The clusters without a document: their deletion has begun, or is held because nobody said what becomes of them.
    /// Nothing else is told of them.
    pub gone: BTreeMap<Name, GoneCluster>,
    /// Whether a plan tells nothing but what changes, what waits, what is being deleted and what was found: nothing else
    /// is on its way, held, or at its limit.
    pub quiet: bool,
    /// Whether a cluster was placed since all was looked at: then something may be at its limit.
    pub placed: bool,
    /// Whether somebody acknowledged something that no run has used yet.
    pub acknowledged: bool,
    /// Whether a plan tells of acknowledgements that were used and can be removed.
    pub spent: bool,
    /// What stands on the workers of which the index of documents says something older.
    pub standing: BTreeMap<Name, StandingWorker>,
    /// The clusters that wait and of which the index of documents does not know the file, with their files.
    pub waiting: BTreeMap<Name, String>,
    /// How much could be added to the desired documents, by anybody, when they were counted; `None` where somebody had too
    /// much.
    pub room: Option<DocumentGrowth>,
    /// What was added since.
    pub growth: DocumentGrowth,
    /// What was found.
    pub findings: Vec<Diagnostic>,
    /// What did not load for it.
    pub unloaded: Vec<Unloaded>,
    /// What was verified besides; `None` where that is not known.
    pub verified: Option<Verification>,
    /// What guards hold.
    pub holds: Vec<Hold>,
    /// What keeps its last good folder.
    pub gates: Vec<Gate>,
}

impl Baseline {
    /// This baseline where the status branch was not written: it says what it said in `before`, and of the reports no
    /// more than then is folded. `None` where a cluster came to a worker or left one: what it says of that worker, or of
    /// a cluster that nobody speaks of any more, is looked at with everything.
    #[must_use]
    pub fn with_status_of(self, before: &Self) -> Option<Self> {
        if self.standing != before.standing {
            return None;
        }
        let Self { status, reports, counts, reported, .. } = before.clone();
        // What has a worker is decided, and no matter of the documents there.
        let FleetCounts { bound, pending, deleting, .. } = self.counts;
        let counts = FleetCounts { bound, pending, deleting, ..counts };
        Some(Self { status, reports, counts, reported, ..self })
    }
}

/// What was verified of a fleet besides its documents: its policies, with their tests, and what nobody reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// What was found.
    pub findings: Vec<Diagnostic>,
    /// How many policy tests ran.
    pub tests: usize,
    /// Whether policy tests were left out because something did not load.
    pub left_out: bool,
    /// The clusters of the fleet that policy tests speak of.
    pub staged: BTreeSet<Name>,
    /// How many clusters there are documents of.
    pub clusters: u64,
    /// How many workers there are.
    pub workers: u64,
    /// Whether a selector selects no cluster: what helps names the labels that clusters have.
    pub unmatched: bool,
    /// Some of the clusters that the selectors of each placement policy select, in their order; empty for a selector that
    /// selects none. While one of them is there, the selector selects somebody.
    pub witnesses: BTreeMap<Name, Vec<BTreeSet<Name>>>,
    /// The clusters on which each override policy was tried; no entry where it was tried on none.
    pub tried: BTreeMap<Name, TriedClusters>,
}

/// The clusters on which a policy was tried: the first of each flavor, then the others, until all of it had an effect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriedClusters {
    /// The clusters.
    pub names: BTreeSet<Name>,
    /// Their flavors.
    pub flavors: BTreeSet<String>,
    /// Whether these are all clusters that the policy selects, so that one more would be tried, too.
    pub all: bool,
}

/// A cluster that has a worker and no document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoneCluster {
    /// The worker that it is on, whose reports say how far its deletion is.
    pub worker: Name,
    /// Whether the run wrote something of it: the next run looks at it again.
    pub unsettled: bool,
}

/// By how much the desired documents are more than when they were counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentGrowth {
    /// Files and folders.
    pub entries: u64,
    /// Documents.
    pub documents: u64,
    /// Bytes, in whole blocks of each file.
    pub bytes: u64,
}

impl DocumentGrowth {
    /// The most files and folders that one change may add before everything is looked at, and of how many bytes it must be
    /// known whether they fit.
    pub const MOST: Self = Self { entries: 300, documents: 150, bytes: 16 << 20 };

    /// Whether there is no more than there was.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    /// Both together.
    #[must_use]
    pub const fn plus(self, more: Self) -> Self {
        Self {
            entries: self.entries.saturating_add(more.entries),
            documents: self.documents.saturating_add(more.documents),
            bytes: self.bytes.saturating_add(more.bytes),
        }
    }

    /// Whether there is so much room.
    #[must_use]
    pub const fn fits(self, room: Self) -> bool {
        self.entries <= room.entries && self.documents <= room.documents && self.bytes <= room.bytes
    }
}

/// The reports of a run that may look only at what they change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportsSince {
    /// What tells the reports that there are from any others, as [`Baseline::reports`].
    pub digest: Digest,
    /// Those that came in the place of others since the baseline. `None` where that is not known, or a report
    /// appeared or is gone.
    pub changed: Option<BTreeMap<Name, Vec<u8>>>,
}

/// A document that people wrote, by what identifies it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DocumentName {
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
}

impl DocumentName {
    /// The document of this kind and name.
    #[must_use]
    pub fn new(kind: &str, name: &str) -> Self {
        Self { kind: kind.to_owned(), name: name.to_owned() }
    }
}

/// Where documents stand, and what some files say: what is asked of a fleet that is not loaded. An answer that is
/// wrong or missing costs time only.
pub trait DocumentIndex {
    /// The file of a document that is no cluster's; `None` where none of this name is known.
    fn file_of(&self, document: &DocumentName) -> Option<String>;

    /// The file of a cluster's document; `None` where none of this name is known.
    fn file_of_cluster(&self, cluster: &Name) -> Option<String>;

    /// The file of the document of a cluster that waits; `None` where none of this name is known.
    fn file_of_waiting(&self, cluster: &Name) -> Option<String> {
        self.file_of_cluster(cluster)
    }

    /// What the document of a cluster that waits says in the file with these bytes; `None` where that is not known.
    fn fact_of_waiting(&self, cluster: &Name, file: Id) -> Option<Fact>;

    /// The documents of a kind, which is no cluster's, with their files.
    fn all_of(&self, kind: &str) -> Vec<(DocumentName, String)>;

    /// The documents of the file with these bytes; `None` where they are not known.
    fn facts_of(&self, file: Id) -> Option<Arc<FactFile>>;

    /// What stands on the workers; `None` where that is not known.
    fn standing(&self) -> Option<Arc<StandingClusters>>;

    /// Who waits for what, as the `decisions/pending.lock` with these bytes says; `None` where that is not known.
    fn pending(&self, lock: Id) -> Option<PendingReasons>;

    /// Who waits by that lock, as [`PendingLock::queue`](super::PendingLock::queue) says; `None` where that is not known.
    fn queue(&self, lock: Id) -> Option<WaitingQueue>;
}

/// What one document says, where what its whole file says is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFact {
    /// The id of the file's blob.
    pub file: Id,
    /// What the file says.
    pub facts: Arc<FactFile>,
    /// Which of these facts it is, from 0.
    pub nth: usize,
}

impl KnownFact {
    /// What the document says.
    #[must_use]
    pub fn fact(&self) -> Option<&Fact> {
        self.facts.facts.get(self.nth)
    }
}

/// What a [`DocumentIndex`] knows, as values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownDocuments {
    /// The file of each document but the clusters'.
    pub files: BTreeMap<DocumentName, String>,
    /// The file of each cluster's document, of which there are many and few are asked for.
    pub clusters: BTreeMap<Name, String>,
    /// What files say, by the ids of their blobs.
    pub facts: BTreeMap<Id, Arc<FactFile>>,
    /// What the documents of the clusters say that wait.
    pub waiting: BTreeMap<Name, KnownFact>,
    /// What stands on the workers.
    pub standing: Option<Arc<StandingClusters>>,
    /// Who waits for what, with the id of the lock that says so.
    pub pending: Option<(Id, PendingReasons)>,
    /// The queue of that lock, with its id.
    pub queue: Option<(Id, WaitingQueue)>,
}

impl DocumentIndex for KnownDocuments {
    fn file_of(&self, document: &DocumentName) -> Option<String> {
        self.files.get(document).cloned()
    }

    fn file_of_cluster(&self, cluster: &Name) -> Option<String> {
        self.clusters.get(cluster).cloned()
    }

    fn fact_of_waiting(&self, cluster: &Name, file: Id) -> Option<Fact> {
        let known = self.waiting.get(cluster).filter(|known| known.file == file)?;
        known.fact().cloned()
    }

    fn all_of(&self, kind: &str) -> Vec<(DocumentName, String)> {
        let all = self.files.range(DocumentName::new(kind, "")..);
        let of_kind = all.take_while(|(document, _)| document.kind == kind);
        of_kind.map(|(document, file)| (document.clone(), file.clone())).collect()
    }

    fn facts_of(&self, file: Id) -> Option<Arc<FactFile>> {
        self.facts.get(&file).cloned()
    }

    fn standing(&self) -> Option<Arc<StandingClusters>> {
        self.standing.clone()
    }

    fn pending(&self, lock: Id) -> Option<PendingReasons> {
        self.pending.as_ref().filter(|(of, _)| *of == lock).map(|(_, pending)| pending.clone())
    }

    fn queue(&self, lock: Id) -> Option<WaitingQueue> {
        self.queue.as_ref().filter(|(of, _)| *of == lock).map(|(_, queue)| queue.clone())
    }
}
