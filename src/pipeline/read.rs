//! Everything that a run reads before it decides anything.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::drift::{self, Drift};
use super::folders;
use super::rebuild::{self, RebuildInput};
use super::recall;
use super::whole;
use crate::change::{self, entry_at};
use crate::diag::{Code, Diagnostic, Diagnostics, FieldPath, Place};
use crate::gate;
use crate::load::{self, Loaded};
use crate::model::api::DriftPolicy;
use crate::model::{
    Dir, EntryKind, FleetCounts, FoldedReport, Hold, Id, Memo, Name, Observed, Owned,
    PendingReasons, Plan, PlanOverrides, Previous, Proposal, Report, Snapshot, Store, StoreError,
    WaitingAhead, Work, count, paths,
};
use crate::plan::{self, FoldInput, PoolFoldInput};
use crate::render::Templates;
use crate::schemas::CrdSet;

/// What was read.
pub(super) struct Read {
    pub(super) loaded: Loaded,
    pub(super) previous: Previous,
    pub(super) observed: Observed,
    pub(super) diagnostics: Diagnostics,
    pub(super) templates: Templates,
    pub(super) drift: Drift,
    pub(super) valid_until: Option<jiff::Timestamp>,
    pub(super) stopped: bool,
}

/// What the agents say, beside what is folded.
#[derive(Default)]
pub(super) struct HeardReports {
    /// What is folded of the workers whose reports are read.
    pub(super) last: BTreeMap<Name, FoldedReport>,
    /// Their reports. `None` where none were looked for.
    pub(super) said: Option<BTreeMap<Name, Report>>,
    /// The workers whose report is there and cannot be used.
    pub(super) unusable: BTreeSet<Name>,
    /// What is folded of workers whose reports are known to be the same.
    pub(super) standing: BTreeMap<Name, FoldedReport>,
    /// Whether there are other workers besides.
    pub(super) is_part: bool,
}

impl Read {
    pub(super) fn new(
        snapshot: &Snapshot,
        store: &dyn Store,
        memo: &mut Memo,
    ) -> Result<Self, StoreError> {
        let prefix = &snapshot.input.prefix;
        let (previous, found) = load::previous(store, snapshot.previous, prefix, memo)?;
        let loaded =
            load::load_beside(&snapshot.input, store, memo, &previous, &snapshot.build.work)?;
        let (mut read, _) = Self::unfolded(loaded, previous);
        read.stopped |= found.has_errors();
        read.diagnostics.extend(found);
        let without_pools = read.previous.pools().is_empty();
        if !read.stopped {
            read.output(snapshot, store, memo)?;
        }
        let pools_are_back = without_pools && !read.previous.pools().is_empty();
        if !read.stopped && (pools_are_back || !read.previous.damaged.is_empty()) {
            read.load_again(snapshot, store, memo)?;
        }
        read.reports(snapshot, store)?;
        Ok(read)
    }

    /// What was loaded beside these locks, with nothing else read and nothing folded yet, and whether all of its templates
    /// can be read.
    pub(super) fn unfolded(loaded: Loaded, previous: Previous) -> (Self, bool) {
        let (mut templates, mut unread) = Templates::built_in().with(&loaded.templates);
        if !loaded.crds.is_empty() {
            let root = loaded.fleet.spec.roots.clone().unwrap_or_default().crds;
            let set = CrdSet::new(&root, &loaded.crds);
            unread.extend(set.unread().map(|(file, why)| crd_not_read(&root, file, why)));
            templates = templates.held_against(Arc::new(set));
        }
        let all_read = unread.is_empty();
        let mut diagnostics = loaded.diagnostics.clone();
        diagnostics.extend(unread);
        let stopped = loaded.fleet_broken;
        let read = Self {
            loaded,
            previous,
            observed: Observed::default(),
            diagnostics,
            templates,
            drift: Drift::default(),
            valid_until: None,
            stopped,
        };
        (read, all_read)
    }

    /// Loads the fleet beside locks that were lost and are there again: they know what pools made, and who
    /// has a name.
    fn load_again(
        &mut self,
        snapshot: &Snapshot,
        store: &dyn Store,
        memo: &mut Memo,
    ) -> Result<(), StoreError> {
        let mut again =
            load::load_beside(&snapshot.input, store, memo, &self.previous, &snapshot.build.work)?;
        again.parsed += self.loaded.parsed;
        // What was found without them may be found no more.
        let before: BTreeSet<_> = self.loaded.diagnostics.iter().collect();
        let found = std::mem::take(&mut self.diagnostics).into_iter();
        self.diagnostics = found.filter(|found| !before.contains(found)).collect();
        self.diagnostics.extend(again.diagnostics.iter().cloned());
        self.loaded = again;
        Ok(())
    }

