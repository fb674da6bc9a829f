//! What a guard's hold means, in the words that plans, turns, commit messages and explanations share.

use super::HoldKind;

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
                "objects with machines, storage or network behind them would be left out or scaled to zero; their \
                 folders keep what they have"
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
