//! Policies that weigh the same for a cluster: which one applies hangs on their names, which is hardly
//! meant. Two with the very same selector are told of when they load.

use crate::diag::{Code, Diagnostic, FieldPath, Place};
use crate::model::{Fleet, Name, Policy};
use crate::plan;

/// A finding for each two policies.
pub(super) fn found(fleet: &Fleet) -> Vec<Diagnostic> {
    let ties = plan::policy_ties(fleet).into_iter();
    ties.filter_map(|((winner, loser), clusters)| tie(fleet, &winner, &loser, &clusters)).collect()
}

fn tie(fleet: &Fleet, winner: &Name, loser: &Name, clusters: &[Name]) -> Option<Diagnostic> {
    let (winner, loser) = (fleet.policies.get(winner)?, fleet.policies.get(loser)?);
    let first = fleet.clusters.get(clusters.first()?)?;
    let of = match clusters.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let name = &first.name;
    let message = format!(
        "`{}` and `{}` weigh the same for `{name}`{of}, and the smaller name decides",
        winner.name, loser.name
    );
    let place = |policy: &Policy| {
        let file = policy.file.clone().unwrap_or_default();
        Place::field(file, policy.document, FieldPath::keys("metadata.name"))
    };
    let cluster = Place::field(&*first.file, first.document, FieldPath::keys("metadata.name"));
    Some(
        Diagnostic::new(Code::PolicyTie, message)
            .at(place(loser))
            .related(place(winner), "this one applies")
            .related(cluster, "to this cluster, for one")
            .help("give one of the two a higher `priority`, or make the selectors tell them apart"),
    )
}
