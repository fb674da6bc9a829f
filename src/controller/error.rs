//! What kept the controller from starting.

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::observe;

/// The controller cannot run as it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address is not free or not ours.
    #[error("cannot listen on {address}: {detail}; name another with --listen")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        detail: String,
    },
    /// The file with the webhook's secret is no good.
    #[error("the webhook's secret in `{}` cannot be used: {detail}", path.display())]
    Secret {
        /// The file.
        path: PathBuf,
        /// What is wrong with it. Never its content.
        detail: String,
    },
    /// The system gives no thread, timer or signal.
    #[error("the controller's helpers cannot be started: {detail}")]
    Runtime {
        /// What the system says.
        detail: String,
    },
    /// The cluster that holds the Lease cannot be spoken to.
    #[error(transparent)]
    Election(#[from] observe::Error),
}
