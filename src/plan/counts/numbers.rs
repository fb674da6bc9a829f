//! The parts of groups by number: which ones clusters come to that are alike, and which ones their rules read, is looked up once.

use std::collections::BTreeSet;

use super::{Counts, GroupPart, Member, Membership, PartCounts, Parts};
use crate::model::Cluster;
use crate::plan::candidate::Request;
use crate::plan::group::{ClusterInfo, Group, Values};
use crate::plan::taking::Taking;

/// The number of a part, of groups or of those from whom a rule keeps away; `None` where a cluster lacks a label that tells it, and
/// of a rule that others have, where none of them has a place.
pub(in crate::plan) type PartNumber = Option<usize>;

/// Who has a rule of anti-affinity, with the place of its group or its own among those that are counted.
#[derive(Clone, Copy, Debug)]
pub(in crate::plan) enum RuleOwnerPlace {
    /// The clusters themselves: the place of the group.
    Own(usize),
    /// Clusters that are placed: the place of the rule.
    Placed(usize),
}

/// The parts of a cluster by number.
#[derive(Clone, Copy, Debug)]
pub(in crate::plan) struct NumberedParts<'p> {
    /// Those of groups to which it comes.
    groups: &'p [PartNumber],
    /// Those from which it keeps away, wherever it comes.
    keepers: &'p [PartNumber],
    /// Those of groups that its spread constraints count.
    pub(in crate::plan) spread: &'p [PartNumber],
    /// Those that the rules of anti-affinity read which are about it: of groups, and from which others keep away.
    pub(in crate::plan) apart: &'p [PartNumber],
    /// Who has these rules.
    owners: &'p [RuleOwnerPlace],
    /// The number of its tenant among those that have a quota.
    tenant: Option<usize>,
}

impl<'a> Membership<'a> {
    /// The values of the labels by which the rules that are about a cluster tell parts of groups apart.
    pub(in crate::plan) fn values(&self, cluster: &'a Cluster) -> Vec<Option<&'a str>> {
        self.keys.iter().map(|key| cluster.labels.get(*key).map(String::as_str)).collect()
    }

    /// The parts to which a cluster comes, as [`Counts::number_members`] numbers them.
    pub(in crate::plan) fn members<'p>(&self, numbers: &'p [PartNumber]) -> NumberedParts<'p> {
        let (groups, keepers) = numbers.split_at(self.groups.len());
        NumberedParts { groups, keepers, spread: &[], apart: &[], owners: &[], tenant: self.tenant }
    }

    /// The parts of a cluster, as [`Counts::number_parts`] numbers them.
    pub(in crate::plan) fn numbered<'p>(&'p self, numbers: &'p [PartNumber]) -> NumberedParts<'p> {
        let (groups, numbers) = numbers.split_at(self.groups.len());
        let (keepers, numbers) = numbers.split_at(self.rules.len());
        let (spread, apart) = numbers.split_at(self.spread.len());
        let apart = &apart[..self.apart.len()];
        NumberedParts { groups, keepers, spread, apart, owners: &self.apart, tenant: self.tenant }
    }

    /// The number of a cluster's part of a group, where it comes to that part.
    fn of_group(&self, group: usize, numbers: &[PartNumber]) -> Option<PartNumber> {
        let at = self.groups.iter().position(|other| *other == group)?;
        Some(numbers[at])
    }

    /// The same of those from whom a rule keeps it away.
    fn of_rule(&self, rule: usize, numbers: &[PartNumber]) -> Option<PartNumber> {
        let at = self.rules.iter().position(|other| *other == rule)?;
        Some(numbers[self.groups.len() + at])
    }

    /// How many parts are numbered of each cluster.
    pub(in crate::plan) fn parts(&self) -> usize {
        self.groups.len() + self.rules.len() + self.spread.len() + self.apart.len()
    }
}

