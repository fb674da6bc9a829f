//! Which content a folder gets: the new one, or the last good one with the reason why.
//!
//! Whoever makes a folder asks each door in turn and leaves with an [`Objection`] at the first that is shut;
//! [`choose`] turns such an attempt into what is committed. Nothing here reads a store or renders: what the doors
//! are asked about is worked out by who asks.
//!
//! | door | shut when |
//! |---|---|
//! | [`not_loaded`] | the document is there and cannot be read |
//! | [`overrides_not_loaded`], [`worker_overrides_not_loaded`] | an override policy that may be about it cannot be read |
//! | [`resize_blocked`] | its worker has no room for what it wants to take |
//! | [`not_made`], [`not_rendered`] | the templates, or a check of what they made, failed |
//! | [`forbidden_change`], [`version_refused`] | it changes what may not change |
//! | [`objects_removed`] | it leaves out objects with machines, storage or network behind them |
//! | [`machines_replaced`] | it replaces more machines than the fleet allows at once |
//! | [`collided`] | files of others are where carp must write |
//! | [`unwritten`] | nothing may be written there in this run |

mod collided;
mod drifted;
mod failed;
mod forbidden_change;
mod machines_replaced;
mod not_loaded;
mod objects_removed;
mod overrides_not_loaded;
mod resize_blocked;
mod version_refused;

use crate::diag::Diagnostic;
use crate::model::{Gate, GateReason, Name, StoreError};

pub use collided::{collided, in_the_way};
pub use drifted::unwritten;
pub use failed::{not_made, not_rendered};
pub use forbidden_change::forbidden_change;
pub use machines_replaced::machines_replaced;
pub use not_loaded::not_loaded;
pub use objects_removed::objects_removed;
pub use overrides_not_loaded::{overrides_not_loaded, worker_overrides_not_loaded};
pub use resize_blocked::resize_blocked;
pub use version_refused::{VersionChange, version_refused};

/// Why a new folder does not follow the last good one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    /// The reason.
    pub reason: GateReason,
    /// What is wrong, where something is.
    pub findings: Vec<Diagnostic>,
}

impl Objection {
    /// A reason that says all there is to say.
    const fn new(reason: GateReason) -> Self {
        Self { reason, findings: Vec::new() }
    }

    /// The gate of a folder, as a proposal tells it.
    #[must_use]
    pub fn of(self, name: &Name) -> Gate {
        Gate { name: name.clone(), reason: self.reason, findings: self.findings }
    }
}

/// Why an attempt at a folder ended without one.
#[derive(Debug)]
pub enum NotMade {
    /// A door was shut: the last good folder stays.
    Objection(Objection),
    /// The store failed: the run ends.
    Store(StoreError),
}

impl From<Objection> for NotMade {
    fn from(objection: Objection) -> Self {
        Self::Objection(objection)
    }
}

impl From<StoreError> for NotMade {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// What is committed of one folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen<F> {
    /// The folder, with what the lock says of it.
    pub folder: F,
    /// Why that is the last good one; `None` where it is what is wanted.
    pub objection: Option<Objection>,
}

/// The new folder where every door was open, else the last good one and why.
///
/// # Errors
/// The store failed in the attempt: that is no reason to keep anything, and nothing is written.
pub fn choose<F>(
    attempt: Result<F, NotMade>,
    last: impl FnOnce() -> F,
) -> Result<Chosen<F>, StoreError> {
    match attempt {
        Ok(folder) => Ok(Chosen { folder, objection: None }),
        Err(NotMade::Objection(objection)) => {
            Ok(Chosen { folder: last(), objection: Some(objection) })
        }
        Err(NotMade::Store(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Id;

    fn attempt(door: Result<(), Objection>) -> Result<&'static str, NotMade> {
        door?;
        Ok("new")
    }

    #[test]
    fn a_folder_is_new_unless_a_door_is_shut() {
        let open = choose(attempt(Ok(())), || "last").unwrap();
        assert_eq!((open.folder, open.objection), ("new", None));
        let shut = Objection::new(GateReason::ResizeBlocked);
        let kept = choose(attempt(Err(shut.clone())), || "last").unwrap();
        assert_eq!((kept.folder, kept.objection), ("last", Some(shut)));
    }

    #[test]
    fn a_store_that_fails_keeps_nothing_and_ends_the_run() {
        let failed = StoreError::Absent { id: Id::EMPTY_DIR, store: "memory".to_owned() };
        let chosen = choose(Err(NotMade::from(failed)), || "last");
        assert!(chosen.is_err());
    }
}
