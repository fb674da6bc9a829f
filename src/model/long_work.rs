//! How far long work has come, for whoever watches it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkStage {
    /// Files of the fleet are read.
    Reading,
    /// Folders of clusters are made, or found as they were.
    Rendering,
    /// What changes in each cluster is worked out.
    Comparing,
}

/// A part of the work, and how much of it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkCount {
    /// The part.
    pub stage: WorkStage,
    /// The number of the part, from 1: another one is another part, also where the stage is the same.
    pub number: u64,
    /// How many are done.
    pub done: u64,
    /// How many there are.
    pub of: u64,
}

/// Where work says how far it is: what one clone is told, all know. Nothing is decided by it, so that a run says the
/// same whether somebody watches or not; all are equal.
#[derive(Clone, Debug, Default)]
pub struct LongWork(Arc<Mutex<Option<WorkCount>>>);

impl LongWork {
    /// A part of the work begins, of so many things.
    pub fn begin(&self, stage: WorkStage, of: usize) {
        let mut count = self.locked();
        let number = count.map_or(0, |before| before.number) + 1;
        *count = Some(WorkCount { stage, number, done: 0, of: of as u64 });
    }

    /// One more is done.
    pub fn step(&self) {
        if let Some(count) = self.locked().as_mut() {
            count.done += 1;
        }
    }

    /// How far it is; `None` before the first part.
    #[must_use]
    pub fn count(&self) -> Option<WorkCount> {
        *self.locked()
    }

    /// A count is whole at any time, so one that a panic left behind can be read.
    fn locked(&self) -> MutexGuard<'_, Option<WorkCount>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PartialEq for LongWork {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for LongWork {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_clones_know_how_far_it_is() {
        let (work, watched) = {
            let work = LongWork::default();
            (work.clone(), work)
        };
        work.step();
        assert_eq!(watched.count(), None, "nothing has begun");
        work.begin(WorkStage::Rendering, 2);
        work.step();
        let count = |number, stage, done, of| Some(WorkCount { stage, number, done, of });
        assert_eq!(watched.count(), count(1, WorkStage::Rendering, 1, 2));
        work.begin(WorkStage::Comparing, 7);
        assert_eq!(watched.count(), count(2, WorkStage::Comparing, 0, 7));
    }
}
