//! A word on standard error while long work goes on, on a terminal only.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::ProgressBar;

/// How long work goes on before anything is shown: a word that comes and goes at once only flickers.
const PATIENCE: Duration = Duration::from_millis(300);
/// How often the spinner turns.
const TURN: Duration = Duration::from_millis(100);

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
    /// Shows a word, such as `planning`, as soon as the work takes long.
    pub fn start(watcher: Watcher, word: &'static str) -> Self {
        if watcher == Watcher::Nobody {
            return Self { open: None, thread: None };
        }
        let (open, closed) = channel::<()>();
        let thread = std::thread::spawn(move || {
            if closed.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::new_spinner().with_message(word);
            bar.enable_steady_tick(TURN);
            // Nothing is ever sent: this waits until the other end is closed.
            let _ = closed.recv();
            bar.finish_and_clear();
        });
        Self { open: Some(open), thread: Some(thread) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_person_at_a_terminal_sees_it_and_the_end_waits_for_it() {
        assert!(Spinner::start(Watcher::Nobody, "planning").thread.is_none());
        let shown = Spinner::start(Watcher::Terminal, "planning");
        assert!(shown.thread.is_some());
        drop(shown);
    }
}
