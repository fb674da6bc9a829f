//! The controller: one turn after the other, for months. When the next turn comes, what wakes it, what
//! stops it, and what others see of it: health, metrics, a webhook.
//!
//! A turn itself is a function that is given: it may run here or in a process of its own, and all that
//! comes back is a [`Turn`](crate::model::Turn).

mod breaker;
mod error;
mod health;
mod hook;
mod http;
mod metrics;
mod pace;
mod process;
mod service;
mod turns;
mod wakeup;
mod watch;

pub use error::Error;
pub use health::Readiness;
pub use hook::SecretFile;
pub use service::{Service, Setup};
pub use turns::{Shared, Turns};
pub use wakeup::Hint;
pub use watch::Watch;
