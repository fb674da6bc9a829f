//! A file that carp does not own is where carp must write.

use super::Objection;
use crate::diag::{Code, Diagnostic, Place};
use crate::model::GateReason;

/// Whether a folder has its place to itself; `taken` are the paths of others' files that are in its way.
///
/// # Errors
/// There are some.
pub fn collided<'p>(taken: impl IntoIterator<Item = &'p str>) -> Result<(), Objection> {
    let findings: Vec<_> = taken.into_iter().map(in_the_way).collect();
    if findings.is_empty() {
        return Ok(());
    }
    Err(Objection { reason: GateReason::Collided, findings })
}

/// The finding about one such file.
#[must_use]
pub fn in_the_way(path: &str) -> Diagnostic {
    let message = format!("`{path}` is on the output branch and is not carp's");
    Diagnostic::new(Code::OutputCollision, message)
        .at(Place::file(path))
        .help("move or remove it on the output branch; carp never overwrites what it does not own")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_in_the_way_is_a_finding() {
        assert_eq!(collided([]), Ok(()));
        let objection = collided(["workers/w/a", "workers/w/b"]).unwrap_err();
        assert_eq!(objection.reason, GateReason::Collided);
        let said: Vec<_> = objection.findings.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(said.len(), 2);
        assert!(said[1].contains("`workers/w/b`"), "{said:?}");
    }
}
