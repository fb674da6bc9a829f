//! Quiet: carp runs alone until there is nothing left to do.

use super::runner::{Ended, Runner};
use super::world::{OUTPUT, World};

/// Turns after which there is nothing left, whatever happened before.
const TURNS: u32 = 4;

impl World {
    pub(super) fn settle(&mut self) {
        let good = self.last_of_carp();
        let mut ended = self.until_nothing_is_left();
        if is_stopped(&ended) && self.suggested.is_some() && self.random.below(4) > 0 {
            self.acknowledge();
            ended = self.until_nothing_is_left();
        }
        // What people broke on the output branch, people bring back.
        if is_damaged(&ended) {
            self.counts.restored += 1;
            self.restore_output(&good);
            ended = self.until_nothing_is_left();
            if is_damaged(&ended) {
                self.fail(&format!(
                    "a good output was brought back, and carp stops:\n{}",
                    ended.text
                ));
            }
        }
        self.counts.held += u64::from(ended.code == Some(3));
    }

    /// Runs until a run commits nothing.
    fn until_nothing_is_left(&mut self) -> Ended {
        for _ in 0..TURNS {
            let before = self.at(OUTPUT);
            let ended = self.quiet_run();
            if self.at(OUTPUT) == before {
                self.suggested = suggestion(&ended.text);
                return ended;
            }
        }
        self.fail("carp goes on committing although nothing changes");
    }

    fn quiet_run(&mut self) -> Ended {
        let which = self.random.below(self.carps.len());
        let now = self.now.to_string();
        let mut ended = self.carps[which].run(&now);
        // A run that was killed may leave a lock in its clone. Its person makes another.
        if ended.code == Some(1) && ended.text.contains(".lock") {
            self.counts.clones += 1;
            self.carps[which] = Runner::new(&self.url);
            ended = self.carps[which].run(&now);
        }
        let text = ended.text.trim().replace('\n', "\n      ");
        self.tell(format!("quiet: carp {which} ends with {:?}:\n      {text}", ended.code));
        if !says_what_became(&ended) {
            self.fail("a run in peace failed");
        }
        ended
    }

    /// The last output that carp made, which is good by what was checked in the rounds before.
    fn last_of_carp(&self) -> String {
        let all =
            self.ask(&["rev-list", "--first-parent", "--grep=^Carp-Plan:", "-n", "1", OUTPUT]);
        all.trim().to_owned()
    }
}

/// A run that ends well says one of these, whatever it found wrong in the fleet.
fn says_what_became(ended: &Ended) -> bool {
    let said = |words: &str| ended.text.lines().any(|line| line.starts_with(words));
    matches!(ended.code, Some(0 | 1 | 3))
        && (said("committed ") || said("nothing to commit") || said("stopped: "))
}

pub(super) fn is_stopped(ended: &Ended) -> bool {
    ended.text.lines().any(|line| line.starts_with("stopped: "))
}

/// Stopped by what it found, and not by a guard: a document of the input that is broken beside a guard that
/// holds ends with 1 as well.
fn is_damaged(ended: &Ended) -> bool {
    let held = ended.text.lines().any(|line| line.starts_with("held "));
    is_stopped(ended) && ended.code == Some(1) && !held
}

/// The command that lets through what is held.
fn suggestion(text: &str) -> Option<String> {
    let at = text.find("carp ack ")?;
    Some(text[at..].lines().next()?.trim().to_owned())
}
