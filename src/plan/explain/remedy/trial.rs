//! One worker and one cluster: why it refuses, and which changes answer that.

use std::collections::BTreeSet;

use super::super::documents::EditedDocuments;
use crate::model::api::{Expression, SupportedVersion, Taint};
use crate::model::reason::ZoneName;
use crate::model::tables::{VersionRange, managed_versions};
use crate::model::{
    Fleet, KubeVersion, Name, Offer, Quantity, Reason, Worker, WorkerHealth, WorkerPlan,
    WorkerState, topology,
};
use crate::plan::candidate::{Candidate, Pools, Request};
use crate::plan::explain::Fix;
use crate::plan::pre_filter_state::PreFilterState;
use crate::plan::{amounts, filter, worker_states};

/// How often a worker is asked again: a change may bring up a reason that was hidden before.
const ROUNDS: usize = 4;

/// A copy of all that the filters read of one cluster and one worker, to change and ask again. What else is
/// placed stays as it is: that a change lets others in is not seen here.
#[derive(Clone, Debug)]
pub(super) struct RemedyTrial<'a> {
    documents: EditedDocuments,
    fleet: &'a Fleet,
    group: Option<String>,
    listed: Vec<SupportedVersion>,
    expired: BTreeSet<String>,
    networks_apart: bool,
    is_name_taken: bool,
    foreign: Option<&'a BTreeSet<Name>>,
    health: Option<WorkerHealth>,
    plan: WorkerPlan,
    /// What the cluster meets that depends on what is placed.
    pre_filter: PreFilterState<'a>,
}

impl<'a> RemedyTrial<'a> {
    /// `None` where the worker's document is not there to be changed.
    pub(super) fn of(
        request: &Request<'a>,
        candidate: &Candidate<'a>,
        fleet: &'a Fleet,
    ) -> Option<Self> {
        let worker = candidate.worker.filter(|_| candidate.plan.state == WorkerState::Desired)?;
        Some(Self {
            documents: EditedDocuments::of(fleet, request.cluster, request.policy, worker),
            fleet,
            group: request.group.map(str::to_owned),
            listed: request.offer.listed.to_vec(),
            expired: request.offer.expired.clone(),
            networks_apart: request.networks_apart,
            is_name_taken: request.is_name_taken,
            foreign: candidate.foreign,
            health: candidate.health.clone(),
            plan: candidate.plan.clone(),
            pre_filter: request.pre_filter.clone(),
        })
    }

    /// Every reason for which the worker does not take the cluster.
    pub(super) fn reasons(&self) -> Vec<Reason> {
        let EditedDocuments { cluster, policy, tenant, worker, .. } = &self.documents;
        let granted = tenant.as_ref().map(|t| t.pools.as_deref().map_or(Pools::All, Pools::Only));
        let request = Request {
            cluster,
            policy: policy.as_ref(),
            pools: granted.unwrap_or_else(|| Pools::of(self.fleet, &cluster.tenant)),
            group: self.group.as_deref(),
            offer: self.offer(),
            networks_apart: self.networks_apart,
            is_name_taken: self.is_name_taken,
            quota: tenant.as_ref().and_then(|tenant| tenant.quota.as_ref()),
            pre_filter: &self.pre_filter,
            leaving: None,
        };
        let candidate = Candidate {
            name: &worker.name,
            worker: Some(worker),
            health: self.health.clone(),
            foreign: self.foreign,
            plan: self.plan.clone(),
            uses_ceiling: true,
            assumed: Vec::new(),
            reserving: true,
        };
        let mut reasons = Vec::new();
        filter::refuse(&request, &candidate, &mut reasons);
        reasons
    }