    /// The output branch, as far as it is not as carp left it: lost locks are rebuilt, edits are found.
    fn output(
        &mut self,
        snapshot: &Snapshot,
        store: &dyn Store,
        memo: &Memo,
    ) -> Result<(), StoreError> {
        let prefix = &snapshot.input.prefix;
        let root = output_root(snapshot, store)?;
        let ground = RebuildInput {
            store,
            root: &root,
            fleet: &self.loaded.fleet,
            templates: &self.templates,
            prefix,
        };
        folders::make_listed(store, &self.previous)?;
        rebuild::name_records(ground, &mut self.previous)?;
        let (mut drifted, mut found) = rebuild::lost_locks(ground, &mut self.previous)?;
        let mut survey = change::survey(store, &root, &self.previous, &memo.clean)?;
        let lost = rebuild::workers_of_records(ground, &self.previous, &survey)?;
        if !lost.is_empty() && !found.has_errors() {
            let known = std::mem::replace(&mut self.previous.damaged, lost);
            let (more, again) = rebuild::lost_locks(ground, &mut self.previous)?;
            self.previous.damaged.extend(known);
            drifted.extend(more);
            found.extend(again);
            survey = change::survey(store, &root, &self.previous, &memo.clean)?;
        }
        survey.drifted.extend(drifted);
        survey.drifted.sort();
        found.extend(whole::placed_twice(&self.previous));
        found.extend(empty_read(&self.loaded, &self.previous));
        self.stopped = found.has_errors();
        self.diagnostics.extend(found);
        let policy = self.loaded.fleet.spec.drift.unwrap_or_default();
        let mut pruned = BTreeSet::new();
        if policy == DriftPolicy::Overwrite {
            drift::make_anew(store, root.id(), &mut survey, &mut self.previous)?;
            pruned = drift::would_prune(store, root.id(), &survey)?;
        }
        self.drift = Drift { survey, policy, taken: BTreeMap::new(), pruned };
        self.diagnostics.extend(self.drift.findings(prefix));
        self.previous.kept = self.drift.kept();
        recall::recall(store, &mut self.previous)
    }

    /// What is known of the workers.
    fn reports(&mut self, snapshot: &Snapshot, store: &dyn Store) -> Result<(), StoreError> {
        let prefix = &snapshot.input.prefix;
        let (mut last, found) = load::folded(store, snapshot.status, prefix, None)?;
        last.retain(|name, _| self.is_known(name));
        self.stopped |= found.has_errors();
        self.diagnostics.extend(found);
        let raw = snapshot.reports.as_ref();
        let known = |name: &Name| self.is_known(name) || last.contains_key(name);
        let reports = raw.map(|raw| load::known_reports(raw, known));
        let (reports, found) = reports
            .map_or((None, Diagnostics::default()), |(reports, found)| (Some(reports), found));
        let raw = raw.iter().flat_map(|all| all.keys()).filter(|name| known(name));
        let unusable = raw.filter(|w| reports.as_ref().is_some_and(|r| !r.contains_key(*w)));
        let unusable = unusable.cloned().collect();
        self.diagnostics.extend(found);
        let of = HeardReports { last, said: reports, unusable, ..HeardReports::default() };
        self.fold(snapshot, store, of)
    }

    /// Folds the reports into what was known, and asks what time did.
    pub(super) fn fold(
        &mut self,
        snapshot: &Snapshot,
        store: &dyn Store,
        of: HeardReports,
    ) -> Result<(), StoreError> {
        let HeardReports { last, said, unusable, standing, is_part } = of;
        let control_plane = self.loaded.fleet.spec.control_plane.as_ref();
        let control_plane = control_plane.map(|c| c.name.as_str());
        let mut fold = plan::fold(&FoldInput {
            last: &last,
            reports: said.as_ref(),
            unusable: &unusable,
            workers: &self.loaded.fleet.workers,
            control_plane,
            now: snapshot.now,
        });
        fold.observed.workers.extend(standing);
        self.diagnostics.extend(fold.diagnostics);
        let prefix = &snapshot.input.prefix;
        let (last, found) = load::folded_pools(store, snapshot.status, prefix)?;
        self.stopped |= found.has_errors();
        self.diagnostics.extend(found);
        let pools = plan::fold_pools(&PoolFoldInput {
            last: &last,
            fleet: &self.loaded.fleet,
            previous: &self.previous,
            observed: &fold.observed,
            now: (said.is_some() && !is_part).then_some(snapshot.now),
        });
        // What is said of workers whose locks were not read was told when it was heard.
        let is_known = |worker: &Name| !is_part || self.previous.workers.contains_key(worker);
        let (previous, observed) = (&self.previous, &fold.observed);
        let found = plan::contradictions(previous, observed, control_plane, is_known);
        self.diagnostics.extend(found);
        let expiry = plan::expire(&self.loaded.fleet, snapshot.now);
        self.diagnostics.extend(expiry.diagnostics);
        self.observed = Observed { pools: pools.pools, expired: expiry.expired, ..fold.observed };
        let (passed, ahead) = plan::moments(&self.loaded.fleet, &self.observed, snapshot.now);
        self.observed.passed = passed;
        let ends = [fold.valid_until, pools.valid_until, expiry.valid_until, ahead];
        self.valid_until = ends.into_iter().flatten().min();
        Ok(())
    }

