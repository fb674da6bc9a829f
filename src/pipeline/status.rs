//! The status branch's tree: the folded reports, and a document per cluster and worker.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::change::{TreeEdit, entry_at};
use crate::load::emit_yaml;
use crate::model::{
    ClusterState, Digest, Dir, EntryKind, Fleet, FleetCounts, Gate, Id, Memo, Name, Observed,
    POOL_FOLD_SCHEMA, Plan, PoolFold, Previous, Proposal, Snapshot, Store, StoreError, paths,
};
use crate::status::{
    ClusterDocument, Conditioned, DataStoreUse, FleetInput, FleetStatus, StatusDocument,
    StatusInput, WorkerDocument, cluster_status, fleet_status, set_transition_times,
    timeless_digest, worker_status,
};

const CLUSTER_DOCUMENTS: &str = "clusters";
const WORKER_DOCUMENTS: &str = "workers";
/// The document that names commits, and so is never the same twice.
pub(super) const FLEET_DOCUMENT: &str = "fleet.yaml";

/// What the documents are made from.
#[derive(Clone, Copy)]
pub(super) struct Documents<'a> {
    pub(super) fleet: &'a Fleet,
    pub(super) previous: &'a Previous,
    pub(super) observed: &'a Observed,
}

/// The trees for the status branch.
pub(super) struct StatusTrees {
    /// The branch as it stands, with the folded reports of this run.
    pub(super) fold: Id,
    /// The tree with the documents of this run, `fleet.yaml` as it was.
    pub(super) all: Id,
    /// What there is.
    pub(super) counts: FleetCounts,
}

impl Documents<'_> {
    pub(super) fn write(
        self,
        snapshot: &Snapshot,
        store: &dyn Store,
        memo: &mut Memo,
        plan: &Plan,
        gates: &[Gate],
    ) -> Result<StatusTrees, StoreError> {
        let Documents { fleet, previous, observed } = self;
        let fold = self.fold(snapshot, store)?;
        let input = StatusInput { fleet, previous, observed, plan, gates };
        let mut sheet =
            StatusTreeEdit::open(snapshot, store, std::mem::take(&mut memo.status), fold)?;
        let (mut counts, mut used) = (FleetCounts::default(), DataStoreUse::default());
        for (name, planned) in &plan.clusters {
            counts.add_planned(planned);
            if let Some(document) = cluster_status(input, name) {
                counts.add_cluster(document.status.phase.clone());
                used.add_document(&document);
                let path = format!("{CLUSTER_DOCUMENTS}/{}/{name}.yaml", paths::shard(name));
                sheet.set(path, document)?;
            }
        }
        for name in plan.workers.keys() {
            if let Some(document) = worker_status(input, name, &used) {
                counts.add_worker(document.status.phase.clone());
                sheet.set(format!("{WORKER_DOCUMENTS}/{name}.yaml"), document)?;
            }
        }
        let (all, kept) = sheet.close(fold)?;
        memo.status = kept;
        Ok(StatusTrees { fold, all, counts })
    }

    /// Writes the documents of the planned clusters and of the workers in `heard` alone, where all were counted in
    /// `counts` before but those that come now. Says which of the clusters have another than before. Those in `waits` go
    /// on waiting as they did, and have the one that they had.
    pub(super) fn write_part(
        self,
        snapshot: &Snapshot,
        store: &dyn Store,
        plan: &Plan,
        counts: &FleetCounts,
        (heard, waits): (&BTreeSet<Name>, &BTreeSet<Name>),
    ) -> Result<(StatusTrees, Vec<Name>), StoreError> {
        let Documents { fleet, previous, observed } = self;
        let mut edit = TreeEdit::default();
        self.reports(snapshot, store, &mut edit, |worker| heard.contains(worker))?;
        let fold = applied(&edit, store, snapshot.status)?;
        let input = StatusInput { fleet, previous, observed, plan, gates: &[] };
        let mut sheet = StatusTreeEdit::new(snapshot, store, BTreeMap::new());
        let (mut counts, mut told) = (counts.clone(), Vec::new());
        let mut used = DataStoreUse::default();
        for (name, planned) in plan.clusters.iter().filter(|(name, _)| !waits.contains(*name)) {
            let path = format!("{CLUSTER_DOCUMENTS}/{}/{name}.yaml", paths::shard(name));
            let before = sheet.find(fold, &path)?;
            if before.is_some() {
                counts.take_cluster(cluster_phase(store, before)?.as_deref());
            }
            counts.take_state(state_of(previous, name));
            if previous.pending.clusters.contains_key(name) {
                counts.take_pending();
            }
            counts.add_planned(planned);
            if let Some(document) = cluster_status(input, name) {
                counts.add_cluster(document.status.phase.clone());
                used.add_document(&document);
                if Some(sheet.set(path, document)?) != before {
                    told.push(name.clone());
                }
            }
        }
        used.add_standing(input, heard);
        for name in heard {
            let path = format!("{WORKER_DOCUMENTS}/{name}.yaml");
            let before = sheet.find(fold, &path)?;
            if let Some(document) = worker_status(input, name, &used) {
                counts.take_worker(worker_phase(store, before)?.as_deref());
                counts.add_worker(document.status.phase.clone());
                sheet.set(path, document)?;
            }
        }
        let (all, _) = sheet.close(fold)?;
        Ok((StatusTrees { fold, all, counts }, told))
    }

    fn fold(self, snapshot: &Snapshot, store: &dyn Store) -> Result<Id, StoreError> {
        let mut edit = TreeEdit::default();
        self.reports(snapshot, store, &mut edit, |_| true)?;
        for name in self.forgotten(snapshot, store)? {
            let path = format!("{}/{name}.yaml", paths::OBSERVED);
            edit.remove(&paths::in_repository(&snapshot.input.prefix, &path));
        }
        self.pools(snapshot, store, &mut edit)?;
        applied(&edit, store, snapshot.status)
    }
}

