//! Changes that would make a worker take a cluster, and what is so after each.

use std::fmt;

use super::allow;
use super::documents::EditedDocuments;
use crate::model::api::{
    Network, SpreadConstraint, Taint, Toleration, TolerationOperator, WorkerField,
};
use crate::model::{KubeVersion, Name, Quantity, Resources, amount, topology};

/// Whose documents a change is about, each with those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FixReach {
    /// The worker's, and there nothing that says who is on it and for how long.
    Worker,
    /// The cluster's and its policy's.
    Cluster,
    /// Any others', or no document at all.
    Others,
}

/// One change that a person could make, or wait for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fix {
    /// Lift the cordon of a worker.
    Uncordon {
        /// The worker.
        worker: Name,
    },
    /// Drain a worker no longer.
    StopDraining {
        /// The worker.
        worker: Name,
    },
    /// Give a worker more of a resource.
    Grow {
        /// The worker.
        worker: Name,
        /// The resource.
        resource: String,
        /// How much more, at least.
        by: Quantity,
    },
    /// Let a worker grow further.
    RaiseCeiling {
        /// The worker.
        worker: Name,
        /// The resource.
        resource: String,
        /// By how much, at least.
        by: Quantity,
    },
    /// Say how much a worker has of a resource.
    Declare {
        /// The worker.
        worker: Name,
        /// The resource.
        resource: String,
        /// How much it must have, at least.
        amount: Quantity,
    },
    /// Allow a location in the affinity.
    AllowLocation {
        /// The location.
        location: String,
    },
    /// Allow a provider in the affinity.
    AllowProvider {
        /// The provider.
        provider: String,
    },
    /// Allow zones in the affinity.
    AllowZones {
        /// The zones of a worker.
        zones: Vec<String>,
    },
    /// Add a last group to the policy's affinity.
    AddGroup {
        /// The worker that is in it.
        worker: Name,
    },
    /// Let the policy, and the cluster itself, use a pool.
    UsePool {
        /// The pool.
        pool: String,
    },
    /// Give the cluster another version.
    TakeVersion {
        /// The version.
        version: KubeVersion,
    },
    /// Give the cluster addresses that the worker has not.
    OwnNetworks,
    /// Say which addresses a worker has, if they are others than the cluster's.
    NameNetworks {
        /// The worker.
        worker: Name,
    },
    /// Allow a worker in the affinity.
    AllowWorker {
        /// The worker.
        worker: Name,
    },
    /// Exclude a worker from the affinity no longer.
    StopExcluding {
        /// The worker.
        worker: Name,
    },
    /// Give a worker a label that the affinity asks for.
    Label {
        /// The worker.
        worker: Name,
        /// The label's key.
        key: String,
        /// Its value; `None`: remove the label.
        value: Option<String>,
    },
    /// Tolerate a taint.
    Tolerate {
        /// The taint.
        taint: Taint,
    },
    /// Grant the tenant a pool.
    GrantPool {
        /// The tenant.
        tenant: String,
        /// The pool.
        pool: String,
    },
    /// Put a worker into a pool that the tenant is granted.
    JoinPool {
        /// The worker.
        worker: Name,
        /// The pool.
        pool: String,
    },
    /// Let a domain be further ahead of the one that has the fewest.
    RaiseMaxSkew {
        /// What makes workers one domain.
        key: String,
        /// The least `maxSkew` that does.
        to: u32,
    },
    /// Raise a tenant's quota.
    RaiseQuota {
        /// The tenant.
        tenant: String,
        /// The location that the quota is for; `None`: all.
        location: Option<String>,
        /// The resource.
        resource: String,
        /// By how much, at least.
        by: Quantity,
    },
    /// Wait for a worker's report.
    AwaitReport {
        /// The worker.
        worker: Name,
    },
    /// Mend a worker that says that it is not healthy.
    Mend {
        /// The worker.
        worker: Name,
        /// Its own word for what is wrong.
        reason: String,
    },
}

