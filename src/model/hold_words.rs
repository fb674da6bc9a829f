//! What a guard's hold means, in the words that plans, turns, commit messages and explanations share.

use super::{Hold, HoldKind};

impl HoldKind {
    /// What is held, and why. What lets it through depends on who is told.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::MassDeletion => "more deletions than `guards.maxDeletions` allows",
            Self::MassMove => "more moves than `guards.maxMoves` allows",
            Self::DeletionsHeld => {
                "something did not load, or the output branch is not as carp left it, so no deletion or move \
                 starts"
            }
            Self::PlacementsHeld => "a policy or class did not load, so nothing new is placed",
            Self::DeletionPolicyUnset => "the document is gone and `deletionPolicy` was never set",
            Self::WorkerInUse => "the worker's document is gone and clusters are on it",
            Self::NameStillDeleting => "a document came back under a name whose deletion has begun",
            Self::Rewind => {
                "the input branch was rewound: the last output came from a commit that is gone"
            }
            Self::RootChanged => {
                "`roots.fleet` is another folder, and these are not below it; nothing is taken for removed"
            }
            Self::Drifted => {
                "what carp owns was edited by hand on the output branch, and `drift: refuse` is set or objects \
                 with machines, storage or network behind them were added, which Flux would prune if they were \
                 set back"
            }
            Self::FailoverBreaker => {
                "so many workers are not ready that the observer is likelier wrong than the fleet, so nothing \
                 fails over"
            }
            Self::ObjectsRemoved => {
                "objects with machines, storage or network behind them would be left out, scaled to zero or installed \
                 anew; their folders keep what they have"
            }
            Self::MachinesReplaced => {
                "more machines would be replaced by others at once than `guards.maxReplacedMachines` allows; \
                 their folders keep what they have"
            }
            Self::InputNotVerified => {
                "the input commit is not signed by an allowed signer, so it is not read"
            }
        }
    }
}

impl Hold {
    /// What is held, and why, of exactly this set. One that is no more than the guard allows of its own has another
    /// reason than that number.
    #[must_use]
    pub const fn words(&self) -> &'static str {
        match (self.kind, self.allowed) {
            (HoldKind::MassDeletion, None) => {
                "deletions that are more than `guards.maxDeletions` allows together with those of other tenants, or \
                 that a run before held"
            }
            _ => self.kind.words(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_that_is_small_by_itself_is_not_said_to_be_too_large() {
        let hold = |allowed| Hold {
            kind: HoldKind::MassDeletion,
            names: vec!["payments".to_owned()],
            allowed,
        };
        assert_eq!(hold(Some(0)).words(), HoldKind::MassDeletion.words());
        assert!(hold(None).words().contains("together with those of other tenants"));
    }
}
