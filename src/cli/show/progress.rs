//! A word on standard error while long work goes on, on a terminal only, with how far it is and how long it takes yet.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use crate::model::{LongWork, WorkCount, WorkStage, count, thousands};

/// How long work goes on before anything is shown: a word that comes and goes at once only flickers.
const PATIENCE: Duration = Duration::from_millis(300);
/// How often the spinner turns and the counts are looked at.
const TURN: Duration = Duration::from_millis(100);
/// How long a part of the work goes on before anybody can say how long it takes yet.
const MEASURED: Duration = Duration::from_secs(2);

/// Where progress may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watcher {
    /// A person at a terminal.
    Terminal,
    /// A file, a pipe, a log: nobody wants a spinner there.
    Nobody,
}

/// Work that goes on: a spinner with a word beside it, which goes away when this is dropped.
#[must_use = "the word is shown until this is dropped"]
pub struct Spinner {
    /// Closing it ends the spinner.
    open: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Spinner {
    /// Shows what is done, such as `planning`, as soon as the work takes long, and then what the work says of itself.
    #[expect(
        clippy::disallowed_methods,
        reason = "how long it takes is shown to whoever waits, and decides nothing"
    )]
    pub fn start(watcher: Watcher, doing: &'static str, work: &LongWork) -> Self {
        if watcher == Watcher::Nobody {
            return Self { open: None, thread: None };
        }
        let work = work.clone();
        let (open, closed) = channel::<()>();
        let thread = std::thread::Builder::new().spawn(move || {
            // Nothing is ever sent: this waits until the other end is closed.
            let waits = |time| closed.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            let mut part = Part::default();
            if !waits(PATIENCE) {
                return;
            }
            let bar = ProgressBar::new_spinner();
            bar.enable_steady_tick(TURN);
            loop {
                let count = work.count();
                let elapsed = part.elapsed(count.as_ref(), Instant::now());
                bar.set_message(words(doing, count.as_ref(), elapsed));
                if !waits(TURN) {
                    break;
                }
            }
            bar.finish_and_clear();
        });
        // Without a thread nothing is shown, and the work goes on.
        Self { open: Some(open), thread: thread.ok() }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        drop(self.open.take());
        // What is printed next must not meet the spinner on its line.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The part of the work that goes on, and since when.
#[derive(Default)]
struct Part {
    number: u64,
    since: Option<Instant>,
}

impl Part {
    /// How long the part goes on by now.
    fn elapsed(&mut self, count: Option<&WorkCount>, now: Instant) -> Duration {
        let number = count.map_or(0, |count| count.number);
        if number != self.number {
            *self = Self { number, since: None };
        }
        now.duration_since(*self.since.get_or_insert(now))
    }
}

/// What stands beside the spinner: the word alone while nothing is counted, else the part that goes on, how much of it
/// is done, and, once that can be said, how long the rest takes at this pace. `elapsed` is the time since it began.
#[must_use]
pub fn words(word: &str, counted: Option<&WorkCount>, elapsed: Duration) -> String {
    let Some(WorkCount { stage, done, of, .. }) = counted.filter(|count| count.done < count.of)
    else {
        return word.to_owned();
    };
    let (stage, of_what) = match stage {
        WorkStage::Reading => ("reading", "file"),
        WorkStage::Rendering => ("rendering", "cluster"),
        WorkStage::Comparing => ("comparing", "cluster"),
    };
    let left = left(*done, *of, elapsed).map(|left| format!(", {} left", rounded(left)));
    let of = count(*of, of_what);
    format!("{word}: {stage} {} of {of}{}", thousands(*done), left.unwrap_or_default())
}

/// How long the rest takes if it goes on as until now; `None` where that is not known yet.
fn left(done: u64, of: u64, elapsed: Duration) -> Option<Duration> {
    if done == 0 || elapsed < MEASURED {
        return None;
    }
    let rest = u128::from(of.saturating_sub(done));
    let millis = elapsed.as_millis().saturating_mul(rest) / u128::from(done);
    Some(Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX)))
}

/// As much of a time as people want to know, never less than it is.
fn rounded(time: Duration) -> String {
    let seconds = time.as_millis().div_ceil(1000).max(1);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3600)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_person_at_a_terminal_sees_it_and_the_end_waits_for_it() {
        let work = LongWork::default();
        assert!(Spinner::start(Watcher::Nobody, "planning", &work).thread.is_none());
        let shown = Spinner::start(Watcher::Terminal, "planning", &work);
        assert!(shown.thread.is_some());
        drop(shown);
    }

    #[test]
    fn counts_come_first_and_the_time_once_it_can_be_told() {
        let count = |done, of| WorkCount { stage: WorkStage::Rendering, number: 1, done, of };
        let told = |done, of, seconds| {
            words("planning", Some(&count(done, of)), Duration::from_secs(seconds))
        };
        assert_eq!(words("planning", None, Duration::ZERO), "planning");
        assert_eq!(told(0, 5000, 9), "planning: rendering 0 of 5,000 clusters");
        assert_eq!(told(1250, 5000, 1), "planning: rendering 1,250 of 5,000 clusters");
        assert_eq!(told(1250, 5000, 4), "planning: rendering 1,250 of 5,000 clusters, 12 s left");
        assert_eq!(told(1250, 5000, 60), "planning: rendering 1,250 of 5,000 clusters, 3 min left");
        assert_eq!(told(10, 5000, 60), "planning: rendering 10 of 5,000 clusters, 9 h left");
        assert_eq!(told(4999, 5000, 4), "planning: rendering 4,999 of 5,000 clusters, 1 s left");
        assert_eq!(told(1, 1, 4), "planning", "what comes then is not counted");
        let files = WorkCount { stage: WorkStage::Reading, number: 1, done: 9, of: 5000 };
        let told = words("planning", Some(&files), Duration::ZERO);
        assert_eq!(told, "planning: reading 9 of 5,000 files");
    }

    #[expect(clippy::disallowed_methods, reason = "any moment will do")]
    #[test]
    fn each_part_begins_its_own_time() {
        let count = |number| WorkCount { stage: WorkStage::Comparing, number, done: 0, of: 9 };
        let (mut part, begin) = (Part::default(), Instant::now());
        let at = |seconds| begin + Duration::from_secs(seconds);
        assert_eq!(part.elapsed(None, at(0)), Duration::ZERO);
        assert_eq!(part.elapsed(None, at(3)), Duration::from_secs(3));
        assert_eq!(part.elapsed(Some(&count(1)), at(5)), Duration::ZERO);
        assert_eq!(part.elapsed(Some(&count(1)), at(9)), Duration::from_secs(4));
        assert_eq!(part.elapsed(Some(&count(2)), at(9)), Duration::ZERO);
    }
}
