//! What would have to change for a cluster to be placed, found by looking at what each worker says and
//! proven by running the filters again with the changes made.

use std::collections::BTreeSet;

use super::{Fix, Remedy};
use crate::model::api::{Expression, Quota, SupportedVersion, Taint};
use crate::model::tables::{VersionRange, managed_versions};
use crate::model::{
    Cluster, KubeVersion, Name, Offer, Policy, Quantity, Reason, Resources, Worker, WorkerHealth,
    WorkerPlan, WorkerState, topology,
};
use crate::plan::candidate::{Candidate, Pools, Request};
use crate::plan::roster::Roster;
use crate::plan::scenes::Scenes;
use crate::plan::{amounts, filter};

/// The most remedies that are shown.
const MOST: usize = 3;

/// How often a worker is asked again: a change may bring up a reason that was hidden before.
const ROUNDS: usize = 4;

/// A copy of all that the filters read of one cluster and one worker, to change and ask again.
#[derive(Clone, Debug)]
pub(super) struct Scene<'a> {
    pub(super) cluster: Cluster,
    pub(super) policy: Option<Policy>,
    /// The pools of the tenant; `None`: all.
    pub(super) pools: Option<Vec<String>>,
    pub(super) group: Option<String>,
    listed: Vec<SupportedVersion>,
    expired: BTreeSet<String>,
    networks_apart: bool,
    pub(super) worker: Worker,
    pub(super) health: Option<WorkerHealth>,
    pub(super) plan: WorkerPlan,
    pub(super) quota: Option<&'a Quota>,
    /// What the cluster meets that depends on what is placed.
    pub(super) scenes: Scenes<'a>,
}

/// The smallest sets of changes that would place a cluster: fewest changes first, then by worker.
pub(super) fn to_place(request: &Request<'_>, roster: &Roster<'_>) -> Vec<Remedy> {
    let mut remedies: Vec<Remedy> = roster
        .considered()
        .filter_map(|candidate| Scene::of(request, candidate))
        .filter_map(|scene| scene.remedy())
        .collect();
    remedies.sort_by_key(|r| (r.fixes.len(), r.worker.clone()));
    let mut shown: Vec<Remedy> = Vec::new();
    for remedy in remedies {
        // What opens another worker already needs nothing more.
        let achieved = |fix: &Fix| remedy.fixes.iter().any(|more| more.achieves(fix));
        let enough = |other: &Remedy| other.fixes.iter().all(achieved);
        if shown.len() < MOST && !shown.iter().any(enough) {
            shown.push(remedy);
        }
    }
    shown
}

/// Whether a worker takes a cluster once these changes are made.
#[cfg(test)]
pub(in crate::plan) fn places(request: &Request<'_>, roster: &Roster<'_>, fixes: &[Fix]) -> bool {
    let scenes = roster.considered().filter_map(|candidate| Scene::of(request, candidate));
    scenes.into_iter().any(|scene| {
        let of_it = |fix: &&Fix| fix.worker().is_none_or(|worker| *worker == scene.worker.name);
        scene.with(fixes.iter().filter(of_it)).reasons().is_empty()
    })
}

/// What a placed cluster's worker lacks for the growth that is held.
pub(super) fn to_grow(
    request: &Request<'_>,
    without_it: &Roster<'_>,
    worker: &Name,
    takes: &Resources,
) -> Vec<Remedy> {
    let Some(scene) = without_it.get(worker).and_then(|c| Scene::of(request, c)) else {
        return Vec::new();
    };
    let raised = |resource: &String| {
        amounts::of(takes, resource) < amounts::of(&scene.cluster.demand, resource)
    };
    let lacking = scene.reasons().into_iter().filter(|reason| match reason {
        Reason::Capacity { resource, .. }
        | Reason::Ceiling { resource, .. }
        | Reason::CapacityUnknown { resource } => raised(resource),
        _ => false,
    });
    let fixes: Vec<Fix> = lacking.filter_map(|reason| scene.fix(&reason)).collect();
    if fixes.is_empty() { Vec::new() } else { vec![Remedy { worker: worker.clone(), fixes }] }
}

impl<'a> Scene<'a> {
    /// `None` where the worker's document is not there to be changed.
    fn of(request: &Request<'a>, candidate: &Candidate<'_>) -> Option<Self> {
        let worker = candidate.worker.filter(|_| candidate.plan.state == WorkerState::Desired)?;
        Some(Self {
            cluster: request.cluster.clone(),
            policy: request.policy.cloned(),
            pools: match request.pools {
                Pools::All => None,
                Pools::Only(pools) => Some(pools.to_vec()),
            },
            group: request.group.map(str::to_owned),
            listed: request.offer.listed.to_vec(),
            expired: request.offer.expired.clone(),
            networks_apart: request.networks_apart,
            worker: worker.clone(),
            health: candidate.health.clone(),
            plan: candidate.plan.clone(),
            quota: request.quota,
            scenes: request.scenes.clone(),
        })
    }

