//! The agent as a process: its runtime, and the signals that end it.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;

use super::{AgentSettings, AgentTurn, Error, run};
use crate::observe::Server;
use crate::service::{self, Signals};

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
    let runtime = service::runtime()?;
    let ended = runtime.block_on(async {
        let mut signals = Signals::new()?;
        let server = Server::connect(kubeconfig, context).await?;
        run(settings, &server, clock, tell, async move { signals.next().await }).await
    });
    runtime.shutdown_timeout(GRACE);
    ended
}
