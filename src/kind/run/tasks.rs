//! Creations and deletions that run: each on a thread, known by its object, never dropped half done.
//!
//! A reconcile that waited for one would keep every other object waiting, and one that is dropped would
//! leave a half-made cluster. So a reconcile only begins them and looks after them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::Semaphore;

use super::super::{Cancel, EngineFailure, KindReason};

/// What a task does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KindTask {
    /// Makes a cluster from the spec with that digest.
    Create(String),
    /// Deletes one.
    Delete,
}

/// A task that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) job: KindTask,
    pub(super) outcome: Result<(), EngineFailure>,
}

struct Task {
    job: KindTask,
    object: (String, String),
    cancel: Cancel,
    outcome: Arc<OnceLock<Result<(), EngineFailure>>>,
}

/// All that run, by the UID of their object.
pub(super) struct Tasks {
    running: Mutex<BTreeMap<String, Task>>,
    /// How many creations may run at a time: each takes a machine's whole attention.
    creations: Arc<Semaphore>,
}

impl Tasks {
    pub(super) fn new(creations: usize) -> Self {
        Self { running: Mutex::default(), creations: Arc::new(Semaphore::new(creations.max(1))) }
    }

    /// Begins one. An object has at most one; a second is not begun.
    pub(super) fn begin(
        &self,
        uid: &str,
        object: (String, String),
        job: KindTask,
        work: impl FnOnce(&Cancel) -> Result<(), EngineFailure> + Send + 'static,
    ) {
        let mut running = self.running();
        if running.contains_key(uid) {
            return;
        }
        let (cancel, outcome) = (Cancel::default(), Arc::new(OnceLock::new()));
        let (told, ends) = (cancel.clone(), Arc::clone(&outcome));
        let creations = (job != KindTask::Delete).then(|| Arc::clone(&self.creations));
        // Nobody waits for it, and nobody can drop it: it ends by itself.
        tokio::spawn(async move {
            let _permit = match creations {
                Some(creations) => creations.acquire_owned().await.ok(),
                None => None,
            };
            let done = if told.is_cancelled() {
                Err(EngineFailure::new(KindReason::Cancelled, "the creation did not begin"))
            } else {
                let done = tokio::task::spawn_blocking(move || work(&told)).await;
                done.unwrap_or_else(|e| {
                    Err(EngineFailure::new(KindReason::KindFailed, e.to_string()))
                })
            };
            let _ = ends.set(done);
        });
        running.insert(uid.to_owned(), Task { job, object, cancel, outcome });
    }

    /// What runs for an object.
    pub(super) fn job(&self, uid: &str) -> Option<KindTask> {
        let running = self.running();
        running.get(uid).filter(|task| task.outcome.get().is_none()).map(|task| task.job.clone())
    }

    /// Tells a creation to end.
    pub(super) fn cancel(&self, uid: &str) {
        if let Some(task) = self.running().get(uid).filter(|task| task.job != KindTask::Delete) {
            task.cancel.cancel();
        }
    }

    /// Tells every creation to end.
    pub(super) fn cancel_all(&self) {
        for task in self.running().values().filter(|task| task.job != KindTask::Delete) {
            task.cancel.cancel();
        }
    }

    /// The task of an object, if it ended. It is known until it is forgotten: only what is written down
    /// may be.
    pub(super) fn ended(&self, uid: &str) -> Option<Done> {
        let running = self.running();
        let task = running.get(uid)?;
        Some(Done { job: task.job.clone(), outcome: task.outcome.get()?.clone() })
    }

    /// Forgets the task of an object, which ended.
    pub(super) fn forget(&self, uid: &str) {
        self.running().remove(uid);
    }

    /// All, by the UID of their object: its namespace and name, and whether the task ended.
    pub(super) fn all(&self) -> Vec<(String, (String, String), bool)> {
        let running = self.running();
        let all = running.iter();
        all.map(|(uid, t)| (uid.clone(), t.object.clone(), t.outcome.get().is_some())).collect()
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<String, Task>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn object() -> (String, String) {
        ("default".to_owned(), "a".to_owned())
    }

    fn create() -> KindTask {
        KindTask::Create("digest".to_owned())
    }

    /// Until a task of that object ended.
    async fn ended(tasks: &Tasks, uid: &str) -> Done {
        loop {
            if let Some(done) = tasks.ended(uid) {
                return done;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn an_object_has_one_task_whose_end_is_known_until_it_is_forgotten() {
        block_on(async {
            let tasks = Tasks::new(1);
            let (go, wait) = mpsc::channel::<()>();
            tasks.begin("u", object(), create(), move |_| {
                wait.recv().ok();
                Ok(())
            });
            tasks.begin("u", object(), KindTask::Delete, |_| panic!("a second one"));
            assert_eq!(tasks.job("u"), Some(create()));
            assert_eq!(tasks.ended("u"), None);
            go.send(()).unwrap();
            let done = ended(&tasks, "u").await;
            assert_eq!((done.job, done.outcome), (create(), Ok(())));
            assert_eq!(tasks.job("u"), None);
            assert_eq!(tasks.all(), [("u".to_owned(), object(), true)]);
            tasks.forget("u");
            assert_eq!((tasks.ended("u"), tasks.all()), (None, vec![]));
        });
    }

    #[test]
    fn one_that_waits_for_its_turn_can_be_told_to_end() {
        block_on(async {
            let tasks = Tasks::new(1);
            let (go, wait) = mpsc::channel::<()>();
            tasks.begin("one", object(), create(), move |_| {
                wait.recv().ok();
                Ok(())
            });
            tokio::task::yield_now().await;
            tasks.begin("two", object(), create(), |_| panic!("it was told to end"));
            tasks.cancel("two");
            go.send(()).unwrap();
            let done = ended(&tasks, "two").await;
            assert_eq!(done.outcome.unwrap_err().reason, KindReason::Cancelled);
            assert!(ended(&tasks, "one").await.outcome.is_ok());
        });
    }

    #[test]
    fn a_task_that_panics_is_a_failure() {
        block_on(async {
            let tasks = Tasks::new(1);
            tasks.begin("u", object(), KindTask::Delete, |_| panic!("told to"));
            assert_eq!(
                ended(&tasks, "u").await.outcome.unwrap_err().reason,
                KindReason::KindFailed
            );
        });
    }
}
