//! The one place that reads the process: its arguments, environment, clock and folder.

#![expect(clippy::disallowed_methods, reason = "here the outer world comes in, as values")]

use std::io::IsTerminal as _;
use std::num::NonZeroUsize;
use std::process::ExitCode;

use jiff::Timestamp;

use super::{Exit, Io, memory};

/// The clock, for what runs on other threads.
pub(super) fn now() -> Timestamp {
    Timestamp::now()
}

/// A number that differs from one process to the next.
pub(super) fn number() -> u64 {
    let nanosecond = Timestamp::now().as_nanosecond();
    u64::from(std::process::id()) << 32
        ^ u64::try_from(nanosecond & 0xffff_ffff).unwrap_or_default()
}

/// What this machine is called.
pub(super) fn host_name() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").unwrap_or_default();
    if name.is_empty() { "localhost".to_owned() } else { name }
}

/// Ends the process at once, as well: what was being done is abandoned.
pub(super) fn leave() {
    std::process::exit(Exit::Fine.code().into());
}

/// The bytes of memory that this machine has, or that this container may have, where the system says it.
pub(super) fn memory_of_the_machine() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    // In a container its own group is at the root; on a machine it has a path (cgroups(7)).
    let own = read("/proc/self/cgroup").unwrap_or_default();
    let own = own.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or_default().to_owned();
    let limits = [
        read("/sys/fs/cgroup/memory.max"),
        read(&format!("/sys/fs/cgroup{own}/memory.max")),
        read("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
    ];
    let meminfo = read("/proc/meminfo").unwrap_or_default();
    memory::least_of(limits.iter().flatten().map(String::as_str), &meminfo)
}

/// The bytes of memory that this process has for itself, where the system says it: what `RLIMIT_DATA` counts.
pub(super) fn memory_in_use() -> Option<u64> {
    #[cfg(unix)]
    {
        // The sixth is that and the first thread's stack, in pages (proc_pid_statm(5)). `status` takes longer to say it.
        let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
        let pages: u64 = pages.split_whitespace().nth(5)?.parse().ok()?;
        Some(pages * rustix::param::page_size() as u64)
    }
    #[cfg(not(unix))]
    None
}

/// Runs carp with the arguments of the process.
#[must_use]
pub fn main() -> ExitCode {
    let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
    let (out_is_terminal, err_is_terminal) = (out.is_terminal(), err.is_terminal());
    let mut io = Io {
        out: &mut out,
        err: &mut err,
        out_is_terminal,
        err_is_terminal,
        clock: &Timestamp::now,
        // A variable that is not Unicode is none that carp reads.
        env: std::env::vars_os()
            .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
            .collect(),
        folder: std::env::current_dir().unwrap_or_else(|_| ".".into()),
        program: std::env::current_exe().ok(),
        // What a container may use counts, where its system says so.
        threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
    };
    #[cfg(debug_assertions)]
    if let Err(error) = io.env.get("CARP_FAULT").map_or(Ok(()), |text| crate::fault::arm(text)) {
        // The exit code says the rest.
        let _ = std::io::Write::write_fmt(io.err, format_args!("error: {error}\n"));
        return Exit::Usage.into();
    }
    let exit: Exit = super::run(std::env::args_os(), &mut io);
    exit.into()
}
