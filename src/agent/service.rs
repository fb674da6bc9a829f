//! The agent as a process: its runtime, and the signals that end it.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;

use super::{AgentSettings, AgentTurn, Error, run};
use crate::observe::Server;

/// How long a report that is on its way may take when the process is asked to end. Kubernetes gives half
/// a minute, and a push that is cut off does no harm: the ref has the old report or the new one.
const GRACE: Duration = Duration::from_secs(15);

/// Connects to the worker and runs the agent until the process is asked to end, or once. The kubeconfig
/// and its context are those that a person names; see [`Server::connect`].
///
/// # Errors
/// There is no cluster to observe; with [`AgentSettings::once`], the worker cannot be observed or the report
/// does not arrive.
pub fn serve(
    settings: &AgentSettings,
    (kubeconfig, context): (Option<&Path>, Option<&str>),
    clock: &dyn Fn() -> Timestamp,
    tell: &mut dyn FnMut(AgentTurn),
) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Error::Runtime(e.to_string()))?;
    let ended = runtime.block_on(async {
        let server = Server::connect(kubeconfig, context).await?;
        run(settings, &server, clock, tell, stopped()).await
    });
    runtime.shutdown_timeout(GRACE);
    ended
}

/// Ready when the process is asked to end.
async fn stopped() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = interrupted => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    let _ = interrupted.await;
}
