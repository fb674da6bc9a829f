//! What a look at a fleet is worth of which not everything could be read.

use super::super::Error;
use super::open::FleetLook;
use crate::diag::{Code, Diagnostic, Severity};
use crate::model::count;

/// What people should know who ask about a fleet of which something did not load; `None`: all of it did.
///
/// # Errors
/// Nothing can be decided: whatever would be shown is no answer.
pub(super) fn decided(look: &FleetLook) -> Result<Option<String>, Error> {
    let proposal = &look.opened.proposal;
    let is_error = |found: &&Diagnostic| found.severity == Severity::Error;
    let findings = proposal.diagnostics.sorted();
    let errors: Vec<_> = findings.iter().filter(is_error).collect();
    if proposal.stopped {
        let cause = errors.iter().find(|found| found.code != Code::FleetBroken);
        let why = cause.map(|found| format!(": {}", found.message)).unwrap_or_default();
        return Err(Error::failed(format!("nothing can be decided{why}"))
            .help("`carp validate` says what to mend, and where"));
    }
    // What follows from another error is told with that.
    let own = errors.iter().filter(|found| found.code != Code::ClassNotLoaded).count();
    Ok((own > 0).then(|| {
        let errors = count(own as u64, "error");
        format!(
            "the fleet has {errors}, and what that is about is shown as it was; see `carp validate`"
        )
    }))
}
