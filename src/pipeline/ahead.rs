//! The folders of clusters are made on all cores, ahead of where the choice takes them.
//!
//! What a job makes follows from the job alone: the threads change when a folder is made, and nothing else.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{Builder, Scope, scope};

use super::versions::ClusterJobs;
use crate::diag::Diagnostics;
use crate::model::{ClusterPlan, ClusterRow, ClusterState, Digest, Name, StoreError};
use crate::render::{Files, Job};

/// How many clusters are handed to the threads at once. Two batches are under way, with their folders: so many that a
/// thread seldom waits, and so few that folders as large as they may be do not fill the memory.
const BATCH: usize = 16;

/// Fewer clusters are made sooner than another thread has learnt the shapes of their documents.
const FEWEST: usize = 96;

/// As many threads as the one that chooses and puts can keep busy: it does a third of the work.
const MOST_HELPERS: usize = 3;

/// The stack of a thread, in bytes: that of a process, which renders where there are no threads.
const STACK: usize = 8 << 20;

/// The job of a cluster's folder and its key, and the files once somebody has asked for them.
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

    /// The row of a folder that stands as this job would make it.
    pub(super) fn stands<'r>(&self, old: Option<&'r ClusterRow>) -> Option<&'r ClusterRow> {
        let bound = |old: &&ClusterRow| old.state == ClusterState::Bound && old.folder.is_some();
        old.filter(bound).filter(|old| old.render_key == self.key)
    }
}

/// A cluster that the choice comes to.
struct Coming<'a> {
    name: &'a Name,
    planned: &'a ClusterPlan,
    /// `None` within where it has no folder of its document's.
    made: OnceLock<Option<FolderJob>>,
}

impl Coming<'_> {
    fn made(&self, jobs: ClusterJobs<'_>) -> Option<&FolderJob> {
        let job = || jobs.desired(self.name, self.planned).map(FolderJob::new);
        self.made.get_or_init(job).as_ref()
    }

    /// Makes the job, and the folder where that does not stand yet.
    fn make(&self, jobs: ClusterJobs<'_>) {
        let Some(made) = self.made(jobs) else { return };
        let Some(worker) = self.planned.decision.worker() else { return };
        if made.stands(jobs.row_that_stands(self.name, worker)).is_none() {
            // Its findings are told by whoever takes it.
            let _ = made.files();
        }
    }
}

/// Clusters that are handed to the threads together.
struct Batch<'a> {
    clusters: Vec<Coming<'a>>,
    /// How many of them the threads have taken, from behind: in front is the choice.
    taken: AtomicUsize,
}

impl<'a> Batch<'a> {
    fn of(clusters: Vec<(&'a Name, &'a ClusterPlan)>) -> Arc<Self> {
        let coming = |(name, planned)| Coming { name, planned, made: OnceLock::new() };
        let clusters = clusters.into_iter().map(coming).collect();
        Arc::new(Self { clusters, taken: AtomicUsize::new(0) })
    }

    fn make(&self, jobs: ClusterJobs<'_>) {
        let next = || {
            let nth = self.taken.fetch_add(1, Ordering::Relaxed) + 1;
            self.clusters.len().checked_sub(nth).and_then(|at| self.clusters.get(at))
        };
        while let Some(coming) = next() {
            coming.make(jobs);
        }
    }
}

/// Gives `take` every cluster in its order, with the job of its folder where it has one, which up to so many threads make
/// meanwhile.
///
/// # Errors
/// The first one of `take`.
pub(super) fn take_each<'a>(
    jobs: ClusterJobs<'a>,
    threads: NonZeroUsize,
    clusters: &'a BTreeMap<Name, ClusterPlan>,
    mut take: impl FnMut(&'a Name, &'a ClusterPlan, Option<&FolderJob>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut coming = clusters.iter();
    let mut next =
        || Some(coming.by_ref().take(BATCH).collect::<Vec<_>>()).filter(|b| !b.is_empty());
    let helpers = if clusters.len() < FEWEST { 0 } else { threads.get() - 1 };
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
            for coming in &now.clusters {
                take(coming.name, coming.planned, coming.made(jobs))?;
            }
        }
        Ok(())
    })
}

/// A thread that makes what it is sent; `None` where the system has no thread to give.
fn helper<'scope, 'a>(
    scope: &'scope Scope<'scope, '_>,
    jobs: ClusterJobs<'a>,
) -> Option<Sender<Arc<Batch<'a>>>>
where
    'a: 'scope,
{
    let (sender, batches) = channel::<Arc<Batch<'a>>>();
    let run = move || batches.into_iter().for_each(|batch| batch.make(jobs));
    Builder::new().stack_size(STACK).spawn_scoped(scope, run).ok().map(|_| sender)
}
