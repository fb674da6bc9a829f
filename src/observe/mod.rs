//! The APIs of clusters, through kube: the objects of a worker, read as a report.
//!
//! [`report`] is pure: objects in, a report out. What the reports prove, and what follows from them, is
//! for `plan` to say. [`Server`] is where the objects come from.

mod api;
mod client;
mod cluster;
mod conditions;
mod error;
mod errors;
mod kinds;
mod listing;
mod object;
mod phase;
mod report;
mod version;
mod watched;
mod worker;

pub use api::{Identity, Server};
pub use client::client;
pub use error::Error;
pub use errors::codes;
pub use kinds::ObservedKind;
pub use listing::Listing;
pub use object::ObservedObject;
pub use report::{Reporter, report, says_the_same};
pub use watched::{Managed, WatchEvent, WatchTrouble, WatchedKinds};

/// The namespace of Flux and of carp's objects for it.
const FLUX_SYSTEM: &str = "flux-system";
