//! Acknowledgements that a commit has used and whose files are still there: they let nothing through any more.

use crate::model::api::AcknowledgementSpec;
use crate::model::{Digest, Fleet, FleetLock, Name, Sourced};

/// The spent acknowledgements that people can remove, by name, each with its document. One of another set under the
/// name of a spent one is another one.
#[must_use]
pub fn leftover<'a>(
    fleet: &'a Fleet,
    lock: Option<&'a FleetLock>,
) -> Vec<(&'a Name, &'a Sourced<AcknowledgementSpec>)> {
    let spent = lock.map(|lock| lock.spent.as_slice()).unwrap_or_default();
    let still = spent.iter().filter_map(|spent| {
        let (name, sourced) = fleet.acknowledgements.get_key_value(&spent.name)?;
        let same = sourced.value.of == spent.of
            && sourced.value.digest.parse::<Digest>() == Ok(spent.digest);
        same.then_some((name, sourced))
    });
    still.collect()
}
