//! What the rules of a fleet ask to be counted.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Member, own_groups};
use crate::model::api::{AntiAffinity, ClusterSelector};
use crate::model::{Digest, Policy};
use crate::plan::PlanInput;
use crate::plan::finder::Finder;
use crate::plan::group::{self, AntiAffinityTerm, ClusterInfo, Group, Values};
use crate::plan::policy::Policies;

/// The groups and rules that there are. A place in them is that in their own order, so that equal rules have
/// equal places, whoever has them.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleGroups<'a> {
    groups: Vec<Group<'a>>,
    /// The places of the groups, to find those of a cluster.
    finder: Finder<'a, usize>,
    anti_affinity: Vec<AntiAffinityTerm<'a>>,
    /// The policies, the strongest first, to find that of a placed cluster; none where no policy has a
    /// rule of anti-affinity, which is all that they are asked for.
    policies: Finder<'a, (usize, &'a Policy)>,
    /// Whether any tenant has a quota.
    has_quotas: bool,
    /// Whether any cluster has rules of its own.
    has_own: bool,
    digest: Option<Digest>,
}

/// All that the counts of a lock depend on besides the lock.
#[derive(Serialize)]
struct CountingRules<'a> {
    groups: &'a [Group<'a>],
    anti_affinity: &'a [AntiAffinityTerm<'a>],
    policies: Vec<(&'a ClusterSelector, &'a [AntiAffinity])>,
}

impl<'a> RuleGroups<'a> {
    /// What the policies, the clusters and the recorded clusters ask for.
    pub(super) fn of(input: &PlanInput<'a>, policies: &Policies<'a>) -> Self {
        let (mut groups, mut anti_affinity) = (BTreeSet::new(), BTreeSet::new());
        for policy in policies.all() {
            groups.extend(group::spread_of(policy).map(|(_, group)| group));
            anti_affinity.extend(group::anti_affinity_of(policy));
        }
        let of_policies = (groups.len(), anti_affinity.len());
        for cluster in input.fleet.clusters.values() {
            let (spec, tenant) = (&cluster.spec, &cluster.tenant);
            groups.extend(group::own_spread(spec.own_spread(), tenant).map(|(_, group)| group));
            anti_affinity.extend(group::own_anti_affinity(spec.own_anti_affinity(), tenant));
        }
        let pending = input.previous.pending.clusters.values().map(|row| &row.row);
        let placed = input.previous.workers.values().flat_map(|lock| lock.clusters.values());
        for row in pending.chain(placed.map(|row| &row.row)) {
            groups.extend(own_groups(row));
            anti_affinity.extend(group::own_anti_affinity(&row.anti_affinity, &row.tenant));
        }
        // They say whose cluster they are of, so none is a policy's.
        let has_own = (groups.len(), anti_affinity.len()) != of_policies;
        groups.extend(anti_affinity.iter().map(|term| term.group));
        let mut asked = Self {
            groups: groups.into_iter().collect(),
            anti_affinity: anti_affinity.into_iter().collect(),
            has_quotas: input.fleet.spec.tenants.iter().any(|tenant| tenant.quota.is_some()),
            has_own,
            ..Self::default()
        };
        for (place, group) in asked.groups.iter().enumerate() {
            asked.finder.add(group.labels(), place);
        }
        asked.find_policies(policies);
        asked
    }

    fn find_policies(&mut self, policies: &Policies<'a>) {
        let mut rules = Vec::new();
        if policies.all().any(|policy| !policy.spec.anti_affinity.is_empty()) {
            for (place, policy) in policies.all().enumerate() {
                let selector = &policy.spec.cluster_selector;
                self.policies.add(Some(&selector.match_labels), (place, policy));
                rules.push((selector, &*policy.spec.anti_affinity));
            }
        }
        let rules = CountingRules {
            groups: &self.groups,
            anti_affinity: &self.anti_affinity,
            policies: rules,
        };
        let bytes = serde_json::to_vec(&rules).expect("maps with text keys serialise to JSON");
        self.digest = Some(Digest::of(&bytes));
    }

    /// The digest of the rules.
    pub(super) fn digest(&self) -> Option<Digest> {
        self.digest
    }

    /// Whether no rule of the fleet asks for any count.
    pub(super) fn is_nothing(&self) -> bool {
        self.groups.is_empty() && !self.has_quotas
    }

    /// Whether any cluster, desired or recorded, has rules of its own.
    pub(super) fn has_own(&self) -> bool {
        self.has_own
    }

    /// The groups, by their places.
    pub(super) fn groups(&self) -> &[Group<'a>] {
        &self.groups
    }

    /// The rules of anti-affinity, by their places.
    pub(super) fn anti_affinity(&self) -> &[AntiAffinityTerm<'a>] {
        &self.anti_affinity
    }

    /// The place of a group.
    pub(super) fn place(&self, group: &Group<'a>) -> Option<usize> {
        self.groups.binary_search(group).ok()
    }

    /// The places of the groups that a cluster is in, as far as it has their labels.
    pub(super) fn places_of_groups<'s>(
        &'s self,
        info: &'s ClusterInfo<'a>,
    ) -> impl Iterator<Item = usize> + 's {
        self.finder.may_select(info.labels).filter(|place| self.groups[*place].has(info))
    }

    /// The places of the groups that a cluster is in, and the part of each.
    pub(super) fn groups_of<'s>(
        &'s self,
        info: &'s ClusterInfo<'a>,
    ) -> impl Iterator<Item = (usize, Values<'a>)> + 's {
        let places = self.places_of_groups(info);
        places.filter_map(|place| Some((place, self.groups[place].values(info)?)))
    }

    /// The places of the rules by which a cluster keeps away from others, as far as it has their labels.
    pub(super) fn anti_affinity_with<'s>(
        &'s self,
        member: &'s Member<'a>,
    ) -> impl Iterator<Item = usize> + 's {
        let by_policy = member.policy.into_iter().flat_map(group::anti_affinity_of);
        let all = by_policy.chain(group::own_anti_affinity(member.own, member.info.tenant));
        all.filter_map(|term| self.anti_affinity.binary_search(&term).ok())
    }

    /// The places of the rules by which a cluster keeps away from others, and the part of each rule.
    pub(super) fn anti_affinity_of<'s>(
        &'s self,
        member: &'s Member<'a>,
    ) -> impl Iterator<Item = (usize, Values<'a>)> + 's {
        let places = self.anti_affinity_with(member);
        places.filter_map(|place| {
            Some((place, self.anti_affinity[place].group.values(&member.info)?))
        })
    }

    /// The policy that a placed cluster has its rules of anti-affinity from.
    pub(super) fn policy(&self, info: &ClusterInfo<'_>) -> Option<&'a Policy> {
        let selects =
            |p: &(usize, &Policy)| p.1.spec.cluster_selector.selects(info.name, info.labels);
        let applying = self.policies.may_select(info.labels).filter(selects);
        applying.min_by_key(|(place, _)| *place).map(|(_, policy)| policy)
    }
}
