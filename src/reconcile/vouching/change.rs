//! `acknowledgements.twoPerson`: whoever acknowledges a set is another person than those who brought it.
//!
//! A guard holds one set of each kind, and nothing says which commit is the cause of which name in it: a template, a
//! class and a report may do it together. So what brought a set is every commit that changed what carp reads between
//! two runs: the last that held nothing of the kind, and the first that held exactly this set.

use std::collections::BTreeSet;

use super::super::Error;
use super::{Ask, or_not_here};
use crate::change::{self, entry_at};
use crate::git;
use crate::load;
use crate::model::api::{AcknowledgementSpec, Roots};
use crate::model::{
    Digest, Entry, EntryKind, FLEET_LOCK_SCHEMA, FleetLock, HeldSet, Id, Store, StoreError,
    Unvouched, count, lock_from_bytes, paths,
};

/// How many runs are looked at for the one that held nothing of the kind.
const MOST_RUNS: usize = 10_000;
/// How many commits may lie between the two.
const MOST_COMMITS: usize = 1_000;
/// How many bytes no file has that holds acknowledgements and nothing else.
const LARGE: u64 = 1 << 20;

/// Whether `who` signed none of the commits that brought what an acknowledgement lets through.
pub(super) fn another(
    ask: &Ask<'_>,
    roots: &[Roots],
    who: &str,
    acknowledgement: &AcknowledgementSpec,
) -> Result<Result<(), Unvouched>, Error> {
    // No commit brings what is stuck or may be rebalanced, and one that a rewind took away signs nothing.
    if !acknowledgement.of.answers_a_run() {
        return Ok(Ok(()));
    }
    let not_known = |why| Ok(Err(Unvouched::ChangeNotKnown { why }));
    let commits = match or_not_here(commits(ask, acknowledgement))? {
        Ok(Some(commits)) if commits.len() <= MOST_COMMITS => commits,
        Ok(_) => {
            return not_known(format!(
                "it may be any of more than {}",
                count(MOST_COMMITS as u64, "commit")
            ));
        }
        Err(why) => return not_known(why),
    };
    let mut unknown = None;
    for commit in commits {
        match or_not_here(changes(ask, roots, commit))? {
            Ok(false) => continue,
            Ok(true) => {}
            Err(why) => return not_known(why),
        }
        match ask.known_signer(commit)? {
            Ok(signer) if is_one_person(&signer, who) => {
                return Ok(Err(Unvouched::OwnChange { who: who.to_owned(), commit }));
            }
            Ok(_) => {}
            Err(why) => unknown = Some(format!("commit {}: {why}", commit.short())),
        }
    }
    unknown.map_or(Ok(Ok(())), not_known)
}

/// Whether two signers share a name. A line of allowed signers may have several, which are one person's.
fn is_one_person(one: &str, other: &str) -> bool {
    let names: BTreeSet<&str> = one.split(',').collect();
    other.split(',').any(|name| names.contains(name))
}

/// The commits between the last run that held nothing of the kind and the first that held exactly this; `None` where
/// that was too long ago. What people commit on the output branch is no run.
fn commits(
    ask: &Ask<'_>,
    acknowledged: &AcknowledgementSpec,
) -> Result<Option<Vec<Id>>, git::Error> {
    let digest = acknowledged.digest.parse::<Digest>().ok();
    let is_exactly = |set: &HeldSet| {
        set.of == acknowledged.of
            && set.count == acknowledged.count as usize
            && Some(set.digest) == digest
    };
    let (mut to, mut is_still_so) = (ask.history.made_from.clone(), true);
    let mut next = ask.history.output;
    for _ in 0..MOST_RUNS {
        let Some(commit) = next else {
            return ask.repository.commits_between(None, &to, MOST_COMMITS).map(Some);
        };
        if let Some(said) = ask.repository.made_from(commit)? {
            // A lock that cannot be read says of nothing that it was not held.
            let held = held(ask, commit)?;
            is_still_so &= held.as_ref().is_some_and(|sets| sets.iter().any(is_exactly));
            if is_still_so {
                to = vec![said.input];
            } else if held.is_some_and(|sets| sets.iter().all(|set| set.of != acknowledged.of)) {
                let from = Some(said.input);
                return ask.repository.commits_between(from, &to, MOST_COMMITS).map(Some);
            }
        }
        if ask.repository.is_cut_off(commit)? {
            let what = "which run held nothing of the kind".to_owned();
            return Err(git::Error::Shallow { what });
        }
        next = ask.repository.parents(commit)?.first().copied();
    }
    Ok(None)
}

/// What a run held; `None` where its lock cannot be read.
fn held(ask: &Ask<'_>, output: Id) -> Result<Option<Vec<HeldSet>>, git::Error> {
    let path = format!("{}/{}", paths::CONTROL_PLANE, paths::FLEET_LOCK);
    let path = paths::in_repository(&ask.snapshot.input.prefix, &path);
    let entry = entry_at(ask.store, ask.repository.commit_tree(output)?, &path)?;
    let Some(entry) = entry else { return Ok(Some(Vec::new())) };
    let lock = lock_from_bytes::<FleetLock>(&ask.store.blob(entry.id)?, FLEET_LOCK_SCHEMA);
    Ok(lock.ok().map(|lock| lock.held))
}

/// Whether a commit changes anything that carp reads but acknowledgements.
fn changes(ask: &Ask<'_>, roots: &[Roots], commit: Id) -> Result<bool, git::Error> {
    let Some(before) = ask.repository.came_from(commit)? else { return Ok(true) };
    let after = ask.repository.commit_tree(commit)?;
    let in_roots = roots.iter().flat_map(|r| [&r.fleet, &r.policies, &r.templates]);
    let all: BTreeSet<&str> = in_roots.map(String::as_str).chain([paths::FLEET_FILE]).collect();
    for path in all {
        let path = paths::in_repository(&ask.snapshot.input.prefix, path);
        let [was, is] = [before, after].map(|tree| entry_at(ask.store, tree, &path));
        if differ(ask.store, was?, is?)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether two files or folders differ in anything but acknowledgements.
fn differ(store: &dyn Store, was: Option<Entry>, is: Option<Entry>) -> Result<bool, StoreError> {
    if was == is {
        return Ok(false);
    }
    let is_folder = |entry: Option<Entry>| entry.is_none_or(|e| e.kind == EntryKind::Dir);
    if !is_folder(was) || !is_folder(is) {
        return Ok(true);
    }
    let changes = change::diff(store, was.map(|e| e.id), is.map(|e| e.id))?.changes;
    for changed in changes {
        for id in [changed.before, changed.after].into_iter().flatten() {
            let is_large = store.blob_size(id)? > LARGE;
            if is_large || load::acknowledgements(&store.blob(id)?).beside_others {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_may_have_several_names() {
        assert!(is_one_person("a@x", "a@x") && is_one_person("a@x,b@x", "b@x"));
        assert!(!is_one_person("a@x", "a@x.org") && !is_one_person("a@x,b@x", "c@x"));
    }
}
