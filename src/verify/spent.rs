//! `acknowledgement-spent`: an acknowledgement that a commit has used. It lets nothing through any more, and
//! its file only says what once was let through; the lock forgets it when the file is gone.

use crate::change;
use crate::diag::{Code, Diagnostic, FieldPath, Place};
use crate::model::api::AcknowledgementSpec;
use crate::model::{Fleet, FleetLock, Name, Sourced};

/// A finding for each that is spent and still there.
pub(super) fn found(fleet: &Fleet, lock: Option<&FleetLock>) -> Vec<Diagnostic> {
    let told = |(name, sourced): (&Name, &Sourced<AcknowledgementSpec>)| {
        let message = format!("the acknowledgement `{name}` is spent: a commit has used it");
        let field = FieldPath::keys("metadata.name");
        Diagnostic::new(Code::AcknowledgementSpent, message)
            .at(Place::field(sourced.file.clone(), sourced.document, field))
            .help(format!("remove it from {}; nothing else is let through by it", sourced.file))
    };
    change::leftover(fleet, lock).into_iter().map(told).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::api::AcknowledgementKind;
    use crate::model::{AcknowledgementSpent, Digest};

    #[test]
    fn what_a_commit_has_used_is_named_for_removal_and_no_other() {
        let of = AcknowledgementKind::Deletions;
        let digest = Digest::of(b"names");
        let mut fleet = Fleet::default();
        for name in ["used", "new"] {
            let digest = format!("sha256:{digest}");
            let value = AcknowledgementSpec { of, count: 2, digest, rebalance: None };
            let file = format!("fleet/acknowledgements/{name}.yaml");
            let sourced = Sourced { file, document: 0, value };
            fleet.acknowledgements.insert(Name::parse(name).unwrap(), sourced);
        }
        let spent = |name: &str, digest| AcknowledgementSpent {
            name: Name::parse(name).unwrap(),
            of,
            digest,
        };
        let lock = |spent: Vec<AcknowledgementSpent>| -> FleetLock {
            let key = Digest::of(b"key");
            let lock = json!({"schemaVersion": 3, "renderKey": key, "spent": spent});
            serde_json::from_value(lock).unwrap()
        };
        let found = found(&fleet, Some(&lock(vec![spent("used", digest), spent("gone", digest)])));
        let files: Vec<_> = found.iter().map(|d| d.place.as_ref().unwrap().file.as_str()).collect();
        assert_eq!(files, ["fleet/acknowledgements/used.yaml"]);
        // One of another set under the same name is another one.
        let others = lock(vec![spent("used", Digest::of(b"others"))]);
        assert_eq!(super::found(&fleet, Some(&others)), []);
    }
}
