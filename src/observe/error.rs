//! What went wrong between carp and an API server.

/// A failure of a cluster's API.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no way to an API server.
    #[error(
        "no cluster to talk to: {detail}; run in a cluster, or name a kubeconfig with KUBECONFIG"
    )]
    NoCluster {
        /// What kube says.
        detail: String,
    },
    /// A request failed.
    #[error("{what} failed: {detail}")]
    Api {
        /// What was tried, and on what.
        what: String,
        /// What the API server says.
        detail: String,
    },
}
