//! `KINDCluster` objects become local clusters, by kind.
//!
//! One pure [`plan()`] says what to do about an object, one [`KindEngine`] does it. Two shells share both:
//! a controller on a cluster, and a run over the output branch that needs no cluster at all.
//!
//! That a creation begins is written down before it does. So what an interrupted one left is known for
//! what it is, and a cluster that carp did not make is never touched.

mod apply;
mod cli_engine;
mod config;
mod engine;
mod error;
mod failure;
mod pace;
mod plan;
mod probe;
mod program;
mod reason;
mod run;
mod state;
mod status;
mod version;
mod work;

pub use apply::{Applied, AppliedCluster, ApplySettings, KIND_RECORD_SCHEMA, KindRecord, apply};
pub use cli_engine::KindProgram;
pub use config::{config, node_count};
pub use engine::{Cancel, KindEngine, Order};
pub use error::Error;
pub use failure::EngineFailure;
pub use pace::pause;
pub use plan::{DesiredCluster, KindAction, ObservedCluster, Record, plan};
pub use reason::{KindReason, Retry, classify, gist};
pub use run::{KindSettings, serve};
pub use state::{NameLock, StateFolder};
pub use status::{ClusterHealth, StatusBuilder, record, recorded_host, upgrade};
pub use version::{NodeImage, node_image};
pub use work::{Access, Host, endpoint_of};
