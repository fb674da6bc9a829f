//! What every process of carp that runs for long needs: a runtime, signals, a listening socket, an election, and
//! pauses after failures. The controller, the agent and the controller of kind clusters stand on it.

mod backoff;
mod election;
mod error;
mod lease;
mod listen;
mod signals;

pub use backoff::{Jitter, doubled};
pub use election::campaign;
pub use error::Error;
pub use lease::{Election, ElectionStanding, LeaseCandidate};
pub use listen::{ServedSocket, bind};
pub use signals::Signals;

/// The async runtime of a process: one thread, with timers and sockets.
///
/// # Errors
/// The system gives none.
pub fn runtime() -> Result<tokio::runtime::Runtime, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(Error::runtime)
}
