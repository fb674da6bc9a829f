//! The worker side: watch, report, and say on the worker what became of each ManagedCluster.
//!
//! The agent only reads the worker, but for the status of what carp wrote there. Its one write
//! elsewhere is its report: a commit without parents on a ref of its own, replaced in place.

mod error;
mod fit;
mod pace;
mod publish;
mod run;
mod service;
mod status;

pub use error::Error;
pub use pace::ReportPace;
pub use publish::PublishTarget;
pub use run::{AgentSettings, AgentTurn, run};
pub use service::serve;
