//! Nothing is written there in this run: somebody edited it by hand and the fleet wants such edits kept, or a file
//! of others stands in the way of the folder around it.

use super::Objection;
use crate::model::GateReason;

/// What is said of a folder that is not looked at; `taken` says whether files of others are the cause.
#[must_use]
pub const fn unwritten(taken: bool) -> Objection {
    Objection::new(if taken { GateReason::Collided } else { GateReason::Drifted })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_and_a_file_in_the_way_are_told_apart() {
        assert_eq!(unwritten(false).reason, GateReason::Drifted);
        assert_eq!(unwritten(true).reason, GateReason::Collided);
    }
}
