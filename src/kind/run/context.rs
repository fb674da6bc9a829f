//! What all reconciles share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use kube::Client;
use kube::runtime::events::Recorder;
use tokio::time::Instant;

use super::super::pace::pause;
use super::super::work::Host;
use super::super::{EngineFailure, Error, KindEngine, Retry};
use super::tasks::Tasks;
use crate::service;

/// What all reconciles share.
pub(super) struct ReconcileContext<E> {
    pub(super) client: Client,
    pub(super) host: Arc<Host<E>>,
    pub(super) tasks: Tasks,
    pub(super) recorder: Recorder,
    pub(super) clock: fn() -> Timestamp,
    /// How far apart two looks at a cluster are.
    pub(super) interval: Duration,
    /// What failed, by the object's UID.
    troubles: Mutex<BTreeMap<String, ObjectTrouble>>,
}

/// What of an object a failure is of: its generation, and whether it may take a cluster over.
pub(super) type Version = (Option<i64>, bool);

/// What failed with an object.
struct ObjectTrouble {
    failures: u32,
    /// What it failed with: another is tried at once.
    version: Version,
    /// When to try again; `None`: when the object changes.
    due: Option<Instant>,
}

impl<E: KindEngine> ReconcileContext<E> {
    pub(super) fn new(
        client: Client,
        host: Host<E>,
        tasks: Tasks,
        recorder: Recorder,
        clock: fn() -> Timestamp,
        interval: Duration,
    ) -> Self {
        let (host, troubles) = (Arc::new(host), Mutex::default());
        Self { client, host, tasks, recorder, clock, interval, troubles }
    }

    /// Runs something that waits on a thread of its own.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Host<E>) -> Result<T, EngineFailure> + Send + 'static,
    ) -> Result<T, Error> {
        let host = Arc::clone(&self.host);
        let done = tokio::task::spawn_blocking(move || work(&host)).await;
        Ok(done.map_err(service::Error::runtime)??)
    }

    /// Counts a failure, and says how long to wait; `None`: until the object changes.
    pub(super) fn failed(&self, uid: &str, version: Version, retry: Retry) -> Option<Duration> {
        let mut troubles = self.troubles();
        let before = troubles.get(uid).filter(|t| t.version == version);
        let failures = before.map_or(0, |t| t.failures) + 1;
        let pause = pause(retry, failures, seed(uid));
        let due = pause.map(|pause| Instant::now() + pause);
        troubles.insert(uid.to_owned(), ObjectTrouble { failures, version, due });
        pause
    }

    /// How long an object that failed still has to wait; `None` where it need not.
    pub(super) fn waits(&self, uid: &str, version: Version) -> Option<Duration> {
        let troubles = self.troubles();
        let due = troubles.get(uid).filter(|t| t.version == version)?.due?;
        let left = due.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// All is well with an object.
    pub(super) fn fine(&self, uid: &str) {
        self.troubles().remove(uid);
    }

    fn troubles(&self) -> MutexGuard<'_, BTreeMap<String, ObjectTrouble>> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A number of an object's own (FNV-1a).
fn seed(uid: &str) -> u64 {
    uid.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
