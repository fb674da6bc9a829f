//! Which policy applies to a cluster: of those that select it one of the fleet's own before one that is
//! built in, then the one with the highest priority, then with the most specific selector (names, then
//! labels, then neither), then with the smaller name.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Cluster, Fleet, Name, Policy};

/// The policies of a fleet, the strongest first.
#[derive(Clone, Debug)]
pub(super) struct Policies<'a> {
    strongest: Vec<&'a Policy>,
    /// Those that ask for names, by each of these; as all that follow by their places among the strongest.
    named: BTreeMap<&'a str, Vec<usize>>,
    /// Those that ask for labels and no names, by the label that fewest ask for: they cannot select a cluster without it.
    labelled: BTreeMap<(&'a str, &'a str), Vec<usize>>,
    /// The others, which may select anybody.
    others: Vec<usize>,
}

/// What made one policy apply and not another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precedence {
    /// It is the fleet's own, and the other one is built in.
    Origin,
    /// A higher `priority`.
    Priority,
    /// A selector that names clusters against one that does not, or one with more requirements.
    Specificity,
    /// A smaller name: the two weigh the same, which is hardly meant.
    Name,
}

impl std::fmt::Display for Precedence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Origin => "the fleet's own, not built in",
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
        policies.sort_by_key(|policy| sort_key(policy));
        Self::by_what_they_ask_for(policies)
    }

    fn by_what_they_ask_for(strongest: Vec<&'a Policy>) -> Self {
        let mut asking: BTreeMap<_, usize> = BTreeMap::new();
        for label in strongest.iter().flat_map(|policy| labels_asked(policy)) {
            *asking.entry(label).or_default() += 1;
        }
        let (mut named, mut labelled) =
            (BTreeMap::<_, Vec<_>>::new(), BTreeMap::<_, Vec<_>>::new());
        let mut others = Vec::new();
        for (place, policy) in strongest.iter().enumerate() {
            let asked_for: BTreeSet<&String> = policy.spec.cluster_selector.names.iter().collect();
            for name in &asked_for {
                named.entry(name.as_str()).or_default().push(place);
            }
            if asked_for.is_empty() {
                match labels_asked(policy).min_by_key(|label| asking[label]) {
                    Some(rarest) => labelled.entry(rarest).or_default().push(place),
                    None => others.push(place),
                }
            }
        }
        Self { strongest, named, labelled, others }
    }

    /// All of them, the strongest first.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a Policy> + use<'a, '_> {
        self.strongest.iter().copied()
    }

    /// The policies that select a cluster; the first applies.
    pub(super) fn selecting(&self, cluster: &Cluster) -> impl Iterator<Item = &'a Policy> {
        self.selecting_by(&cluster.name, &cluster.labels)
    }

    /// The policies that select a cluster of this name and these labels.
    fn selecting_by(
        &self,
        name: &Name,
        labels: &BTreeMap<String, String>,
    ) -> impl Iterator<Item = &'a Policy> {
        let mut places: Vec<usize> = self.places_selecting(name, labels).collect();
        places.sort_unstable();
        places.into_iter().map(|place| self.strongest[place])
    }

    /// The policy that applies to a cluster.
    pub(super) fn select(&self, cluster: &Cluster) -> Option<&'a Policy> {
        let places = self.places_selecting(&cluster.name, &cluster.labels);
        places.min().map(|place| self.strongest[place])
    }

    /// The places of these policies, in no order.
    fn places_selecting<'s>(
        &'s self,
        name: &'s Name,
        labels: &'s BTreeMap<String, String>,
    ) -> impl Iterator<Item = usize> + use<'a, 's> {
        let label = |(key, value)| self.labelled.get(&(key, value));
        let by_label = pairs(labels).filter_map(label);
        let by_name = self.named.get(name.as_str());
        let may = by_label.chain(by_name).chain([&self.others]);
        let selector = |place: &usize| &self.strongest[*place].spec.cluster_selector;
        may.flatten().copied().filter(move |place| selector(place).selects(name, labels))
    }
}

/// The place of a policy among others: the smaller is the stronger.
fn sort_key(policy: &Policy) -> impl Ord {
    let selector = &policy.spec.cluster_selector;
    let weight = (policy.file.is_some(), policy.spec.priority, selector.specificity());
    (Reverse(weight), &policy.name)
}

/// The labels that a policy asks for.
fn labels_asked(policy: &Policy) -> impl Iterator<Item = (&str, &str)> {
    pairs(&policy.spec.cluster_selector.match_labels)
}

fn pairs(labels: &BTreeMap<String, String>) -> impl Iterator<Item = (&str, &str)> {
    labels.iter().map(|(key, value)| (key.as_str(), value.as_str()))
}

/// The policy that applies to a cluster.
#[must_use]
pub fn policy_of<'a>(fleet: &'a Fleet, cluster: &Cluster) -> Option<&'a Policy> {
    let selects = |p: &&Policy| p.spec.cluster_selector.selects(&cluster.name, &cluster.labels);
    fleet.policies.values().filter(selects).min_by_key(|policy| sort_key(policy))
}

