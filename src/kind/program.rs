//! Running `kind`: in a process group of its own, with a deadline, and ended with all its children.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::engine::Cancel;

/// How long each look at a running program waits.
const STEP: Duration = Duration::from_millis(20);
/// How long a program may take to end after it was asked to.
const FAREWELL: Duration = Duration::from_secs(5);
/// The most that is read of what it prints.
const MOST_BYTES: u64 = 1 << 20;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// By itself, with its exit code; `None` by somebody's signal.
    Exited(Option<i32>),
    /// It took too long and was ended.
    TimedOut,
    /// It was told to stop and was ended.
    Cancelled,
}

/// What a run came to.
#[derive(Clone, Debug)]
pub(super) struct Ran {
    pub(super) end: End,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Runs a program and waits. Its streams are files: nothing waits for a pipe that a child of it keeps
/// open.
pub(super) fn run(
    command: &mut Command,
    input: Stdio,
    limit: Duration,
    cancel: &Cancel,
) -> io::Result<Ran> {
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdin(input).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    // A signal for carp, such as Ctrl-C, is carp's to hand on.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let spawned = command.spawn();
    // The command would keep its ends of the files, and the lock, open.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = spawned?;
    let end = wait(&mut child, limit, cancel)?;
    Ok(Ran { end, stdout: text(&mut stdout)?, stderr: text(&mut stderr)? })
}

fn wait(child: &mut Child, limit: Duration, cancel: &Cancel) -> io::Result<End> {
    let steps = limit.as_millis() / STEP.as_millis();
    for _ in 0..=steps {
        if let Some(status) = child.try_wait()? {
            return Ok(End::Exited(status.code()));
        }
        if cancel.is_cancelled() {
            end(child);
            return Ok(End::Cancelled);
        }
        std::thread::sleep(STEP);
    }
    end(child);
    Ok(End::TimedOut)
}

/// Asks the whole group to end, and after a while does not ask any more.
#[cfg(unix)]
fn end(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // A group that has just ended cannot be told, which is just as well.
    let tell = |signal| {
        if let Some(group) = group {
            let _ = kill_process_group(group, signal);
        }
    };
    tell(Signal::TERM);
    for _ in 0..FAREWELL.as_millis() / STEP.as_millis() {
        if !matches!(child.try_wait(), Ok(None)) {
            break;
        }
        std::thread::sleep(STEP);
    }
    // Children that outlive it go too.
    tell(Signal::KILL);
    let _ = child.wait();
}

#[cfg(not(unix))]
fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
    std::thread::sleep(FAREWELL.min(STEP));
}

fn text(file: &mut File) -> io::Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn sh(script: &str, limit: Duration, cancel: &Cancel) -> Ran {
        run(Command::new("sh").args(["-c", script]), Stdio::null(), limit, cancel).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_program_says_how_it_ended() {
        let ran = sh("echo yes; echo no >&2; exit 3", LONG, &Cancel::default());
        assert_eq!((ran.end, &*ran.stdout, &*ran.stderr), (End::Exited(Some(3)), "yes\n", "no\n"));
        assert_eq!(sh("kill -9 $$", LONG, &Cancel::default()).end, End::Exited(None));
    }

    #[test]
    fn one_that_takes_too_long_is_ended() {
        assert_eq!(
            sh("sleep 600", Duration::from_millis(50), &Cancel::default()).end,
            End::TimedOut
        );
    }

    #[test]
    fn one_that_is_ended_is_ended_with_its_children() {
        // Whoever still runs keeps the pipe open.
        let (mut read, write) = std::io::pipe().unwrap();
        let cancel = Cancel::default();
        let running = {
            let cancel = cancel.clone();
            std::thread::spawn(move || {
                let script = "exec 3>&0; (echo up >&3; sleep 600) & wait";
                run(Command::new("sh").args(["-c", script]), write.into(), LONG, &cancel).unwrap()
            })
        };
        let mut up = [0; 3];
        read.read_exact(&mut up).unwrap();
        cancel.cancel();
        assert_eq!(running.join().unwrap().end, End::Cancelled);
        let (send, ended) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let _ = read.read_to_end(&mut Vec::new());
            let _ = send.send(());
        });
        assert!(ended.recv_timeout(LONG).is_ok(), "the child is gone");
    }

    #[test]
    fn one_that_is_told_to_stop_stops() {
        let cancel = Cancel::default();
        cancel.cancel();
        assert_eq!(sh("sleep 600", LONG, &cancel).end, End::Cancelled);
    }
}
