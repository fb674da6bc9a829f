//! A turn of the reconciler in a process of its own: this program again, with a deadline.
//!
//! What hangs in a library cannot be stopped from within a process. So the process that a person, a
//! service manager or a cluster started only starts turns, waits for them, hands signals on, and ends
//! what does not end. A turn whose read hung (the watchdog in it says so by its exit code) is started
//! once more: by then a mark says which object to keep away from.

use std::ffi::OsString;
use std::io::{self, Read, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use super::super::Exit;
use super::process_end::ProcessEnd;

/// The exit code of a turn that ended because a read did not (`EX_TEMPFAIL` of sysexits).
pub const HUNG: i32 = 75;

/// The exit code of a turn that ended because it needs more memory than it may have (`EX_OSERR` of sysexits).
pub const OUT_OF_MEMORY: i32 = 71;

/// The argument that says that a process is a turn, and does not start another.
pub const TURN: &str = "--turn";

/// What becomes of a turn's outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnOutputs {
    /// They are this process's own: a person sees no difference.
    Inherit,
    /// Standard output is kept; what is said on standard error is handed on, and the end of it known.
    Capture,
}

/// A turn to run.
#[derive(Clone, Debug)]
pub struct SupervisedTurn {
    /// This program's own file.
    pub program: PathBuf,
    /// Its arguments, without the program's name: `reconcile …`.
    pub args: Vec<OsString>,
    /// How long it may take.
    pub deadline: Duration,
    /// How many bytes of memory it may have, as its arguments say.
    pub memory: Option<u64>,
    /// What becomes of its outputs.
    pub output: TurnOutputs,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The way it ended, the second time where it was run twice.
    pub how: How,
    /// What it printed, with [`TurnOutputs::Capture`].
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
    /// It needed more memory than it may have.
    OutOfMemory,
    /// Something nested deeper than its stack is long.
    OutOfStack,
}

