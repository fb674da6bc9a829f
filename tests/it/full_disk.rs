//! A disk with no room: an error, no ref moved, no temporary file left, and the next run works.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::disk::{World, left_behind};
use crate::support::reconciled::Ran;
use crate::support::skip;

/// The temporary files but those of `git fetch`, which leaves them to `git gc`.
fn left_by_carp(clone: &Path) -> Vec<PathBuf> {
    let of_git = |file: &PathBuf| {
        let name = file.file_name().unwrap().to_string_lossy();
        ["tmp_obj_", "tmp_pack_", "tmp_idx_"].iter().any(|start| name.starts_with(start))
    };
    left_behind(clone).into_iter().filter(|file| !of_git(file)).collect()
}

/// Runs carp in a shell that did something before.
fn after(world: &World, before: &str) -> Ran {
    let carp = world.command(&["reconcile", "--once"], &[]);
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{before}; exec \"$@\"")).arg("sh");
    command.arg(carp.get_program()).args(carp.get_args());
    for (key, value) in carp.get_envs() {
        match value {
            Some(value) => command.env(key, value),
            None => command.env_remove(key),
        };
    }
    command.current_dir(world.fleet()).stdin(Stdio::null());
    Ran::of(command)
}

#[test]
fn no_file_may_grow_beyond_a_limit() {
    let world = World::new();
    let saved = world.saved();
    let before = world.refs();
    let mut failed = 0;
    // In blocks of 512 bytes. The signal is ignored, so that a write fails as it does on a full disk.
    for blocks in [1, 4, 8, 16, 24, 32, 48] {
        world.restore(&saved);
        let ran = after(&world, &format!("trap '' XFSZ; ulimit -f {blocks}"));
        let left = left_by_carp(&world.fleet());
        assert!(left.is_empty(), "{blocks}: {left:?}\n{}", ran.err);
        if ran.exit == 0 {
            continue;
        }
        failed += 1;
        assert_eq!(ran.exit, 1, "{blocks}: {}{}", ran.out, ran.err);
        assert_eq!(world.refs(), before, "{blocks}: {}", ran.err);
        let next = world.reconcile(&[]);
        assert_eq!(next.exit, 0, "{blocks}: {}{}", next.out, next.err);
        world.has_golf();
    }
    assert!(failed >= 2, "the limits are low enough to be met");
}

/// A folder with its own small disk; taken away when this is dropped.
struct Disk<'a>(&'a Path);

impl<'a> Disk<'a> {
    fn mounted(path: &'a Path, size: &str) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", size, "none"]).arg(path).stderr(Stdio::null());
        mount.status().is_ok_and(|status| status.success()).then_some(Self(path))
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.0).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "{} stays", self.0.display());
    }
}

#[test]
fn a_real_disk_that_is_full() {
    let world = World::new();
    let aside = tempfile::tempdir().unwrap();
    let fleet = world.fleet();
    fs::rename(&fleet, aside.path().join("fleet")).unwrap();
    fs::create_dir(&fleet).unwrap();
    let Some(disk) = Disk::mounted(&fleet, "size=2m") else {
        fs::remove_dir(&fleet).unwrap();
        return skip("a_real_disk_that_is_full", "only root may mount a disk");
    };
    let from = format!("{}/.", aside.path().join("fleet").display());
    assert!(Command::new("cp").args(["-a", &from]).arg(&fleet).status().unwrap().success());
    let before = world.refs();
    // Fills the disk to the last byte but a few pages.
    for room in [0, 8, 16, 24, 32, 40, 64] {
        let filler = fleet.join(".git/filler");
        let fill = format!(
            "cat /dev/zero > '{0}' 2>/dev/null; truncate -s -{room}k '{0}' 2>/dev/null || :",
            filler.display()
        );
        assert!(Command::new("sh").args(["-c", &fill]).status().unwrap().success());
        let ran = world.reconcile(&[]);
        if ran.exit == 0 {
            assert_ne!(world.refs(), before, "{room}: {}{}", ran.out, ran.err);
            break;
        }
        assert_eq!(ran.exit, 1, "{room}: {}{}", ran.out, ran.err);
        assert_eq!(world.refs(), before, "{room}: {}", ran.err);
        fs::remove_file(&filler).unwrap();
        let left = left_by_carp(&fleet);
        assert!(left.is_empty(), "{room}: {left:?}\n{}", ran.err);
    }
    let _ = fs::remove_file(fleet.join(".git/filler"));
    let next = world.reconcile(&[]);
    assert_eq!(next.exit, 0, "{}{}", next.out, next.err);
    world.has_golf();
    drop(disk);
}