impl<'a> Counts<'a> {
    /// The groups in which a cluster is, its rules of anti-affinity, and what all rules read that are about it.
    pub(in crate::plan) fn membership(&self, request: &Request<'a>) -> Membership<'a> {
        let info = request.info();
        let own = request.cluster.spec.own_anti_affinity();
        let member = Member { info, policy: request.policy, own };
        let (spread, apart) = (request.spread().map(|(_, group)| group), request.anti_affinity());
        let spread: Vec<Group<'a>> = spread.collect();
        let apart: Vec<Group<'a>> = apart.map(|term| term.group).collect();
        let of_others = self.anti_affinity_with(&info).map(|(_, term)| term.group);
        let read = spread.iter().copied().chain(apart.iter().copied()).chain(of_others);
        let keys: BTreeSet<&str> = read.flat_map(|group| group.told_apart_by()).collect();
        let rules: BTreeSet<usize> = self.asked.anti_affinity_with(&member).collect();
        let own = apart.iter().filter_map(|group| self.place(group)).map(RuleOwnerPlace::Own);
        let of_others =
            self.anti_affinity_with(&info).map(|(rule, _)| RuleOwnerPlace::Placed(rule));
        Membership {
            groups: self.asked.places_of_groups(&info).collect(),
            rules: rules.into_iter().collect(),
            keys: keys.into_iter().collect(),
            spread: spread.iter().filter_map(|group| self.place(group)).collect(),
            apart: own.chain(of_others).collect(),
            tenant: self.tenants.get_index_of(info.tenant),
        }
    }

    /// Adds the numbers of the parts to which a cluster comes.
    pub(in crate::plan) fn number_members(
        &mut self,
        membership: &Membership<'a>,
        info: &ClusterInfo<'a>,
        numbers: &mut Vec<PartNumber>,
    ) {
        for group in &membership.groups {
            numbers.push(self.number_of_group(*group, info));
        }
        for rule in &membership.rules {
            numbers.push(self.number_of_keepers(*rule, info));
        }
    }

    /// Adds the numbers of a cluster's parts, those that rules read which are about it included. Nobody need be in one.
    pub(in crate::plan) fn number_parts(
        &mut self,
        membership: &Membership<'a>,
        info: &ClusterInfo<'a>,
        numbers: &mut Vec<PartNumber>,
    ) {
        numbers.reserve(membership.parts());
        let begin = numbers.len();
        self.number_members(membership, info, numbers);
        for group in &membership.spread {
            let known = membership.of_group(*group, &numbers[begin..]);
            numbers.push(known.unwrap_or_else(|| self.number_of_group(*group, info)));
        }
        for owner in &membership.apart {
            let known = &numbers[begin..];
            let number = match *owner {
                RuleOwnerPlace::Own(group) => {
                    let known = membership.of_group(group, known);
                    known.unwrap_or_else(|| self.number_of_group(group, info))
                }
                // There may be as many as there are other clusters, and mostly nobody is in one.
                RuleOwnerPlace::Placed(rule) => {
                    let known = membership.of_rule(rule, known);
                    known.unwrap_or_else(|| self.keepers_about(rule, info))
                }
            };
            numbers.push(number);
        }
    }

    /// Looks again for parts of those that keep away from a cluster which were not there when its own were numbered.
    pub(in crate::plan) fn find_keepers(
        &self,
        membership: &Membership<'a>,
        info: &ClusterInfo<'a>,
        numbers: &mut [PartNumber],
    ) {
        let begin = membership.parts() - membership.apart.len();
        for (owner, number) in membership.apart.iter().zip(&mut numbers[begin..]) {
            if let (RuleOwnerPlace::Placed(rule), None) = (owner, &number) {
                *number = self.keepers_about(*rule, info);
            }
        }
    }

    /// So many clusters are likely to be numbered, each in parts of its own where labels tell these apart: of room that is not needed
    /// hardly any is touched.
    pub(in crate::plan) fn expect(&mut self, clusters: usize) {
        let by_labels = |group: &Group<'a>| group.told_apart_by().next().is_some();
        if self.asked.groups().iter().any(by_labels) {
            self.groups.reserve(clusters);
        }
        if self.asked.anti_affinity().iter().any(|term| by_labels(&term.group)) {
            self.keepers.reserve(clusters);
        }
    }

    /// That no part of those that keep away is numbered any more until clusters come that are not signed.
    pub(in crate::plan) fn note_numbered_keepers(&mut self) {
        self.numbered_keepers = self.keepers.len();
    }

    /// The part of those from whom a rule that others have keeps a cluster away.
    fn keepers_about(&self, rule: usize, info: &ClusterInfo<'a>) -> PartNumber {
        let values = self.asked.anti_affinity()[rule].group.values(info)?;
        self.keepers.get_index_of(&(rule, values))
    }

    fn number_of_group(&mut self, group: usize, info: &ClusterInfo<'a>) -> PartNumber {
        let values = self.asked.groups()[group].values(info)?;
        Some(number(&mut self.groups, (group, values)))
    }

    fn number_of_keepers(&mut self, rule: usize, info: &ClusterInfo<'a>) -> PartNumber {
        let values = self.asked.anti_affinity()[rule].group.values(info)?;
        Some(number(&mut self.keepers, (rule, values)))
    }

    /// The number of a part of a group, where somebody is or was in it, or it was numbered.
    pub(in crate::plan) fn part_number(&self, group: usize, values: Values<'a>) -> PartNumber {
        self.groups.get_index_of(&(group, values))
    }

    /// A part of a group, and its values.
    pub(in crate::plan) fn numbered_part(&self, number: usize) -> (&Values<'a>, &PartCounts<'a>) {
        let (part, counts) = self.groups.get_index(number).expect("parts are not taken away");
        (&part.1, counts)
    }

    /// The clusters that a rule of anti-affinity reads about a cluster, by the number of the part, where there are any.
    pub(in crate::plan) fn of_rule(
        &self,
        owner: RuleOwnerPlace,
        number: PartNumber,
        cluster: &'a Cluster,
    ) -> Option<&PartCounts<'a>> {
        let part = match (owner, number) {
            (RuleOwnerPlace::Own(_), number) => &self.groups[number?],
            (RuleOwnerPlace::Placed(_), Some(number)) => &self.keepers[number],
            // Nobody kept away from it when it was numbered, and no part was since.
            (RuleOwnerPlace::Placed(_), None) if self.keepers.len() == self.numbered_keepers => {
                return None;
            }
            (RuleOwnerPlace::Placed(rule), None) => {
                &self.keepers[self.keepers_about(rule, &ClusterInfo::of(cluster))?]
            }
        };
        (!part.is_empty()).then_some(part)
    }

