//! What the `git` program's words say about the clone that it runs in: that it is damaged, or locked.

use super::program_output::ProgramOutput;
use super::{Error, Redacted, Repository};

/// What git says of objects that are not what they were, or not there.
const DAMAGE: [&str; 19] = [
    "is empty",
    "is corrupt",
    "corrupt loose object",
    "corrupted loose reference",
    "unable to unpack",
    "inflate:",
    "bad object",
    "bad tree object",
    "missing blob object",
    "missing tree object",
    "missing commit",
    "unable to read",
    "unable to parse",
    "could not parse commit",
    "failed to traverse parents",
    "failed to read object",
    "packfile",
    "index file",
    "did not send all necessary objects",
];

#[derive(Debug, PartialEq, Eq)]
enum Trouble<'a> {
    /// An object or a pack is not what it was.
    Damaged(&'a str),
    /// This lock file is there.
    Locked(&'a str),
}

impl Repository {
    /// Tells a command that failed because of this clone from one that failed because of the remote.
    pub(super) fn is_sound(&self, what: &str, output: &ProgramOutput) -> Result<(), Error> {
        if output.code == Some(0) || output.stdout.lines().any(|line| line.starts_with("!\t")) {
            return Ok(());
        }
        let what = format!("{what} in {}", self.name());
        match trouble(&output.stderr) {
            None => Ok(()),
            Some(Trouble::Damaged(line)) => {
                Err(Error::Damaged { what, detail: Redacted::new(line) })
            }
            Some(Trouble::Locked(lock)) => Err(Error::LockFile { what, lock: lock.into() }),
        }
    }
}

/// The first line that speaks of this clone. What the other side says is marked as its own.
fn trouble(stderr: &str) -> Option<Trouble<'_>> {
    let lines = || stderr.lines().filter(|line| !line.starts_with("remote:"));
    if let Some(lock) = lines().find_map(lock_of) {
        return Some(Trouble::Locked(lock));
    }
    let told = |line: &&str| ["error:", "fatal:"].iter().any(|start| line.starts_with(start));
    let damaged = |line: &&str| DAMAGE.iter().any(|word| line.contains(word));
    let line = lines().filter(told).find(damaged)?;
    Some(Trouble::Damaged(line.split_once(": ").map_or(line, |(_, rest)| rest)))
}

/// `Unable to create 'PATH': File exists.`
fn lock_of(line: &str) -> Option<&str> {
    let (before, _) = line.split_once(": File exists")?;
    match before.rsplit_once("Unable to create '") {
        Some((_, path)) => path.strip_suffix('\''),
        None => before.split_once("could not lock config file ").map(|(_, path)| path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_told_from_what_a_remote_says() {
        for line in [
            "error: object file .git/objects/4b/825 is empty",
            "fatal: loose object 4b825dc6 (stored in .git/objects/4b/825) is corrupt",
            "error: inflate: data stream error (unknown compression method)",
            "fatal: bad object refs/remotes/origin/main",
            "error: packfile .git/objects/pack/pack-1.pack does not match index",
            "error: h did not send all necessary objects",
        ] {
            assert!(matches!(trouble(line), Some(Trouble::Damaged(_))), "{line}");
        }
        for line in [
            "remote: fatal: bad object refs/heads/main",
            "fatal: unable to access 'https://h/r/': Could not resolve host: h",
            "fatal: Could not read from remote repository.",
            "warning: x is empty",
            "",
        ] {
            assert_eq!(trouble(line), None, "{line}");
        }
    }

    #[test]
    fn a_lock_is_named_by_its_path() {
        let locked = |line| match trouble(line) {
            Some(Trouble::Locked(path)) => path.to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            locked("fatal: Unable to create '/r/.git/packed-refs.lock': File exists.\n\nAnother"),
            "/r/.git/packed-refs.lock"
        );
        assert_eq!(
            locked(
                "error: cannot lock ref 'refs/remotes/origin/main': Unable to create '/r/.git/refs/remotes/origin/main.lock': File exists."
            ),
            "/r/.git/refs/remotes/origin/main.lock"
        );
        assert_eq!(
            locked("error: could not lock config file .git/config.lock: File exists"),
            ".git/config.lock"
        );
    }
}
