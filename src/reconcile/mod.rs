//! Who drives: where a fleet is, what one run sees of it, and the loop
//! observe → propose → commit → push.

mod against;
mod baseline;
mod coalesce;
mod error;
mod first_run;
mod heal;
mod look;
mod missing;
mod names;
mod notes;
mod once;
mod outcome;
mod output_branch;
mod past;
mod place;
mod proposal_branch;
mod proposed;
mod publish;
mod refresh;
mod refuse;
mod reports;
mod said;
mod snapshot;
mod sources;
mod stamp;
mod status_branch;
mod telling;
mod turn;
mod unknown;
mod verify;
mod vouching;

pub use crate::model::{Orders, Turn};
pub use against::{Against, Base, Compared, Merged, can_merge, open_against};
pub use error::Error;
pub use heal::once_on_a_sound_clone;
pub use missing::{Brought, MissingBranches};
pub use names::Names;
pub use once::{Options, once};
pub use outcome::{Committed, Outcome, ReconcileResult, StatusOutcome, Verdict};
pub use past::open_past;
pub use place::Place;
pub use reports::reports_in_folder;
pub use said::{ForgeChoice, ForgeOptions, Made, Said};
pub use snapshot::{Clock, Keep, Opened, open};
pub use sources::{Observing, Sources};
