//! Which clusters a run looks at: those whose documents changed since the fleet last stood, those of which a report
//! says something else, those that are being deleted where a report may speak of that, and those that the last run wrote.

use std::collections::{BTreeMap, BTreeSet};

use super::super::baseline::{output_entries, status_entries};
use super::heard::Heard;
use super::locks::file;
use super::{removed, told};
use crate::change::entry_at;
use crate::load::{self, ChangedDocuments, WeighedPolicies};
use crate::model::api::FleetSpec;
use crate::model::{
    BASELINE_FORMAT, Baseline, Dir, DocumentGrowth, DocumentIndex, Entry, EntryKind, GoneCluster,
    Id, Name, ReportsSince, Snapshot, Store, StoreError, paths,
};

/// The clusters that a run looks at.
pub(super) struct AffectedScope {
    /// Those whose documents changed, with them.
    pub(super) changed: ChangedDocuments,
    /// The policies that weigh otherwise.
    pub(super) weighed: WeighedPolicies,
    /// How much was added since all documents were counted, these included.
    pub(super) growth: DocumentGrowth,
    /// Those whose documents are the same and that the last run wrote, or of which a report says something else,
    /// with their files.
    pub(super) unsettled: BTreeMap<Name, String>,
    /// Those that have no document, those among them that had one before.
    pub(super) going: BTreeSet<Name>,
    /// What was heard of workers.
    pub(super) heard: Heard,
    /// The agent on the control plane's cluster.
    pub(super) hub: Option<Name>,
}

impl AffectedScope {
    /// Every cluster.
    pub(super) fn names(&self) -> BTreeSet<Name> {
        self.files().into_keys().chain(self.going.iter().cloned()).collect()
    }

    /// Every cluster that has a document, with its file.
    pub(super) fn files(&self) -> BTreeMap<Name, String> {
        let changed = self.changed.clusters();
        self.unsettled.clone().into_iter().chain(changed).collect()
    }
}

/// The clusters that may not be as they were; `None` where something else may be, too.
pub(super) fn of(
    snapshot: &Snapshot,
    reports: &ReportsSince,
    store: &dyn Store,
    baseline: &Baseline,
    index: &dyn DocumentIndex,
) -> Result<Option<AffectedScope>, StoreError> {
    if !is_of_now(snapshot, baseline) || !stands(snapshot, store, baseline)? {
        return Ok(None);
    }
    let prefix = &snapshot.input.prefix;
    let Some(spec) = load::readable_fleet_spec(store, snapshot.input.tree, prefix)? else {
        return Ok(None);
    };
    let hub = spec.control_plane.as_ref().and_then(|hub| Name::parse(&hub.name).ok());
    let heard = if baseline.reports == reports.digest {
        Some(Heard::default())
    } else {
        Heard::read(snapshot, store, reports, hub.as_deref())?
    };
    let Some(heard) = heard else { return Ok(None) };
    let inputs = Inputs { store, prefix, trees: [baseline.input, snapshot.input.tree] };
    let Some((changed, weighed)) = inputs.changed(&spec, baseline, index)? else { return Ok(None) };
    let more = changed.growth().plus(weighed.growth);
    let growth = baseline.growth.plus(more);
    let fits = baseline.room.is_some_and(|room| growth.fits(room));
    if !fits && !more.is_none() {
        return Ok(None);
    }
    let going = going(baseline, &changed, &heard);
    let mut unsettled = baseline.unsettled.clone();
    for name in recorded(snapshot, store, heard.clusters.difference(&going))? {
        let Some(file) = index.file_of_cluster(&name) else { return Ok(None) };
        unsettled.insert(name, file);
    }
    for name in changed.clusters().keys().chain(&going) {
        unsettled.remove(name);
    }
    let scope = AffectedScope { changed, weighed, growth, unsettled, going, heard, hub };
    let workers = || scope.heard.last.keys();
    let told = told::is_busy(baseline, scope.names().iter().chain(workers()))
        || workers().any(|worker| baseline.refused.contains_key(worker))
        || (!scope.heard.last.is_empty() && told::of_no_file(baseline));
    Ok((!told && removed::may_go(baseline, &scope.going, scope.changed.removed())).then_some(scope))
}

/// Two inputs of a fleet.
struct Inputs<'a> {
    store: &'a dyn Store,
    prefix: &'a str,
    trees: [Id; 2],
}