/// The tree after an edit; without a tree before and without an edit an empty one.
fn applied(edit: &TreeEdit, store: &dyn Store, base: Option<Id>) -> Result<Id, StoreError> {
    match base {
        None if edit.is_empty() => store.put_dir(&Dir::default()),
        base => edit.apply(store, base),
    }
}

/// How a cluster was placed before; `None` for one that was not.
fn state_of(previous: &Previous, name: &Name) -> Option<ClusterState> {
    let mut rows = previous.workers.values().filter_map(|lock| lock.clusters.get(name));
    rows.find(|row| row.state != ClusterState::Reserved).map(|row| row.state)
}

/// The phase that a cluster's document says.
fn cluster_phase(store: &dyn Store, document: Option<Id>) -> Result<Option<String>, StoreError> {
    let document: Option<ClusterDocument> = document_at(store, document)?;
    Ok(document.and_then(|document| document.status.phase))
}

/// The phase that a worker's document says.
fn worker_phase(store: &dyn Store, document: Option<Id>) -> Result<Option<String>, StoreError> {
    let document: Option<WorkerDocument> = document_at(store, document)?;
    Ok(document.and_then(|document| document.status.phase))
}

fn document_at<T: DeserializeOwned>(
    store: &dyn Store,
    document: Option<Id>,
) -> Result<Option<T>, StoreError> {
    let Some(id) = document else { return Ok(None) };
    Ok(crate::load::read_yaml(&store.blob(id)?).ok())
}

