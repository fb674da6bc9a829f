//! What ends the agent, or makes it try again.

use std::path::PathBuf;

use crate::{git, model, observe, service};

/// A failure of the world.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The worker's API server.
    #[error(transparent)]
    Worker(#[from] observe::Error),
    /// Git or the remote.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// The report's objects could not be written.
    #[error(transparent)]
    Store(#[from] model::StoreError),
    /// A folder for the report could not be made.
    #[error("making a folder for the report in `{}` failed: {detail}", folder.display())]
    Folder {
        /// Where.
        folder: PathBuf,
        /// What the system says.
        detail: String,
    },
    /// The report could not be signed.
    #[error(
        "signing the report failed ({tried}): {detail}; it is not pushed without the signature that \
         --signing-key asks for"
    )]
    Unsigned {
        /// The program that was run, with which key.
        tried: String,
        /// What it said.
        detail: String,
    },
    /// The report is larger than what carp reads.
    #[error(
        "the report of {} has {bytes} bytes, more than carp reads; a worker of this size must be split",
        crate::model::count(*clusters as u64, "cluster")
    )]
    TooLarge {
        /// Its size without what can be left out.
        bytes: usize,
        /// How many clusters it names.
        clusters: usize,
    },
    /// The remote did not take the report.
    #[error("the report was not accepted as `{name}`: {detail}")]
    Refused {
        /// The ref.
        name: String,
        /// What the remote said.
        detail: String,
    },
    /// The system gives no thread, timer or signal, or a task ended before its time.
    #[error(transparent)]
    Service(#[from] service::Error),
    /// Nothing can be watched, so there is nothing to report.
    #[error("the worker's objects cannot be watched: {0}")]
    Blind(String),
}