impl Inputs<'_> {
    /// What is at a path on both sides.
    fn both(&self, path: &str) -> Result<[Option<Entry>; 2], StoreError> {
        let path = paths::in_repository(self.prefix, path);
        let [before, after] = self.trees.map(|tree| entry_at(self.store, tree, &path));
        Ok([before?, after?])
    }

    /// The directories at a path.
    fn dirs(&self, path: &str) -> Result<[Option<Id>; 2], StoreError> {
        let dir = |entry: Entry| (entry.kind == EntryKind::Dir).then_some(entry.id);
        Ok(self.both(path)?.map(|entry| entry.and_then(dir)))
    }

    /// The clusters that say something else, and the policies that weigh otherwise; `None` where anything else differs.
    fn changed(
        &self,
        spec: &FleetSpec,
        baseline: &Baseline,
        index: &dyn DocumentIndex,
    ) -> Result<Option<(ChangedDocuments, WeighedPolicies)>, StoreError> {
        let roots = spec.roots.clone().unwrap_or_default();
        for path in [paths::FLEET_FILE, &roots.templates, &roots.crds] {
            let [before, after] = self.both(path)?;
            if before != after {
                return Ok(None);
            }
        }
        let [before, after] = self.both(&roots.policies)?;
        let is_folder = |entry: Option<Entry>| entry.is_none_or(|e| e.kind == EntryKind::Dir);
        if before != after && !(is_folder(before) && is_folder(after)) {
            return Ok(None);
        }
        let policies = [before, after].map(|entry| entry.map(|entry| entry.id));
        let weighed = load::weighed_policies(self.store, &roots.policies, policies)?;
        let Some(weighed) = weighed else { return Ok(None) };
        // Pools and what moves choose by what weighs.
        let chooses = !baseline.quiet || !index.all_of("WorkerPool").is_empty();
        if weighed.otherwise && chooses {
            return Ok(None);
        }
        let sides = self.dirs("")?;
        if !is_same_beside(self.store, sides, (&roots.fleet, &roots.policies))? {
            return Ok(None);
        }
        let [before, after] = self.dirs(&roots.fleet)?;
        if before != after && told::is_too_much(baseline) {
            return Ok(None);
        }
        let changed = load::changed_clusters(self.store, spec, &roots.fleet, before, after)?;
        Ok(changed.map(|changed| (changed, weighed)))
    }
}

/// Those of the clusters of which there is a record. Of any other nobody decides anything.
fn recorded<'a>(
    snapshot: &Snapshot,
    store: &dyn Store,
    names: impl Iterator<Item = &'a Name>,
) -> Result<Vec<Name>, StoreError> {
    let mut recorded = Vec::new();
    for name in names {
        if file(snapshot, store, &paths::decision(name))?.is_some() {
            recorded.push(name.clone());
        }
    }
    Ok(recorded)
}

/// The clusters without a document that are looked at: those that had one, those that the last run wrote, and all on
/// the workers that were heard of.
fn going(baseline: &Baseline, changed: &ChangedDocuments, heard: &Heard) -> BTreeSet<Name> {
    let is_told = |(name, gone): &(&Name, &GoneCluster)| {
        gone.unsettled || heard.last.contains_key(&gone.worker) || heard.clusters.contains(*name)
    };
    let told = baseline.gone.iter().filter(is_told).map(|(name, _)| name);
    changed.removed().keys().chain(told).cloned().collect()
}

/// Whether two directories hold the same, but for what is below this path and in the folder `apart` beside it: what lies
/// beside the documents is told, too.
fn is_same_beside(
    store: &dyn Store,
    sides: [Option<Id>; 2],
    (path, apart): (&str, &str),
) -> Result<bool, StoreError> {
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let [Some(before), Some(after)] = sides else { return Ok(sides[0] == sides[1]) };
    let [before, after] = [store.dir(before)?, store.dir(after)?];
    let others = |dir: &Dir| -> Vec<_> {
        let others = dir.iter().filter(|(name, _)| *name != first && *name != apart);
        others.map(|(name, entry)| (name.to_owned(), entry)).collect()
    };
    if others(&before) != others(&after) {
        return Ok(false);
    }
    if rest.is_empty() {
        return Ok(true);
    }
    let below = |dir: &Dir| dir.get(first).filter(|e| e.kind == EntryKind::Dir).map(|e| e.id);
    is_same_beside(store, [below(&before), below(&after)], (rest, ""))
}

/// Whether it is this carp that left the fleet standing, and no deadline has passed since.
fn is_of_now(snapshot: &Snapshot, baseline: &Baseline) -> bool {
    baseline.format == BASELINE_FORMAT
        && baseline.build == snapshot.build.version
        && baseline.prefix == snapshot.input.prefix
        && snapshot.input.rewound_from.is_none()
        && baseline.from <= snapshot.now
        && baseline.until.is_none_or(|until| snapshot.now < until)
}

/// Whether the output and the status are as carp left them.
fn stands(snapshot: &Snapshot, store: &dyn Store, baseline: &Baseline) -> Result<bool, StoreError> {
    let (Some(output), Some(status)) = (snapshot.previous, snapshot.status) else {
        return Ok(false);
    };
    Ok(output_entries(snapshot, store, output)? == baseline.output
        && status_entries(snapshot, store, status)? == baseline.status)
}
