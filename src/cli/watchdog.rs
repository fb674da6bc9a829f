//! Ends this process where one read of an object does not come to an end.
//!
//! libgit2 never comes back from some damaged objects, and no thread can stop another: see
//! `git::reading`. Time is counted in ticks of this thread's own sleep, so a process that was stopped
//! for an hour is not taken for one that hangs.

use std::io::{self, Write as _};
use std::time::Duration;

use super::engine::supervise::HUNG;
use super::exit::Exit;
use crate::git::{Reading, reading};

/// Who is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watched {
    /// A command that a person waits for.
    Command,
    /// A turn, whose supervisor starts it again.
    Turn,
}

/// Begins to watch, until the process ends.
pub(super) fn start(limit: Duration, watched: Watched) -> io::Result<()> {
    let thread = std::thread::Builder::new().name("watchdog".to_owned());
    thread.spawn(move || watch(limit, watched))?;
    Ok(())
}

fn watch(limit: Duration, watched: Watched) {
    let tick = (limit / 10).clamp(Duration::from_millis(1), Duration::from_secs(1));
    let mut progress = Progress::default();
    loop {
        std::thread::sleep(tick);
        let now = reading();
        let ticks = progress.tick(now.as_ref().map(|(number, _)| *number));
        if let Some((_, reading)) = now.filter(|_| tick * ticks >= limit) {
            end(&reading, limit, watched);
        }
    }
}

/// The read that was under way at the last tick, and for how many ticks it has been.
#[derive(Default)]
struct Progress {
    number: Option<u64>,
    ticks: u32,
}

impl Progress {
    /// For how many ticks the read that is under way now has been.
    fn tick(&mut self, now: Option<u64>) -> u32 {
        self.ticks = if now.is_some() && now == self.number { self.ticks + 1 } else { 0 };
        self.number = now;
        self.ticks
    }
}

fn end(reading: &Reading, limit: Duration, watched: Watched) -> ! {
    let what = reading.id.map_or_else(|| "the history".to_owned(), |id| format!("object {id}"));
    let place = reading.directory.display();
    let told = format!("reading {what} in `{place}` did not end within {limit:?}: it is damaged");
    // Without a mark the next run hangs for as long; that is all.
    let _ = reading.mark();
    let mut err = io::stderr();
    // Nobody may be listening any more.
    let _ = match watched {
        Watched::Turn => writeln!(err, "note: {told}"),
        Watched::Command => writeln!(
            err,
            "error: {told}\nhelp: `git --git-dir={place} fsck` names what is damaged; `carp reconcile` goes \
             on with a clone of its own"
        ),
    };
    std::process::exit(match watched {
        Watched::Turn => HUNG,
        Watched::Command => i32::from(Exit::Findings.code()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_read_that_stays_counts() {
        let mut progress = Progress::default();
        let ticks: Vec<u32> = [None, Some(1), Some(1), Some(1), Some(2), None, Some(2), Some(2)]
            .into_iter()
            .map(|now| progress.tick(now))
            .collect();
        assert_eq!(ticks, [0, 0, 1, 2, 0, 0, 0, 1]);
    }
}
