//! From chosen folders to a commit: edits of trees, the difference, the guards, the message.

mod abandon;
mod acknowledge;
mod caused;
mod compare;
mod decisions;
mod diff;
mod edit;
#[cfg(test)]
mod fixture;
mod forced;
mod form;
mod guards;
mod leftover;
mod message;
mod pressure;
mod rebalance;
mod survey;
mod vouched;

pub use abandon::{Abandoned, abandon, abandon_mismatches};
pub use acknowledge::{Acknowledged, Lasting, mismatches, spend};
pub use caused::{Others, caused, new_findings};
pub use compare::{ExpectedFolder, Unlike, beside_foreign, compare, files_of};
pub use decisions::plan_digest;
pub use diff::{Difference, diff};
pub use edit::{TreeEdit, entry_at, in_the_way};
pub use forced::{Certified, Forced, forced};
pub use form::{form_message, with_form, workers_of};
pub use guards::{
    ApartLimit, Groups, GuardInput, GuardLimits, Guarded, HeldLosses, LetThrough, Limit, LossGuard,
    LossLimit, LossOwner, Lost, PLATFORM, TenantLimit, guard, next_room, remember_run,
    remembered_until, was_held,
};
pub use leftover::leftover;
pub use message::{MessageInput, commit_message, trailers, with_lines};
pub use pressure::{Pressure, Used, pressure};
pub use rebalance::{Rebalancing, rebalance_digest, rebalance_mismatch, rebalances};
pub use survey::{remember, survey};
pub use vouched::vouched_then;