    /// The clusters that rules of anti-affinity read about a cluster, by the numbers of the parts.
    fn kept_apart<'p>(
        &'p self,
        parts: NumberedParts<'p>,
        cluster: &'a Cluster,
    ) -> impl Iterator<Item = &'p PartCounts<'a>> {
        let apart = parts.owners.iter().zip(parts.apart);
        apart.filter_map(move |(owner, number)| self.of_rule(*owner, *number, cluster))
    }

    /// Whether a cluster has nothing to do with any that are placed, but for what its tenant is granted: no spread constraint counts
    /// them, and no rule of anti-affinity is about them.
    pub(in crate::plan) fn meets_nobody(
        &self,
        parts: NumberedParts<'_>,
        cluster: &'a Cluster,
    ) -> bool {
        parts.spread.is_empty() && self.kept_apart(parts, cluster).next().is_none()
    }

    /// At which binding anything changed last that a cluster with these parts depends on, as [`Counts::changed_for`] has it.
    pub(in crate::plan) fn changed_for_parts(
        &self,
        parts: NumberedParts<'_>,
        cluster: &'a Cluster,
    ) -> u64 {
        let of_spread = parts.spread.iter().flatten().map(|number| self.groups[*number].changed);
        let of_apart = self.kept_apart(parts, cluster).map(|part| part.changed);
        let of_tenant = parts.tenant.map_or(0, |number| self.tenants[number].changed);
        of_spread.chain(of_apart).max().unwrap_or(0).max(of_tenant)
    }

    /// A cluster of such groups comes to the worker at a place, and takes that of what its tenant is granted.
    pub(in crate::plan) fn bind(
        &mut self,
        info: ClusterInfo<'a>,
        parts: NumberedParts<'_>,
        place: usize,
        taking: Taking<'_>,
    ) {
        let is_new = taking.elsewhere.is_none();
        self.now += 1;
        self.last = Some(place);
        self.last_parts.clear();
        for number in parts.groups.iter().flatten() {
            self.last_parts.push(*number);
            self.groups[*number].arrive(place, (info.name, is_new), self.now);
        }
        for number in parts.keepers.iter().flatten() {
            self.keepers[*number].arrive(place, (info.name, is_new), self.now);
        }
        self.grant(parts.tenant, info.location, &taking.of_quota());
    }
}

fn number<'a>(parts: &mut Parts<'a>, of: GroupPart<'a>) -> usize {
    let part = parts.entry(of);
    let number = part.index();
    part.or_default();
    number
}