impl Documents<'_> {
    /// The folded reports of some workers.
    fn reports(
        self,
        snapshot: &Snapshot,
        store: &dyn Store,
        edit: &mut TreeEdit,
        of: impl Fn(&Name) -> bool,
    ) -> Result<(), StoreError> {
        for (name, report) in self.observed.workers.iter().filter(|(name, _)| of(name)) {
            let path = format!("{}/{name}.yaml", paths::OBSERVED);
            let path = paths::in_repository(&snapshot.input.prefix, &path);
            edit.file(&path, store.put_blob(emit_yaml(report).as_bytes())?);
        }
        Ok(())
    }

    /// What time did to the workers of pools.
    fn pools(
        self,
        snapshot: &Snapshot,
        store: &dyn Store,
        edit: &mut TreeEdit,
    ) -> Result<(), StoreError> {
        let path = paths::in_repository(&snapshot.input.prefix, paths::POOLS);
        let workers = &self.observed.pools;
        if !workers.is_empty() {
            let fold = PoolFold { schema_version: POOL_FOLD_SCHEMA, workers: workers.clone() };
            edit.file(&path, store.put_blob(emit_yaml(&fold).as_bytes())?);
        } else if let Some(base) = snapshot.status
            && entry_at(store, base, &path)?.is_some()
        {
            edit.remove(&path);
        }
        Ok(())
    }

    /// The workers of which a fold is there and nothing is known any more: they are gone.
    fn forgotten(self, snapshot: &Snapshot, store: &dyn Store) -> Result<Vec<Name>, StoreError> {
        let path = paths::in_repository(&snapshot.input.prefix, paths::OBSERVED);
        let there = snapshot.status.map(|base| entry_at(store, base, &path)).transpose()?.flatten();
        let Some(entry) = there.filter(|entry| entry.kind == EntryKind::Dir) else {
            return Ok(Vec::new());
        };
        let folds = store.dir(entry.id)?;
        let names = folds.iter().filter(|(_, entry)| entry.kind == EntryKind::File);
        let names = names.filter_map(|(file, _)| Name::parse(file.strip_suffix(".yaml")?).ok());
        Ok(names.filter(|name| !self.observed.workers.contains_key(name)).collect())
    }
}

/// Whether carp writes its documents to such a path. Others may keep files beside them, and another
/// fleet may have its own below.
fn is_document(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let name = |file: &str| file.strip_suffix(".yaml").and_then(|n| Name::parse(n).ok());
    match parts.as_slice() {
        [WORKER_DOCUMENTS, file] => name(file).is_some(),
        [CLUSTER_DOCUMENTS, shard, file] => name(file).is_some_and(|n| paths::shard(&n) == **shard),
        _ => false,
    }
}

/// The status tree as it is being edited.
struct StatusTreeEdit<'a> {
    snapshot: &'a Snapshot,
    store: &'a dyn Store,
    known: BTreeMap<Id, Digest>,
    kept: BTreeMap<Id, Digest>,
    /// The documents that were there and were not set yet, by their path from the fleet's root.
    there: BTreeMap<String, Id>,
    edit: TreeEdit,
}

impl<'a> StatusTreeEdit<'a> {
    /// Lists the documents that are there; each directory is read once.
    fn open(
        snapshot: &'a Snapshot,
        store: &'a dyn Store,
        known: BTreeMap<Id, Digest>,
        base: Id,
    ) -> Result<Self, StoreError> {
        let mut sheet = Self::new(snapshot, store, known);
        for root in [CLUSTER_DOCUMENTS, WORKER_DOCUMENTS] {
            let path = paths::in_repository(&snapshot.input.prefix, root);
            if let Some(entry) = entry_at(store, base, &path)? {
                list(store, entry.id, root, &mut sheet.there)?;
            }
        }
        Ok(sheet)
    }

    /// A sheet on which nothing is yet.
    fn new(snapshot: &'a Snapshot, store: &'a dyn Store, known: BTreeMap<Id, Digest>) -> Self {
        let (kept, there, edit) = (BTreeMap::new(), BTreeMap::new(), TreeEdit::default());
        Self { snapshot, store, known, kept, there, edit }
    }

    /// The document of this path on a tree, which is there and was not set yet.
    fn find(&mut self, tree: Id, path: &str) -> Result<Option<Id>, StoreError> {
        let there = paths::in_repository(&self.snapshot.input.prefix, path);
        let id = entry_at(self.store, tree, &there)?.map(|entry| entry.id);
        self.there.extend(id.map(|id| (path.to_owned(), id)));
        Ok(id)
    }

