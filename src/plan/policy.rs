//! Which policy applies to a cluster: of those that select it the one with the highest priority, then
//! with the most specific selector, then with the smaller name.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::model::{Cluster, Fleet, Policy};

/// The policies of a fleet, the strongest first.
#[derive(Clone, Debug)]
pub(super) struct Policies<'a>(Vec<&'a Policy>);

/// What made one policy apply and not another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precedence {
    /// A higher `priority`.
    Priority,
    /// A selector with more requirements.
    Specificity,
    /// A smaller name: the two weigh the same, which is hardly meant.
    Name,
}

impl std::fmt::Display for Precedence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Priority => "higher priority",
            Self::Specificity => "more specific selector",
            Self::Name => "smaller name, otherwise equal",
        })
    }
}

impl<'a> Policies<'a> {
    /// The policies of a fleet.
    pub(super) fn of(fleet: &'a Fleet) -> Self {
        let mut policies: Vec<_> = fleet.policies.values().collect();
        policies.sort_by_key(|p| {
            let selector = &p.spec.cluster_selector;
            (Reverse(p.spec.priority), Reverse(selector.specificity()), &p.name)
        });
        Self(policies)
    }

    /// All of them, the strongest first.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a Policy> + use<'a, '_> {
        self.0.iter().copied()
    }

    /// The policy that applies to a cluster with these labels.
    pub(super) fn select_by(&self, labels: &BTreeMap<String, String>) -> Option<&'a Policy> {
        self.0.iter().copied().find(|p| p.spec.cluster_selector.matches(labels))
    }

    /// The policies that select a cluster; the first applies.
    pub(super) fn selecting(&self, cluster: &Cluster) -> impl Iterator<Item = &'a Policy> {
        self.0.iter().copied().filter(|p| p.spec.cluster_selector.matches(&cluster.labels))
    }

    /// The policy that applies to a cluster.
    pub(super) fn select(&self, cluster: &Cluster) -> Option<&'a Policy> {
        self.selecting(cluster).next()
    }
}

/// Why one policy applies and another, that selects the same cluster, does not.
pub(super) fn precedence(winner: &Policy, loser: &Policy) -> Precedence {
    let specificity = |p: &Policy| p.spec.cluster_selector.specificity();
    if winner.spec.priority != loser.spec.priority {
        Precedence::Priority
    } else if specificity(winner) != specificity(loser) {
        Precedence::Specificity
    } else {
        Precedence::Name
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::world::check;

    const WORLD: &str = "worker w1; worker w2; worker w3; cluster a label:env=prod label:team=x;";

    #[test]
    fn only_a_policy_that_selects_the_cluster_applies() {
        check(&format!("{WORLD} policy p for:env=prod only=w2"), "a -> w2 by p");
        check(&format!("{WORLD} policy p for:env=test only=w2"), "a -> w1");
        check(&format!("{WORLD} policy p only=w2"), "a -> w2 by p");
    }

    #[test]
    fn priority_then_specificity_then_the_name() {
        let strong = format!("{WORLD} policy z priority=1 only=w3;");
        check(&format!("{strong} policy p for:env=prod only=w2"), "a -> w3 by z");
        let specific = format!("{WORLD} policy z for:env=prod for:team=x only=w3;");
        check(&format!("{specific} policy p for:env=prod only=w2"), "a -> w3 by z");
        let equal = format!("{WORLD} policy z for:team=x only=w3;");
        check(&format!("{equal} policy p for:env=prod only=w2"), "a -> w2 by p");
    }

    #[test]
    fn the_policies_that_lost_have_no_say() {
        check(&format!("{WORLD} policy p priority=1 only=w2; policy q not=w2"), "a -> w2 by p");
    }
}
