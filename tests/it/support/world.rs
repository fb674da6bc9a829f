//! A fleet in memory, run again and again: the shortest way to say "edit this, then look what happens".

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use carp::change::{TreeEdit, plan_digest};
use carp::model::{
    Build, Digest, Dir, EntryKind, Id, Input, Memo, Name, Proposal, ReportsSince, Snapshot, Store,
    StoreError, paths,
};
use carp::pipeline::{fleet_document, propose};
use carp::store::MemoryStore;

use super::{breadth, small};

/// A fleet repository without Git: the input files, the output tree, the status tree. A copy goes its own
/// way from there; the objects until then are shared.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) store: MemoryStore,
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) output: Option<Id>,
    pub(crate) status: Option<Id>,
    pub(crate) reports: Option<BTreeMap<Name, Vec<u8>>>,
    pub(crate) memo: Memo,
    pub(crate) now: jiff::Timestamp,
}

impl World {
    pub(crate) fn new(files: BTreeMap<String, String>) -> Self {
        Self {
            store: MemoryStore::default(),
            files,
            output: None,
            status: None,
            reports: None,
            memo: Memo::default(),
            now: after_nine(0),
        }
    }

    /// The small fleet after its first run, which found nothing and held nothing. One serves all tests of
    /// the process; each gets a copy of its own.
    pub(crate) fn small() -> Self {
        static SMALL: OnceLock<World> = OnceLock::new();
        let first_run = || {
            let mut world = Self::new(small::files());
            let first = world.run();
            assert!(first.diagnostics.is_empty(), "{:#?}", first.diagnostics);
            assert!(first.plan.holds.is_empty() && first.gates.is_empty());
            world
        };
        SMALL.get_or_init(first_run).clone()
    }

    /// Sets a file of the input.
    pub(crate) fn write(&mut self, path: &str, text: &str) -> &mut Self {
        self.files.insert(path.to_owned(), text.to_owned());
        self
    }

    /// Removes a file of the input.
    pub(crate) fn remove(&mut self, path: &str) -> &mut Self {
        assert!(self.files.remove(path).is_some(), "there is no {path}");
        self
    }

    /// Replaces text in a file of the input.
    pub(crate) fn edit(&mut self, path: &str, from: &str, to: &str) -> &mut Self {
        let text = self.files.get_mut(path).unwrap_or_else(|| panic!("there is no {path}"));
        assert!(text.contains(from), "{path} has no {from:?}");
        *text = text.replacen(from, to, 1);
        self
    }

    /// A person's commit on the output branch.
    fn by_hand(&mut self, change: impl FnOnce(&mut TreeEdit)) {
        let mut edit = TreeEdit::default();
        change(&mut edit);
        self.output = Some(edit.apply(&self.store, self.output).unwrap());
    }

    /// A person puts a file on the output branch.
    pub(crate) fn put_by_hand(&mut self, path: &str, bytes: impl AsRef<[u8]>) {
        let id = self.store.put_blob(bytes.as_ref()).unwrap();
        self.by_hand(|edit| edit.file(path, id));
    }

    /// A person removes a file or a folder of the output branch.
    pub(crate) fn remove_by_hand(&mut self, path: &str) {
        self.by_hand(|edit| edit.remove(path));
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut edit = TreeEdit::default();
        for (path, text) in &self.files {
            edit.file(path, self.store.put_blob(text.as_bytes()).unwrap());
        }
        Snapshot {
            input: Input {
                tree: edit.apply(&self.store, None).unwrap(),
                prefix: String::new(),
                commit: None,
                rewound_from: None,
                vouching: carp::model::Vouching::default(),
            },
            previous: self.output,
            status: self.status,
            reports: self.reports.clone(),
            now: self.now,
            build: Build::of_version("test"),
        }
    }

    /// What tells the reports from any others.
    pub(crate) fn reported(&self) -> Digest {
        Digest::of_value(&self.reports)
    }

    /// The reports, since a run that had others.
    pub(crate) fn reports_since(&self, last: Option<&BTreeMap<Name, Vec<u8>>>) -> ReportsSince {
        let both = last.zip(self.reports.as_ref()).filter(|(last, now)| last.keys().eq(now.keys()));
        let changed = both.map(|(last, now)| {
            let changed = now.iter().filter(|(worker, bytes)| last.get(*worker) != Some(bytes));
            changed.map(|(worker, bytes)| (worker.clone(), bytes.clone())).collect()
        });
        ReportsSince { digest: self.reported(), changed }
    }

    /// What the next run would commit.
    pub(crate) fn propose(&mut self) -> Proposal {
        let snapshot = self.snapshot();
        propose(&snapshot, &self.store, &mut self.memo).unwrap()
    }

    /// What the next run would commit, worked out without a memo.
    pub(crate) fn propose_afresh(&self) -> Proposal {
        propose(&self.snapshot(), &self.store, &mut Memo::default()).unwrap()
    }

    /// Runs once and commits, as a reconcile does.
    pub(crate) fn run(&mut self) -> Proposal {
        let proposal = self.propose();
        if !proposal.stopped {
            self.replays(&proposal);
            self.commit(&proposal);
        }
        proposal
    }

    /// Commits what a run proposes.
    pub(crate) fn commit(&mut self, proposal: &Proposal) {
        self.output = Some(proposal.tree);
        let status = fleet_document(proposal, "", None, None, &self.store).unwrap();
        self.status = Some(status.tree);
    }