    /// Sets a document, unless the one that is there says the same; returns the id of what is there then.
    fn set<T>(&mut self, path: String, mut document: StatusDocument<T>) -> Result<Id, StoreError>
    where
        T: Conditioned + Serialize + DeserializeOwned + Clone,
    {
        let digest = timeless_digest(&document);
        let there = self.there.remove(&path);
        if let Some(id) = there.filter(|id| self.known.get(id) == Some(&digest)) {
            self.kept.insert(id, digest);
            return Ok(id);
        }
        let old: Option<StatusDocument<T>> = match there {
            Some(id) => crate::load::read_yaml(&self.store.blob(id)?).ok(),
            None => None,
        };
        set_transition_times(&mut document, old, self.snapshot.now);
        let id = self.store.put_blob(emit_yaml(&document).as_bytes())?;
        self.kept.insert(id, digest);
        if there != Some(id) {
            self.edit.file(&paths::in_repository(&self.snapshot.input.prefix, &path), id);
        }
        Ok(id)
    }

    /// Removes the documents that nothing speaks of any more. Returns the tree, and the digests to
    /// remember.
    fn close(mut self, base: Id) -> Result<(Id, BTreeMap<Id, Digest>), StoreError> {
        for path in self.there.keys().filter(|path| is_document(path)) {
            self.edit.remove(&paths::in_repository(&self.snapshot.input.prefix, path));
        }
        Ok((self.edit.apply(self.store, Some(base))?, self.kept))
    }
}

fn list(
    store: &dyn Store,
    dir: Id,
    path: &str,
    found: &mut BTreeMap<String, Id>,
) -> Result<(), StoreError> {
    for (name, entry) in store.dir(dir)?.iter() {
        let path = format!("{path}/{name}");
        match entry.kind {
            EntryKind::Dir => list(store, entry.id, &path, found)?,
            _ => {
                found.insert(path, entry.id);
            }
        }
    }
    Ok(())
}

/// The status branch as it is to be, with `fleet.yaml`.
pub struct FleetDocument {
    /// The tree.
    pub tree: Id,
    /// `fleet.yaml`.
    pub status: FleetStatus,
    /// Whether it says something that people should not wait for.
    pub at_once: bool,
}

/// The status tree of a proposal with `fleet.yaml`, once the output commit is known. An input commit
/// alone is no news: where nothing else changes, the document keeps naming the one that it was made
/// from, and the tree stays as it is.
///
/// # Errors
/// The store failed.
pub fn fleet_document(
    proposal: &Proposal,
    prefix: &str,
    output: Option<Id>,
    input: Option<Id>,
    store: &dyn Store,
) -> Result<FleetDocument, StoreError> {
    let from = FleetInput {
        name: &proposal.fleet.name,
        counts: &proposal.counts,
        holds: &proposal.plan.holds,
        findings: &proposal.diagnostics,
    };
    let mut status = fleet_status(from, output, input);
    let path = paths::in_repository(prefix, FLEET_DOCUMENT);
    let before = fleet_before(proposal, &path, store)?;
    let at_once = before.as_ref().is_none_or(|before| status.is_urgent_after(before));
    if let Some(before) = before {
        status.keep_input_of(&before);
    }
    let mut edit = TreeEdit::default();
    edit.file(&path, store.put_blob(emit_yaml(&status).as_bytes())?);
    let tree = edit.apply(store, Some(proposal.status_tree))?;
    Ok(FleetDocument { tree, status, at_once })
}

/// `fleet.yaml` as the branch has it; `None` where it is not there or cannot be read.
fn fleet_before(
    proposal: &Proposal,
    path: &str,
    store: &dyn Store,
) -> Result<Option<FleetStatus>, StoreError> {
    let Some(base) = proposal.status_base else { return Ok(None) };
    Ok(match entry_at(store, base, path)? {
        Some(entry) => crate::load::read_yaml(&store.blob(entry.id)?).ok(),
        None => None,
    })
}