/// Runs a turn to its end, and once more if a read in it hung. A signal that asks this process to end
/// is handed on to the turn, and [`asked_to_end`] tells it from then on.
///
/// # Errors
/// The program cannot be started, or signals cannot be listened for.
pub fn supervise(turn: &SupervisedTurn) -> io::Result<Ended> {
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

fn run(turn: &SupervisedTurn) -> io::Result<Ended> {
    let mut command = Command::new(&turn.program);
    command.args(&turn.args).arg(TURN);
    if turn.output == TurnOutputs::Capture {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    if turn.memory.is_some() {
        // Else mimalloc asks for 32 MiB at once, all of which counts although little of it is used; and it writes to what it keeps
        // of a GiB where more of that is refused.
        command.env("MIMALLOC_EAGER_COMMIT", "0").env("MIMALLOC_DISALLOW_ARENA_ALLOC", "1");
    }
    let killed_before = oom_kills();
    let mut child = command.spawn()?;
    let pipes = match heard(&mut child) {
        Ok(pipes) => pipes,
        Err(error) => {
            // What it says would be heard by nobody, and it would wait for whoever reads.
            child.kill()?;
            child.wait()?;
            return Err(error);
        }
    };
    let how = if let Some(status) = wait(&mut child, turn.deadline)? {
        let last =
            pipes.stderr.and_then(|told| told.recv_timeout(LAST_WORDS).ok()).unwrap_or_default();
        how(status, turn.memory.is_some(), oom_kills() > killed_before, &last)
    } else {
        child.kill()?;
        child.wait()?;
        How::TimedOut
    };
    // A program that the turn started may outlive it and keep the pipe open; after a deadline nobody
    // waits for it.
    let stdout = pipes.stdout.filter(|_| how != How::TimedOut).map_or_else(String::new, text);
    Ok(Ended { how, stdout, again: false })
}

/// What is read of a turn while it goes on.
struct Pipes {
    stdout: Option<JoinHandle<Vec<u8>>>,
    /// The end of its standard error, when that is over.
    stderr: Option<Receiver<String>>,
}

/// Reads what a turn says from now on; an error where there is no thread to be had.
fn heard(child: &mut Child) -> io::Result<Pipes> {
    let stdout = child.stdout.take().map(read).transpose()?;
    let stderr = child.stderr.take().map(hand_out).transpose()?;
    Ok(Pipes { stdout, stderr })
}

/// Waits for a process; `None` where it takes too long.
fn wait(child: &mut Child, deadline: Duration) -> io::Result<Option<ExitStatus>> {
    let end = ProcessEnd::of(child);
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
        waited += end.wait(waited);
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

/// Bounds the memory of this process and of those that it starts: what is asked for beyond it is not there. The
/// watchdog ends the process at the bound itself; this is an eighth more, for what grows faster than it looks.
///
/// What counts is what a process has for itself (`RLIMIT_DATA`, which since Linux 4.7 has private mappings that can
/// be written to). Packs, which are mapped to be read, do not count, however large the repository is.
pub fn bound_memory(bytes: Option<u64>) {
    #[cfg(target_os = "linux")]
    if let Some(bytes) = bytes {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Data);
        let most = bytes.saturating_add(bytes / 8);
        let most = limit.maximum.map_or(most, |maximum| maximum.min(most));
        // Where the system refuses, the watchdog alone looks.
        let _ = setrlimit(Resource::Data, Rlimit { current: Some(most), ..limit });
    }
    #[cfg(not(target_os = "linux"))]
    let _ = bytes;
}

/// How a turn ended that may have had a bound of memory, while which the kernel may have ended something for want of
/// it, and what it said last.
fn how(status: ExitStatus, is_bounded: bool, oom_killed: bool, last: &str) -> How {
    match status.code() {
        Some(HUNG) => How::Hung,
        Some(OUT_OF_MEMORY) => How::OutOfMemory,
        // Rust's own handlers abort in both cases, and say which it was on standard error.
        None if signal_of(status) == ABORTED && last.contains(OVERFLOWED) => How::OutOfStack,
        None if is_bounded && signal_of(status) == ABORTED => How::OutOfMemory,
        None if oom_killed && signal_of(status) == KILLED => How::OutOfMemory,
        Some(code) => How::Exited(Exit::of(code)),
        None => How::Killed(signal_of(status)),
    }
}

/// What Rust says of a thread whose stack has ended.
const OVERFLOWED: &str = "has overflowed its stack";
/// How long the last words of a turn are waited for. A program that it started may keep the pipe open.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How many bytes of them are kept.
const KEPT: usize = 4096;
/// SIGABRT.
const ABORTED: u8 = 6;
/// SIGKILL, which the kernel sends where memory ends, and people where they have enough.
const KILLED: u8 = 9;

/// How many processes the kernel has ended because memory ran out: of this container, or else of this machine; `None`
/// where it does not say.
#[expect(clippy::disallowed_methods, reason = "what the kernel says is read from files of its own")]
fn oom_kills() -> Option<u64> {
    let files = ["/sys/fs/cgroup/memory.events", "/proc/vmstat"];
    files.into_iter().find_map(|file| kills_in(&std::fs::read_to_string(file).ok()?))
}

fn kills_in(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
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

fn read(mut pipe: impl Read + Send + 'static) -> io::Result<JoinHandle<Vec<u8>>> {
    std::thread::Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        // A pipe that breaks has said what it had to say.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

/// Hands on to this process's standard error what a turn says there, and gives the end of it when it is over.
fn hand_out(mut pipe: impl Read + Send + 'static) -> io::Result<Receiver<String>> {
    let (send, receive) = channel();
    std::thread::Builder::new().spawn(move || {
        let (mut last, mut part) = (Vec::new(), [0; KEPT]);
        loop {
            let read = match pipe.read(&mut part) {
                Ok(0) => break,
                Ok(count) => part.get(..count).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            // Nobody may be listening any more.
            let _ = io::stderr().write_all(read);
            last.extend_from_slice(read);
            let surplus = last.len().saturating_sub(KEPT);
            last.drain(..surplus);
        }
        // Who does not wait for it needs it no more.
        let _ = send.send(String::from_utf8_lossy(&last).into_owned());
    })?;
    Ok(receive)
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
        ended_within(script, deadline, None)
    }

    fn ended_within(script: &str, deadline: Duration, memory: Option<u64>) -> Ended {
        let args = ["-c", script, "sh"].map(OsString::from).to_vec();
        let (program, output) = ("/bin/sh".into(), TurnOutputs::Capture);
        supervise(&SupervisedTurn { program, args, deadline, memory, output }).unwrap()
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
        assert_eq!(ended("kill -6 $$", LONG).how, How::Killed(6));
    }

    #[test]
    fn what_the_kernel_ends_for_want_of_memory_is_told_from_what_a_person_ends() {
        use std::os::unix::process::ExitStatusExt as _;
        let killed = ExitStatus::from_raw(9);
        assert_eq!(how(killed, true, true, ""), How::OutOfMemory);
        assert_eq!(how(killed, true, false, ""), How::Killed(9));
        assert_eq!(how(ExitStatus::from_raw(15), true, true, ""), How::Killed(15));
        let events = "low 0\noom 4\noom_kill 2\noom_group_kill 0\n";
        assert_eq!((kills_in(events), kills_in("pgfault 7\n")), (Some(2), None));
    }

    #[test]
    fn a_stack_that_ends_is_told_from_memory_that_does() {
        let said = |what: &str| {
            let script = format!("echo \"{what}\" >&2; kill -6 $$");
            ended_within(&script, LONG, Some(1 << 30)).how
        };
        assert_eq!(said("thread 'main' (7) has overflowed its stack"), How::OutOfStack);
        assert_eq!(said("memory allocation of 100 bytes failed"), How::OutOfMemory);
        assert_eq!(ended_within("kill -11 $$", LONG, Some(1 << 30)).how, How::Killed(11));
    }

    #[test]
    fn a_turn_that_ran_out_of_memory_says_so() {
        let bound = Some(1 << 30);
        for script in ["exit 71", "kill -6 $$"] {
            let Ended { how, again, .. } = ended_within(script, LONG, bound);
            assert_eq!((how, again), (How::OutOfMemory, false), "{script}");
        }
        assert_eq!(ended_within("kill -9 $$", LONG, bound).how, How::Killed(9));
    }
}
