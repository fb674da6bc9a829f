//! What a cluster meets that depends on what is placed, as filters and scores read it. `pre_filter` works it out.

use std::collections::{BTreeMap, BTreeSet};

use super::depends_on::DependsOn;
use super::group::{Group, Values};
use crate::model::reason::{LocationName, ResourceName};
use crate::model::{Name, Reason};

/// What a rule reads that depends on what is placed.
pub(super) const READS: &[DependsOn] = &[
    DependsOn::Cluster,
    DependsOn::Policies,
    DependsOn::Placed,
    DependsOn::Name,
    DependsOn::Labels,
    DependsOn::Location,
    DependsOn::Flavor,
    DependsOn::Pool,
];

/// What a cluster meets.
#[derive(Clone, Debug, Default)]
pub(super) struct PreFilterState<'a> {
    /// Of each of its spread constraints.
    pub(super) spread: Vec<SpreadState<'a>>,
    /// Of each rule of anti-affinity, its own ones and those of clusters that are placed.
    pub(super) apart: Vec<AntiAffinityState<'a>>,
    /// What its tenant's quota does not leave: the same for every worker.
    pub(super) quota: Vec<Reason>,
}

/// A [`PreFilterState`] in which nobody is placed and nothing is asked for.
pub(super) static NOTHING: PreFilterState<'static> =
    PreFilterState { spread: Vec::new(), apart: Vec::new(), quota: Vec::new() };

/// How the clusters that a spread constraint counts are spread.
#[derive(Clone, Debug)]
pub(super) struct SpreadState<'a> {
    /// What makes workers one domain.
    pub(super) key: &'a str,
    /// Whether it refuses workers.
    pub(super) refuses: bool,
    /// By how many a domain may be ahead.
    pub(super) max_skew: u32,
    /// Whom it counts.
    pub(super) group: Group<'a>,
    pub(super) values: Values<'a>,
    /// 1 where the cluster itself is counted once it is placed, else 0.
    pub(super) itself: u64,
    /// By domain. Every domain of a worker that the cluster may use at all is there.
    pub(super) counts: BTreeMap<&'a str, u64>,
    /// What may be in any domain, or be one; only where it refuses workers.
    pub(super) unknown: Option<Unknown<'a>>,
}

/// Clusters on workers whose domain is not known, because their documents did not load: a broken document
/// never lets anything go where it could not go before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unknown<'a> {
    /// The first of the workers by name.
    pub(super) worker: &'a Name,
    /// How many of the clusters are there in all.
    pub(super) count: u64,
    /// How many are on the worker that has the fewest.
    pub(super) min: u64,
}

/// Where the clusters are from which a cluster is kept apart.
#[derive(Clone, Debug)]
pub(super) struct AntiAffinityState<'a> {
    /// What makes workers one domain.
    pub(super) key: &'a str,
    /// Whether it refuses workers.
    pub(super) refuses: bool,
    /// The domains that have one, and the first of them by name.
    pub(super) taken: BTreeMap<&'a str, &'a Name>,
    /// One that is on a worker whose domain is not known, because its document is not there.
    pub(super) anywhere: Option<&'a Name>,
}

impl<'a> SpreadState<'a> {
    /// How many are where the fewest are, or may be.
    pub(super) fn min(&self) -> u64 {
        let known = self.counts.values().copied().min().unwrap_or(0);
        self.unknown.map_or(known, |unknown| known.min(unknown.min))
    }

    /// How many are in a domain, or may be; `None` for one whose workers the cluster may not use anyway.
    pub(super) fn count(&self, domain: &str) -> Option<u64> {
        let unknown = self.unknown.map_or(0, |unknown| unknown.count);
        self.counts.get(domain).map(|count| count + unknown)
    }

    /// A worker of which it is not known in which domain it is.
    pub(super) fn unknown(&self) -> Option<&'a Name> {
        self.unknown.map(|unknown| unknown.worker)
    }

    /// Whether a domain would be too far ahead: count + 1 − min > maxSkew, as kube-scheduler has it
    /// (pkg/scheduler/framework/plugins/podtopologyspread/filtering.go). The domain that has the fewest
    /// is always open, however far ahead the others are.
    pub(super) fn is_full(&self, domain: &str) -> bool {
        let skew = self.count(domain).map(|count| self.skew_after(count, self.min()));
        skew.is_some_and(|skew| skew > u64::from(self.max_skew))
    }

    /// By how many a domain would be ahead of the fewest after the pick.
    pub(super) fn skew_after(&self, count: u64, min: u64) -> u64 {
        (count + self.itself).saturating_sub(min)
    }

    /// The domain that has the fewest, the first by name; `None` where there is none, or where it is full
    /// for what is not known.
    pub(super) fn fewest(&self) -> Option<&'a str> {
        self.lowest().filter(|domain| !self.is_full(domain))
    }

    /// The domain that has the fewest, the first by name, full or not.
    pub(super) fn lowest(&self) -> Option<&'a str> {
        let lowest = self.counts.iter().min_by_key(|(domain, count)| (**count, **domain));
        lowest.map(|(domain, _)| *domain)
    }
}

impl<'a> PreFilterState<'a> {
    /// What of this a refusal stands on.
    pub(super) fn grounds(&self) -> RefusalGrounds<'a> {
        let full = |scene: &SpreadState<'a>| {
            scene.counts.keys().copied().filter(|domain| scene.is_full(domain)).collect()
        };
        let taken = |scene: &AntiAffinityState<'a>| {
            (scene.key, scene.taken.keys().copied().collect(), scene.anywhere.is_some())
        };
        let quota = self.quota.iter().filter_map(|reason| match reason {
            Reason::Quota { location, resource, .. } => Some((location.clone(), resource.clone())),
            _ => None,
        });
        RefusalGrounds {
            full: self.spread.iter().filter(|s| s.refuses).map(full).collect(),
            taken: self.apart.iter().filter(|s| s.refuses).map(taken).collect(),
            quota: quota.collect(),
        }
    }
}

/// What of the placed clusters a refusal stands on. While it is the same, and what is free only shrinks,
/// a cluster that was refused is refused, for the same reasons and perhaps for lack of capacity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RefusalGrounds<'a> {
    /// The domains that are full, for each constraint that refuses.
    full: Vec<BTreeSet<&'a str>>,
    /// The domains from which it is kept, for each rule of anti-affinity that refuses.
    taken: Vec<(&'a str, BTreeSet<&'a str>, bool)>,
    /// What the quota does not leave: the location and the resource.
    quota: Vec<(Option<LocationName>, ResourceName)>,
}
