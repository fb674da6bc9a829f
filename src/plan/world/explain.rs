//! The words of policies that speak of where they come from and whom they name.

use crate::model::api::PlacementPolicySpec;

/// A policy that carp brings along.
pub(super) const BUILT_IN: &str = "built-in";

/// Reads one word of a policy; returns whether it was one of these.
pub(super) fn policy_word(spec: &mut PlacementPolicySpec, word: &str) -> bool {
    if let Some(names) = word.strip_prefix("for=") {
        spec.cluster_selector.names = names.split(',').map(str::to_owned).collect();
        return true;
    }
    word == BUILT_IN
}
