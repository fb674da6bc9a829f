//! What ends `carp kind`, or makes it try again.

use super::EngineFailure;
use crate::{git, model, observe, service};

/// A failure of the world.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The cluster that has the objects cannot be spoken to.
    #[error(transparent)]
    Cluster(#[from] observe::Error),
    /// A request to it failed.
    #[error("{what} failed: {detail}")]
    Api {
        /// What was tried, and on what.
        what: String,
        /// What the API server says.
        detail: String,
    },
    /// kind, docker or carp's own folder.
    #[error(transparent)]
    Kind(#[from] EngineFailure),
    /// Git or the remote.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// An object of the repository could not be read or written.
    #[error(transparent)]
    Store(#[from] model::StoreError),
    /// What should be on the output branch is not there. Absence is never taken for "nothing is wanted".
    #[error("{what} is not in {repository}; nothing was done")]
    Missing {
        /// A branch or a folder.
        what: String,
        /// Where it was looked for.
        repository: String,
    },
    /// Another process wrote the same status, or the remote refused it.
    #[error("the status was not accepted as `{name}`: {detail}; run again")]
    Refused {
        /// The ref.
        name: String,
        /// What the remote said.
        detail: String,
    },
    /// A status file is of another carp.
    #[error("`{path}` on `{name}` cannot be read: {detail}; nothing was done")]
    Status {
        /// The ref.
        name: String,
        /// The file.
        path: String,
        /// What is wrong with it.
        detail: String,
    },
    /// A file of carp's own could not be written.
    #[error("writing `{path}` failed: {detail}")]
    File {
        /// The file.
        path: String,
        /// What the system says.
        detail: String,
    },
    /// The address, the system, or a task that ended before its time.
    #[error(transparent)]
    Service(#[from] service::Error),
}
