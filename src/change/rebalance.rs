//! Rebalances that somebody requested: the numbers that the moves were worked out with, and exactly which
//! they are.

use super::Acknowledged;
use crate::diag::{Code, Diagnostic, FieldPath, Place};
use crate::model::api::{AcknowledgementKind, Rebalance};
use crate::model::{Digest, Fleet, Name, Rebalanced};

/// A good acknowledgement that requests a rebalance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebalancing {
    /// Its name.
    pub name: Name,
    /// With which numbers.
    pub terms: Rebalance,
}

/// The good acknowledgements that request a rebalance, by name.
#[must_use]
pub fn rebalances(fleet: &Fleet, acknowledged: &Acknowledged) -> Vec<Rebalancing> {
    let of = |name: &Name| {
        let terms = fleet.acknowledgements.get(name)?.value.rebalance?;
        Some(Rebalancing { name: name.clone(), terms })
    };
    acknowledged.of(AcknowledgementKind::Rebalance).filter_map(of).collect()
}

impl Rebalancing {
    /// Whether these moves are exactly those that were acknowledged.
    #[must_use]
    pub fn is_of(&self, moves: &[Rebalanced], acknowledged: &Acknowledged) -> bool {
        acknowledged.is_of(&self.name, moves.len(), rebalance_digest(moves))
    }
}

/// The digest of the sorted names of the clusters that move.
#[must_use]
pub fn rebalance_digest(moves: &[Rebalanced]) -> Digest {
    Digest::of_names(names(moves))
}

fn names(moves: &[Rebalanced]) -> Vec<&str> {
    let mut names: Vec<_> = moves.iter().map(|moved| moved.cluster.as_str()).collect();
    names.sort_unstable();
    names
}

/// The warning that a request names another set than its numbers come to now, so that nothing moves.
#[must_use]
pub fn rebalance_mismatch(
    fleet: &Fleet,
    request: &Rebalancing,
    moves: &[Rebalanced],
) -> Option<Diagnostic> {
    let Rebalancing { name, terms: Rebalance { most, gain } } = request;
    let sourced = fleet.acknowledgements.get(name)?;
    let message = format!(
        "acknowledgement `{name}` requests another rebalance than there is, so nothing moves"
    );
    let help = if moves.is_empty() {
        format!("no move that may begin now gains {gain} percent points; remove the document")
    } else {
        format!(
            "look at `carp simulate --rebalance {most}:{gain}`; if {} are meant, set `count: {}` and \
             `digest: {}`",
            names(moves).join(", "),
            moves.len(),
            rebalance_digest(moves)
        )
    };
    let place = Place::field(&sourced.file, sourced.document, FieldPath::keys("spec.digest"));
    Some(Diagnostic::new(Code::AcknowledgementMismatch, message).at(place).help(help))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::AcknowledgementSpec;
    use crate::model::{Sourced, Vouching};

    fn moves(clusters: &[&str]) -> Vec<Rebalanced> {
        let name = |text: &str| Name::parse(text).unwrap();
        let one =
            |c: &&str| Rebalanced { cluster: name(c), from: name("w1"), to: name("w2"), gain: 30 };
        clusters.iter().map(one).collect()
    }

    fn fleet(of: AcknowledgementKind, set: &[Rebalanced]) -> Fleet {
        let value = AcknowledgementSpec {
            of,
            count: u32::try_from(set.len()).unwrap(),
            digest: rebalance_digest(set).to_string(),
            rebalance: Some(Rebalance { most: 3, gain: 20 }),
        };
        let sourced = Sourced { file: "fleet/ack.yaml".into(), document: 0, value };
        let name = Name::parse("yes").unwrap();
        Fleet { acknowledgements: [(name, sourced)].into(), ..Fleet::default() }
    }

    #[test]
    fn exactly_the_set_is_let_through_in_whatever_order_it_was_chosen() {
        let fleet = fleet(AcknowledgementKind::Rebalance, &moves(&["a", "b"]));
        let good = Acknowledged::new(&fleet, None, &Vouching::default());
        let asked = rebalances(&fleet, &good).remove(0);
        assert_eq!(asked.terms, Rebalance { most: 3, gain: 20 });
        assert!(asked.is_of(&moves(&["b", "a"]), &good));
        for other in [&["a"][..], &["a", "c"], &["a", "b", "c"], &[]] {
            assert!(!asked.is_of(&moves(other), &good), "{other:?}");
        }
    }

    #[test]
    fn another_kind_requests_nothing_and_another_set_is_told() {
        let deletions = fleet(AcknowledgementKind::Deletions, &moves(&["a"]));
        assert!(
            rebalances(&deletions, &Acknowledged::new(&deletions, None, &Vouching::default()))
                .is_empty()
        );
        let fleet = fleet(AcknowledgementKind::Rebalance, &moves(&["a"]));
        let asked =
            rebalances(&fleet, &Acknowledged::new(&fleet, None, &Vouching::default())).remove(0);
        let told = rebalance_mismatch(&fleet, &asked, &moves(&["b", "a"])).unwrap();
        assert_eq!(told.code, Code::AcknowledgementMismatch);
        let help = told.help.unwrap();
        assert!(help.contains("if a, b are meant, set `count: 2`"), "{help}");
        let help = rebalance_mismatch(&fleet, &asked, &[]).unwrap().help.unwrap();
        assert!(help.contains("gains 20 percent points"), "{help}");
    }
}
