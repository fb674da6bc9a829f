//! Which clusters a rule of spread or anti-affinity is about.
//!
//! A rule of a policy is about clusters of all tenants. One that a cluster adds is about clusters of its
//! own tenant, as a pod's rules are about its own namespace: nobody keeps others away from what they may
//! use.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::api::{AntiAffinity, ClusterSelector, LabelSelector, SpreadConstraint};
use crate::model::{Cluster, Name, Policy};

/// What rules read of a cluster, placed or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who<'a> {
    /// Its name.
    pub(super) name: &'a Name,
    /// Its labels.
    pub(super) labels: &'a BTreeMap<String, String>,
    /// Its tenant.
    pub(super) tenant: &'a str,
    /// Where its nodes are.
    pub(super) location: &'a str,
}

impl<'a> Who<'a> {
    /// A desired cluster.
    pub(super) fn of(cluster: &'a Cluster) -> Self {
        Self {
            name: &cluster.name,
            labels: &cluster.labels,
            tenant: &cluster.tenant,
            location: &cluster.spec.location,
        }
    }
}

/// The key that stands for whose a cluster is: with it a policy's rule is about the clusters of one tenant at a time.
const TENANT: &str = "carp.dev/tenant";

/// Clusters that rules are about: those that the selector selects, told apart by the values of some
/// labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Group<'a> {
    /// Of this tenant only.
    tenant: Option<&'a str>,
    /// `None`: all.
    selector: Option<ClusterSelection<'a>>,
    /// A cluster without one of these labels is in no group.
    keys: &'a [String],
}

/// What selects clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
enum ClusterSelection<'a> {
    /// The selector of a rule.
    Rule(&'a LabelSelector),
    /// That of the rule's policy.
    Policy(&'a ClusterSelector),
}

impl ClusterSelection<'_> {
    fn selects(self, who: &Who<'_>) -> bool {
        match self {
            Self::Rule(selector) => selector.matches(who.labels),
            Self::Policy(selector) => selector.selects(who.name, who.labels),
        }
    }
}

/// The values of the labels by which the clusters of a [`Group`] are told apart.
pub(super) type Values<'a> = Vec<&'a str>;

impl<'a> Group<'a> {
    /// The part of the group in which a cluster is, or would be: `None` where it lacks a label.
    pub(super) fn values(&self, who: &Who<'a>) -> Option<Values<'a>> {
        let value = |key: &String| match key.as_str() {
            TENANT => Some(who.tenant),
            key => who.labels.get(key).map(String::as_str),
        };
        self.keys.iter().map(value).collect()
    }

    /// Labels that whom it selects has.
    pub(super) fn labels(&self) -> Option<&'a BTreeMap<String, String>> {
        self.selector.map(|selector| match selector {
            ClusterSelection::Rule(selector) => &selector.match_labels,
            ClusterSelection::Policy(selector) => &selector.match_labels,
        })
    }

    /// Whether the group has a cluster, and in which part.
    pub(super) fn part(&self, who: &Who<'a>) -> Option<Values<'a>> {
        let selected = self.tenant.is_none_or(|tenant| tenant == who.tenant)
            && self.selector.is_none_or(|selector| selector.selects(who));
        selected.then(|| self.values(who)).flatten()
    }
}

/// A rule of anti-affinity, whoever has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Keeping<'a> {
    /// What makes workers one domain.
    pub(super) key: &'a str,
    /// Whether it refuses workers.
    pub(super) refuses: bool,
    /// From whom it keeps away.
    pub(super) group: Group<'a>,
}

/// Whose rules these are.
#[derive(Clone, Copy, Debug)]
enum RuleOwner<'a> {
    Policy(&'a ClusterSelector),
    Cluster { tenant: &'a str },
}

impl<'a> RuleOwner<'a> {
    fn group(self, selector: Option<&'a LabelSelector>, keys: &'a [String]) -> Group<'a> {
        let selector = selector.map(ClusterSelection::Rule);
        match self {
            Self::Policy(own) => {
                let selector = selector.or(Some(ClusterSelection::Policy(own)));
                Group { tenant: None, selector, keys }
            }
            Self::Cluster { tenant } => Group { tenant: Some(tenant), selector, keys },
        }
    }
}

/// The spread constraints of a policy, each with whom it counts.
pub(super) fn spread_of(policy: &Policy) -> impl Iterator<Item = (&SpreadConstraint, Group<'_>)> {
    counted(&policy.spec.spread, RuleOwner::Policy(&policy.spec.cluster_selector))
}

/// The spread constraints that a cluster of this tenant adds.
pub(super) fn own_spread<'a>(
    own: &'a [SpreadConstraint],
    tenant: &'a str,
) -> impl Iterator<Item = (&'a SpreadConstraint, Group<'a>)> {
    counted(own, RuleOwner::Cluster { tenant })
}

fn counted<'a>(
    rules: &'a [SpreadConstraint],
    owner: RuleOwner<'a>,
) -> impl Iterator<Item = (&'a SpreadConstraint, Group<'a>)> {
    rules
        .iter()
        .map(move |rule| (rule, owner.group(rule.label_selector.as_ref(), &rule.match_label_keys)))
}

/// The rules of anti-affinity of a policy.
pub(super) fn keeping_of(policy: &Policy) -> impl Iterator<Item = Keeping<'_>> {
    keeping(&policy.spec.anti_affinity, RuleOwner::Policy(&policy.spec.cluster_selector))
}

/// The rules of anti-affinity that a cluster of this tenant adds.
pub(super) fn own_keeping<'a>(
    own: &'a [AntiAffinity],
    tenant: &'a str,
) -> impl Iterator<Item = Keeping<'a>> {
    keeping(own, RuleOwner::Cluster { tenant })
}

fn keeping<'a>(
    rules: &'a [AntiAffinity],
    owner: RuleOwner<'a>,
) -> impl Iterator<Item = Keeping<'a>> {
    rules.iter().map(move |rule| Keeping {
        key: &rule.topology_key,
        refuses: rule.when_unsatisfiable.refuses(),
        group: owner.group(rule.label_selector.as_ref(), &rule.match_label_keys),
    })
}