impl fmt::Display for Fix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uncordon { worker } => write!(f, "uncordon {worker}"),
            Self::StopDraining { worker } => write!(f, "stop draining {worker}"),
            Self::Grow { worker, resource, by } => {
                write!(f, "+{} on {worker}", amount(*by, resource))
            }
            Self::RaiseCeiling { worker, resource, by } => {
                write!(f, "raise the ceiling of {worker} by {}", amount(*by, resource))
            }
            Self::Declare { worker, resource, amount: least } => {
                write!(f, "declare at least {} on {worker}", amount(*least, resource))
            }
            Self::AllowLocation { location } => write!(f, "allow location {location}"),
            Self::AllowProvider { provider } => write!(f, "allow provider {provider}"),
            Self::AllowZones { zones } => match zones.as_slice() {
                [zone] => write!(f, "allow zone {zone}"),
                zones => write!(f, "allow zones {}", zones.join(", ")),
            },
            Self::AddGroup { worker } => write!(f, "add a group with {worker}"),
            Self::TakeVersion { version } => {
                write!(f, "take a version such as {version}")
            }
            Self::OwnNetworks => write!(f, "give the cluster ranges of its own in spec.network"),
            Self::NameNetworks { worker } => write!(f, "name the ranges of {worker}"),
            Self::UsePool { pool } => write!(f, "use pool {pool}"),
            Self::AllowWorker { worker } => write!(f, "allow worker {worker}"),
            Self::StopExcluding { worker } => write!(f, "stop excluding worker {worker}"),
            Self::Label { worker, key, value: Some(value) } => {
                write!(f, "label {worker} {key}={value}")
            }
            Self::Label { worker, key, value: None } => {
                write!(f, "remove label {key} from {worker}")
            }
            Self::Tolerate { taint } => write!(f, "tolerate taint {taint}"),
            Self::GrantPool { tenant, pool } => write!(f, "grant pool {pool} to tenant {tenant}"),
            Self::JoinPool { worker, pool } => write!(f, "put {worker} into pool {pool}"),
            Self::RaiseMaxSkew { key, to } => {
                write!(f, "raise maxSkew over {} to {to}", topology::spoken(key))
            }
            Self::RaiseQuota { tenant, location, resource, by } => {
                write!(f, "raise the quota of tenant {tenant} by {}", amount(*by, resource))?;
                location.iter().try_for_each(|location| write!(f, " in {location}"))
            }
            Self::AwaitReport { worker } => write!(f, "wait until {worker} reports"),
            Self::Mend { worker, reason } => write!(f, "mend {worker}: {reason}"),
        }
    }
}

