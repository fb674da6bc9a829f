//! What kept the controller from starting.

use std::path::PathBuf;

use crate::service;

/// The controller cannot run as it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file with the webhook's secret is no good.
    #[error("the webhook's secret in `{}` cannot be used: {detail}", path.display())]
    Secret {
        /// The file.
        path: PathBuf,
        /// What is wrong with it. Never its content.
        detail: String,
    },
    /// The address, the system, or the cluster that holds the Lease.
    #[error(transparent)]
    Service(#[from] service::Error),
}
