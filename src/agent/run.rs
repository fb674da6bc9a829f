//! The agent's loop: what the watches tell becomes a report, a ref, and a status.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt as _, stream};
use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout_at};

use super::pace::{ReportPace, Schedule};
use super::publish::PublishTarget;
use super::{Error, status};
use crate::model::{Digest, Id, Name, ProvidedKind, Report};
use crate::observe::{
    ObservedKind, Reporter, Server, WatchEvent, WatchTrouble, WatchedKinds, report, says_the_same,
};
use crate::service;

/// How long a first look may take before a single report counts as impossible.
const FIRST_LOOK: Duration = Duration::from_secs(60);
/// How long a watch that failed waits before it lists again: from the first pause to the longest.
const WATCH_PAUSE: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(60));
/// How many changes may wait before the watches do: memory is bounded by what is watched.
const WAITING_CHANGES: usize = 1024;

/// After what pause statuses that could not be written are tried again, where nothing else happens.
const STATUS_PAUSE: Duration = Duration::from_secs(60);
/// How many statuses are written at the same time.
const STATUSES_AT_ONCE: usize = 8;

/// How the agent works.
#[derive(Clone, Debug)]
pub struct AgentSettings {
    /// The worker that it reports for.
    pub worker: Name,
    /// Where reports go.
    pub target: PublishTarget,
    /// How often.
    pub pace: ReportPace,
    /// One report, then the end.
    pub once: bool,
    /// The kinds that it looks at besides those that every agent does.
    pub observe: Vec<ProvidedKind>,
    /// Whether the status of the ManagedCluster objects is written.
    pub write_status: bool,
}

/// What the agent did, for the log.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentTurn {
    /// A report is on its ref.
    Reported {
        /// Its commit.
        commit: Id,
        /// How many clusters it names.
        clusters: usize,
        /// The kinds that it could not list.
        unlisted: Vec<String>,
    },
    /// Something failed and is tried again.
    Failed(String),
    /// A kind cannot be watched, and is tried again.
    Watch(ObservedKind, WatchTrouble),
}

/// Watches a worker and reports until `stop` is ready, or once.
///
/// # Errors
/// With `once`: the worker cannot be observed or the report does not arrive. Otherwise nothing ends it:
/// what fails is told and tried again.
pub async fn run(
    settings: &AgentSettings,
    server: &Server,
    clock: &dyn Fn() -> Timestamp,
    tell: &mut dyn FnMut(AgentTurn),
    stop: impl Future<Output = ()>,
) -> Result<(), Error> {
    let kinds = ObservedKind::with(settings.observe.clone());
    let (send, receive) = mpsc::channel(WAITING_CHANGES);
    let mut watches = tokio::task::JoinSet::new();
    for kind in kinds.iter().copied() {
        watches.spawn(watch(server.clone(), kind, send.clone()));
    }
    drop(send);
    let mut agent = AgentRun {
        settings,
        server,
        clock,
        begun: Instant::now(),
        schedule: Schedule::new(settings.pace, seed(&settings.worker)),
        watched: WatchedKinds::of(kinds),
        broken: None,
        last: None,
        written: BTreeMap::new(),
        troubles: BTreeMap::new(),
    };
    tokio::select! {
        ended = agent.work(receive, tell) => ended,
        () = stop => Ok(()),
    }
}

/// What makes two agents differ in their pauses: their names do.
fn seed(worker: &Name) -> u64 {
    u64::from_str_radix(&Digest::of(worker.as_bytes()).short(16), 16).unwrap_or_default()
}

/// Watches one kind for ever: a watch that fails begins again with a list.
async fn watch(server: Server, kind: ObservedKind, send: mpsc::Sender<(ObservedKind, WatchEvent)>) {
    let mut pause = WATCH_PAUSE.0;
    loop {
        let mut changes = std::pin::pin!(server.watch(kind));
        while let Some(change) = changes.next().await {
            if change == WatchEvent::Complete {
                pause = WATCH_PAUSE.0;
            }
            if send.send((kind, change)).await.is_err() {
                return;
            }
        }
        sleep(pause).await;
        pause = (pause * 2).min(WATCH_PAUSE.1);
    }
}

struct AgentRun<'a> {
    settings: &'a AgentSettings,
    server: &'a Server,
    clock: &'a dyn Fn() -> Timestamp,
    begun: Instant,
    schedule: Schedule,
    watched: WatchedKinds,
    /// Since when a watch is broken off, by the time since the agent began.
    broken: Option<Duration>,
    /// The last report that arrived.
    last: Option<Report>,
    /// The statuses that were written, by cluster, with the UID of the object that has it.
    written: BTreeMap<Name, (String, Value)>,
    troubles: BTreeMap<ObservedKind, WatchTrouble>,
}

