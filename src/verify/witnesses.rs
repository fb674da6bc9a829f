//! Some of the clusters that each selector of the fleet's own policies selects: while one of them is there, the selector
//! selects somebody.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::api::LabelSelector;
use crate::model::{Cluster, Fleet, Name, Policy};

/// How many clusters are kept of those that a selector selects.
const MOST: usize = 3;

/// Some clusters that each selector of a policy selects: the policy's own, then those of its rules in their order.
pub(super) type Witnesses = BTreeMap<Name, Vec<BTreeSet<Name>>>;

/// The witnesses of a fleet.
pub(super) fn of(fleet: &Fleet) -> Witnesses {
    let labelled = ByLabel::of(fleet);
    let own = fleet.policies.values().filter(|policy| policy.file.is_some());
    own.map(|policy| (policy.name.clone(), labelled.selected_by(policy))).collect()
}

/// The selectors of the rules of a policy: the field with the list of rules, the place in it, and whom the rule counts.
pub(super) fn of_rules(
    policy: &Policy,
) -> impl Iterator<Item = (&'static str, usize, &LabelSelector)> {
    let spread = policy.spec.spread.iter().map(|rule| rule.label_selector.as_ref());
    let spread = spread.enumerate().map(|(at, selector)| ("spec.spread", at, selector));
    let apart = policy.spec.anti_affinity.iter().map(|rule| rule.label_selector.as_ref());
    let apart = apart.enumerate().map(|(at, selector)| ("spec.antiAffinity", at, selector));
    spread.chain(apart).filter_map(|(field, at, selector)| Some((field, at, selector?)))
}

/// The clusters of a fleet by their labels, so that a selector is held against those alone that have what it asks for.
struct ByLabel<'a> {
    clusters: &'a BTreeMap<Name, Cluster>,
    labelled: BTreeMap<(&'a str, &'a str), Vec<&'a Cluster>>,
}

impl<'a> ByLabel<'a> {
    fn of(fleet: &'a Fleet) -> Self {
        let mut labelled: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for cluster in fleet.clusters.values() {
            for (key, value) in &cluster.labels {
                labelled.entry((key.as_str(), value.as_str())).or_default().push(cluster);
            }
        }
        Self { clusters: &fleet.clusters, labelled }
    }

    fn selected_by(&self, policy: &Policy) -> Vec<BTreeSet<Name>> {
        let selector = &policy.spec.cluster_selector;
        let selects = |cluster: &Cluster| selector.selects(&cluster.name, &cluster.labels);
        let by_policy = if selector.names.is_empty() {
            self.first(&selector.match_labels, selects)
        } else {
            let named: BTreeSet<&str> = selector.names.iter().map(String::as_str).collect();
            first(named.into_iter().filter_map(|name| self.clusters.get(name)), selects)
        };
        let counted = |selector: &LabelSelector| {
            self.first(&selector.match_labels, |cluster| selector.matches(&cluster.labels))
        };
        let by_rules = of_rules(policy).map(|(_, _, selector)| counted(selector));
        [by_policy].into_iter().chain(by_rules).collect()
    }

    /// The first of the clusters with these labels, and whatever else is asked for.
    fn first(
        &self,
        labels: &BTreeMap<String, String>,
        selects: impl Fn(&Cluster) -> bool,
    ) -> BTreeSet<Name> {
        let with = labels.iter().map(|(key, value)| {
            self.labelled.get(&(key.as_str(), value.as_str())).map_or(&[][..], Vec::as_slice)
        });
        match with.min_by_key(|clusters| clusters.len()) {
            Some(fewest) => first(fewest.iter().copied(), selects),
            None => first(self.clusters.values(), selects),
        }
    }
}

fn first<'a>(
    clusters: impl Iterator<Item = &'a Cluster>,
    selects: impl Fn(&Cluster) -> bool,
) -> BTreeSet<Name> {
    let selected = clusters.filter(|cluster| selects(cluster));
    selected.take(MOST).map(|cluster| cluster.name.clone()).collect()
}
