//! `acknowledgement-spent`: an acknowledgement that a commit has used. It lets nothing through any more, and
//! its file only says what once was let through; the lock forgets it when the file is gone.

use crate::diag::{Code, Diagnostic, FieldPath, Place};
use crate::model::{AcknowledgementSpent, Digest, Fleet, FleetLock};

/// A finding for each that is spent and still there.
pub(super) fn found(fleet: &Fleet, lock: Option<&FleetLock>) -> Vec<Diagnostic> {
    told(fleet, lock.map(|lock| lock.spent.as_slice()).unwrap_or_default())
}

fn told(fleet: &Fleet, spent: &[AcknowledgementSpent]) -> Vec<Diagnostic> {
    let still = spent.iter().filter_map(|spent| {
        let sourced = fleet.acknowledgements.get(&spent.name)?;
        let same = sourced.value.of == spent.of
            && sourced.value.digest.parse::<Digest>() == Ok(spent.digest);
        same.then(|| {
            let name = &spent.name;
            let message = format!("the acknowledgement `{name}` is spent: a commit has used it");
            let field = FieldPath::keys("metadata.name");
            Diagnostic::new(Code::AcknowledgementSpent, message)
                .at(Place::field(sourced.file.clone(), sourced.document, field))
                .help(format!("remove it from {}; nothing else is let through by it", sourced.file))
        })
    });
    still.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::{AcknowledgementKind, AcknowledgementSpec};
    use crate::model::{Name, Sourced};

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
        let found = told(&fleet, &[spent("used", digest), spent("gone", digest)]);
        let files: Vec<_> = found.iter().map(|d| d.place.as_ref().unwrap().file.as_str()).collect();
        assert_eq!(files, ["fleet/acknowledgements/used.yaml"]);
        // One of another set under the same name is another one.
        assert_eq!(told(&fleet, &[spent("used", Digest::of(b"others"))]), []);
    }
}
