//! What a look at a fleet is worth of which not everything could be read.

use super::super::Error;
use super::open::FleetLook;
use crate::diag::{Code, Diagnostic, Severity};
use crate::model::paths::FLEET_FILE;
use crate::model::{Unloaded, count};

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
        let why = cause(&errors, &proposal.fleet.unloaded).map(told).unwrap_or_default();
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

/// The error for which nothing can be decided: the first in the file without which that is so. Where no file is named it is
/// none of those for which a document did not load, which stop nothing.
fn cause<'a>(errors: &[&'a Diagnostic], unloaded: &[Unloaded]) -> Option<&'a Diagnostic> {
    let file = |found: &Diagnostic| found.place.as_ref().map(|place| place.file.clone());
    let broken =
        errors.iter().find(|found| found.code == Code::FleetBroken).map(|found| file(found));
    let others = || errors.iter().copied().filter(|found| found.code != Code::FleetBroken);
    let stops = |found: &&Diagnostic| {
        let file = file(found);
        broken.as_ref().map_or_else(
            || !unloaded.iter().any(|whole| file.as_ref() == Some(&whole.file)),
            |broken| file == *broken,
        )
    };
    others().find(stops).or_else(|| others().next())
}

/// What is wrong, and in which file where the words do not name it.
fn told(found: &Diagnostic) -> String {
    let file = found.place.as_ref().map(|place| place.file.as_str());
    match file.filter(|file| *file != FLEET_FILE && !found.message.contains(*file)) {
        Some(file) => format!(": {file}: {}", found.message),
        None => format!(": {}", found.message),
    }
}
