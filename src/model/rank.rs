//! The order of the workers that can take a cluster.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Name;
use super::api::Strategy;

/// A term of the order in which workers are compared, in that order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Term {
    /// An earlier group of the policy's affinity.
    AffinityGroup,
    /// Fewer soft violations.
    SoftViolations,
    /// A higher sum of the weights of preferred terms.
    PreferredAffinity,
    /// A smaller distance between the locations.
    LocationDistance,
    /// A smaller share of the capacity used after the pick; a larger one where the policy packs.
    ShareUsed,
    /// Fewer clusters.
    Clusters,
    /// The smaller name.
    Name,
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AffinityGroup => "affinity group",
            Self::SoftViolations => "soft violations",
            Self::PreferredAffinity => "preferred affinity",
            Self::LocationDistance => "location distance",
            Self::ShareUsed => "share used",
            Self::Clusters => "number of clusters",
            Self::Name => "name",
        })
    }
}

/// Where a worker stands in the order for one cluster; see [`Term`]. Compared with
/// [`Rank::compare`], best first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Which group of the policy's affinity it is in, from 0; `None` for a policy without groups.
    pub group: Option<usize>,
    /// The number of soft violations.
    pub soft_violations: u32,
    /// The sum of the weights of the preferred terms that it meets.
    pub preferred: u64,
    /// The part of this sum that a policy asks for which carp brings along: nobody of the fleet wrote it.
    pub preferred_by_carp: u64,
    /// The distance of the locations, from the table in `policies/`.
    pub distance: u32,
    /// The largest share of a resource used after the pick: numerator and denominator.
    pub share: (i128, i128),
    /// Which share is better. It is the policy's, so it is the same in ranks that are compared.
    pub strategy: Strategy,
    /// The clusters there.
    pub clusters: u64,
    /// The worker.
    pub worker: Name,
}

impl Rank {
    /// The sum of the weights of the terms that it meets and that stand in the fleet.
    #[must_use]
    pub const fn own_preferred(&self) -> u64 {
        self.preferred.saturating_sub(self.preferred_by_carp)
    }

    /// Which of two workers is better (`Less` is better), and by which term.
    #[must_use]
    pub fn compare(&self, other: &Self) -> (std::cmp::Ordering, Term) {
        let share = (self.share.0.saturating_mul(other.share.1))
            .cmp(&other.share.0.saturating_mul(self.share.1));
        let share = match self.strategy {
            Strategy::Spread => share,
            Strategy::BinPack => share.reverse(),
        };
        let terms = [
            (self.group.cmp(&other.group), Term::AffinityGroup),
            (self.soft_violations.cmp(&other.soft_violations), Term::SoftViolations),
            (other.preferred.cmp(&self.preferred), Term::PreferredAffinity),
            (self.distance.cmp(&other.distance), Term::LocationDistance),
            (share, Term::ShareUsed),
            (self.clusters.cmp(&other.clusters), Term::Clusters),
        ];
        terms
            .into_iter()
            .find(|(order, _)| order.is_ne())
            .unwrap_or_else(|| (self.worker.cmp(&other.worker), Term::Name))
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;

    /// A term, and how a worker becomes better by it.
    type Better = (Term, fn(&mut Rank));

    /// All of them, in the order of the terms.
    const BETTER: [Better; 7] = [
        (Term::AffinityGroup, |r| r.group = Some(0)),
        (Term::SoftViolations, |r| r.soft_violations = 0),
        (Term::PreferredAffinity, |r| r.preferred = 9),
        (Term::LocationDistance, |r| r.distance = 0),
        (Term::ShareUsed, |r| r.share = (1, 3)),
        (Term::Clusters, |r| r.clusters = 0),
        (Term::Name, |r| r.worker = Name::parse("w1").unwrap()),
    ];

    fn rank() -> Rank {
        Rank {
            group: Some(1),
            soft_violations: 1,
            preferred: 1,
            preferred_by_carp: 0,
            distance: 1,
            share: (1, 2),
            strategy: Strategy::Spread,
            clusters: 1,
            worker: Name::parse("w2").unwrap(),
        }
    }

    #[test]
    fn the_first_term_that_differs_decides() {
        for (at, (term, better)) in BETTER.into_iter().enumerate() {
            let (mut one, mut other) = (rank(), rank());
            better(&mut one);
            // All that comes later speaks for the other one.
            BETTER[at + 1..].iter().for_each(|(_, better)| better(&mut other));
            assert_eq!(one.compare(&other), (Ordering::Less, term));
            assert_eq!(other.compare(&one), (Ordering::Greater, term));
        }
    }

    #[test]
    fn packing_turns_the_share_around_and_nothing_else() {
        for (at, (term, better)) in BETTER.into_iter().enumerate() {
            let packs = || Rank { strategy: Strategy::BinPack, ..rank() };
            let (mut one, mut other) = (packs(), packs());
            better(&mut one);
            BETTER[at + 1..].iter().for_each(|(_, better)| better(&mut other));
            let wanted = if term == Term::ShareUsed { Ordering::Greater } else { Ordering::Less };
            assert_eq!(one.compare(&other), (wanted, term));
        }
    }
}
