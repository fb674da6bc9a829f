//! A round: turmoil, quiet, and a look at what there is.

use super::runner::Runner;
use super::world::{OUTPUT, World};
use crate::support::replayed::replay;

/// The fewest and the most moves of a round.
const MOVES: (usize, usize) = (2, 6);

impl World {
    pub(super) fn round(&mut self, number: u64) {
        self.story.push(format!("round {number}"));
        self.changes = 0;
        self.counts.rounds += 1;
        let before = self.own_commits();
        for _ in 0..MOVES.0 + self.random.below(MOVES.1 - MOVES.0) {
            self.step();
        }
        for which in 0..self.carps.len() {
            self.start(which);
            if self.random.below(2) == 0 {
                self.step();
            }
        }
        for which in 0..self.carps.len() {
            self.note_end(which);
        }
        self.settle();
        self.check();
        let made = self.own_commits().difference(&before).count();
        self.counts.commits += made as u64;
        self.is_frugal(made);
    }

    /// Whatever happened, each commit of carp's that is on the output branch follows from what it names. A
    /// branch that was set back may have left an input or a status commit nowhere.
    pub(super) fn replays(&self) {
        let runner = Runner::new(&self.url);
        let (_, said) = replay(&runner.clone.path(), &["..carp/rendered"]);
        let commits = said["commits"].as_array().unwrap();
        let is = |verdict: &str| commits.iter().filter(|c| c["verdict"] == verdict).count();
        if is("differs") > 0 || is("same") == 0 {
            self.fail(&format!("the history does not follow from its inputs: {said:#}"));
        }
    }

    /// carp's commits on the output branch.
    fn own_commits(&self) -> std::collections::BTreeSet<String> {
        let all = self.ask(&["rev-list", "--grep=^Carp-Plan:", OUTPUT]);
        all.lines().map(str::to_owned).collect()
    }

    /// Waits for a carp, and notes how it ended. One that is not killed ends with one of its exit codes.
    pub(super) fn note_end(&mut self, which: usize) {
        let started = self.carps[which].is_running();
        match self.carps[which].wait() {
            None if !started => {}
            None => {
                self.counts.killed += 1;
                self.tell(format!("carp {which} was killed"));
            }
            // Where only its turn was killed, the process that supervises it says so.
            Some(ended) if ended.code == Some(128 + 9) => {
                self.counts.killed += 1;
                self.tell(format!("the turn of carp {which} was killed"));
            }
            Some(ended) => {
                let text = ended.text.trim().replace('\n', "\n      ");
                self.tell(format!("carp {which} ends with {:?}:\n      {text}", ended.code));
                self.counts.races += u64::from(ended.text.contains("another writer was faster"));
                self.counts.starved += u64::from(ended.starved && ended.code != Some(0));
                // It may not even have got as far as to be carp: a shell or a loader says 126 or 127. Without
                // memory a turn is ended by itself (134), or by the system where its stack cannot grow (139).
                if ended.starved && matches!(ended.code, Some(126 | 127 | 134 | 139)) {
                    return;
                }
                if !matches!(ended.code, Some(0 | 1 | 3)) || ended.text.contains("panicked") {
                    self.fail("a run ended as none may");
                }
            }
        }
    }
}
