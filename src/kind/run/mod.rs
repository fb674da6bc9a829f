//! The controller: `KINDCluster` objects on a cluster, kept true on the machine that it runs on.

mod context;
mod gate;
mod health;
mod history;
mod objects;
mod reconcile;
mod secrets;
mod service;
mod tasks;

pub use service::{KindSettings, serve};

/// Keeps an object until its cluster is gone. It is the first provider's own.
const FINALIZER: &str = "kindclusters.infrastructure.cluster-k8s.io/cluster-finalizer";
/// Who owns the fields that the controller writes.
const FIELD_MANAGER: &str = "carp-kind";
/// Lets a cluster be taken over that carp did not make.
const ADOPT: &str = "carp.dev/adopt";
