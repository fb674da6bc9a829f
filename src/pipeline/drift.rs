//! What becomes of hand edits on the output branch: `drift: overwrite | refuse | warn`.

use std::collections::{BTreeMap, BTreeSet};

use crate::change::entry_at;
use crate::diag::{Code, Diagnostic, Place};
use crate::model::api::DriftPolicy;
use crate::model::{
    Digest, Drifted, EntryKind, Hold, HoldKind, Id, Kept, LockName, Name, Owned, Previous, Store,
    StoreError, Survey, paths,
};
use crate::render::{self, Files, FolderChange, OwnChange};

/// How many findings of one sort are shown before the rest is counted.
const MOST_FINDINGS: usize = 20;
/// How many paths one finding names.
const MOST_PATHS: usize = 3;

/// What the survey found, and what the fleet wants of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Drift {
    pub(super) survey: Survey,
    pub(super) policy: DriftPolicy,
    /// What is kept because a file of others is in the way, with these files.
    pub(super) taken: BTreeMap<Owned, BTreeSet<String>>,
    /// What has objects by hand that Flux would prune if it were set back.
    pub(super) pruned: BTreeSet<Owned>,
}

impl Drift {
    /// What is set back: everything that is edited, where the fleet says so.
    pub(super) fn set_back(&self) -> impl Iterator<Item = &Drifted> {
        self.survey.drifted.iter().filter(|drifted| !self.stays(drifted))
    }

    fn stays(&self, drifted: &Drifted) -> bool {
        self.policy != DriftPolicy::Overwrite || self.pruned.contains(&drifted.of)
    }

    /// What stays as somebody edited it.
    pub(super) fn edited(&self) -> BTreeSet<&Owned> {
        let stay = self.survey.drifted.iter().filter(|drifted| self.stays(drifted));
        stay.map(|drifted| &drifted.of).collect()
    }

    /// All that this run does not write.
    pub(super) fn kept(&self) -> Kept {
        let mut kept = Kept::default();
        for of in self.edited().into_iter().chain(self.taken.keys()) {
            kept.add(of);
        }
        kept
    }

    /// What a person is asked about.
    pub(super) fn hold(&self) -> Option<Hold> {
        let asked = |of: &&Owned| self.policy == DriftPolicy::Refuse || self.pruned.contains(*of);
        let edited = self.edited().into_iter().filter(asked);
        let names: BTreeSet<&str> = edited.map(Owned::name).collect();
        let names: Vec<_> = names.into_iter().map(str::to_owned).collect();
        let hold = Hold { kind: HoldKind::Drifted, names, allowed: None };
        (!hold.names.is_empty()).then_some(hold)
    }

    /// The findings, the first of them in full.
    pub(super) fn findings(&self, prefix: &str) -> Vec<Diagnostic> {
        let mut by_owner: BTreeMap<&Owned, Vec<&Drifted>> = BTreeMap::new();
        for drifted in &self.survey.drifted {
            by_owner.entry(&drifted.of).or_default().push(drifted);
        }
        let more = by_owner.len().saturating_sub(MOST_FINDINGS);
        let first = by_owner.values().take(MOST_FINDINGS);
        let mut found: Vec<_> = first.map(|edits| self.edit(edits, prefix)).collect();
        if more > 0 {
            let message = format!("{more} more folders of the output branch were edited by hand");
            found.push(Diagnostic::new(Code::HandEdit, message));
        }
        found.extend(foreign(&self.survey.foreign, prefix));
        found
    }

