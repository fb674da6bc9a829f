//! The new folder replaces more machines than the fleet allows at once, and nobody acknowledged that.

use super::Objection;
use crate::model::GateReason;

/// Whether a folder may follow the last good one; `held` says whether the guard over machines holds what it
/// replaces. The hold itself names the machines, so nothing more is said of the folder.
///
/// # Errors
/// The guard holds it.
pub const fn machines_replaced(held: bool) -> Result<(), Objection> {
    if held { Err(Objection::new(GateReason::MachinesReplaced)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_guard_holds_keeps_its_folder() {
        assert_eq!(machines_replaced(false), Ok(()));
        let objection = machines_replaced(true).unwrap_err();
        assert_eq!(objection.reason, GateReason::MachinesReplaced);
        assert!(objection.findings.is_empty(), "the hold says it");
    }
}
