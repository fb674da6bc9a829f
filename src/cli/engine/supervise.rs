//! A turn of the reconciler in a process of its own: this program again, with a deadline.
//!
//! What hangs in a library cannot be stopped from within a process. So the process that a person, a
//! service manager or a cluster started only starts turns, waits for them, hands signals on, and ends
//! what does not end. A turn whose read hung (the watchdog in it says so by its exit code) is started
//! once more: by then a mark says which object to keep away from.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use super::super::Exit;

/// The exit code of a turn that ended because a read did not (`EX_TEMPFAIL` of sysexits).
pub const HUNG: i32 = 75;

/// The argument that says that a process is a turn, and does not start another.
pub const TURN: &str = "--turn";

/// What becomes of a turn's outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// They are this process's own: a person sees no difference.
    Inherit,
    /// Standard output is kept; standard error is this process's own.
    Capture,
}

/// A turn to run.
#[derive(Clone, Debug)]
pub struct Turn {
    /// This program's own file.
    pub program: PathBuf,
    /// Its arguments, without the program's name: `reconcile …`.
    pub args: Vec<OsString>,
    /// How long it may take.
    pub deadline: Duration,
    /// What becomes of its outputs.
    pub output: Output,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The way it ended, the second time where it was run twice.
    pub how: How,
    /// What it printed, with [`Output::Capture`].
    pub stdout: String,
    /// Whether a read hung, so that it was run again.
    pub again: bool,
}

/// The way a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// By itself.
    Exited(Exit),
    /// By a signal with this number.
    Killed(u8),
    /// A read hung, twice.
    Hung,
    /// It took too long, and was ended.
    TimedOut,
}

/// Runs a turn to its end, and once more if a read in it hung. A signal that asks this process to end
/// is handed on to the turn, and [`asked_to_end`] tells it from then on.
///
/// # Errors
/// The program cannot be started, or signals cannot be listened for.
pub fn supervise(turn: &Turn) -> io::Result<Ended> {
    listen()?;
    let first = run(turn)?;
    if first.how != How::Hung || asked_to_end().is_some() {
        return Ok(first);
    }
    Ok(Ended { again: true, ..run(turn)? })
}

/// The signal that asked this process to end, since [`supervise`] was first called.
#[must_use]
pub fn asked_to_end() -> Option<i32> {
    let signal = SIGNAL.get().map_or(0, |signal| signal.load(Ordering::SeqCst));
    i32::try_from(signal).ok().filter(|signal| *signal != 0)
}

static SIGNAL: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

fn listen() -> io::Result<()> {
    if SIGNAL.get().is_some() {
        return Ok(());
    }
    let signal = Arc::new(AtomicUsize::new(0));
    for number in signal_hook::consts::TERM_SIGNALS {
        let value = usize::try_from(*number).map_err(io::Error::other)?;
        signal_hook::flag::register_usize(*number, Arc::clone(&signal), value)?;
    }
    let _ = SIGNAL.set(signal);
    Ok(())
}

fn run(turn: &Turn) -> io::Result<Ended> {
    let mut command = Command::new(&turn.program);
    command.args(&turn.args).arg(TURN);
    if turn.output == Output::Capture {
        command.stdout(Stdio::piped());
    }
    let mut child = command.spawn()?;
    let reading = child.stdout.take().map(read);
    let how = if let Some(status) = wait(&mut child, turn.deadline)? {
        how(status)
    } else {
        child.kill()?;
        child.wait()?;
        How::TimedOut
    };
    // A program that the turn started may outlive it and keep the pipe open; after a deadline nobody
    // waits for it.
    let stdout = reading.filter(|_| how != How::TimedOut).map_or_else(String::new, text);
    Ok(Ended { how, stdout, again: false })
}

/// Waits for a process; `None` where it takes too long. Looks often at first: most turns are short.
fn wait(child: &mut Child, deadline: Duration) -> io::Result<Option<ExitStatus>> {
    let (mut waited, mut told) = (Duration::ZERO, None);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if waited >= deadline {
            return Ok(None);
        }
        let asked = asked_to_end();
        if asked != told {
            hand_on(child, asked);
            told = asked;
        }
        let pause = (waited / 20).clamp(Duration::from_millis(1), Duration::from_millis(20));
        std::thread::sleep(pause);
        waited += pause;
    }
}

#[cfg(unix)]
fn hand_on(child: &Child, signal: Option<i32>) {
    let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    let signal = signal.and_then(rustix::process::Signal::from_named_raw);
    if let (Some(pid), Some(signal)) = (pid, signal) {
        // A process that has just ended needs no signal.
        let _ = rustix::process::kill_process(pid, signal);
    }
}

#[cfg(not(unix))]
fn hand_on(_: &Child, _: Option<i32>) {}

/// Lets this process end when the one that supervises it does, however that ends.
pub fn end_with_the_supervisor() {
    #[cfg(target_os = "linux")]
    {
        let signal = rustix::process::Signal::TERM;
        // An old kernel does not know how; then the turn ends by itself, which harms nothing.
        let _ = rustix::process::set_parent_process_death_signal(Some(signal));
    }
}

fn how(status: ExitStatus) -> How {
    match status.code() {
        Some(HUNG) => How::Hung,
        Some(code) => How::Exited(Exit::of(code)),
        None => How::Killed(signal_of(status)),
    }
}

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal().and_then(|signal| u8::try_from(signal).ok()).unwrap_or_default()
}

#[cfg(not(unix))]
fn signal_of(_: ExitStatus) -> u8 {
    0
}

fn read(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // A pipe that breaks has said what it had to say.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

fn text(reading: JoinHandle<Vec<u8>>) -> String {
    String::from_utf8_lossy(&reading.join().unwrap_or_default()).into_owned()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a shell script as if it were carp.
    fn ended(script: &str, deadline: Duration) -> Ended {
        let args = ["-c", script, "sh"].map(OsString::from).to_vec();
        let turn = Turn { program: "/bin/sh".into(), args, deadline, output: Output::Capture };
        supervise(&turn).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_turn_is_told_that_it_is_one_and_its_exit_and_output_are_kept() {
        let Ended { how, stdout, again } = ended("echo \"$1\"; exit 3", LONG);
        assert_eq!((how, stdout.as_str(), again), (How::Exited(Exit::Held), "--turn\n", false));
    }

    #[test]
    fn a_turn_that_hung_is_run_once_more() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let once = format!("test -e {0} && exit 0; touch {0}; exit 75", mark.display());
        let first = ended(&once, LONG);
        assert_eq!((first.how, first.again), (How::Exited(Exit::Fine), true));
        let always = ended("echo x; exit 75", LONG);
        assert_eq!((always.how, always.again), (How::Hung, true));
    }

    #[test]
    fn a_turn_that_takes_too_long_is_ended() {
        assert_eq!(ended("exec sleep 600", Duration::from_millis(50)).how, How::TimedOut);
    }

    #[test]
    fn a_turn_that_was_killed_says_by_which_signal() {
        assert_eq!(ended("kill -9 $$", LONG).how, How::Killed(9));
    }
}
