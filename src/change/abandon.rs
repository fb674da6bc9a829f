//! Deletions that somebody abandons: no evidence will come, and a person says so by name.

use std::collections::BTreeSet;

use super::Acknowledged;
use crate::diag::{Code, Diagnostic, FieldPath, Place};
use crate::model::api::AcknowledgementKind;
use crate::model::{Fleet, Name, Stuck};

/// What is abandoned in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Abandoned {
    /// The clusters and workers.
    pub names: BTreeSet<Name>,
    /// The acknowledgements that name them, and are thereby spent.
    pub spent: Vec<Name>,
}

/// The deletions that an acknowledgement names, set by set: one names exactly what one worker should
/// report.
#[must_use]
pub fn abandon(stuck: &[Stuck], acknowledged: &Acknowledged) -> Abandoned {
    let mut abandoned = Abandoned::default();
    for set in stuck {
        let of = AcknowledgementKind::Abandon;
        if let Some(name) = acknowledged.names(of, set.names.len(), set.digest()) {
            let names = set.names.iter().filter_map(|name| Name::parse(name).ok());
            abandoned.names.extend(names);
            abandoned.spent.push(name);
        }
    }
    abandoned
}

/// A warning for each good acknowledgement that abandons another set than there is.
#[must_use]
pub fn abandon_mismatches(
    fleet: &Fleet,
    acknowledged: &Acknowledged,
    stuck: &[Stuck],
    used: &[Name],
) -> Vec<Diagnostic> {
    let Some(set) = stuck.first() else { return Vec::new() };
    let all = acknowledged.of(AcknowledgementKind::Abandon).filter(|name| !used.contains(name));
    let warning = |name: &Name| {
        let sourced = fleet.acknowledgements.get(name)?;
        let message = format!("acknowledgement `{name}` abandons another set than is stuck");
        let place = Place::field(&sourced.file, sourced.document, FieldPath::keys("spec.digest"));
        Some(Diagnostic::new(Code::AcknowledgementMismatch, message).at(place).help(format!(
            "if {} are meant, set `count: {}` and `digest: {}`",
            set.names.join(", "),
            set.names.len(),
            set.digest()
        )))
    };
    all.filter_map(warning).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::AcknowledgementSpec;
    use crate::model::{Sourced, Vouching};

    fn stuck(names: &[&str]) -> Stuck {
        Stuck { reporter: None, names: names.iter().map(|&n| n.to_owned()).collect() }
    }

    fn fleet(set: &Stuck, of: AcknowledgementKind) -> Fleet {
        let count = u32::try_from(set.names.len()).unwrap();
        let value =
            AcknowledgementSpec { of, count, digest: set.digest().to_string(), rebalance: None };
        let sourced = Sourced { file: "fleet/ack.yaml".into(), document: 0, value };
        let name = Name::parse("yes").unwrap();
        Fleet { acknowledgements: [(name, sourced)].into(), ..Fleet::default() }
    }

    #[test]
    fn exactly_one_workers_set_is_abandoned() {
        let (one, other) = (stuck(&["a", "b"]), stuck(&["c"]));
        let fleet = fleet(&one, AcknowledgementKind::Abandon);
        let good = Acknowledged::new(&fleet, None, &Vouching::default());
        let both = [one, other.clone()];
        let abandoned = abandon(&both, &good);
        let names: Vec<_> = abandoned.names.iter().map(Name::as_str).collect();
        assert_eq!((names, abandoned.spent.len()), (vec!["a", "b"], 1));
        assert!(abandon_mismatches(&fleet, &good, &[other], &abandoned.spent).is_empty());
    }

    #[test]
    fn another_set_or_another_kind_abandons_nothing_and_is_told() {
        let (one, more) = (stuck(&["a"]), [stuck(&["a", "b"])]);
        let fleet_of_one = fleet(&one, AcknowledgementKind::Abandon);
        let good = Acknowledged::new(&fleet_of_one, None, &Vouching::default());
        assert_eq!(abandon(&more, &good), Abandoned::default());
        let told = abandon_mismatches(&fleet_of_one, &good, &more, &[]);
        assert_eq!(told.len(), 1);
        assert!(told[0].help.iter().any(|help| help.contains("count: 2")), "{told:?}");
        let deletions = fleet(&one, AcknowledgementKind::Deletions);
        let good = Acknowledged::new(&deletions, None, &Vouching::default());
        assert_eq!(abandon(&[one], &good), Abandoned::default());
    }
}
