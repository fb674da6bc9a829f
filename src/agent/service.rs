//! The agent as a process: its runtime, and the signals that end it.

use std::path::Path;

use jiff::Timestamp;

use super::{Error, Settings, Told, run};
use crate::observe::Server;

/// Connects to the worker and runs the agent until the process is asked to end, or once. The kubeconfig
/// and its context are those that a person names; see [`Server::connect`].
///
/// # Errors
/// There is no cluster to observe; with [`Settings::once`], the worker cannot be observed or the report
/// does not arrive.
pub fn serve(
    settings: &Settings,
    (kubeconfig, context): (Option<&Path>, Option<&str>),
    clock: &dyn Fn() -> Timestamp,
    tell: &mut dyn FnMut(Told),
) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Error::Runtime(e.to_string()))?;
    runtime.block_on(async {
        let server = Server::connect(kubeconfig, context).await?;
        run(settings, &server, clock, tell, stopped()).await
    })
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
