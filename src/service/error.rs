//! What keeps a process from running as it was asked to.

use std::net::SocketAddr;

/// A failure of the system or of the cluster with the Lease.
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
    /// The system gives no thread, timer or signal, or a task ended before its time.
    #[error("the system gives no thread, timer or signal: {detail}")]
    Runtime {
        /// What the system says.
        detail: String,
    },
    /// There is no way to the API server that has the Lease.
    #[error(
        "no cluster to stand for election in: {detail}; run in a cluster, or name a kubeconfig with KUBECONFIG"
    )]
    NoCluster {
        /// What kube says.
        detail: String,
    },
    /// A request about the Lease failed.
    #[error("{what} the Lease {name} failed: {detail}")]
    Lease {
        /// What was tried: reading, making, writing.
        what: &'static str,
        /// The Lease.
        name: String,
        /// What the API server says.
        detail: String,
    },
}

impl Error {
    /// What the system says where it gives no thread, timer or signal.
    pub fn runtime(error: impl std::fmt::Display) -> Self {
        Self::Runtime { detail: error.to_string() }
    }
}