impl Fix {
    /// Whether it does what another change does, and perhaps more.
    pub(super) fn achieves(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::RaiseMaxSkew { key, to }, Self::RaiseMaxSkew { key: other, to: less }) => {
                key == other && to >= less
            }
            (Self::AllowZones { zones }, Self::AllowZones { zones: less }) => {
                less.iter().all(|zone| zones.contains(zone))
            }
            (
                Self::Grow { worker, resource, by },
                Self::Grow { worker: other, resource: of, by: less },
            )
            | (
                Self::RaiseCeiling { worker, resource, by },
                Self::RaiseCeiling { worker: other, resource: of, by: less },
            ) => worker == other && resource == of && by >= less,
            _ => self == other,
        }
    }

    /// Whether clusters on the worker may be after it where their policy would not place them. All else lets more go where
    /// less did.
    pub(super) fn may_violate(&self) -> bool {
        matches!(self, Self::Label { .. } | Self::JoinPool { .. })
    }

    /// Whose documents it changes.
    pub(super) fn reach(&self) -> FixReach {
        match self {
            Self::Uncordon { .. }
            | Self::Grow { .. }
            | Self::RaiseCeiling { .. }
            | Self::Declare { .. }
            | Self::NameNetworks { .. }
            | Self::Label { .. } => FixReach::Worker,
            Self::AllowLocation { .. }
            | Self::AllowProvider { .. }
            | Self::AllowZones { .. }
            | Self::TakeVersion { .. }
            | Self::OwnNetworks
            | Self::AllowWorker { .. }
            | Self::StopExcluding { .. }
            | Self::Tolerate { .. } => FixReach::Cluster,
            Self::StopDraining { .. }
            | Self::AddGroup { .. }
            | Self::UsePool { .. }
            | Self::GrantPool { .. }
            | Self::JoinPool { .. }
            | Self::RaiseMaxSkew { .. }
            | Self::RaiseQuota { .. }
            | Self::AwaitReport { .. }
            | Self::Mend { .. } => FixReach::Others,
        }
    }

    /// The worker that is changed, or waited for; `None` for what changes a policy, a cluster or the fleet.
    #[must_use]
    pub fn worker(&self) -> Option<&Name> {
        match self {
            Self::Uncordon { worker }
            | Self::StopDraining { worker }
            | Self::Grow { worker, .. }
            | Self::RaiseCeiling { worker, .. }
            | Self::Declare { worker, .. }
            | Self::Label { worker, .. }
            | Self::JoinPool { worker, .. }
            | Self::NameNetworks { worker }
            | Self::AwaitReport { worker }
            | Self::Mend { worker, .. } => Some(worker),
            Self::AllowLocation { .. }
            | Self::AllowWorker { .. }
            | Self::StopExcluding { .. }
            | Self::Tolerate { .. }
            | Self::AllowProvider { .. }
            | Self::AllowZones { .. }
            | Self::AddGroup { .. }
            | Self::UsePool { .. }
            | Self::TakeVersion { .. }
            | Self::OwnNetworks
            | Self::RaiseMaxSkew { .. }
            | Self::RaiseQuota { .. }
            | Self::GrantPool { .. } => None,
        }
    }

    /// Makes the change in the documents that it is about. A report is no document: it says that the worker
    /// is well.
    pub(super) fn edit(&self, of: &mut EditedDocuments) {
        match self {
            Self::Uncordon { .. } => of.worker.spec.unschedulable = false,
            Self::StopDraining { .. } => of.worker.spec.drain = None,
            Self::Grow { resource, by, .. } => more(&mut of.worker.spec.capacity, resource, *by),
            Self::RaiseCeiling { resource, by, .. } => {
                more(&mut of.worker.spec.ceiling, resource, *by);
            }
            Self::Declare { resource, amount, .. } => {
                of.worker.spec.capacity.insert(resource.clone(), *amount);
            }
            Self::AllowLocation { location } => {
                allow::field(of, WorkerField::Location, std::slice::from_ref(location));
            }
            Self::AllowProvider { provider } => {
                allow::field(of, WorkerField::Provider, std::slice::from_ref(provider));
            }
            Self::AllowZones { zones } => allow::field(of, WorkerField::Zone, zones),
            Self::AddGroup { worker } => allow::group(of, worker),
            Self::UsePool { pool } => allow::pool(of, pool),
            Self::TakeVersion { version } => of.cluster.spec.version = version.to_string(),
            Self::OwnNetworks => {
                let taken = of.worker.ranges().unwrap_or_default();
                of.cluster.spec.network = Network::besides(&taken);
            }
            Self::NameNetworks { .. } => {
                of.worker.spec.network = Network::besides(&of.cluster.ranges());
            }
            Self::AllowWorker { worker } => allow::each_term(of, |term| {
                allow::widen(&mut term.names, worker);
            }),
            Self::StopExcluding { worker } => allow::each_term(of, |term| {
                term.exclude.retain(|name| name.as_str() != worker.as_str());
            }),
            Self::Label { key, value, .. } => {
                of.worker.labels.remove(key);
                of.worker.labels.extend(value.clone().map(|value| (key.clone(), value)));
            }
            Self::Tolerate { taint } => of.own_policy().tolerations.push(Toleration {
                key: taint.key.clone(),
                operator: TolerationOperator::Equal,
                value: taint.value.clone(),
                effect: Some(taint.effect),
                toleration_seconds: None,
            }),
            Self::GrantPool { pool, .. } => {
                of.listed_tenant().pools.get_or_insert_default().push(pool.clone());
            }
            Self::JoinPool { pool, .. } => of.worker.spec.pool = Some(pool.clone()),
            Self::RaiseMaxSkew { key, to } => raise_skew(of, key, *to),
            Self::RaiseQuota { location, resource, by, .. } => {
                let quota = of.tenant.iter_mut().filter_map(|tenant| tenant.quota.as_mut());
                quota.for_each(|quota| match location {
                    Some(at) => more(quota.locations.entry(at.clone()).or_default(), resource, *by),
                    None => more(&mut quota.total, resource, *by),
                });
            }
            Self::AwaitReport { .. } | Self::Mend { .. } => of.well = true,
        }
    }
}

fn more(amounts: &mut Resources, resource: &str, by: Quantity) {
    let amount = amounts.entry(resource.to_owned()).or_default();
    *amount = amount.plus(by);
}

/// The rules over a key that refuse workers, the policy's and the cluster's own, are as wide at least.
fn raise_skew(of: &mut EditedDocuments, key: &str, to: u32) {
    let policy = of.policy.iter_mut().flat_map(|policy| &mut policy.spec.spread);
    let own = of.cluster.spec.placement.iter_mut().flat_map(|own| &mut own.spread);
    let over = |rule: &&mut SpreadConstraint| {
        rule.topology_key == key && rule.when_unsatisfiable.refuses()
    };
    policy.chain(own).filter(over).for_each(|rule| rule.max_skew = rule.max_skew.max(to));
}