    /// Every reason for which the worker does not take the cluster.
    fn reasons(&self) -> Vec<Reason> {
        let request = Request {
            cluster: &self.cluster,
            policy: self.policy.as_ref(),
            pools: self.pools.as_deref().map_or(Pools::All, Pools::Only),
            group: self.group.as_deref(),
            offer: self.offer(),
            networks_apart: self.networks_apart,
            quota: self.quota,
            scenes: &self.scenes,
            leaving: None,
        };
        let candidate = Candidate {
            name: &self.worker.name,
            worker: Some(&self.worker),
            health: self.health.clone(),
            plan: self.plan.clone(),
            grown: true,
            reserving: true,
        };
        let mut reasons = Vec::new();
        filter::refuse(&request, &candidate, &mut reasons);
        reasons
    }

    fn with<'f>(&self, fixes: impl IntoIterator<Item = &'f Fix>) -> Self {
        let mut changed = self.clone();
        for fix in fixes {
            fix.apply(&mut changed);
        }
        changed
    }

    /// The changes that make the worker take the cluster, none of them in vain; `None` where no change
    /// answers one of its reasons.
    fn remedy(&self) -> Option<Remedy> {
        let mut fixes: Vec<Fix> = Vec::new();
        for _ in 0..ROUNDS {
            let changed = self.with(&fixes);
            let reasons = changed.reasons();
            if reasons.is_empty() {
                let worker = self.worker.name.clone();
                return Some(Remedy { worker, fixes: self.needed(fixes) });
            }
            for reason in &reasons {
                fixes.push(changed.fix(reason)?);
            }
            fixes.sort();
            fixes.dedup();
        }
        None
    }

    /// Leaves out each change without which the worker takes the cluster all the same.
    fn needed(&self, mut fixes: Vec<Fix>) -> Vec<Fix> {
        for at in (0..fixes.len()).rev() {
            let others = fixes.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, fix)| fix);
            if self.with(others).reasons().is_empty() {
                fixes.remove(at);
            }
        }
        fixes
    }

    /// The change that answers a reason; `None` where there is none.
    fn fix(&self, reason: &Reason) -> Option<Fix> {
        let worker = self.worker.name.clone();
        Some(match reason {
            Reason::NeverReported | Reason::Silent { .. } | Reason::ProvisionTimeout => {
                Fix::AwaitReport { worker }
            }
            Reason::Unhealthy { reason } => Fix::Mend { worker, reason: reason.clone() },
            Reason::NotLoaded
            | Reason::BeingRemoved
            | Reason::FolderKept
            | Reason::Evicted
            | Reason::AntiAffinity { .. } => return None,
            Reason::Draining => Fix::StopDraining { worker },
            Reason::Cordoned => Fix::Uncordon { worker },
            Reason::Capacity { resource, needs, free } => {
                Fix::Grow { worker, resource: resource.clone(), by: needs.minus(*free) }
            }
            Reason::Ceiling { resource, needs, left } => {
                Fix::RaiseCeiling { worker, resource: resource.clone(), by: needs.minus(*left) }
            }
            Reason::CapacityUnknown { resource } => {
                Fix::Declare { worker, resource: resource.clone(), amount: self.wanted(resource) }
            }
            Reason::AffinityName => Fix::AllowWorker { worker },
            Reason::AffinityExcluded => Fix::StopExcluding { worker },
            Reason::AffinityLocation { location } => {
                Fix::AllowLocation { location: location.clone() }
            }
            Reason::AffinityLabels { key } => self.label_fix(key)?,
            Reason::AffinityProvider { provider } => {
                Fix::AllowProvider { provider: provider.clone()? }
            }
            Reason::AffinityZone { zones } if zones.is_empty() => return None,
            Reason::AffinityZone { zones } => Fix::AllowZones { zones: zones.clone() },
            Reason::AffinityGroup => Fix::AddGroup { worker },
            // Since when it is there makes no difference to what tolerates it.
            Reason::Taint(taint) => {
                Fix::Tolerate { taint: Taint { time_added: None, ..taint.clone() } }
            }
            Reason::Pool { .. } => self.pool_fix()?,
            Reason::PoolNotUsed { .. } => self.use_fix()?,
            Reason::Version { .. }
            | Reason::VersionNotOffered { .. }
            | Reason::VersionExpired { .. } => self.version_fix()?,
            Reason::Network { .. } => Fix::OwnNetworks,
            Reason::NetworkUnknown => Fix::NameNetworks { worker },
            Reason::Spread { key, count, min, .. } => {
                let to = self.skew_of(key, *count, *min);
                Fix::RaiseMaxSkew { key: key.clone(), to }
            }
            Reason::SpreadKeyMissing { key } => self.domain_fix(key)?,
            Reason::Quota { location, resource, needs, used, limit } => Fix::RaiseQuota {
                tenant: self.cluster.tenant.clone(),
                location: location.clone(),
                resource: resource.clone(),
                by: used.plus(*needs).minus(*limit),
            },
        })
    }

    /// The capacity at which what the cluster needs is free.
    fn wanted(&self, resource: &str) -> Quantity {
        amounts::of(&self.cluster.demand, resource)
            .plus(amounts::of(&self.plan.reserved, resource))
            .plus(amounts::of(&self.plan.allocated, resource))
    }

    /// The label's value, or its absence, that meets every required term; `None` where nothing does.
    fn label_fix(&self, key: &str) -> Option<Fix> {
        let of_policy = self.policy.iter().filter_map(|p| p.spec.affinity.as_ref());
        let terms: Vec<_> = of_policy
            .flat_map(|affinity| &affinity.required)
            .chain(self.cluster.spec.required_terms())
            .collect();
        let exact: Vec<_> = terms.iter().filter_map(|term| term.match_labels.get(key)).collect();
        let expressions: Vec<&Expression> = terms
            .iter()
            .flat_map(|term| &term.match_expressions)
            .filter(|expression| expression.key == key)
            .collect();
        let named = exact.iter().copied().chain(expressions.iter().flat_map(|e| &e.values));
        let values = named.cloned().map(Some).chain([None, Some("true".to_owned())]);
        let value = values.into_iter().find(|value| {
            let labels = value.iter().map(|v| (key.to_owned(), v.clone())).collect();
            exact.iter().all(|wanted| Some(*wanted) == value.as_ref())
                && expressions.iter().all(|expression| expression.matches(&labels))
        })?;
        Some(Fix::Label { worker: self.worker.name.clone(), key: key.to_owned(), value })
    }

    /// The least `maxSkew` that lets one more into a domain.
    fn skew_of(&self, key: &str, count: u64, min: u64) -> u32 {
        let after = self.scenes.spread.iter().filter(|s| s.refuses && s.key == key);
        let least = after.map(|scene| scene.skew_after(count, min)).max().unwrap_or(1);
        u32::try_from(least).unwrap_or(u32::MAX)
    }

    /// The label that brings the worker into the domain that has the fewest. What is on the worker would
    /// be counted there too, so there may be nothing.
    fn domain_fix(&self, key: &str) -> Option<Fix> {
        let mut scenes = self.scenes.spread.iter().filter(|scene| scene.key == key);
        let (scene, empty) = (scenes.next()?, self.plan.clusters == 0);
        let value = scene.fewest().filter(|_| empty && !topology::is_field(key))?;
        let worker = self.worker.name.clone();
        Some(Fix::Label { worker, key: key.to_owned(), value: Some(value.to_owned()) })
    }

    fn pool_fix(&self) -> Option<Fix> {
        if let Some(pool) = self.worker.spec.pool.clone() {
            return Some(Fix::GrantPool { tenant: self.cluster.tenant.clone(), pool });
        }
        Some(Fix::JoinPool { worker: self.worker.name.clone(), pool: self.pool_to_join()? })
    }

    fn offer(&self) -> Offer<'_> {
        Offer { listed: &self.listed, expired: &self.expired }
    }

    /// The next version that the fleet offers and the worker supports, or else the last before.
    fn version_fix(&self) -> Option<Fix> {
        let now = self.cluster.spec.version.parse::<KubeVersion>().ok()?;
        let VersionRange { min, max } = managed_versions();
        let minors = (min.minor..=max.minor).map(|minor| KubeVersion { minor, patch: 0, ..min });
        let patches = self.listed.iter().filter_map(|entry| entry.version.parse().ok());
        let mut good: Vec<KubeVersion> = minors.chain(patches).collect();
        good.retain(|version| {
            let supported = self.worker.unsupported(self.cluster.flavor(), *version).is_empty();
            supported && self.offer().refuses(*version).is_none()
        });
        good.sort_unstable();
        let next = good.iter().find(|version| **version >= now).or(good.last())?;
        Some(Fix::TakeVersion { version: *next })
    }

    /// What lets the placement use the worker's pool.
    fn use_fix(&self) -> Option<Fix> {
        Some(match self.worker.spec.pool.clone() {
            Some(pool) => Fix::UsePool { pool },
            None => Fix::JoinPool { worker: self.worker.name.clone(), pool: self.pool_to_join()? },
        })
    }

    /// The first pool that the tenant is granted, that the policy uses and the cluster itself; `None` where
    /// there is none.
    fn pool_to_join(&self) -> Option<String> {
        let of_policy = self.policy.as_ref().map(|p| &p.spec.pools);
        let own = self.cluster.spec.placement.as_ref().map(|p| &p.pools);
        let used = [of_policy, own].into_iter().flatten().filter(|pools| !pools.is_empty());
        let lists: Vec<_> = self.pools.iter().chain(used).collect();
        let first = lists.first()?;
        first.iter().find(|pool| lists.iter().all(|list| list.contains(pool))).cloned()
    }
}

#[cfg(test)]
mod tests;
