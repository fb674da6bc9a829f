//! Ends this process where a read of an object or the rendering of a template does not come to an end, or where a
//! turn needs more memory than it may have.
//!
//! libgit2 never comes back from some damaged objects, an operator of a template can make more than there is room
//! for, and no thread can stop another: see `git::reading` and `render::under_way`. Time is counted in ticks of this
//! thread's own sleep, so a process that was stopped for an hour is not taken for one that hangs.

use std::io::{self, Write as _};
use std::time::Duration;

use super::engine::supervise::{HUNG, OUT_OF_MEMORY};
use super::exit::Exit;
use super::memory::shown;
use super::process;
use crate::git::{Reading, reading};
use crate::render::rendering;

/// How often memory is looked at: a machine fills some hundred MiB meanwhile.
const MEMORY_TICK: Duration = Duration::from_millis(20);

/// Who is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WatchedProcess {
    /// A command that a person waits for.
    Command,
    /// A turn, whose supervisor starts it again, and the bytes of memory that it may have.
    Turn(Option<u64>),
}

impl WatchedProcess {
    const fn memory(self) -> Option<u64> {
        match self {
            Self::Command => None,
            Self::Turn(memory) => memory,
        }
    }
}

/// Begins to watch, until the process ends.
pub(super) fn start(limit: Duration, watched: WatchedProcess) -> io::Result<()> {
    let thread = std::thread::Builder::new().name("watchdog".to_owned());
    thread.spawn(move || watch(limit, watched))?;
    Ok(())
}

fn watch(limit: Duration, watched: WatchedProcess) {
    let tick = (limit / 10).clamp(Duration::from_millis(1), Duration::from_secs(1));
    let tick = watched.memory().map_or(tick, |_| tick.min(MEMORY_TICK));
    let (mut reads, mut renders) = (ReadProgress::default(), ReadProgress::default());
    loop {
        std::thread::sleep(tick);
        if let Some(most) = watched.memory()
            && process::memory_in_use().is_some_and(|used| used > most)
        {
            out_of_memory(most);
        }
        let now = reading();
        let ticks = reads.tick(now.as_ref().map(|(number, _)| *number));
        if let Some((_, reading)) = now.filter(|_| tick * ticks >= limit) {
            unread(&reading, limit, watched);
        }
        let now = rendering();
        let ticks = renders.tick(now.as_ref().map(|(number, _)| *number));
        if let Some((_, template)) = now.filter(|_| tick * ticks >= limit) {
            unrendered(&template, limit);
        }
    }
}

/// The work that was under way at the last tick, and for how many ticks it has been.
#[derive(Default)]
struct ReadProgress {
    number: Option<u64>,
    ticks: u32,
}

impl ReadProgress {
    /// For how many ticks the work that is under way now has been.
    fn tick(&mut self, now: Option<u64>) -> u32 {
        self.ticks = if now.is_some() && now == self.number { self.ticks + 1 } else { 0 };
        self.number = now;
        self.ticks
    }
}

fn unread(reading: &Reading, limit: Duration, watched: WatchedProcess) -> ! {
    let what = reading.id.map_or_else(|| "the history".to_owned(), |id| format!("object {id}"));
    let place = reading.directory.display();
    let told = format!("reading {what} in `{place}` did not end within {limit:?}: it is damaged");
    // Without a mark the next run hangs for as long; that is all.
    let _ = reading.mark();
    match watched {
        WatchedProcess::Turn(_) => end(HUNG, &format!("note: {told}")),
        WatchedProcess::Command => failed(&format!(
            "error: {told}\nhelp: `git --git-dir={place} fsck` names what is damaged; `carp reconcile` goes \
             on with a clone of its own"
        )),
    }
}

fn unrendered(template: &str, limit: Duration) -> ! {
    failed(&format!(
        "error: rendering `{template}` did not end within {limit:?}\nhelp: look for what goes on for ever in it; \
         nothing was written"
    ))
}

fn out_of_memory(most: u64) -> ! {
    let by = rendering().map_or_else(String::new, |(_, template)| {
        format!(" while it rendered `{template}`: look for what makes much of little in it")
    });
    end(OUT_OF_MEMORY, &format!("note: the turn needs more than {} of memory{by}", shown(most)))
}

fn failed(told: &str) -> ! {
    end(i32::from(Exit::Findings.code()), told)
}

fn end(code: i32, told: &str) -> ! {
    // Nobody may be listening any more.
    let _ = writeln!(io::stderr(), "{told}");
    std::process::exit(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_read_that_stays_counts() {
        let mut progress = ReadProgress::default();
        let ticks: Vec<u32> = [None, Some(1), Some(1), Some(1), Some(2), None, Some(2), Some(2)]
            .into_iter()
            .map(|now| progress.tick(now))
            .collect();
        assert_eq!(ticks, [0, 0, 1, 2, 0, 0, 0, 1]);
    }
}
