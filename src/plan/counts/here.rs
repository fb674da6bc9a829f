//! The clusters of one worker, counted as the rules ask: from the rows of its lock, or from what an earlier
//! run counted of the same lock.

use std::collections::BTreeMap;

use super::Member;
use super::asked::RuleGroups;
use crate::model::{
    CountedLock, CountedPart, CountedShare, Name, Resources, StandingPart, StandingWorker,
    WorkerLock,
};
use crate::plan::amounts;
use crate::plan::group::{ClusterInfo, Values};

/// By the place of the group or rule and the part of it: the clusters, in the order of their names.
pub(super) type PartsHere<'a> = BTreeMap<(usize, Values<'a>), Vec<&'a Name>>;

/// The counts of one worker.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Here<'a> {
    /// Who is in which group.
    pub(super) groups: PartsHere<'a>,
    /// Who keeps away from which group.
    pub(super) keepers: PartsHere<'a>,
    /// What the clusters of a tenant take in a location.
    pub(super) tenants: BTreeMap<(&'a str, &'a str), Resources>,
}

impl<'a> Here<'a> {
    /// Counts a cluster. Those of one worker are counted in the order of their names.
    pub(super) fn come(&mut self, asked: &RuleGroups<'a>, member: &Member<'a>) {
        let name = member.info.name;
        for part in asked.groups_of(&member.info) {
            self.groups.entry(part).or_default().push(name);
        }
        for part in asked.anti_affinity_of(member) {
            let names = self.keepers.entry(part).or_default();
            // Two rules of one cluster can come to the same.
            if names.last() != Some(&name) {
                names.push(name);
            }
        }
    }

    /// Counts what a cluster takes of what its tenant is granted.
    pub(super) fn take(&mut self, info: &ClusterInfo<'a>, demand: &Resources) {
        amounts::add(self.tenants.entry((info.tenant, info.location)).or_default(), demand);
    }

    /// The counts of a lock as they were remembered; `None` where they are not of that lock.
    pub(super) fn recall(counted: &'a CountedLock, lock: &'a WorkerLock) -> Option<Self> {
        let names: Vec<&Name> = lock.clusters.keys().collect();
        let parts = |parts: &'a [CountedPart]| -> Option<PartsHere<'a>> {
            let part = |part: &'a CountedPart| {
                let values = part.values.iter().map(String::as_str).collect();
                let rows = part.rows.iter().map(|row| names.get(*row).copied());
                Some(((part.rule, values), rows.collect::<Option<_>>()?))
            };
            parts.iter().map(part).collect()
        };
        Some(Self {
            groups: parts(&counted.groups)?,
            keepers: parts(&counted.keepers)?,
            tenants: counted.tenants.iter().map(share).collect(),
        })
    }

    /// The counts of what stands on a worker.
    pub(super) fn standing(worker: &'a StandingWorker) -> Self {
        let parts = |parts: &'a [StandingPart]| -> PartsHere<'a> {
            let part = |part: &'a StandingPart| {
                let values = part.values.iter().map(String::as_str).collect();
                ((part.rule, values), part.clusters.iter().collect())
            };
            parts.iter().map(part).collect()
        };
        Self {
            groups: parts(&worker.groups),
            keepers: parts(&worker.keepers),
            tenants: worker.tenants.iter().map(share).collect(),
        }
    }

    /// The counts in the form in which they are remembered.
    pub(super) fn remember(&self, lock: &WorkerLock) -> CountedLock {
        let places: BTreeMap<&Name, usize> = lock.clusters.keys().zip(0..).collect();
        let parts = |parts: &PartsHere<'_>| {
            let part = |((rule, values), names): (&(usize, Values<'_>), &Vec<&Name>)| CountedPart {
                rule: *rule,
                values: values.iter().map(|value| (*value).to_owned()).collect(),
                rows: names.iter().filter_map(|name| places.get(*name).copied()).collect(),
            };
            parts.iter().map(part).collect()
        };
        let share = |((tenant, location), takes): (&(&str, &str), &Resources)| CountedShare {
            tenant: (*tenant).to_owned(),
            location: (*location).to_owned(),
            takes: takes.clone(),
        };
        CountedLock {
            groups: parts(&self.groups),
            keepers: parts(&self.keepers),
            tenants: self.tenants.iter().map(share).collect(),
        }
    }
}

/// What the clusters of one tenant take in one location.
fn share(share: &CountedShare) -> ((&str, &str), Resources) {
    ((share.tenant.as_str(), share.location.as_str()), share.takes.clone())
}
