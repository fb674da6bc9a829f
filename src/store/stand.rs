//! How the files of a folder stand, to see that somebody saved one.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How deep folders are looked into.
const DEEPEST: usize = 64;

/// The size and the time of every file below a folder, `.git` and one other folder left out. What cannot be read is left
/// out too: whoever reads it then says why. Two that are equal mean that nothing was saved in between, but for what
/// kept its size within a tick of the file system's clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesStand(BTreeMap<PathBuf, (u64, Option<SystemTime>)>);

impl FilesStand {
    /// Looks at a folder, without what lies below `except`.
    #[must_use]
    pub fn of(root: &Path, except: &Path) -> Self {
        let mut stand = Self::default();
        stand.folder(root, fs::canonicalize(except).ok().as_deref(), 0);
        stand
    }

    fn folder(&mut self, path: &Path, except: Option<&Path>, depth: usize) {
        let is_left_out = path.file_name().is_some_and(|name| name == ".git")
            || (except.is_some() && fs::canonicalize(path).ok().as_deref() == except);
        let Some(entries) = fs::read_dir(path).ok().filter(|_| !is_left_out && depth < DEEPEST)
        else {
            return;
        };
        for entry in entries.filter_map(Result::ok) {
            // Of a symbolic link this is the link itself, which leads nowhere for carp.
            let Ok(about) = entry.metadata() else { continue };
            if about.is_dir() {
                self.folder(&entry.path(), except, depth + 1);
            } else {
                self.0.insert(entry.path(), (about.len(), about.modified().ok()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_seen_and_what_carp_writes_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for dir in ["fleet", "out", ".git"] {
            fs::create_dir(at(dir)).unwrap();
        }
        fs::write(at("fleet/a.yaml"), "a").unwrap();
        let stand = || FilesStand::of(folder.path(), &at("out"));
        let first = stand();
        assert_eq!(first.0.len(), 1);
        for own in ["out/x.yaml", ".git/HEAD"] {
            fs::write(at(own), "x").unwrap();
        }
        assert_eq!(stand(), first);
        fs::write(at("fleet/a.yaml"), "another").unwrap();
        let saved = stand();
        assert_ne!(saved, first);
        fs::rename(at("fleet/a.yaml"), at("fleet/b.yaml")).unwrap();
        assert_ne!(stand(), saved);
        assert_eq!(FilesStand::of(&at("nowhere"), &at("out")), FilesStand::default());
    }
}