    pub(super) fn with<'f>(&self, fixes: impl IntoIterator<Item = &'f Fix>) -> Self {
        let mut changed = self.clone();
        for fix in fixes {
            fix.edit(&mut changed.documents);
            change(&mut changed.pre_filter, fix);
        }
        let EditedDocuments { worker, well, .. } = &changed.documents;
        changed.plan.capacity.clone_from(&worker.spec.capacity);
        changed.plan.ceiling = worker_states::ceiling(&worker.spec);
        if *well {
            (changed.health, changed.plan.pending) = (Some(WorkerHealth::Healthy), None);
        }
        changed
    }

    /// The changes that make the worker take the cluster, none of them in vain; `None` where no change
    /// answers one of its reasons.
    pub(super) fn changes(&self) -> Option<Vec<Fix>> {
        let mut fixes: Vec<Fix> = Vec::new();
        for _ in 0..ROUNDS {
            let changed = self.with(&fixes);
            let reasons = changed.reasons();
            if reasons.is_empty() {
                return Some(self.needed(fixes));
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
    pub(super) fn fix(&self, reason: &Reason) -> Option<Fix> {
        let worker = self.documents.worker.name.clone();
        Some(match reason {
            Reason::NeverReported | Reason::Silent { .. } | Reason::ProvisionTimeout => {
                Fix::AwaitReport { worker }
            }
            Reason::Unhealthy { reason } => Fix::Mend { worker, reason: reason.to_string() },
            // Which name is free is not known, nor how large a store should be.
            Reason::NamespaceTaken
            | Reason::NoDataStore { .. }
            | Reason::NotLoaded
            | Reason::BeingRemoved
            | Reason::FolderKept
            | Reason::Evicted
            | Reason::AntiAffinity { .. } => return None,
            Reason::Draining => Fix::StopDraining { worker },
            Reason::Cordoned => Fix::Uncordon { worker },
            Reason::Capacity { resource, needs, free } => {
                self.room_fix(resource, needs.minus(*free))
            }
            Reason::Ceiling { resource, needs, left } => {
                Fix::RaiseCeiling { worker, resource: resource.to_string(), by: needs.minus(*left) }
            }
            Reason::CapacityUnknown { resource } => Fix::Declare {
                worker,
                resource: resource.to_string(),
                amount: self.wanted(resource),
            },
            Reason::AffinityName => Fix::AllowWorker { worker },
            Reason::AffinityExcluded => Fix::StopExcluding { worker },
            Reason::AffinityLocation { location, .. } => {
                Fix::AllowLocation { location: location.to_string() }
            }
            Reason::AffinityLabels { key } => self.label_fix(key)?,
            Reason::AffinityProvider { provider, .. } => {
                Fix::AllowProvider { provider: provider.as_ref()?.to_string() }
            }
            Reason::AffinityZone { zones, .. } => allow_zones(zones)?,
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
            Reason::Spread { key, count, min, .. } => self.skew_fix(key, *count, *min),
            Reason::SpreadKeyMissing { key } => self.domain_fix(key)?,
            Reason::Quota { location, resource, needs, used, limit } => Fix::RaiseQuota {
                tenant: self.documents.cluster.tenant.clone(),
                location: location.as_ref().map(ToString::to_string),
                resource: resource.to_string(),
                by: used.plus(*needs).minus(*limit),
            },
        })
    }

    /// More capacity. A ceiling that is the capacity is told from none by the document alone, and no capacity
    /// goes beyond it.
    fn room_fix(&self, resource: &str, by: Quantity) -> Fix {
        let Worker { name, spec, .. } = &self.documents.worker;
        let (worker, resource) = (name.clone(), resource.to_owned());
        if spec.ceiling.contains_key(&resource) {
            return Fix::RaiseCeiling { worker, resource, by };
        }
        Fix::Grow { worker, resource, by }
    }

    /// The capacity at which what the cluster needs is free.
    fn wanted(&self, resource: &str) -> Quantity {
        amounts::of(&self.documents.cluster.demand, resource)
            .plus(amounts::of(&self.plan.reserved, resource))
            .plus(amounts::of(&self.plan.allocated, resource))
    }

    /// A worker that a pool made has no document of its own whose labels could be others.
    fn relabel(&self, key: &str, value: Option<String>) -> Option<Fix> {
        let Worker { name, made_by, .. } = &self.documents.worker;
        let worker = made_by.is_none().then(|| name.clone())?;
        Some(Fix::Label { worker, key: key.to_owned(), value })
    }

    /// The label's value, or its absence, that meets every required term; `None` where nothing does.
    fn label_fix(&self, key: &str) -> Option<Fix> {
        let of_policy = self.documents.policy.iter().filter_map(|p| p.spec.affinity.as_ref());
        let terms: Vec<_> = of_policy
            .flat_map(|affinity| &affinity.required)
            .chain(self.documents.cluster.spec.required_terms())
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
        self.relabel(key, value)
    }

    /// The least `maxSkew` that lets one more into a domain.
    fn skew_fix(&self, key: &str, count: u64, min: u64) -> Fix {
        let after = self.pre_filter.spread.iter().filter(|s| s.refuses && s.key == key);
        let least = after.map(|scene| scene.skew_after(count, min)).max().unwrap_or(1);
        Fix::RaiseMaxSkew { key: key.to_owned(), to: u32::try_from(least).unwrap_or(u32::MAX) }
    }

    /// The label that brings the worker into the domain that has the fewest. What is on the worker would
    /// be counted there too, so there may be nothing.
    fn domain_fix(&self, key: &str) -> Option<Fix> {
        let mut pre_filter = self.pre_filter.spread.iter().filter(|scene| scene.key == key);
        let (scene, empty) = (pre_filter.next()?, self.plan.clusters == 0);
        let value = scene.fewest().filter(|_| empty && !topology::is_field(key))?;
        self.relabel(key, Some(value.to_owned()))
    }

    fn pool_fix(&self) -> Option<Fix> {
        if let Some(pool) = self.documents.worker.spec.pool.clone() {
            return Some(Fix::GrantPool { tenant: self.documents.cluster.tenant.clone(), pool });
        }
        Some(Fix::JoinPool {
            worker: self.documents.worker.name.clone(),
            pool: self.pool_to_join()?,
        })
    }

    fn offer(&self) -> Offer<'_> {
        Offer { listed: &self.listed, expired: &self.expired }
    }

    /// The next version that the fleet offers and the worker supports, or else the last before.
    fn version_fix(&self) -> Option<Fix> {
        let now = self.documents.cluster.spec.version.parse::<KubeVersion>().ok()?;
        let VersionRange { min, max } = managed_versions();
        let minors = (min.minor..=max.minor).map(|minor| KubeVersion { minor, patch: 0, ..min });
        let patches = self.listed.iter().filter_map(|entry| entry.version.parse().ok());
        let mut good: Vec<KubeVersion> = minors.chain(patches).collect();
        good.retain(|version| {
            let supported = self
                .documents
                .worker
                .unsupported(self.documents.cluster.flavor(), *version)
                .is_empty();
            let manifest = self.documents.cluster.manifest();
            let made = manifest.is_none_or(|flavor| flavor.makes_only(*version).is_none());
            supported && made && self.offer().refuses(*version).is_none()
        });
        good.sort_unstable();
        let next = good.iter().find(|version| **version >= now).or(good.last())?;
        Some(Fix::TakeVersion { version: *next })
    }

    /// What lets the placement use the worker's pool.
    fn use_fix(&self) -> Option<Fix> {
        Some(match self.documents.worker.spec.pool.clone() {
            Some(pool) => Fix::UsePool { pool },
            None => Fix::JoinPool {
                worker: self.documents.worker.name.clone(),
                pool: self.pool_to_join()?,
            },
        })
    }

    /// The first pool that the tenant is granted, that the policy uses and the cluster itself; `None` where
    /// there is none.
    fn pool_to_join(&self) -> Option<String> {
        let of_policy = self.documents.policy.as_ref().map(|p| &p.spec.pools);
        let own = self.documents.cluster.spec.placement.as_ref().map(|p| &p.pools);
        let used = [of_policy, own].into_iter().flatten().filter(|pools| !pools.is_empty());
        let granted = self.documents.tenant.as_ref().and_then(|tenant| tenant.pools.as_ref());
        let lists: Vec<_> = granted.into_iter().chain(used).collect();
        let first = lists.first()?;
        first.iter().find(|pool| lists.iter().all(|list| list.contains(pool))).cloned()
    }
}

/// The zones of a worker, allowed; `None` where it has none.
fn allow_zones(zones: &[ZoneName]) -> Option<Fix> {
    let zones: Vec<String> = zones.iter().map(ToString::to_string).collect();
    (!zones.is_empty()).then_some(Fix::AllowZones { zones })
}

/// What a change means for what was worked out before it.
fn change(pre_filter: &mut PreFilterState<'_>, fix: &Fix) {
    match fix {
        Fix::RaiseMaxSkew { key, to } => {
            let over = pre_filter.spread.iter_mut().filter(|scene| scene.key == key);
            over.for_each(|scene| scene.max_skew = scene.max_skew.max(*to));
        }
        Fix::RaiseQuota { location: at, resource: of, .. } => pre_filter.quota.retain(|reason| {
            !matches!(reason, Reason::Quota { location, resource, .. }
                if location.as_deref() == at.as_deref() && **resource == **of)
        }),
        _ => {}
    }
}
