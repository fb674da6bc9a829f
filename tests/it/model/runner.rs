//! A carp: a clone that lasts, and the real program run in it, which may be killed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::support::generator::Random;
use crate::support::people::{Person, carp, printed, within};

/// The longest that a run may take. It is a bound, not a promise.
const LONGEST: Duration = Duration::from_secs(90);
const TICK: Duration = Duration::from_millis(10);

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// By itself.
    Lives,
    /// Killed after so many milliseconds.
    KilledAfter(u64),
    /// Each of its pushes waits so many milliseconds first, so that others come in between.
    Dawdles(u64),
    /// Killed by its own `git`, before the n-th push begins.
    KilledBeforePush(u64),
    /// Killed by its own `git` while the n-th push goes on, which it outlives.
    KilledDuringPush(u64),
    /// Killed by its own `git`, after the n-th push was done.
    KilledAfterPush(u64),
    /// It and its `git` may have so many files open.
    FewFiles(u64),
    /// It and its `git` may have so many MiB of memory, each.
    LittleMemory(u64),
}

impl Fate {
    pub(super) fn choose(random: &mut Random) -> Self {
        let n = |random: &mut Random| random.below(3) as u64 + 1;
        match random.below(13) {
            10 | 11 => Self::FewFiles(random.below(28) as u64 + 4),
            12 => Self::LittleMemory(random.below(160) as u64 + 16),
            0 => Self::KilledAfter(random.below(400) as u64),
            1 => Self::KilledBeforePush(n(random)),
            2 => Self::KilledDuringPush(n(random)),
            3 => Self::KilledAfterPush(n(random)),
            4..=6 => Self::Dawdles(random.below(300) as u64),
            _ => Self::Lives,
        }
    }
}

/// A `git` that kills the carp which runs it.
const WRAPPER: &str = r#"#!/bin/sh
PATH='@PATH@'
case " $* " in
*" push "*)
    n=$(($(cat "$CARP_TEST_COUNT" 2>/dev/null || echo 0) + 1))
    echo "$n" > "$CARP_TEST_COUNT"
    if [ "$n" = "$CARP_TEST_KILL_BEFORE" ]; then kill -9 "$PPID"; exit 1; fi
    if [ "$n" = "$CARP_TEST_KILL_DURING" ]; then git "$@" & kill -9 "$PPID"; wait; exit 0; fi
    if [ -n "$CARP_TEST_DAWDLE" ]; then sleep "$CARP_TEST_DAWDLE"; fi
    if [ "$n" = "$CARP_TEST_KILL_AFTER" ]; then git "$@"; kill -9 "$PPID"; exit 0; fi ;;
esac
exec git "$@"
"#;

/// The folder with that `git`, to stand first on the path.
pub(super) fn deadly_git() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let path = std::env::var("PATH").unwrap();
    let program = dir.path().join("git");
    fs::write(&program, WRAPPER.replace("@PATH@", &path)).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

pub(super) struct Runner {
    pub(super) clone: Person,
    running: Option<(Child, Fate)>,
}

/// What a run that ended by itself said.
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) text: String,
    /// Whether it had less than a run needs.
    pub(super) starved: bool,
}

impl Runner {
    pub(super) fn new(url: &str) -> Self {
        let clone = Person::cloning(url);
        crate::support::git(&clone.path(), &["pull", "--quiet", "origin", "main"]);
        Self { clone, running: None }
    }

    pub(super) fn start(&mut self, fate: Fate, now: &str, deadly: &Path) {
        self.wait();
        let count = deadly
            .join(format!("pushes-{}", self.clone.path().to_str().unwrap().replace('/', "-")));
        let _ = fs::remove_file(&count);
        let mut command = carp(&self.clone.path(), &["reconcile", "--once", "--now", now]);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", deadly.display())).env("CARP_TEST_COUNT", count);
        match fate {
            Fate::KilledBeforePush(n) => command.env("CARP_TEST_KILL_BEFORE", n.to_string()),
            Fate::KilledDuringPush(n) => command.env("CARP_TEST_KILL_DURING", n.to_string()),
            Fate::Dawdles(n) => command.env("CARP_TEST_DAWDLE", format!("0.{n:03}")),
            Fate::KilledAfterPush(n) => command.env("CARP_TEST_KILL_AFTER", n.to_string()),
            Fate::Lives | Fate::KilledAfter(_) | Fate::FewFiles(_) | Fate::LittleMemory(_) => {
                &mut command
            }
        };
        match fate {
            Fate::FewFiles(n) => command = within(&format!("ulimit -n {n}"), &command),
            Fate::LittleMemory(n) => command = within(&format!("ulimit -v {}", n << 10), &command),
            _ => {}
        }
        // A group of its own, so that what outlives it is known.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        self.running = Some((child, fate));
    }

    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Waits for the run and for every `git` that outlives it. `None` where it was killed, or where
    /// none was started.
    pub(super) fn wait(&mut self) -> Option<Ended> {
        let (mut child, fate) = self.running.take()?;
        let group = child.id();
        if let Fate::KilledAfter(milliseconds) = fate {
            std::thread::sleep(Duration::from_millis(milliseconds));
            let _ = child.kill();
        }
        let mut waited = Duration::ZERO;
        while child.try_wait().unwrap().is_none() {
            std::thread::sleep(TICK);
            waited += TICK;
            if waited > LONGEST {
                let _ = child.kill();
                panic!("a run did not end: {}", printed(&child.wait_with_output().unwrap()));
            }
        }
        while lives(group) {
            std::thread::sleep(TICK);
            waited += TICK;
            assert!(waited < LONGEST, "what a run started does not end");
        }
        let output = child.wait_with_output().unwrap();
        output.status.code()?;
        let starved = matches!(fate, Fate::FewFiles(_) | Fate::LittleMemory(_));
        Some(Ended { code: output.status.code(), text: printed(&output), starved })
    }

    /// Runs once, in peace.
    pub(super) fn run(&mut self, now: &str) -> Ended {
        self.wait();
        let output = self.clone.carp(&["reconcile", "--once", "--now", now]);
        Ended { code: output.status.code(), text: printed(&output), starved: false }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        if let Some((mut child, _)) = self.running.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Whether a process of a group lives, those apart that only wait to be buried. Where the system does not
/// tell, it is taken for dead.
fn lives(group: u32) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else { return false };
    processes.filter_map(Result::ok).any(|process| {
        let stat = fs::read_to_string(process.path().join("stat")).unwrap_or_default();
        // `pid (name) state parent group …`; the name may have blanks and brackets in it.
        let mut rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        let state = rest.next().unwrap_or("Z");
        state != "Z" && state != "X" && rest.nth(1) == Some(group.to_string().as_str())
    })
}