    fn edit(&self, edits: &[&Drifted], prefix: &str) -> Diagnostic {
        let path = |drifted: &Drifted| paths::in_repository(prefix, &drifted.path);
        let each = |d: &&Drifted| format!("`{}` was {}", path(d), d.edit);
        let named: Vec<_> = edits.iter().take(MOST_PATHS).map(each).collect();
        let more = match edits.len().saturating_sub(MOST_PATHS) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let message = format!("{}{more} by hand on the output branch", named.join(", "));
        let log = "`git log` on that path names the author";
        let help = match self.policy {
            DriftPolicy::Overwrite if edits.iter().any(|edit| self.pruned.contains(&edit.of)) => {
                format!(
                    "it has objects by hand that Flux would prune if it were set back, so it stays and nothing is \
                     written there: revert the edit on the output branch yourself ({log})"
                )
            }
            DriftPolicy::Overwrite => format!(
                "it is set back; what is to stay belongs into the fleet's own files ({log})"
            ),
            DriftPolicy::Refuse => format!(
                "nothing is written there (`drift: refuse`): ask the author, then revert the edit on the \
                 output branch, or set `drift: overwrite` for one run ({log})"
            ),
            DriftPolicy::Warn => format!(
                "it stays, and nothing is written there (`drift: warn`) until it is reverted ({log})"
            ),
        };
        let place = edits.first().map(|first| Place::file(path(first)));
        let finding = Diagnostic::new(Code::HandEdit, message).help(help);
        place.into_iter().fold(finding, Diagnostic::at)
    }
}

/// One finding for all files that are nobody knows whose.
fn foreign(files: &[String], prefix: &str) -> Option<Diagnostic> {
    const SHOWN: usize = 10;
    let first = files.first()?;
    let named: Vec<_> = files
        .iter()
        .take(SHOWN)
        .map(|f| format!("`{}`", paths::in_repository(prefix, f)))
        .collect();
    let more = match files.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let are = if files.len() == 1 { "is" } else { "are" };
    let message = format!("{}{more} {are} in generated folders and not carp's", named.join(", "));
    let place = Place::file(paths::in_repository(prefix, first));
    Some(Diagnostic::new(Code::ForeignFile, message).at(place).help(
        "they stay untouched; move them elsewhere, for a file that carp must write in their place is not \
         written",
    ))
}

/// Whose files have objects by hand, with machines, storage or network behind them, that carp had not left
/// there. To set such a file back is to let Flux prune them.
pub(super) fn would_prune(
    store: &dyn Store,
    root: Id,
    survey: &Survey,
) -> Result<BTreeSet<Owned>, StoreError> {
    let mut pruned = BTreeSet::new();
    for drifted in &survey.drifted {
        let Some(was) = drifted.was.filter(|was| was.kind != EntryKind::Dir) else { continue };
        let Some(is) = entry_at(store, root, &drifted.path)? else { continue };
        if is.kind == EntryKind::Dir || drifted.path.ends_with(paths::WORKER_LOCK) {
            continue;
        }
        let files = |id: Id| Ok(Files::from([(drifted.path.clone(), store.blob(id)?.to_vec())]));
        let losses = render::losses(
            &FolderChange::between(&files(is.id)?, &files(was.id)?),
            OwnChange::default(),
        );
        if !losses.removed.is_empty() {
            pruned.insert(drifted.of.clone());
        }
    }
    Ok(pruned)
}

/// What must be made anew because what carp had left there is in this store no more, as in a shallow
/// clone: without a render key it is rendered, and what is there instead is the last that is known.
pub(super) fn make_anew(
    store: &dyn Store,
    root: Id,
    survey: &mut Survey,
    previous: &mut Previous,
) -> Result<(), StoreError> {
    for drifted in &mut survey.drifted {
        let Some(was) = drifted.was else { continue };
        let read = match was.kind {
            EntryKind::Dir => store.dir(was.id).map(drop),
            _ => store.blob(was.id).map(drop),
        };
        match read {
            Err(StoreError::Absent { .. }) => {
                drifted.was = None;
                forget(store, root, &drifted.of, previous)?;
            }
            other => other?,
        }
    }
    Ok(())
}

