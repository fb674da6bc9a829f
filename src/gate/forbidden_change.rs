//! The new folder changes what may not change between two folders of one cluster.

use super::Objection;
use crate::diag::Diagnostic;
use crate::model::GateReason;

/// Whether a folder may follow the last good one; `found` are the changes that the worker would refuse, each
/// at the field that decides over it.
///
/// # Errors
/// There are some.
pub fn forbidden_change(found: Vec<Diagnostic>) -> Result<(), Objection> {
    if found.is_empty() {
        return Ok(());
    }
    Err(Objection { reason: GateReason::ForbiddenChange, findings: found })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Code;

    #[test]
    fn one_refused_change_keeps_the_whole_folder() {
        assert_eq!(forbidden_change(Vec::new()), Ok(()));
        let found = vec![Diagnostic::new(Code::VersionSkew, "back")];
        let objection = forbidden_change(found.clone()).unwrap_err();
        assert_eq!((objection.reason, objection.findings), (GateReason::ForbiddenChange, found));
    }
}