impl AgentRun<'_> {
    async fn work(
        &mut self,
        mut changes: mpsc::Receiver<(ObservedKind, WatchEvent)>,
        tell: &mut dyn FnMut(AgentTurn),
    ) -> Result<(), Error> {
        loop {
            let settled = self.watched.is_settled();
            let due = self.next_look(settled);
            // What comes without a pause must not put off what is due.
            if self.begun.elapsed() < due
                && let Ok(Some((kind, change))) = timeout_at(self.begun + due, changes.recv()).await
            {
                self.watched.apply(kind, change);
                while let Ok((kind, change)) = changes.try_recv() {
                    self.watched.apply(kind, change);
                }
                self.schedule.heard(self.begun.elapsed());
                self.tell_troubles(tell);
                continue;
            }
            let outcome = self.report(settled).await;
            let now = self.begun.elapsed();
            let failed = match outcome {
                Ok((told, statuses)) => {
                    match told {
                        None => self.schedule.looked(now),
                        Some(told) => {
                            self.schedule.sent(now);
                            tell(told);
                        }
                    }
                    statuses.err().inspect(|_| self.schedule.requeue_at(now + STATUS_PAUSE))
                }
                Err(error) => {
                    self.schedule.failed(now);
                    Some(error)
                }
            };
            match failed {
                Some(error) if self.settings.once => return Err(error),
                Some(error) => tell(AgentTurn::Failed(error.to_string())),
                None if self.settings.once => return Ok(()),
                None => {}
            }
        }
    }

    /// When to look whether there is anything to report. A kind that is not heard of at all is waited
    /// for once, and so is a watch that broke, each time it does: what comes back at once is no gap.
    fn next_look(&mut self, settled: bool) -> Duration {
        let due = self.schedule.due();
        let now = self.begun.elapsed();
        self.broken = self.broken.or(Some(now)).filter(|_| self.watched.is_broken_off());
        let back = self.broken.map_or(Duration::ZERO, |since| since + self.settings.pace.patience);
        let first = if settled { Duration::ZERO } else { FIRST_LOOK };
        due.max(back).max(first)
    }

    /// A trouble is told when it begins or changes, not each time it is met.
    fn tell_troubles(&mut self, tell: &mut dyn FnMut(AgentTurn)) {
        let now = self.watched.troubles();
        for (kind, trouble) in &now {
            if self.troubles.get(kind) != Some(trouble) {
                tell(AgentTurn::Watch(*kind, trouble.clone()));
            }
        }
        self.troubles = now;
    }

    /// Reports what is known, unless it was reported and the heartbeat is not due. Beside it stands what
    /// became of the statuses: one that cannot be written is no failure of the report.
    async fn report(
        &mut self,
        settled: bool,
    ) -> Result<(Option<AgentTurn>, Result<(), Error>), Error> {
        if !settled || self.watched.is_blind() {
            return Err(Error::Blind(self.why_blind()));
        }
        let identity = self.server.identity().await?;
        let reporter = Reporter {
            worker: self.settings.worker.clone(),
            worker_uid: identity.uid,
            applied_digest: identity.applied,
        };
        let now = (self.clock)();
        let report = report(&reporter, &self.watched.listing(), now);
        let statuses = self.write_statuses(&report, now).await;
        if self.is_known(&report) {
            return Ok((None, statuses));
        }
        let (target, sent) = (self.settings.target.clone(), Arc::new(report));
        let to_send = Arc::clone(&sent);
        let pushed = tokio::task::spawn_blocking(move || target.publish(&to_send)).await;
        let commit = pushed.unwrap_or_else(|e| Err(service::Error::runtime(e).into()))?;
        let told = AgentTurn::Reported {
            commit,
            clusters: sent.clusters.len(),
            unlisted: sent.unlisted.clone(),
        };
        self.last = Some(Report::clone(&sent));
        Ok((Some(told), statuses))
    }

    /// Whether the last report said the same and is young enough.
    fn is_known(&self, report: &Report) -> bool {
        let is_young = !self.schedule.is_heartbeat_due(self.begun.elapsed());
        is_young && self.last.as_ref().is_some_and(|last| says_the_same(last, report))
    }

    fn why_blind(&self) -> String {
        let first = self.watched.troubles().into_iter().next();
        match first {
            Some((kind, WatchTrouble::NotServed)) => {
                format!("the API server knows no {}", kind.name())
            }
            Some((kind, WatchTrouble::Denied(why) | WatchTrouble::Broken(why))) => {
                format!("{}: {why}", kind.name())
            }
            None => "the API server does not answer".to_owned(),
        }
    }

    /// Writes the statuses that changed. One that cannot be written keeps no other from being written,
    /// nor the report from being sent.
    async fn write_statuses(&mut self, report: &Report, now: Timestamp) -> Result<(), Error> {
        if !self.settings.write_status {
            return Ok(());
        }
        let managed = self.watched.managed();
        let mut wanted = Vec::new();
        for cluster in &report.clusters {
            let Some(object) = managed.get(&cluster.name) else { continue };
            let before = object.ready.as_ref();
            let seen = status::StatusInputs { cluster, generation: object.generation, before, now };
            let Ok(status) = status::of(object.kind, &self.settings.worker, &seen) else {
                continue;
            };
            let status = (object.uid.clone(), status);
            if self.written.get(&cluster.name) != Some(&status) {
                wanted.push((object.kind, cluster.name.clone(), status));
            }
        }
        let server = self.server;
        let write = |(kind, name, status): (ObservedKind, Name, (String, Value))| async move {
            let written = server.apply_status(kind, &name, status.1.clone()).await;
            written.map(|()| (name, status))
        };
        let mut all = stream::iter(wanted).map(write).buffer_unordered(STATUSES_AT_ONCE);
        let mut outcome = Ok(());
        while let Some(written) = all.next().await {
            match written {
                Ok((name, status)) => drop(self.written.insert(name, status)),
                Err(error) => outcome = Err(error.into()),
            }
        }
        self.written.retain(|name, _| managed.contains_key(name));
        outcome
    }
}