    /// Runs so many minutes after nine, and shows that it settles: the memo changes no byte, and planning
    /// its own result changes nothing.
    #[track_caller]
    pub(crate) fn settle_at(&mut self, minute: i64) -> Proposal {
        self.now = after_nine(minute);
        let afresh = self.propose_afresh();
        let proposal = self.run();
        assert_eq!(proposal.tree, afresh.tree, "the memo changes no byte");
        assert_eq!(proposal.status_tree, afresh.status_tree);
        assert!(!proposal.stopped, "{:?}", proposal.diagnostics);
        let again = self.propose();
        assert!(!again.has_changes(), "{:?}", again.changes);
        proposal
    }

    /// The same comes of what a commit names: the fold that was pushed before it, and no report.
    fn replays(&self, proposal: &Proposal) {
        // What is not committed names nothing, and only the night asks what came of it. A fleet of thousands is about
        // something else.
        let asked = proposal.has_changes() || breadth(false, true);
        if !asked || self.files.len() > 100 {
            return;
        }
        let told = !proposal.observed.workers.is_empty() || !proposal.observed.pools.is_empty();
        let status = Some(proposal.fold_tree).filter(|_| told);
        let status = status.or(self.status);
        let past = Snapshot { status, reports: None, ..self.snapshot() };
        let replayed = propose(&past, &self.store, &mut Memo::default()).unwrap();
        assert_eq!(
            replayed.tree, proposal.tree,
            "a past decision needs nothing but the repository"
        );
        let digest = |p: &Proposal| plan_digest(&p.plan, &p.previous, &p.gates);
        assert_eq!(digest(&replayed), digest(proposal));
    }

    /// The text of a file of the output.
    pub(crate) fn output_text(&self, path: &str) -> Option<String> {
        text_at(&self.store, self.output?, path)
    }

    /// The text of a file of the status branch.
    pub(crate) fn status_text(&self, path: &str) -> Option<String> {
        text_at(&self.store, self.status?, path)
    }

    /// What the status branch says of a cluster.
    pub(crate) fn cluster_status(&self, cluster: &str) -> Option<String> {
        self.status_text(&cluster_status(cluster))
    }

    /// All files of the output, by path.
    pub(crate) fn output_files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        if let Some(root) = self.output {
            files_below(&self.store, root, "", &mut |path, id| {
                files.insert(path.to_owned(), self.store.blob(id).unwrap().to_vec());
            });
        }
        files
    }

    /// The worker that a cluster is on, as its record says.
    pub(crate) fn worker_of(&self, cluster: &str) -> Option<String> {
        let text = self.output_text(&record(cluster))?;
        text.lines().find_map(|l| l.strip_prefix("worker: ")).map(str::to_owned)
    }
}

/// The time so many minutes after nine, when a world begins.
pub(crate) fn after_nine(minutes: i64) -> jiff::Timestamp {
    let nine: jiff::Timestamp = "2026-11-01T09:00:00Z".parse().unwrap();
    nine + jiff::SignedDuration::from_mins(minutes)
}

/// The path of a cluster's record on the output branch.
pub(crate) fn record(cluster: &str) -> String {
    paths::decision(&Name::parse(cluster).unwrap())
}

/// The path of what the status branch says of a cluster.
pub(crate) fn cluster_status(cluster: &str) -> String {
    format!("clusters/{}/{cluster}.yaml", paths::shard(cluster))
}

/// The text at a path below a tree.
pub(crate) fn text_at(store: &dyn Store, root: Id, path: &str) -> Option<String> {
    let entry = carp::change::entry_at(store, root, path).unwrap()?;
    Some(String::from_utf8(store.blob(entry.id).unwrap().to_vec()).unwrap())
}

/// Calls back for every file below a tree.
pub(crate) fn files_below(
    store: &dyn Store,
    root: Id,
    path: &str,
    found: &mut dyn FnMut(&str, Id),
) {
    for (name, entry) in store.dir(root).unwrap().iter() {
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
        match entry.kind {
            EntryKind::Dir => files_below(store, entry.id, &path, found),
            _ => found(&path, entry.id),
        }
    }
}

/// A store that fails on reading any file that it was not told of.
pub(crate) struct Tripwire<'a> {
    inner: &'a dyn Store,
    allowed: BTreeSet<Id>,
    put: RefCell<BTreeSet<Id>>,
}

impl<'a> Tripwire<'a> {
    pub(crate) fn new(inner: &'a dyn Store, allowed: BTreeSet<Id>) -> Self {
        Self { inner, allowed, put: RefCell::default() }
    }
}

impl Store for Tripwire<'_> {
    fn dir(&self, id: Id) -> Result<Arc<Dir>, StoreError> {
        self.inner.dir(id)
    }

    fn blob(&self, id: Id) -> Result<Arc<[u8]>, StoreError> {
        if self.allowed.contains(&id) || self.put.borrow().contains(&id) {
            return self.inner.blob(id);
        }
        let text = String::from_utf8_lossy(&self.inner.blob(id)?).into_owned();
        Err(StoreError::Medium {
            store: "the tripwire".to_owned(),
            detail: format!("read {id}, which a change of this size may not read:\n{text}"),
        })
    }

    fn blob_size(&self, id: Id) -> Result<u64, StoreError> {
        self.inner.blob_size(id)
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Id, StoreError> {
        let id = self.inner.put_blob(bytes)?;
        self.put.borrow_mut().insert(id);
        Ok(id)
    }

    fn put_dir(&self, dir: &Dir) -> Result<Id, StoreError> {
        self.inner.put_dir(dir)
    }
}
