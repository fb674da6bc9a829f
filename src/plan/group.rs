//! Which clusters a rule of spread or anti-affinity is about.
//!
//! Where tenants have folders of their own, a rule is about the clusters of one tenant at a time, as a pod's rules are
//! about its own namespace: nobody keeps others away from what they may use. A policy may say otherwise. Where no tenant
//! has a folder, a policy's rule is about clusters of all.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::api::{
    AntiAffinity, ClusterSelector, LabelSelector, SpreadConstraint, TenantSelector,
};
use crate::model::{Cluster, Name, Policy};

/// What rules read of a cluster, placed or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClusterInfo<'a> {
    /// Its name.
    pub(super) name: &'a Name,
    /// Its labels.
    pub(super) labels: &'a BTreeMap<String, String>,
    /// Its tenant.
    pub(super) tenant: &'a str,
    /// Where its nodes are.
    pub(super) location: &'a str,
}

impl<'a> ClusterInfo<'a> {
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

/// Whose clusters a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
enum TenantScope<'a> {
    /// Everybody's.
    All,
    /// Those of the tenant whose cluster is placed.
    Same,
    /// Those of these tenants.
    Named(&'a [String]),
    /// Those of this tenant, to which the rule's own cluster belongs.
    Only(&'a str),
}

impl<'a> TenantScope<'a> {
    fn of(selector: Option<&'a TenantSelector>, by_tenant: bool) -> Self {
        match selector {
            Some(selector) if selector.names.is_empty() => Self::All,
            Some(selector) => Self::Named(&selector.names),
            None if by_tenant => Self::Same,
            None => Self::All,
        }
    }

    /// Whether a cluster of a tenant may be among them.
    fn has(self, tenant: &str) -> bool {
        match self {
            Self::All | Self::Same => true,
            Self::Named(names) => names.iter().any(|name| name == tenant),
            Self::Only(one) => one == tenant,
        }
    }
}

/// Clusters that rules are about: those that the selector selects, told apart by the values of some
/// labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Group<'a> {
    /// Whose.
    tenants: TenantScope<'a>,
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
    fn selects(self, info: &ClusterInfo<'_>) -> bool {
        match self {
            Self::Rule(selector) => selector.matches(info.labels),
            Self::Policy(selector) => selector.selects(info.name, info.labels),
        }
    }
}

pub(super) use super::values::Values;

impl<'a> Group<'a> {
    /// The part of the group in which a cluster is, or would be: `None` where it lacks a label.
    pub(super) fn values(&self, info: &ClusterInfo<'a>) -> Option<Values<'a>> {
        let value = |key: &String| match key.as_str() {
            TENANT => Some(info.tenant),
            key => info.labels.get(key).map(String::as_str),
        };
        let tenant = (self.tenants == TenantScope::Same).then_some(Some(info.tenant));
        self.keys.iter().map(value).chain(tenant).collect()
    }

    /// Labels that whom it selects has.
    pub(super) fn labels(&self) -> Option<&'a BTreeMap<String, String>> {
        self.selector.map(|selector| match selector {
            ClusterSelection::Rule(selector) => &selector.match_labels,
            ClusterSelection::Policy(selector) => &selector.match_labels,
        })
    }

    /// The labels by whose values its parts are told apart.
    pub(super) fn told_apart_by(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.keys.iter().map(String::as_str).filter(|key| *key != TENANT)
    }

    /// The labels by which it selects.
    pub(super) fn selected_by(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let (rule, policy) = match self.selector {
            Some(ClusterSelection::Rule(selector)) => (Some(selector), None),
            Some(ClusterSelection::Policy(selector)) => (None, Some(selector)),
            None => (None, None),
        };
        let of_rule = rule.into_iter().flat_map(LabelSelector::keys);
        of_rule.chain(policy.into_iter().flat_map(ClusterSelector::keys))
    }

    /// The clusters that it names.
    pub(super) fn names(&self) -> &'a [String] {
        match self.selector {
            Some(ClusterSelection::Policy(selector)) => &selector.names,
            _ => &[],
        }
    }

    /// Whether the group has a cluster, where that has all labels by which its parts are told apart.
    pub(super) fn has(&self, info: &ClusterInfo<'_>) -> bool {
        self.tenants.has(info.tenant) && self.selector.is_none_or(|selector| selector.selects(info))
    }

    /// Whether the group has a cluster, and in which part.
    pub(super) fn part(&self, info: &ClusterInfo<'a>) -> Option<Values<'a>> {
        self.has(info).then(|| self.values(info)).flatten()
    }
}

/// A rule of anti-affinity, whoever has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct AntiAffinityTerm<'a> {
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
    Policy(&'a Policy),
    Cluster { tenant: &'a str },
}

impl<'a> RuleOwner<'a> {
    fn group(
        self,
        selector: Option<&'a LabelSelector>,
        tenants: Option<&'a TenantSelector>,
        keys: &'a [String],
    ) -> Group<'a> {
        let selector = selector.map(ClusterSelection::Rule);
        match self {
            Self::Policy(policy) => {
                let own = ClusterSelection::Policy(&policy.spec.cluster_selector);
                let tenants = TenantScope::of(tenants, policy.by_tenant);
                Group { tenants, selector: selector.or(Some(own)), keys }
            }
            Self::Cluster { tenant } => {
                Group { tenants: TenantScope::Only(tenant), selector, keys }
            }
        }
    }
}

/// The spread constraints of a policy, each with whom it counts.
pub(super) fn spread_of(policy: &Policy) -> impl Iterator<Item = (&SpreadConstraint, Group<'_>)> {
    counted(&policy.spec.spread, RuleOwner::Policy(policy))
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
    let group = move |rule: &'a SpreadConstraint| {
        let (labels, tenants) = (rule.label_selector.as_ref(), rule.tenant_selector.as_ref());
        (rule, owner.group(labels, tenants, &rule.match_label_keys))
    };
    rules.iter().map(group)
}

/// The rules of anti-affinity of a policy.
pub(super) fn anti_affinity_of(policy: &Policy) -> impl Iterator<Item = AntiAffinityTerm<'_>> {
    anti_affinity(&policy.spec.anti_affinity, RuleOwner::Policy(policy))
}

/// The rules of anti-affinity that a cluster of this tenant adds.
pub(super) fn own_anti_affinity<'a>(
    own: &'a [AntiAffinity],
    tenant: &'a str,
) -> impl Iterator<Item = AntiAffinityTerm<'a>> {
    anti_affinity(own, RuleOwner::Cluster { tenant })
}

fn anti_affinity<'a>(
    rules: &'a [AntiAffinity],
    owner: RuleOwner<'a>,
) -> impl Iterator<Item = AntiAffinityTerm<'a>> {
    rules.iter().map(move |rule| AntiAffinityTerm {
        key: &rule.topology_key,
        refuses: rule.when_unsatisfiable.refuses(),
        group: owner.group(
            rule.label_selector.as_ref(),
            rule.tenant_selector.as_ref(),
            &rule.match_label_keys,
        ),
    })
}
