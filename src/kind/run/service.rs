//! The controller as a process: its runtime, its signals, its election, its end.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use jiff::Timestamp;
use kube::api::{Api, ListParams};
use kube::runtime::controller::{Action, Config, Error as Trouble};
use kube::runtime::events::{Recorder, Reporter};
use kube::runtime::{Controller, watcher};
use kube::{Client, ResourceExt as _};
use tokio::sync::watch;
use tracing::{debug, info, warn};

use super::super::work::Host;
use super::super::{Error, KindProgram, Retry, StateFolder};
use super::context::ReconcileContext;
use super::health::{ControllerPhase, answer};
use super::reconcile::{reconcile, settle};
use super::tasks::Tasks;
use crate::model::api::KINDCluster;
use crate::observe::client;
use crate::service::{self, Election, LeaseCandidate, Signals, bind, campaign};

/// How often tasks that must end are looked at.
const STEP: Duration = Duration::from_millis(100);
/// How long tasks that were told to end may take to clean up.
const FAREWELL: Duration = Duration::from_secs(30);

/// How the controller is to run.
#[derive(Clone, Debug)]
pub struct KindSettings {
    /// The kubeconfig of the cluster with the objects, and its context.
    pub kubeconfig: (Option<PathBuf>, Option<String>),
    /// The namespace to watch; `None`: all.
    pub namespace: Option<String>,
    /// The `kind` program.
    pub program: OsString,
    /// carp's folder on this machine.
    pub state: PathBuf,
    /// What this machine is called.
    pub host: String,
    /// How many creations may run at a time.
    pub creations: usize,
    /// How long one may take.
    pub limit: Duration,
    /// How far apart two looks at a cluster are.
    pub interval: Duration,
    /// How long running creations may go on after the signal to stop.
    pub grace: Duration,
    /// Where to answer `/healthz` and `/readyz`.
    pub listen: Option<SocketAddr>,
    /// The election to stand in.
    pub election: Option<Election>,
    /// The clock.
    pub clock: fn() -> Timestamp,
    /// Leaves the process at once: at the second signal.
    pub leave: fn(),
}

/// Keeps objects and clusters the same until the process is asked to end.
///
/// # Errors
/// The cluster cannot be spoken to or does not know the kind, the folder cannot be used, or the address
/// is taken.
pub fn serve(settings: KindSettings) -> Result<(), Error> {
    let runtime = service::runtime()?;
    let ended = runtime.block_on(work(settings));
    // What runs on threads has ended, or was told to and did not.
    runtime.shutdown_background();
    ended
}

async fn work(settings: KindSettings) -> Result<(), Error> {
    let listener = settings.listen.map(bind).transpose()?;
    let address = listener.as_ref().and_then(|listener| listener.local_addr().ok());
    let (file, context) = &settings.kubeconfig;
    let client = client(file.as_deref(), context.as_deref()).await?;
    let api: Api<KINDCluster> = match &settings.namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    };
    api.list(&ListParams::default().limit(1)).await.map_err(|e| unknown_kind(&e))?;
    let ctx = Arc::new(ctx(&settings, client.clone())?);
    let (told, stopped) = watch::channel(false);
    let (phase, seen) = watch::channel(ControllerPhase::Starting);
    tokio::spawn(heed(Signals::new()?, told, settings.leave));
    if let (Some(listener), Some(address)) = (listener, address) {
        info!("listening on {address}");
        tokio::spawn(answer(listener, seen));
    }
    match settings.election.clone() {
        None => control(&ctx, api, &phase, until(stopped.clone(), true)).await,
        Some(election) => {
            let leads = stand(&client, election, settings.clock, stopped.clone());
            while !*stopped.borrow() {
                phase.send_replace(ControllerPhase::Standby);
                tokio::select! {
                    () = until(leads.clone(), true) => {}
                    () = until(stopped.clone(), true) => break,
                }
                let (lost, stopped) = (until(leads.clone(), false), until(stopped.clone(), true));
                let ends = async {
                    futures::future::select(Box::pin(lost), Box::pin(stopped)).await;
                };
                control(&ctx, api.clone(), &phase, ends).await;
            }
        }
    }
    phase.send_replace(ControllerPhase::Stopping);
    wind_up(&ctx, settings.grace).await;
    info!("stopped");
    Ok(())
}

fn unknown_kind(error: &kube::Error) -> Error {
    let what = "listing the KINDClusters".to_owned();
    let help = match error {
        kube::Error::Api(status) if status.code == 404 => {
            "; install the kind first: carp crds | kubectl apply -f -"
        }
        _ => "",
    };
    Error::Api { what, detail: format!("{error}{help}") }
}

