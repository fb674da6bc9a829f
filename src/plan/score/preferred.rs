//! Preferred affinity: the sum of the weights of the preferred terms that the worker meets, the
//! policy's and the cluster's own. More is better.

use crate::model::Worker;
use crate::plan::candidate::Request;
use crate::plan::depends_on::DependsOn;
use crate::plan::term;

pub(super) const READS: &[DependsOn] = term::READS;

pub(super) fn weight(request: &Request<'_>, worker: &Worker) -> u64 {
    let met = request.preferred().filter(|preferred| term::meets(&preferred.term, worker));
    met.map(|preferred| u64::from(preferred.weight)).fold(0, u64::saturating_add)
}

/// The part of it that carp's own policy asks for, where that is the one that applies.
pub(super) fn by_carp(request: &Request<'_>, worker: &Worker) -> u64 {
    match request.policy {
        Some(policy) if policy.file.is_none() => {
            let affinity = policy.spec.affinity.as_ref();
            let terms = affinity.into_iter().flat_map(|affinity| &affinity.preferred);
            let met = terms.filter(|preferred| term::meets(&preferred.term, worker));
            met.map(|preferred| u64::from(preferred.weight)).fold(0, u64::saturating_add)
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::world::check;

    #[test]
    fn weights_are_added_and_the_largest_sum_wins() {
        let three =
            "worker w1 label:zone=1; worker w2 label:zone=2; worker w3 label:zone=1 label:tier=x;";
        check(&format!("{three} policy p prefer:10:zone=2; cluster a"), "a -> w2");
        check(&format!("{three} policy p prefer:10:zone=2 prefer:20:zone=1; cluster a"), "a -> w1");
        check(
            &format!(
                "{three} policy p prefer:10:zone=2 prefer:6:zone=1 prefer:5:tier=x; cluster a"
            ),
            "a -> w3",
        );
    }

    #[test]
    fn the_clusters_own_preference_counts_too() {
        let two = "worker w1 label:zone=1; worker w2 label:zone=2; policy p prefer:10:zone=1;";
        check(&format!("{two} cluster a"), "a -> w1");
        check(&format!("{two} cluster a prefer:11:zone=2"), "a -> w2");
    }
}