    /// Whether a name is a worker's, or may be: it is desired or recorded, or something is not known. What
    /// was reported under a name that is free again says nothing of the next one.
    fn is_known(&self, name: &Name) -> bool {
        let (fleet, previous) = (&self.loaded.fleet, &self.previous);
        let made = previous.fleet.as_ref().is_some_and(|lock| lock.workers.contains_key(name));
        let hub = fleet.spec.control_plane.as_ref().is_some_and(|hub| hub.name == **name);
        let unsure = self.stopped || fleet.is_unsure() || !previous.damaged.is_empty();
        let desired = fleet.workers.contains_key(name);
        unsure || made || hub || desired || previous.workers.contains_key(name)
    }

    /// Keeps what a file of others is in the way of; returns whether that is news. A cluster that cannot
    /// be recorded for the first time is left out of this run.
    pub(super) fn take(&mut self, taken: BTreeMap<Owned, BTreeSet<String>>) -> bool {
        let before = self.previous.kept.clone();
        let mut left_out = false;
        for (of, paths) in taken {
            if let Owned::Record(name) = &of
                && self.previous.index_row(name).is_none()
            {
                left_out |= self.loaded.fleet.clusters.remove(name).is_some();
                self.diagnostics.extend(paths.iter().map(|path| gate::in_the_way(path)));
                continue;
            }
            self.drift.taken.entry(of).or_default().extend(paths);
        }
        self.previous.kept.extend(self.drift.kept());
        left_out || self.previous.kept != before
    }

    /// A run that may not change the output: what it found, and the tree as it was.
    pub(super) fn stop(
        self,
        snapshot: &Snapshot,
        store: &dyn Store,
        holds: Vec<Hold>,
    ) -> Result<Proposal, StoreError> {
        let tree = snapshot.previous.map_or_else(|| store.put_dir(&Dir::default()), Ok)?;
        let status_tree = snapshot.status.map_or_else(|| store.put_dir(&Dir::default()), Ok)?;
        let work = Work { blobs_parsed: self.loaded.parsed, ..Work::default() };
        let reported = self.observed.digest();
        Ok(Proposal {
            tree,
            base: Some(tree),
            fold_tree: status_tree,
            status_tree,
            status_base: Some(status_tree),
            changes: Vec::new(),
            form: None,
            fleet: self.loaded.fleet,
            previous: self.previous,
            observed: self.observed,
            asked: PlanOverrides::default(),
            plan: Plan { holds, ..Plan::default() },
            pending: PendingReasons::default(),
            ahead: WaitingAhead::default(),
            gates: Vec::new(),
            survey: self.drift.survey,
            diagnostics: self.diagnostics,
            stopped: true,
            work,
            counts: FleetCounts::default(),
            reported,
            valid_until: None,
            message: String::new(),
        })
    }
}

/// A file among the definitions that is none.
fn crd_not_read(root: &str, file: &str, why: &str) -> Diagnostic {
    if file == root {
        return Diagnostic::new(Code::CrdNotRead, format!("the definitions are not read: {why}"))
            .at(Place::file(file))
            .help("put a folder with the definitions in its place");
    }
    Diagnostic::new(Code::CrdNotRead, format!("the file defines no kind: {why}"))
        .at(Place::file(file))
        .help("put one definition into a file, and call it as the definition is called")
}

/// The fleet's root on the output branch; empty before the first run.
fn output_root(snapshot: &Snapshot, store: &dyn Store) -> Result<Arc<Dir>, StoreError> {
    match snapshot.previous {
        Some(output) => root_of(store, output, &snapshot.input.prefix),
        None => Ok(Arc::default()),
    }
}

/// The fleet's root in a tree.
pub(super) fn root_of(store: &dyn Store, tree: Id, prefix: &str) -> Result<Arc<Dir>, StoreError> {
    let entry = entry_at(store, tree, prefix)?.filter(|entry| entry.kind == EntryKind::Dir);
    entry.map_or_else(|| Ok(Arc::default()), |entry| store.dir(entry.id))
}

/// An empty read is never an empty fleet.
fn empty_read(loaded: &Loaded, previous: &Previous) -> Option<Diagnostic> {
    let fleet = &loaded.fleet;
    let nothing =
        fleet.clusters.is_empty() && fleet.workers.is_empty() && fleet.unloaded.is_empty();
    let known = previous.workers.len() + previous.bound() + previous.pending.clusters.len();
    (nothing && known > 0).then(|| {
        let root = fleet.spec.roots.clone().unwrap_or_default().fleet;
        let message = format!(
            "there is no document below `{root}/`, and the last output has {} and workers",
            count(known as u64, "cluster")
        );
        let place = Place::field(paths::FLEET_FILE, 0, FieldPath::keys("spec.roots.fleet"));
        Diagnostic::new(Code::FleetEmpty, message).at(place).help(format!(
            "check that `{root}/` is there and that `spec.roots.fleet` names it; an empty read is taken \
             for a mistake, so nothing changes"
        ))
    })
}
