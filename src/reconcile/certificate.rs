//! Finding where what forced a deletion or a move stands, and the commit that wrote it. It is for people to read:
//! what cannot be found is left out, and stops nothing.

use std::collections::BTreeMap;

use crate::change::{Certified, Forced, diff, entry_at, forced};
use crate::diag::Place;
use crate::git::Repository;
use crate::load::{locate, named_documents};
use crate::model::{Id, Name, Proposal, Store, paths};

/// How many commits are looked through, from the newest on.
const MOST_COMMITS: usize = 300;
/// How many files of these are read.
const MOST_FILES: usize = 2_000;
/// How many lines a certificate has.
const MOST_LINES: usize = 50;

/// What of a history is looked at.
#[derive(Clone, Copy)]
pub struct InputHistory<'a> {
    /// The repository.
    pub repository: &'a Repository,
    /// What was read: a store that has the input tree.
    pub store: &'a dyn Store,
    /// The input tree.
    pub tree: Id,
    /// The commit whose tree that is, or on which it stands where it is not committed.
    pub tip: Id,
    /// The fleet's root in the repository.
    pub prefix: &'a str,
}

impl InputHistory<'_> {
    /// What forced each deletion and each move that begins in a proposal, by name; the first ones, where there are
    /// many.
    #[must_use]
    pub fn certificate(&self, proposal: &Proposal) -> Vec<Certified> {
        let forced = forced(&proposal.plan, &proposal.fleet);
        let (mut written, mut removed) = (BTreeMap::new(), BTreeMap::new());
        for (name, forced) in forced.into_iter().take(MOST_LINES) {
            match forced {
                Forced::Written(place) => _ = written.insert(name, place),
                Forced::Removed { kind } => _ = removed.insert(name, kind),
            }
        }
        let written = written.into_iter().filter_map(|(name, place)| self.written(name, &place));
        let mut all: Vec<_> = written.collect();
        all.extend(self.removed(removed));
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// The commit that last gave the line what it says.
    fn written(&self, name: Name, place: &Place) -> Option<Certified> {
        let file = paths::in_repository(self.prefix, &place.file);
        let text = text_at(self.store, self.tree, &file)?;
        let line = locate(&text, place)?.position.line;
        let said = text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)?.trim().to_owned();
        let store = self.repository.store().ok()?;
        let says = |tree: Id| {
            let text = text_at(&store, tree, &file);
            text.is_some_and(|text| text.lines().any(|line| line.trim() == said))
        };
        let commit = self.first_that(says);
        Some(Certified { name, file, line, removed: false, commit, renamed: None })
    }

    /// The commit before which something was not so; `None` where it is not so at the tip, or for too long.
    fn first_that(&self, says: impl Fn(Id) -> bool) -> Option<Id> {
        let tree = |commit| self.repository.commit_tree(commit).ok();
        if !says(tree(self.tip)?) {
            return None;
        }
        let mut commit = self.tip;
        for _ in 0..MOST_COMMITS {
            let parent = self.repository.parents(commit).ok()?.first().copied();
            match parent {
                // Where history was cut off nobody knows.
                None if self.repository.is_shallow() => return None,
                None => return Some(commit),
                Some(parent) if !says(tree(parent)?) => return Some(commit),
                Some(parent) => commit = parent,
            }
        }
        None
    }

    /// Where the documents stood that are gone, and the commits that removed them.
    fn removed(&self, mut wanted: BTreeMap<Name, &'static str>) -> Vec<Certified> {
        let (mut found, mut files) = (Vec::new(), 0);
        let Ok(tip_tree) = self.repository.commit_tree(self.tip) else { return found };
        let Ok(store) = self.repository.store() else { return found };
        // What is not committed comes first.
        let mut step = (self.tree != tip_tree).then_some((None, self.tree, tip_tree));
        let mut next = Some(self.tip);
        for _ in 0..MOST_COMMITS {
            if wanted.is_empty() || files > MOST_FILES {
                break;
            }
            if step.is_none() {
                let Some(commit) = next else { break };
                step = self.step(commit);
                next = self.repository.parents(commit).ok().and_then(|p| p.first().copied());
            }
            let Some((commit, after, before)) = step.take() else { break };
            let from: &dyn Store = if commit.is_none() { self.store } else { &store };
            for GoneFile { path, blob, renamed } in gone(from, self.prefix, before, after) {
                files += 1;
                let Ok(bytes) = store.blob(blob) else { continue };
                for (kind, name, line) in named_documents(&String::from_utf8_lossy(&bytes)) {
                    let Ok(name) = Name::parse(&name) else { continue };
                    if wanted.get(&name) == Some(&kind.as_str()) {
                        wanted.remove(&name);
                        let (file, renamed) = (path.clone(), renamed.clone());
                        found.push(Certified { name, file, line, removed: true, commit, renamed });
                    }
                }
            }
        }
        found
    }

    fn step(&self, commit: Id) -> Option<(Option<Id>, Id, Id)> {
        let parent = self.repository.parents(commit).ok()?.first().copied()?;
        let tree = |commit| self.repository.commit_tree(commit).ok();
        Some((Some(commit), tree(commit)?, tree(parent)?))
    }
}

/// A file that changed or went.
struct GoneFile {
    /// Where it was, in the repository.
    path: String,
    /// What it was.
    blob: Id,
    /// Where the very same stands since then, under a name that is not read.
    renamed: Option<String>,
}

/// The files below the fleet's root that change or go from one tree to the next, as they were before.
fn gone(store: &dyn Store, prefix: &str, before: Id, after: Id) -> Vec<GoneFile> {
    let below = |tree| match prefix {
        "" => Some(tree),
        prefix => entry_at(store, tree, prefix).ok().flatten().map(|entry| entry.id),
    };
    let changes = diff(store, below(before), below(after)).map(|found| found.changes);
    let changes = changes.unwrap_or_default();
    let is_yaml = |path: &str| {
        let ending = path.rsplit_once('.').map(|(_, ending)| ending);
        matches!(ending, Some("yaml" | "yml"))
    };
    let here = |path: &str| paths::in_repository(prefix, path);
    let news = changes.iter().filter(|c| c.before.is_none() && !is_yaml(&c.path));
    let new_names: BTreeMap<Id, &str> =
        news.filter_map(|c| Some((c.after?, c.path.as_str()))).collect();
    let were = changes.iter().filter(|change| is_yaml(&change.path));
    let gone = were.filter_map(|change| {
        let blob = change.before?;
        let renamed = new_names.get(&blob).filter(|_| change.after.is_none());
        Some(GoneFile { path: here(&change.path), blob, renamed: renamed.map(|path| here(path)) })
    });
    gone.collect()
}

fn text_at(store: &dyn Store, tree: Id, path: &str) -> Option<String> {
    let entry = entry_at(store, tree, path).ok().flatten()?;
    Some(String::from_utf8_lossy(&store.blob(entry.id).ok()?).into_owned())
}
