//! Bringing refs of a remote here.

use std::collections::BTreeSet;

use super::outcome::explain;
use super::program::TRANSFER;
use super::remote::{check_ref, check_remote, matches};
use super::repository::pass;
use super::{Error, Repository};
use crate::fault::Point;
use crate::model::{Id, Name};

/// A ref of a remote, and the local ref that follows it. Both may end with `*`, which stands for the
/// same text in both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefSpec {
    /// The full name at the remote.
    pub remote: String,
    /// The full name here.
    pub local: String,
    /// How many refs `*` may stand for, each by the name of a worker or cluster; `None`: all that there are.
    most: Option<usize>,
}

impl RefSpec {
    /// A ref and the one that follows it.
    pub fn new(remote: impl Into<String>, local: impl Into<String>) -> Self {
        Self { remote: remote.into(), local: local.into(), most: None }
    }

    /// This refspec for at most so many refs, whose names are those of workers or clusters. Whoever may push such a ref may push
    /// any number of them, under any name.
    #[must_use]
    pub fn at_most(self, most: usize) -> Self {
        Self { most: Some(most), ..self }
    }

    /// Of the refs of the remote those that are not followed: their names are nobody's, or there are too many, of
    /// which those come first that are here already.
    fn leaves(&self, present: &[(String, Id)], is_here: impl Fn(&str) -> bool) -> BTreeSet<String> {
        let Some(most) = self.most else { return BTreeSet::new() };
        let start = self.remote.trim_end_matches('*');
        let all = present.iter().map(|(name, _)| name).filter(|name| matches(&self.remote, name));
        let is_name = |name: &&String| Name::parse(&name[start.len()..]).is_ok();
        let (mut good, bad): (Vec<_>, Vec<_>) = all.partition(is_name);
        good.sort_by_key(|name| !is_here(&self.local_of(name)));
        bad.into_iter().chain(good.into_iter().skip(most)).cloned().collect()
    }

    /// A branch of a remote, followed where `git fetch` would: `refs/remotes/<remote>/<branch>`.
    pub fn tracking(remote: &str, branch: &str) -> Self {
        Self::new(format!("refs/heads/{branch}"), format!("refs/remotes/{remote}/{branch}"))
    }

    /// The local ref that follows a ref of the remote.
    fn local_of(&self, name: &str) -> String {
        match (self.remote.strip_suffix('*'), self.local.strip_suffix('*')) {
            (Some(remote), Some(local)) => format!("{local}{}", &name[remote.len()..]),
            _ => self.local.clone(),
        }
    }
}

/// What happens to a local ref whose ref at the remote is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    /// It stays as it is.
    Keep,
    /// It goes too.
    Prune,
}

/// What a fetch found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// The refs that the remote has, by their names there, sorted.
    pub present: Vec<(String, Id)>,
    /// The asked names without `*` that the remote does not have.
    pub missing: Vec<String>,
    /// The refs that the remote has and that are not followed: see [`RefSpec::at_most`].
    pub left: BTreeSet<String>,
}

impl Fetched {
    /// Where a ref of the remote is; `None` if it is not there.
    pub fn get(&self, name: &str) -> Option<Id> {
        self.present.iter().find(|(present, _)| present == name).map(|(_, id)| *id)
    }
}

impl Repository {
    /// Makes local refs follow those of a remote (a name or a URL), wherever these went. A ref that the
    /// remote does not have is no error: see [`Fetched::missing`]. Nothing is transferred where
    /// everything is here already.
    ///
    /// # Errors
    /// The remote cannot be reached or does not let us in, or the disk failed.
    pub fn fetch(&self, remote: &str, specs: &[RefSpec], gone: Gone) -> Result<Fetched, Error> {
        check_remote(remote)?;
        specs.iter().try_for_each(|spec| check_ref(&spec.local))?;
        let patterns: Vec<&str> = specs.iter().map(|spec| spec.remote.as_str()).collect();
        // A ref that goes away between the question and the transfer makes git fail; then the second
        // answer does not have it.
        let mut last = None;
        for _ in 0..3 {
            let mut present = self.ls_remote(remote, &patterns)?;
            let is_here = |name: &str| self.resolve(name).is_ok_and(|id| id.is_some());
            let left: BTreeSet<_> =
                specs.iter().flat_map(|spec| spec.leaves(&present, is_here)).collect();
            present.retain(|(name, _)| !left.contains(name));
            match self.transfer(remote, specs, &present) {
                Ok(()) => return self.settle(specs, present, gone).map(|f| Fetched { left, ..f }),
                Err(error) => last = Some(error),
            }
        }
        Err(last.expect("three transfers were tried, and none succeeded"))
    }

    /// Fetches every ref that is not where the remote has it.
    fn transfer(
        &self,
        remote: &str,
        specs: &[RefSpec],
        present: &[(String, Id)],
    ) -> Result<(), Error> {
        let mut refspecs = Vec::new();
        for (name, id) in present {
            for spec in specs.iter().filter(|spec| matches(&spec.remote, name)) {
                let local = spec.local_of(name);
                if self.resolve(&local)? != Some(*id) {
                    refspecs.push(format!("+{name}:{local}"));
                }
            }
        }
        // A few thousand names are more than a command line holds on some systems.
        for refspecs in refspecs.chunks(500) {
            self.fetch_refspecs(remote, refspecs)?;
        }
        Ok(())
    }

