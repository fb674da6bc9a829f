//! The folders of clusters and workers are made on all cores, ahead of where the choice takes them.
//!
//! What a job makes follows from the job alone: the threads change when a folder is made, and nothing else.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{Builder, Scope, scope};

use crate::diag::Diagnostics;
use crate::model::{Digest, StoreError};
use crate::render::{Files, Job};

/// How many folders are handed to the threads at once. Two batches are under way: so many that a
/// thread seldom waits, and so few that folders as large as they may be do not fill the memory.
const BATCH: usize = 16;

/// Fewer folders are made sooner than another thread has learnt the shapes of their documents.
const FEWEST: usize = 96;

/// As many threads as the one that chooses and puts can keep busy: it does a third of the work.
const MOST_HELPERS: usize = 3;

/// The stack of a thread, in bytes: that of a process, which renders where there are no threads.
const STACK: usize = 8 << 20;

/// Who makes the jobs of folders. It reads no store, so that several threads may ask it.
pub(super) trait FolderJobs: Copy + Send {
    /// What a folder is of.
    type Of: Copy + Send + Sync;

    /// The job of a folder; `None` where what it is of gets none of its document's.
    fn job(self, of: Self::Of) -> Option<Job>;

    /// Whether the folder that is there is as a job of this key makes it.
    fn stands(self, of: Self::Of, key: Digest) -> bool;
}

/// The job of a folder and its key, and the files once somebody has asked for them.
pub(super) struct FolderJob {
    pub(super) job: Job,
    pub(super) key: Digest,
    files: OnceLock<Result<Files, Diagnostics>>,
}

impl FolderJob {
    fn new(job: Job) -> Self {
        let key = job.key();
        Self { job, key, files: OnceLock::new() }
    }

    /// The files of the folder. Where another thread is making them, this waits for it.
    ///
    /// # Errors
    /// As [`Job::render`].
    pub(super) fn files(&self) -> Result<&Files, Diagnostics> {
        self.files.get_or_init(|| self.job.render()).as_ref().map_err(Clone::clone)
    }
}

/// A folder that the choice comes to.
struct Coming<T> {
    of: T,
    /// `None` within where it gets none of its document's.
    made: OnceLock<Option<FolderJob>>,
}

impl<T: Copy> Coming<T> {
    fn made(&self, jobs: impl FolderJobs<Of = T>) -> Option<&FolderJob> {
        self.made.get_or_init(|| jobs.job(self.of).map(FolderJob::new)).as_ref()
    }

    /// Makes the job, and the folder where that does not stand yet.
    fn make(&self, jobs: impl FolderJobs<Of = T>) {
        let Some(made) = self.made(jobs) else { return };
        if !jobs.stands(self.of, made.key) {
            // Its findings are told by whoever takes it.
            let _ = made.files();
        }
    }
}

/// Folders that are handed to the threads together.
struct Batch<T> {
    folders: Vec<Coming<T>>,
    /// How many of them the threads have taken, from behind: in front is the choice.
    taken: AtomicUsize,
}

impl<T: Copy> Batch<T> {
    fn of(of: Vec<T>) -> Arc<Self> {
        let folders = of.into_iter().map(|of| Coming { of, made: OnceLock::new() }).collect();
        Arc::new(Self { folders, taken: AtomicUsize::new(0) })
    }

    fn make(&self, jobs: impl FolderJobs<Of = T>) {
        let next = || {
            let nth = self.taken.fetch_add(1, Ordering::Relaxed) + 1;
            self.folders.len().checked_sub(nth).and_then(|at| self.folders.get(at))
        };
        while let Some(coming) = next() {
            coming.make(jobs);
        }
    }
}

/// Gives `take` each of `all` in their order, with the job of its folder where it has one, which up to so many threads make
/// meanwhile.
///
/// # Errors
/// The first one of `take`.
pub(super) fn take_each<J: FolderJobs>(
    jobs: J,
    threads: NonZeroUsize,
    all: impl ExactSizeIterator<Item = J::Of>,
    mut take: impl FnMut(J::Of, Option<&FolderJob>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let helpers = if all.len() < FEWEST { 0 } else { threads.get() - 1 };
    let mut coming = all;
    let mut next =
        || Some(coming.by_ref().take(BATCH).collect::<Vec<_>>()).filter(|b| !b.is_empty());
    scope(|scope| {
        let helpers = helpers.min(MOST_HELPERS);
        let helpers: Vec<_> = (0..helpers).filter_map(|_| helper(scope, jobs)).collect();
        let mut hand_out = || {
            let batch = Batch::of(next()?);
            for helper in &helpers {
                // One that is gone makes nothing, and then it is made here.
                let _ = helper.send(Arc::clone(&batch));
            }
            Some(batch)
        };
        let mut batch = hand_out();
        while let Some(now) = batch {
            // While this one is taken, the threads have the next one.
            batch = hand_out();
            for coming in &now.folders {
                take(coming.of, coming.made(jobs))?;
            }
        }
        Ok(())
    })
}

/// A thread that makes what it is sent; `None` where the system has no thread to give.
fn helper<'scope, J: FolderJobs + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    jobs: J,
) -> Option<Sender<Arc<Batch<J::Of>>>> {
    let (sender, batches) = channel::<Arc<Batch<J::Of>>>();
    let run = move || batches.into_iter().for_each(|batch| batch.make(jobs));
    Builder::new().stack_size(STACK).spawn_scoped(scope, run).ok().map(|_| sender)
}
