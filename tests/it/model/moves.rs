//! The moves: what people do, and when a carp starts and how it ends.

use std::fmt;
use std::time::Duration;

use super::runner::Fate;
use super::world::World;

/// How much was done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) rounds: u64,
    /// Commits and force-pushes of people.
    pub(super) people: u64,
    /// Runs that were started in the turmoil.
    pub(super) runs: u64,
    /// Of them, runs that were killed.
    pub(super) killed: u64,
    /// Of them, runs that had too few files or too little memory to end well.
    pub(super) starved: u64,
    /// Races that carps lost, as they say themselves.
    pub(super) races: u64,
    /// carp's commits on the output branch.
    pub(super) commits: u64,
    /// Rounds at whose end a guard held something.
    pub(super) held: u64,
    /// Rounds in which people had to bring back a good output.
    pub(super) restored: u64,
    /// Clones that were thrown away because a run in them was killed and left a lock.
    pub(super) clones: u64,
}

impl Counts {
    pub(super) fn add(&mut self, other: &Self) {
        self.rounds += other.rounds;
        self.people += other.people;
        self.runs += other.runs;
        self.killed += other.killed;
        self.starved += other.starved;
        self.races += other.races;
        self.commits += other.commits;
        self.held += other.held;
        self.restored += other.restored;
        self.clones += other.clones;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} rounds, {} people's commits, {} runs ({} killed, {} starved, {} races lost), {} of carp's commits; \
             {} rounds held, {} restored, {} clones replaced",
            self.rounds,
            self.people,
            self.runs,
            self.killed,
            self.starved,
            self.races,
            self.commits,
            self.held,
            self.restored,
            self.clones
        )
    }
}

impl World {
    /// One move, mostly of people.
    pub(super) fn step(&mut self) {
        match self.random.below(30) {
            0..=4 => self.write_cluster(),
            5 => self.break_cluster(),
            6 | 7 => self.remove_clusters(),
            8 => self.write_worker(),
            9 => self.remove_worker(),
            10 => self.unrelated(),
            11 => self.revert_input(),
            12 => self.rewind_input(),
            13 => self.acknowledge(),
            14 => self.report_of_some(),
            15 | 16 => self.foreign_file(),
            17 => self.change_foreign(),
            18 => self.edit_generated(),
            19 => self.delete_decision(),
            20 => self.revert_output(),
            21 => self.rewind_output(),
            22 => self.time_passes(),
            _ => self.start_a_carp(),
        }
    }

    fn start_a_carp(&mut self) {
        let which = self.random.below(self.carps.len());
        self.start(which);
    }

    /// Starts a carp, after its last run if that goes on.
    pub(super) fn start(&mut self, which: usize) {
        let fate = Fate::choose(&mut self.random);
        let now = self.now.to_string();
        self.note_end(which);
        self.tell(format!("carp {which} starts: {fate:?}"));
        self.carps[which].start(fate, &now, self.deadly.path());
        self.counts.runs += 1;
        // Now and then it gets a head start.
        if self.random.below(2) == 0 {
            std::thread::sleep(Duration::from_millis(self.random.below(150) as u64));
        }
    }

    fn time_passes(&mut self) {
        let minutes = i64::try_from(self.random.below(90)).unwrap() + 1;
        self.now = self.now.checked_add(jiff::SignedDuration::from_mins(minutes)).unwrap();
        self.tell(format!("{minutes} minutes pass"));
        self.changes += 1;
    }
}