    /// Brings branches that this clone never had. Into a shallow clone come their last commits alone, for
    /// that is what whoever made it asked for; into any other their history too, because cutting that would
    /// make the whole clone a shallow one.
    ///
    /// # Errors
    /// The remote cannot be reached, does not let us in or lacks a branch, or the disk failed.
    pub fn bring(&self, remote: &str, specs: &[RefSpec]) -> Result<(), Error> {
        check_remote(remote)?;
        specs.iter().try_for_each(|spec| check_ref(&spec.local))?;
        let depth: &[&str] = if self.is_shallow() { &["--depth=1"] } else { &[] };
        let refspec = |spec: &RefSpec| format!("+{}:{}", spec.remote, spec.local);
        let refspecs: Vec<_> = specs.iter().map(refspec).collect();
        self.fetch_with(remote, depth, &refspecs)
    }

    /// Brings more of a branch's history into a shallow clone: so many commits before those that it has, or all of it.
    ///
    /// # Errors
    /// The remote cannot be reached, does not let us in or lacks the branch, or the disk failed.
    pub fn deepen(&self, remote: &str, branch: &str, by: Option<u32>) -> Result<(), Error> {
        check_remote(remote)?;
        let depth = by.map_or_else(|| "--unshallow".to_owned(), |by| format!("--deepen={by}"));
        self.fetch_with(remote, &[&depth], &[format!("refs/heads/{branch}")])
    }

    fn fetch_refspecs(&self, remote: &str, refspecs: &[String]) -> Result<(), Error> {
        self.fetch_with(remote, &[], refspecs)
    }

    fn fetch_with(&self, remote: &str, options: &[&str], refspecs: &[String]) -> Result<(), Error> {
        let fixed = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-prune",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
        ];
        let fixed = fixed.into_iter().chain(options.iter().copied()).chain([remote]);
        let args = fixed.chain(refspecs.iter().map(String::as_str));
        let what = || format!("fetching into {}", self.name());
        pass(Point::BeforeFetch, what)?;
        let output = self.git(args, TRANSFER)?;
        pass(Point::AfterFetch, what)?;
        if output.code == Some(0) {
            return Ok(());
        }
        self.is_sound("fetching", &output)?;
        Err(explain("fetching", &self.shown(remote), &output))
    }

    fn settle(
        &self,
        specs: &[RefSpec],
        present: Vec<(String, Id)>,
        gone: Gone,
    ) -> Result<Fetched, Error> {
        let is_present = |name: &str| present.iter().any(|(present, _)| present == name);
        let missing: Vec<String> = specs
            .iter()
            .filter(|spec| !spec.remote.ends_with('*') && !is_present(&spec.remote))
            .map(|spec| spec.remote.clone())
            .collect();
        if gone == Gone::Prune {
            for spec in specs {
                self.prune(spec, &present)?;
            }
        }
        Ok(Fetched { present, missing, ..Fetched::default() })
    }

    fn prune(&self, spec: &RefSpec, present: &[(String, Id)]) -> Result<(), Error> {
        let kept: Vec<String> = present
            .iter()
            .filter(|(name, _)| matches(&spec.remote, name))
            .map(|(name, _)| spec.local_of(name))
            .collect();
        let prefix = spec.local.strip_suffix('*').unwrap_or(&spec.local);
        for (name, id) in self.list_refs(prefix)? {
            if matches(&spec.local, &name) && !kept.contains(&name) {
                self.compare_and_delete(&name, id)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_refs_of_others_only_so_many_are_followed_and_only_by_good_names() {
        let spec = RefSpec::tracking("origin", "carp/observed/*").at_most(2);
        let there = |names: &[&str]| -> Vec<_> {
            let full = |name: &&str| (format!("refs/heads/{name}"), Id::EMPTY_DIR);
            names.iter().map(full).collect()
        };
        let left = |names: &[&str], here: &str| -> Vec<String> {
            spec.leaves(&there(names), |local| local.ends_with(here)).into_iter().collect()
        };
        let of = |name: &str| format!("refs/heads/carp/observed/{name}");
        let (w1, w2) = ("carp/observed/w1", "carp/observed/w2");
        assert_eq!(left(&[w1, w2, "carp/status"], "-"), [""; 0]);
        assert_eq!(
            left(&[w1, "carp/observed/UP", "carp/observed/a/b"], "-"),
            [of("UP"), of("a/b")]
        );
        let crowd = ["carp/observed/a", "carp/observed/b", w2];
        assert_eq!(left(&crowd, "/w2"), [of("b")], "who reported before goes on reporting");
        let all = RefSpec::tracking("origin", "carp/observed/*");
        assert!(all.leaves(&there(&crowd), |_| false).is_empty());
    }

    #[test]
    fn a_star_stands_for_the_same_text_on_both_sides() {
        let spec = RefSpec::tracking("origin", "carp/observed/*");
        assert_eq!(
            spec.local_of("refs/heads/carp/observed/w1"),
            "refs/remotes/origin/carp/observed/w1"
        );
        let spec = RefSpec::tracking("origin", "main");
        assert_eq!(spec.local_of("refs/heads/main"), "refs/remotes/origin/main");
    }
}
