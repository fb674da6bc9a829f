//! Local refs: reading them, and moving one only from where it is believed to be.

use std::fs::File;
use std::time::Duration;

use git2::{ErrorCode, Oid, Reference};

use super::repository::{id, oid, pass};
use super::{Error, Redacted, Repository};
use crate::fault::Point;
use crate::model::Id;

/// What became of a compare-and-swap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swap {
    /// The ref was where it was expected to be, and it moved.
    Moved,
    /// Somebody else moved it first; nothing was changed.
    Raced,
}

/// How often a locked ref is tried, and how long each wait is: another Git command holds a ref's lock
/// for an instant, a killed one for ever.
const LOCK_TRIES: u32 = 20;
const LOCK_WAIT: Duration = Duration::from_millis(50);

impl Repository {
    /// The object that a ref names, given its full name; `None` if there is no such ref.
    ///
    /// # Errors
    /// The ref cannot be read.
    pub fn resolve(&self, name: &str) -> Result<Option<Id>, Error> {
        match self.inner.find_reference(name).and_then(|r| r.resolve()) {
            Ok(reference) => Ok(reference.target().map(id)),
            Err(e) if matches!(e.code(), ErrorCode::NotFound | ErrorCode::InvalidSpec) => Ok(None),
            Err(e) => Err(self.failed(&format!("reading the ref `{name}`"), &e)),
        }
    }

    /// The object that a ref names, which must be there.
    ///
    /// # Errors
    /// There is no such ref: the error names the fetch that brings it.
    pub fn require(&self, name: &str) -> Result<Id, Error> {
        self.resolve(name)?.ok_or_else(|| self.missing_ref(name))
    }

    /// The error for a ref that is not here, with the command that brings it.
    pub fn missing_ref(&self, name: &str) -> Error {
        let fetch = Redacted::new(fetch_line(name, self.remotes().first().map(String::as_str)));
        Error::MissingRef { name: name.to_owned(), fetch }
    }

    /// The refs whose full names begin with a prefix, sorted, with the objects that they name.
    ///
    /// # Errors
    /// The refs cannot be read.
    pub fn list_refs(&self, prefix: &str) -> Result<Vec<(String, Id)>, Error> {
        let failed = |e: &git2::Error| self.failed(&format!("listing the refs `{prefix}*`"), e);
        let mut found = Vec::new();
        for reference in self.inner.references().map_err(|e| failed(&e))? {
            let reference = reference.map_err(|e| failed(&e))?;
            found.extend(named(&reference).filter(|(name, _)| name.starts_with(prefix)));
        }
        found.sort();
        Ok(found)
    }

    /// Moves a ref to `new` if it is at `expected` (`None`: if it is not there), under the ref's lock.
    /// `reason` goes into the reflog.
    ///
    /// # Errors
    /// The new object is not here, the ref stays locked, or the disk failed.
    pub fn compare_and_swap(
        &self,
        name: &str,
        expected: Option<Id>,
        new: Id,
        reason: &str,
    ) -> Result<Swap, Error> {
        // A zero id stands for "not there". libgit2's create without force looks before it locks and
        // would let two writers through; this form compares under the lock.
        let from = expected.map_or(Oid::ZERO_SHA1, oid);
        let swap = || {
            // libgit2 looks whether the object is there.
            let _reading = self.reads(Some(new));
            self.inner.reference_matching(name, oid(new), true, from, reason).map(|_| ())
        };
        let what = || format!("moving the ref `{name}` of {}", self.name());
        pass(Point::BeforeRef, what)?;
        let outcome = self.when_unlocked(name, swap)?;
        if outcome == Swap::Moved {
            self.sync_ref(name);
            pass(Point::AfterRef, what)?;
        }
        Ok(outcome)
    }

    /// Removes a ref if it is at `expected`.
    ///
    /// # Errors
    /// The ref stays locked, or the disk failed.
    pub fn compare_and_delete(&self, name: &str, expected: Id) -> Result<Swap, Error> {
        self.when_unlocked(name, || {
            let mut reference = self.inner.find_reference(name)?;
            if reference.target() != Some(oid(expected)) {
                return Err(git2::Error::new(
                    ErrorCode::Modified,
                    git2::ErrorClass::Reference,
                    "the ref moved",
                ));
            }
            // libgit2 compares once more under the lock.
            reference.delete()
        })
    }

    fn when_unlocked(
        &self,
        name: &str,
        change: impl Fn() -> Result<(), git2::Error>,
    ) -> Result<Swap, Error> {
        for _ in 0..LOCK_TRIES {
            match change() {
                Ok(()) => return Ok(Swap::Moved),
                Err(e) => match e.code() {
                    ErrorCode::Locked => std::thread::sleep(LOCK_WAIT),
                    ErrorCode::Modified | ErrorCode::NotFound | ErrorCode::Exists => {
                        return Ok(Swap::Raced);
                    }
                    _ => return Err(self.failed(&format!("moving the ref `{name}`"), &e)),
                },
            }
        }
        let lock = self.inner.commondir().join(format!("{name}.lock"));
        Err(Error::Locked { name: name.to_owned(), lock })
    }

    /// libgit2 renames the new ref into place without waiting for the disk. A failure here is none of
    /// the swap, which has happened.
    fn sync_ref(&self, name: &str) {
        let _ = File::open(self.inner.commondir().join(name)).and_then(|file| file.sync_all());
    }
}

fn named(reference: &Reference<'_>) -> Option<(String, Id)> {
    Some((reference.name().ok()?.to_owned(), id(reference.target()?)))
}

/// The command that brings a ref from the remote it belongs to.
fn fetch_line(name: &str, first_remote: Option<&str>) -> String {
    let remote = first_remote.unwrap_or("origin");
    if let Some((remote, branch)) =
        name.strip_prefix("refs/remotes/").and_then(|rest| rest.split_once('/'))
    {
        return format!("git fetch {remote} {branch}:{name}");
    }
    match name.strip_prefix("refs/heads/") {
        Some(branch) => format!("git fetch {remote} {branch}:{name}"),
        None => format!("git fetch {remote} {name}:{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fetch_line_brings_exactly_that_ref() {
        assert_eq!(
            fetch_line("refs/remotes/origin/carp/rendered", None),
            "git fetch origin carp/rendered:refs/remotes/origin/carp/rendered"
        );
        assert_eq!(fetch_line("refs/heads/main", Some("up")), "git fetch up main:refs/heads/main");
        assert_eq!(fetch_line("refs/x", None), "git fetch origin refs/x:refs/x");
    }
}
