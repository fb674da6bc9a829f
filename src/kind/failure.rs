//! Why something could not be done with a local cluster, and when to try again.

use super::reason::{KindReason, Retry};

/// Why something could not be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EngineFailure {
    /// In one word.
    pub reason: KindReason,
    /// In the words of what failed.
    pub message: String,
    /// When to try again.
    pub retry: Retry,
}

impl EngineFailure {
    /// A failure that is tried again as its reason says.
    pub fn new(reason: KindReason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), retry: reason.retry() }
    }
}
