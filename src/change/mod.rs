//! From chosen folders to a commit: edits of trees, the difference, the guards, the message.

mod acknowledge;
mod diff;
mod edit;
mod guards;
mod message;

pub use acknowledge::{Acknowledged, mismatches, spend};
pub use diff::{Difference, diff};
pub use edit::{TreeEdit, entry_at};
pub use guards::{GuardInput, Limits, guard, stricter};
pub use message::{commit_message, plan_digest, trailers};
