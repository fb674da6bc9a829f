//! Lock files that a killed process left behind in a clone that only carp uses.
#![expect(clippy::disallowed_methods, reason = "this room looks at folders")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A `git` that outlived its carp may still hold a lock, for an instant.
const TRIES: u32 = 20;
const WAIT: Duration = Duration::from_millis(50);
/// How much older than a new pack a half-written one is that nobody writes any more.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// Removes the lock files and half-written files below a Git directory, after those that are in use had
/// time to go away. Only the process that holds the clone may call this.
pub(super) fn sweep(directory: &Path) -> io::Result<()> {
    for _ in 0..TRIES {
        if left(directory)?.is_empty() {
            return Ok(());
        }
        std::thread::sleep(WAIT);
    }
    for file in left(directory)? {
        match fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Removes what a killed carp left of a pack that it wrote into a clone of a person's: libgit2's own temporary
/// files, which git does not know for its own and never removes. Those that are not clearly older than a pack
/// that was just written may be another process's at work, and stay.
pub(super) fn sweep_packs(written: &Path) {
    let modified = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).ok();
    let (Some(folder), Some(now)) = (written.parent(), modified(written)) else { return };
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let ours =
            path.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with("pack_git2_"));
        let age = modified(&path).and_then(|then| now.duration_since(then).ok());
        if ours && age.is_some_and(|age| age >= ABANDONED) {
            // What cannot be removed takes room and does no other harm.
            let _ = fs::remove_file(path);
        }
    }
}

/// The files that only a process at work has.
fn left(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    walk(directory, &mut found)?;
    Ok(found)
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if entry.file_type()?.is_dir() {
            // The folders of loose objects hold no locks, and there are many of them.
            let loose = name.len() == 2 && name.bytes().all(|b| b.is_ascii_hexdigit());
            if !loose {
                walk(&entry.path(), found)?;
            }
        } else if is_left(name) {
            found.push(entry.path());
        }
    }
    Ok(())
}

fn is_left(name: &str) -> bool {
    let is_lock = Path::new(name).extension().is_some_and(|extension| extension == "lock");
    is_lock
        || ["tmp_pack_", "tmp_idx_", "tmp_obj_", "pack_git2_"]
            .iter()
            .any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_and_half_written_files_go_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = |path: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        };
        let left = [
            "config.lock",
            "packed-refs.lock",
            "shallow.lock",
            "refs/remotes/origin/main.lock",
            "objects/pack/tmp_pack_x",
            "objects/pack/pack_git2_1a",
        ];
        let kept = [
            "config",
            "packed-refs",
            "refs/heads/lock",
            "objects/pack/pack-1.pack",
            "objects/ab/cd",
        ];
        left.iter().chain(&kept).for_each(|path| file(path));
        sweep(folder.path()).unwrap();
        assert!(left.iter().all(|path| !folder.path().join(path).exists()));
        assert!(kept.iter().all(|path| folder.path().join(path).exists()));
    }

    #[test]
    fn what_a_killed_run_left_of_a_pack_goes_once_it_is_old() {
        let folder = tempfile::tempdir().unwrap();
        let now = std::time::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let file = |name: &str, age: Duration| {
            let path = folder.path().join(name);
            fs::File::create(&path).unwrap().set_modified(now - age).unwrap();
            path
        };
        let old = [file("pack_git2_1a.lock", ABANDONED), file("pack_git2_2b", ABANDONED * 9)];
        let kept = [
            file("pack_git2_3c.lock", ABANDONED / 2),
            file("pack-4d.pack", ABANDONED * 9),
            file("tmp_pack_5e", ABANDONED * 9),
        ];
        sweep_packs(&file("pack-new.pack", Duration::ZERO));
        assert!(old.iter().all(|path| !path.exists()));
        assert!(kept.iter().all(|path| path.exists()));
    }
}
