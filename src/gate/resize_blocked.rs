//! A placed cluster wants more than its worker has free: the folder that would take it is not written.

use super::Objection;
use crate::model::{ClusterPlan, GateReason};

/// Whether a cluster may have the folder that its document asks for; `stands` says whether it has one already.
/// One that has none is made as small as its place is.
///
/// # Errors
/// It has one, and its worker has no room for what the new one takes.
pub const fn resize_blocked(planned: &ClusterPlan, stands: bool) -> Result<(), Objection> {
    if stands && planned.resize_blocked.is_some() {
        return Err(Objection::new(GateReason::ResizeBlocked));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Decision, Name, Resources};

    #[test]
    fn only_what_stands_and_is_blocked_keeps_its_folder() {
        let planned = |blocked: bool| ClusterPlan {
            resize_blocked: blocked.then(Resources::new),
            ..ClusterPlan::new(
                Decision::Keep { worker: Name::parse("w").unwrap() },
                Resources::new(),
            )
        };
        assert_eq!(resize_blocked(&planned(false), true), Ok(()));
        assert_eq!(resize_blocked(&planned(true), false), Ok(()));
        let objection = resize_blocked(&planned(true), true).unwrap_err();
        assert_eq!(objection.reason, GateReason::ResizeBlocked);
    }
}