fn forget(
    store: &dyn Store,
    root: Id,
    of: &Owned,
    previous: &mut Previous,
) -> Result<(), StoreError> {
    let no_key = Digest::of(b"");
    let folder = |path: &str| -> Result<Option<Id>, StoreError> {
        let entry = entry_at(store, root, path)?;
        Ok(entry.filter(|entry| entry.kind == EntryKind::Dir).map(|entry| entry.id))
    };
    match of {
        Owned::Cluster(name) => {
            for (worker, lock) in &mut previous.workers {
                if let Some(row) = lock.clusters.get_mut(name) {
                    row.render_key = no_key;
                    row.folder = folder(&paths::cluster(worker, name))?;
                }
            }
        }
        Owned::Made(name) => {
            let rows = previous.fleet.iter_mut().filter_map(|lock| lock.workers.get_mut(name));
            for row in rows {
                row.render_key = no_key;
                row.folder = folder(&paths::control_plane(name))?;
            }
        }
        Owned::Worker(name) => {
            previous.workers.entry(name.clone()).and_modify(|lock| lock.render_key = no_key);
        }
        Owned::ControlPlane => {
            previous.fleet.iter_mut().for_each(|lock| lock.render_key = no_key);
        }
        Owned::Record(name) => {
            let rows = previous.workers.values_mut().filter_map(|l| l.clusters.get_mut(name));
            rows.for_each(|row| row.record = None);
            if let Some(row) = previous.pending.clusters.get_mut(name) {
                row.record = None;
            }
        }
    }
    Ok(())
}

/// Whether a worker's lock must be written whatever else is the same: it was lost, or is of an earlier
/// format.
pub(super) fn must_write(previous: &Previous, worker: &Name) -> bool {
    let old = previous.workers.get(worker);
    old.is_some_and(|lock| lock.schema_version != crate::model::WORKER_LOCK_SCHEMA)
        || previous.is_damaged(&LockName::Worker(worker.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Edit;

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    fn drift(policy: DriftPolicy) -> Drift {
        let edit = |of: Owned, path: &str| Drifted {
            of,
            path: path.to_owned(),
            edit: Edit::Changed,
            was: None,
        };
        let drifted = vec![
            edit(Owned::Worker(name("w1")), "workers/w1/layers.yaml"),
            edit(Owned::Cluster(name("a")), "workers/w2/clusters/a/cluster.yaml"),
            edit(Owned::Record(name("a")), "decisions/ca/a.yaml"),
        ];
        Drift { survey: Survey { drifted, foreign: Vec::new() }, policy, ..Drift::default() }
    }

    #[test]
    fn the_policy_says_what_is_kept_and_what_is_asked() {
        let overwrite = drift(DriftPolicy::Overwrite);
        assert_eq!((overwrite.set_back().count(), overwrite.kept()), (3, Kept::default()));
        assert_eq!(overwrite.hold(), None);
        for policy in [DriftPolicy::Refuse, DriftPolicy::Warn] {
            let drift = drift(policy);
            let kept = drift.kept();
            assert_eq!((drift.set_back().count(), kept.control_plane), (0, false));
            assert!(kept.holds(&name("a"), &name("w9")) && kept.holds(&name("z"), &name("w1")));
            assert!(!kept.holds(&name("z"), &name("w2")));
            let names = drift.hold().map(|hold| hold.names.join(" "));
            let asked = (policy == DriftPolicy::Refuse).then(|| "a w1".to_owned());
            assert_eq!(names, asked);
        }
    }

    #[test]
    fn many_edits_and_many_files_are_counted() {
        let edits = (0..30).map(|i| Drifted {
            of: Owned::Record(name(&format!("c{i}"))),
            path: format!("decisions/x/c{i}.yaml"),
            edit: Edit::Removed,
            was: None,
        });
        let foreign = (0..30).map(|i| format!("decisions/x/{i}.md")).collect();
        let survey = Survey { drifted: edits.collect(), foreign };
        let found = Drift { survey, ..Drift::default() }.findings("eu");
        assert_eq!(found.len(), 20 + 1 + 1);
        assert!(found[0].message.contains("`eu/decisions/x/c0.yaml` was removed"));
        assert!(found[20].message.starts_with("10 more folders"));
        assert!(found[21].message.contains("and 20 more are in generated folders"));
    }

    #[test]
    fn one_folder_is_one_finding() {
        let edits = (0..5).map(|i| Drifted {
            of: Owned::Worker(name("w1")),
            path: format!("workers/w1/{i}.yaml"),
            edit: Edit::Changed,
            was: None,
        });
        let survey = Survey { drifted: edits.collect(), foreign: Vec::new() };
        let found = Drift { survey, ..Drift::default() }.findings("");
        assert_eq!(found.len(), 1);
        assert!(found[0].message.contains("`workers/w1/2.yaml` was changed, and 2 more by hand"));
    }
}