fn ctx(settings: &KindSettings, client: Client) -> Result<ReconcileContext<KindProgram>, Error> {
    let state = StateFolder::open(&settings.state)?;
    state.sweep();
    let engine = KindProgram { program: settings.program.clone(), state: state.clone() };
    let host = Host { engine, state, name: settings.host.clone(), limit: settings.limit };
    let reporter =
        Reporter { controller: "carp-kind".to_owned(), instance: Some(settings.host.clone()) };
    let recorder = Recorder::new(client.clone(), reporter);
    let tasks = Tasks::new(settings.creations);
    Ok(ReconcileContext::new(client, host, tasks, recorder, settings.clock, settings.interval))
}

/// Reconciles until `ends` is ready.
async fn control(
    ctx: &Arc<ReconcileContext<KindProgram>>,
    api: Api<KINDCluster>,
    phase: &watch::Sender<ControllerPhase>,
    ends: impl Future<Output = ()> + Send + Sync + 'static,
) {
    let controller = Controller::new(api, watcher::Config::default())
        .with_config(Config::default().concurrency(16))
        .graceful_shutdown_on(ends);
    let store = controller.store();
    let work =
        controller.run(reconcile, again, Arc::clone(ctx)).for_each(|done| async { log(done) });
    let ready = async {
        if store.wait_until_ready().await.is_ok() {
            phase.send_replace(ControllerPhase::Working);
            info!("watching KINDClusters");
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = work => {}
        () = ready => {}
    }
}

fn again(object: Arc<KINDCluster>, _: &Error, ctx: Arc<ReconcileContext<KindProgram>>) -> Action {
    let version = (object.metadata.generation, false);
    let pause = ctx.failed(&object.uid().unwrap_or_default(), version, Retry::Backoff);
    pause.map_or_else(Action::await_change, Action::requeue)
}

fn log<T>(done: Result<T, Trouble<Error, watcher::Error>>) {
    match done {
        Ok(_) => {}
        Err(Trouble::ObjectNotFound(object)) => debug!("{object} is gone"),
        Err(Trouble::ReconcilerFailed(error, object)) => {
            let namespace = object.namespace.as_deref().unwrap_or_default();
            warn!("{namespace}/{}: {error}; trying again", object.name);
        }
        Err(Trouble::QueueError(error)) => warn!("watching failed: {error}; trying again"),
        Err(Trouble::RunnerError(error)) => warn!("{error}"),
    }
}

/// Lets what runs end, then ends it, and writes down what became of it.
async fn wind_up(ctx: &ReconcileContext<KindProgram>, grace: Duration) {
    for (time, then_cancel) in [(grace, true), (FAREWELL, false)] {
        let steps = time.as_millis() / STEP.as_millis();
        for _ in 0..steps {
            let tasks = ctx.tasks.all();
            if tasks.is_empty() {
                return;
            }
            for (uid, object, _) in tasks.into_iter().filter(|(_, _, ended)| *ended) {
                if let Err(error) = settle(ctx, &uid, &object).await {
                    debug!("{}/{}: {error}", object.0, object.1);
                }
            }
            tokio::time::sleep(STEP).await;
        }
        if then_cancel {
            warn!("creations that did not end in time are ended; the next start makes them anew");
            ctx.tasks.cancel_all();
        }
    }
}

/// Ready when the value is the wanted one, or nobody can say any more.
async fn until(mut value: watch::Receiver<bool>, wanted: bool) {
    let _ = value.wait_for(|value| *value == wanted).await;
}

/// The first signal stops the controller, the second ends the process.
async fn heed(mut signals: Signals, stop: watch::Sender<bool>, leave: fn()) {
    signals.next().await;
    info!("told to stop");
    stop.send_replace(true);
    signals.next().await;
    leave();
}

/// Stands for election until told to stop, then gives the lead up. What it returns says whether this one
/// leads.
fn stand(
    client: &Client,
    election: Election,
    clock: fn() -> Timestamp,
    stopped: watch::Receiver<bool>,
) -> watch::Receiver<bool> {
    let namespace =
        election.namespace.clone().unwrap_or_else(|| client.default_namespace().to_owned());
    let candidate = LeaseCandidate::new(Api::namespaced(client.clone(), &namespace), election);
    let (leads, seen) = watch::channel(false);
    tokio::spawn(campaign(candidate, clock, stopped, move |now| {
        leads.send_replace(now);
    }));
    seen
}
