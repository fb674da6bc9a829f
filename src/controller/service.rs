//! The thread beside the loop: HTTP, signals and the election. It is the only place with an async
//! runtime; turns are plain functions on the thread of the caller.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::watch;
use tracing::{info, warn};

use super::Error;
use super::hook::SecretFile;
use super::http::AppState;
use super::turns::Shared;
use crate::service::{self, Election, LeaseCandidate, ServedSocket, Signals, bind, campaign};

/// How long open requests may take when the controller stops.
const LAST_REQUESTS: Duration = Duration::from_secs(2);

/// What runs beside the loop.
pub struct Setup {
    /// Where to listen; nothing listens without it.
    pub listen: Option<SocketAddr>,
    /// The secret of the webhook; there is no webhook without it.
    pub secret: Option<SecretFile>,
    /// Who may lead; without an election this one does.
    pub election: Option<Election>,
    /// The clock.
    pub clock: fn() -> Timestamp,
    /// How long a turn may go on after the first signal.
    pub grace: Duration,
    /// Leaves the process at once, as well. It is called when the grace is over, and at the second
    /// signal: what a turn left half-done, the next one finds.
    pub leave: fn(),
}

/// A running [`Setup`].
pub struct Service {
    thread: JoinHandle<()>,
    stop: watch::Sender<bool>,
    /// Where it listens.
    pub address: Option<SocketAddr>,
}

impl Service {
    /// Starts it. With an election, the controller waits until it leads.
    ///
    /// # Errors
    /// The address is taken, or the cluster of the election cannot be spoken to.
    pub fn start(setup: Setup, shared: &Arc<Shared>) -> Result<Self, Error> {
        let listener = setup.listen.map(bind).transpose()?;
        let address = listener.as_ref().and_then(|listener| listener.local_addr().ok());
        let runtime = service::runtime()?;
        let signals = {
            let _inside = runtime.enter();
            Signals::new()?
        };
        let candidate = match &setup.election {
            Some(election) => {
                leads(shared, false);
                Some(runtime.block_on(LeaseCandidate::connect(election))?)
            }
            None => None,
        };
        let (stop, stopped) = watch::channel(false);
        let beside = SideTask { setup, shared: Arc::clone(shared), stopped };
        let thread = std::thread::Builder::new()
            .name("service".to_owned())
            .spawn(move || runtime.block_on(beside.run(listener, signals, candidate)))
            .map_err(service::Error::runtime)?;
        Ok(Self { thread, stop, address })
    }

    /// Gives the lead up, answers what was asked, and ends.
    pub fn stop(self) {
        // Without a receiver it has ended already.
        let _ = self.stop.send(true);
        if self.thread.join().is_err() {
            warn!("the thread beside the loop had failed");
        }
    }
}

/// Tells whoever asks whether this one leads.
fn leads(shared: &Shared, leads: bool) {
    shared.metrics.leads(leads);
    shared.health.standby(!leads);
    shared.wakeup.lead(leads);
}

struct SideTask {
    setup: Setup,
    shared: Arc<Shared>,
    stopped: watch::Receiver<bool>,
}

impl SideTask {
    async fn run(
        self,
        listener: Option<TcpListener>,
        signals: Signals,
        candidate: Option<LeaseCandidate>,
    ) {
        let Setup { secret, clock, grace, leave, .. } = self.setup;
        let watching = tokio::spawn(heed(signals, Arc::clone(&self.shared), grace, leave));
        let campaign = candidate.map(|candidate| {
            let shared = Arc::clone(&self.shared);
            let tell = move |now| leads(&shared, now);
            tokio::spawn(campaign(candidate, clock, self.stopped.clone(), tell))
        });
        let door = AppState::new(self.shared, secret, clock);
        let serving = listener.map(|l| tokio::spawn(serve(l, door, self.stopped.clone())));
        let mut stopped = self.stopped;
        // Where the sender is gone, the controller is, too.
        let _ = stopped.wait_for(|stop| *stop).await;
        if let Some(campaign) = campaign {
            let _ = campaign.await;
        }
        if let Some(serving) = serving {
            // Whoever has not got an answer by now gets none.
            let _ = tokio::time::timeout(LAST_REQUESTS, serving).await;
        }
        watching.abort();
    }
}

async fn serve(listener: TcpListener, door: AppState, mut stopped: watch::Receiver<bool>) {
    let served = async {
        let listener = ServedSocket::new(listener)?;
        let stop = async move {
            let _ = stopped.wait_for(|stop| *stop).await;
        };
        axum::serve(listener, door.router()).with_graceful_shutdown(stop).await
    };
    let served: std::io::Result<()> = served.await;
    if let Err(error) = served {
        tracing::error!("nothing listens any more: {error}");
    }
}

/// The first signal stops the controller after its turn; when the grace is over, and at the second
/// signal, the process is left.
async fn heed(mut signals: Signals, shared: Arc<Shared>, grace: Duration, leave: fn()) {
    signals.next().await;
    info!("told to stop");
    shared.health.stopping();
    shared.wakeup.stop();
    if tokio::time::timeout(grace, signals.next()).await.is_err() {
        warn!("the turn did not end in time and is abandoned; the next one begins anew");
    }
    leave();
}
