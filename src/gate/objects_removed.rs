//! The new folder leaves out objects with machines, storage or network behind them, and nobody acknowledged that.

use super::Objection;
use crate::model::GateReason;

/// Whether a folder may follow the last good one; `held` says whether the guard over objects holds what it
/// leaves out. The hold itself names the objects, so nothing more is said of the folder.
///
/// # Errors
/// The guard holds it.
pub const fn objects_removed(held: bool) -> Result<(), Objection> {
    if held { Err(Objection::new(GateReason::ObjectsRemoved)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_guard_holds_keeps_its_folder() {
        assert_eq!(objects_removed(false), Ok(()));
        let objection = objects_removed(true).unwrap_err();
        assert_eq!(objection.reason, GateReason::ObjectsRemoved);
        assert!(objection.findings.is_empty(), "the hold says it");
    }
}
