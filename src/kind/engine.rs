//! What carp asks of whatever makes clusters, and how that fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::failure::EngineFailure;
use super::state::NameLock;
use crate::model::api::EndpointType;

/// Something that makes local clusters. Every call waits until it is done; each is bounded in time.
pub trait KindEngine: Send + Sync + 'static {
    /// The names of all clusters, sorted. One that was made by half is among them.
    ///
    /// # Errors
    /// The engine or what is below it failed.
    fn list(&self) -> Result<Vec<String>, EngineFailure>;

    /// Makes a cluster. Whoever calls holds its name, and the engine keeps it held until all it started
    /// has ended, whatever becomes of this process.
    ///
    /// # Errors
    /// The engine failed, took too long, or was told to stop. In the last two cases nodes may be left.
    fn create(&self, order: &Order, lock: &NameLock, cancel: &Cancel) -> Result<(), EngineFailure>;

    /// The kubeconfig of a cluster's administrator.
    ///
    /// # Errors
    /// The engine failed, or there is no such cluster.
    fn kubeconfig(&self, name: &str, from: EndpointType) -> Result<String, EngineFailure>;

    /// The names of a cluster's nodes.
    ///
    /// # Errors
    /// The engine failed.
    fn nodes(&self, name: &str) -> Result<Vec<String>, EngineFailure>;

    /// Deletes a cluster, whole or half; one that is not there is fine.
    ///
    /// # Errors
    /// The engine failed.
    fn delete(&self, name: &str, lock: &NameLock) -> Result<(), EngineFailure>;
}

/// A cluster to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Its name.
    pub name: String,
    /// Its configuration, as kind reads it.
    pub config: String,
    /// How long to wait for its control plane, as Go writes durations.
    pub wait: String,
    /// Whether the nodes of a failed creation stay.
    pub retain: bool,
    /// How long all of it may take.
    pub limit: Duration,
}

/// Tells something that runs to stop.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Lets a flag that somebody else sets, such as a signal, tell it.
    pub fn from_flag(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }

    /// Tells it.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was told.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
