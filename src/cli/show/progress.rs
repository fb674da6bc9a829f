//! A word on standard error while long work goes on, on a terminal only.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget};

/// A spinner with a word beside it; it goes away when it is dropped.
pub struct Progress(ProgressBar);

/// Where progress may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watcher {
    /// A person at a terminal.
    Terminal,
    /// A file, a pipe, a log: nobody wants a spinner there.
    Nobody,
}

impl Progress {
    /// Begins to show a word, such as `fetching origin`.
    #[must_use]
    pub fn start(watcher: Watcher, word: impl Into<String>) -> Self {
        let bar = match watcher {
            Watcher::Terminal => ProgressBar::new_spinner(),
            Watcher::Nobody => ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
        };
        bar.set_message(word.into());
        if watcher == Watcher::Terminal {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self(bar)
    }

    /// Shows another word.
    pub fn say(&self, word: impl Into<String>) {
        self.0.set_message(word.into());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