/// Why one policy applies and another, that selects the same cluster, does not.
pub(super) fn precedence(winner: &Policy, loser: &Policy) -> Precedence {
    let specificity = |p: &Policy| p.spec.cluster_selector.specificity();
    if winner.file.is_some() != loser.file.is_some() {
        Precedence::Origin
    } else if winner.spec.priority != loser.spec.priority {
        Precedence::Priority
    } else if specificity(winner) != specificity(loser) {
        Precedence::Specificity
    } else {
        Precedence::Name
    }
}

/// Two policies of a fleet, the one that applies first.
pub type PolicyPair = (Name, Name);

/// The policies that weigh the same where both select a cluster, so that only their names tell which one
/// applies: each two with these clusters. Two with the very same selector are left out.
#[must_use]
pub fn policy_ties(fleet: &Fleet) -> BTreeMap<PolicyPair, Vec<Name>> {
    let policies = Policies::of(fleet);
    let mut ties: BTreeMap<PolicyPair, Vec<Name>> = BTreeMap::new();
    for cluster in fleet.clusters.values() {
        let mut selecting = policies.selecting(cluster);
        let (Some(first), Some(second)) = (selecting.next(), selecting.next()) else { continue };
        if are_tied(first, second) {
            let pair = (first.name.clone(), second.name.clone());
            ties.entry(pair).or_default().push(cluster.name.clone());
        }
    }
    ties
}

/// Whether two policies weigh the same for a cluster of this name and these labels, so that only their names tell which
/// one applies; as [`policy_ties`].
#[must_use]
pub fn is_tied(fleet: &Fleet, name: &Name, labels: &BTreeMap<String, String>) -> bool {
    let policies = Policies::of(fleet);
    let mut selecting = policies.selecting_by(name, labels);
    let (Some(first), Some(second)) = (selecting.next(), selecting.next()) else { return false };
    are_tied(first, second)
}

fn are_tied(first: &Policy, second: &Policy) -> bool {
    first.spec.cluster_selector != second.spec.cluster_selector
        && precedence(first, second) == Precedence::Name
}

#[cfg(test)]
mod tests {
    use super::Policies;
    use crate::model::Policy;
    use crate::plan::policy_ties;
    use crate::plan::world::{World, check};

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
    fn a_name_says_more_than_any_labels() {
        let named = format!("{WORLD} policy z for=a,b only=w3;");
        let labels = "policy p for:env=prod for:team=x only=w2";
        check(&format!("{named} {labels}"), "a -> w3 by z");
        check(&format!("{named} {labels} priority=1"), "a -> w2 by p");
        check(&format!("{WORLD} policy z for=b only=w3; {labels}"), "a -> w2 by p");
    }

    #[test]
    fn what_is_built_in_comes_after_all_else() {
        let world = format!("{WORLD} policy p built-in for=a priority=9 only=w2;");
        check(&world, "a -> w2 by p");
        check(&format!("{world} policy z priority=-1 only=w3"), "a -> w3 by z");
    }

    #[test]
    fn policies_tie_where_they_meet() {
        let ties = |world: &str| -> Vec<String> {
            let ties = policy_ties(&World::read(world).fleet).into_iter();
            ties.map(|((a, b), of)| format!("{a} {b}: {}", of.join(" "))).collect()
        };
        let two = "policy p for:env=prod; policy q for:team=x";
        let met =
            format!("{WORLD} cluster b label:env=prod; cluster c label:env=prod label:team=x");
        assert_eq!(ties(&format!("{met}; {two}")), ["p q: a c"]);
        assert_eq!(ties(&format!("{met}; {two} priority=1")), [""; 0]);
        assert_eq!(ties(&format!("{met}; {two} for:env=prod")), [""; 0], "more specific");
        assert_eq!(ties(&format!("{met}; {two}; policy r priority=1")), [""; 0], "both lost");
        assert_eq!(ties(&format!("{met}; policy p; policy q")), [""; 0], "told elsewhere");
        assert_eq!(ties(&format!("{met}; {two} built-in")), [""; 0]);
    }

    #[test]
    fn of_those_that_ask_for_something_else_none_is_lost() {
        let all = "policy a for:env=prod for:team=x; policy b for:env=prod; policy c for=a,a,b; policy d; \
                   policy e for:env=test; policy f for=b; policy g for=a for:env=test; policy h for=a for:env=prod";
        let world = World::read(&format!("{WORLD} cluster b label:env=test; {all}"));
        let selecting = |cluster: &str| -> String {
            let policies = Policies::of(&world.fleet);
            let cluster = world.fleet.clusters.get(cluster).unwrap();
            let plainly = policies.all().filter(|policy| {
                policy.spec.cluster_selector.selects(&cluster.name, &cluster.labels)
            });
            let names = |policy: &Policy| policy.name.as_str().to_owned();
            let found: Vec<String> = policies.selecting(cluster).map(names).collect();
            assert_eq!(found, plainly.map(names).collect::<Vec<_>>());
            found.join(" ")
        };
        assert_eq!(selecting("a"), "h c a b d");
        assert_eq!(selecting("b"), "c f e d");
    }

    #[test]
    fn the_policies_that_lost_have_no_say() {
        check(&format!("{WORLD} policy p priority=1 only=w2; policy q not=w2"), "a -> w2 by p");
    }
}
