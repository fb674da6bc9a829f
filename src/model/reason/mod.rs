//! Why a worker does not take a cluster: written once, read by `explain`, records, conditions and
//! commit messages.

mod code;
mod values;

use std::fmt;

use jiff::Timestamp;

pub use code::ReasonCode;
pub use values::{
    AddressRange, DataStoreWish, LabelKey, LocationName, PoolName, ProviderName, ReportedReason,
    ResourceName, TopologyDomain, TopologyKey, WrittenTime, ZoneName,
};

use super::api::Taint;
use super::{KubeVersion, Name, Quantity, Unsupported, amount, topology};

/// How many workers read that fail a required affinity term, whichever part of it.
const AFFINITY: &str = "did not match the placement affinity";

/// Why one worker refuses one cluster, with the amounts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// No report has come yet from a worker that is observed by its agent.
    NeverReported,
    /// The worker's reports stopped.
    Silent {
        /// Since when.
        since: Timestamp,
    },
    /// The worker reports that it is not healthy.
    Unhealthy {
        /// The report's own word.
        reason: ReportedReason,
    },
    /// A pool made the worker, and it is not running in time.
    ProvisionTimeout,
    /// The worker's document did not load; nothing new goes there.
    NotLoaded,
    /// The worker is cordoned.
    Cordoned,
    /// The worker's document is gone.
    BeingRemoved,
    /// A resource does not suffice.
    Capacity {
        /// The resource.
        resource: ResourceName,
        /// What the cluster needs.
        needs: Quantity,
        /// What is free; negative where the worker is overcommitted.
        free: Quantity,
    },
    /// A resource does not suffice, and would not if the worker grew to its ceiling.
    Ceiling {
        /// The resource.
        resource: ResourceName,
        /// What the cluster needs.
        needs: Quantity,
        /// What is left below the ceiling; negative where more is taken.
        left: Quantity,
    },
    /// The worker does not say how much of a resource it has.
    CapacityUnknown {
        /// The resource.
        resource: ResourceName,
    },
    /// A required affinity term names other workers.
    AffinityName,
    /// A required affinity term excludes this worker.
    AffinityExcluded,
    /// A required affinity term names other locations.
    AffinityLocation {
        /// Where the worker is.
        location: LocationName,
        /// The locations that the term names; empty where an expression fails that names none.
        wanted: Vec<LocationName>,
    },
    /// The worker's labels do not meet a required affinity term.
    AffinityLabels {
        /// The label key that fails.
        key: LabelKey,
    },
    /// The worker's provider does not meet a required affinity term.
    AffinityProvider {
        /// The worker's provider; `None` where it has none.
        provider: Option<ProviderName>,
        /// The providers that the term names; empty where an expression fails that names none.
        wanted: Vec<ProviderName>,
    },
    /// The zones of the worker do not meet a required affinity term.
    AffinityZone {
        /// The zones of its node pools, sorted.
        zones: Vec<ZoneName>,
        /// The zones that the term names; empty where an expression fails that names none.
        wanted: Vec<ZoneName>,
    },
    /// The worker is in none of the groups of the affinity that may be used.
    AffinityGroup,
    /// A taint is not tolerated.
    Taint(Taint),
    /// The tenant is not granted the worker's pool.
    Pool {
        /// The worker's pool; `None` where it is in none.
        pool: Option<Name>,
    },
    /// The worker's pool is not one that the policy, or the cluster itself, uses.
    PoolNotUsed {
        /// The worker's pool; `None` where it is in none.
        pool: Option<PoolName>,
    },
    /// A component of the worker does not support the cluster's version.
    Version {
        /// The cluster's version.
        version: KubeVersion,
        /// The component and what it supports.
        by: Unsupported,
    },
    /// `supportedVersions` of the fleet does not name the cluster's version.
    VersionNotOffered {
        /// The cluster's version.
        version: KubeVersion,
    },
    /// The fleet offers the cluster's version no more.
    VersionExpired {
        /// The cluster's version.
        version: KubeVersion,
        /// From when on.
        since: WrittenTime,
    },
    /// An address could be the cluster's and the worker's, and the cluster's flavor needs them apart.
    Network {
        /// A range of the cluster.
        range: AddressRange,
        /// The range of the worker that overlaps it.
        of_worker: AddressRange,
    },
    /// The worker's addresses are not known, and the cluster's flavor needs others.
    NetworkUnknown,
    /// The worker has no data store that the cluster asks for.
    NoDataStore {
        /// The name of the store, or its labels.
        wanted: Vec<DataStoreWish>,
    },
    /// A namespace of the cluster's name is on the worker, and carp did not make it.
    NamespaceTaken,
    /// The worker's domain has too many clusters already, compared with the one that has the fewest.
    Spread {
        /// What makes workers one domain.
        key: TopologyKey,
        /// The worker's domain.
        domain: TopologyDomain,
        /// How many of the clusters that are spread are in the domain.
        count: u64,
        /// The domain that has the fewest, the first by name.
        fewest: Option<TopologyDomain>,
        /// How many are in the domain that has the fewest.
        min: u64,
        /// By how many a domain may be ahead.
        max_skew: u32,
        /// A worker whose document did not load: what is on it is counted in every domain, and as one of its
        /// own.
        unknown: Option<Name>,
    },
    /// The worker is in no domain over which clusters are spread.
    SpreadKeyMissing {
        /// What makes workers one domain.
        key: TopologyKey,
    },
    /// A cluster is in the worker's domain from which this one is kept apart.
    AntiAffinity {
        /// What makes workers one domain.
        key: TopologyKey,
        /// The worker's domain; `None` where it is not known which domain the other cluster is in.
        domain: Option<TopologyDomain>,
        /// The other cluster, the first by name.
        cluster: Name,
    },
    /// The tenant's quota does not suffice.
    Quota {
        /// The location that the quota is for; `None`: all.
        location: Option<LocationName>,
        /// The resource.
        resource: ResourceName,
        /// What the cluster needs.
        needs: Quantity,
        /// What the tenant's clusters take.
        used: Quantity,
        /// What they may take.
        limit: Quantity,
    },
    /// The worker's folder is not written: it was edited by hand, or files of others are in the way.
    FolderKept,
    /// The worker is drained.
    Draining,
    /// The cluster is leaving this worker.
    Evicted,
}

impl Reason {
    /// The reason as a count of workers reads it: `2 worker(s) had insufficient clusters`.
    #[must_use]
    pub fn summary(&self) -> String {
        self.said(|of_many, _| of_many.to_string())
    }

    /// Both wordings of the reason: that of many workers, and that of one.
    #[expect(clippy::too_many_lines, reason = "one entry for each reason")]
    fn said<R>(&self, say: impl FnOnce(fmt::Arguments<'_>, fmt::Arguments<'_>) -> R) -> R {
        macro_rules! say {
            ($of_many:literal, $($of_one:tt)+) => {
                say(format_args!($of_many), format_args!($($of_one)+))
            };
        }
        match self {
            Self::NeverReported => say!("never reported", "has never reported"),
            Self::Silent { since } => say!("stopped reporting", "silent since {since}"),
            Self::Unhealthy { reason } => say!("were not healthy", "not healthy: {reason}"),
            Self::ProvisionTimeout => {
                say!("were not running in time", "its pool made it, and it is not running in time")
            }
            Self::NotLoaded => say!("did not load", "its document did not load"),
            Self::Cordoned => say!("were unschedulable", "cordoned"),
            Self::BeingRemoved => say!("were being removed", "being removed"),
            Self::Capacity { resource, needs, free } => {
                let needs = amount(*needs, resource);
                say!("had insufficient {resource}", "needs {needs}, {free} free")
            }
            Self::Ceiling { resource, needs, left } => {
                let needs = amount(*needs, resource);
                say!("had insufficient {resource}", "needs {needs}, {left} left below the ceiling")
            }
            Self::CapacityUnknown { resource } => {
                say!("had unknown capacity for {resource}", "capacity for {resource} is not known")
            }
            Self::AffinityName => {
                say!("{AFFINITY}", "not among the workers that the affinity names")
            }
            Self::AffinityExcluded => {
                say!("{AFFINITY}", "excluded by the affinity")
            }
            Self::AffinityLocation { location, wanted } => say!(
                "{AFFINITY}",
                "location {location} is not one that the affinity allows{}",
                any_of(wanted)
            ),
            Self::AffinityLabels { key } => {
                say!("{AFFINITY}", "label {key} does not meet the affinity")
            }
            Self::AffinityProvider { provider: Some(provider), wanted } => say!(
                "{AFFINITY}",
                "provider {provider} is not one that the affinity allows{}",
                any_of(wanted)
            ),
            Self::AffinityProvider { provider: None, wanted } => say!(
                "{AFFINITY}",
                "its provider is not known, and the affinity asks for one{}",
                any_of(wanted)
            ),
            Self::AffinityZone { zones, wanted } => {
                let (failing, any_of) = (failing(zones), any_of(wanted));
                say!("{AFFINITY}", "{failing}{any_of}")
            }
            Self::AffinityGroup => {
                say!("{AFFINITY}", "in no group of the affinity that may be used")
            }
            Self::Taint(taint) => {
                say!("had untolerated taint {{{taint}}}", "untolerated taint {{{taint}}}")
            }
            Self::Pool { pool: Some(pool) } => say!(
                "were in a pool that the tenant may not use",
                "pool {pool} is not granted to the tenant"
            ),
            Self::Pool { pool: None } => say!(
                "were in a pool that the tenant may not use",
                "in no pool that is granted to the tenant"
            ),
            Self::PoolNotUsed { pool: Some(pool) } => say!(
                "were in a pool that the placement does not use",
                "pool {pool} is not one that the placement uses"
            ),
            Self::PoolNotUsed { pool: None } => say!(
                "were in a pool that the placement does not use",
                "in no pool that the placement uses"
            ),
            Self::Version { version, by } => {
                let component = &by.component;
                say!(
                    "had a {component} for other versions",
                    "version {version} is not supported: {by}"
                )
            }
            Self::VersionNotOffered { version } => say!(
                "are of a fleet without that version",
                "version {version} is not among the fleet's supportedVersions"
            ),
            Self::VersionExpired { version, since } => say!(
                "are of a fleet that ended that version",
                "version {version} has expired on {since}"
            ),
            Self::Network { range, of_worker } => {
                say!("had addresses of the cluster", "{range} overlaps {of_worker} of the worker")
            }
            Self::NetworkUnknown => say!(
                "had unknown networks",
                "its networks are not known, and the cluster's must be others"
            ),
            Self::NoDataStore { wanted } => {
                say!("had no such data store", "no data store {}", joined(wanted))
            }
            Self::NamespaceTaken => say!(
                "had a namespace of its name",
                "a namespace of the cluster's name is there, and carp did not make it"
            ),
            Self::Spread { key, domain, count, fewest, min, max_skew, unknown } => {
                let over = topology::spoken(key);
                let beside = match (unknown, fewest) {
                    (None, Some(fewest)) => format!("has {count}, {fewest} has only {min}, "),
                    (None, None) => format!("has {count}, the fewest anywhere are {min}, "),
                    (Some(worker), _) => format!(
                        "may have {count}, and a domain may have only {min}, for that of {worker} is not \
                         known; "
                    ),
                };
                say!(
                    "did not match the spread over {over}",
                    "spread over {over}: {domain} {beside}maxSkew is {max_skew}"
                )
            }
            Self::SpreadKeyMissing { key } => {
                let over = topology::spoken(key);
                say!(
                    "did not match the spread over {over} (missing)",
                    "spread over {over}: it has none"
                )
            }
            Self::AntiAffinity { key, domain, cluster } => {
                let key = topology::spoken(key);
                let place = match domain {
                    Some(domain) => format!("in {key} {domain}"),
                    None => format!("whose {key} is not known"),
                };
                say!(
                    "did not match the anti-affinity",
                    "kept apart from cluster {cluster}, {place}"
                )
            }
            Self::Quota { location, resource, needs, used, limit } => {
                let needs = amount(*needs, resource);
                let place = location.as_ref().map(|at| format!(" in {at}")).unwrap_or_default();
                say!(
                    "exceeded the quota for {resource}",
                    "quota: needs {needs}, {used} of {limit} used{place}"
                )
            }
            Self::FolderKept => say!(
                "have a folder that is not written now",
                "its folder on the output branch is not written now"
            ),
            Self::Draining => say!("were draining", "draining"),
            Self::Evicted => {
                say!("were the one that it leaves", "the cluster is leaving this worker")
            }
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.said(|_, of_one| f.write_fmt(of_one))
    }
}

/// What would do, where a term says it: ` (westeurope, northeurope)`.
fn any_of(wanted: &[impl fmt::Display]) -> String {
    if wanted.is_empty() { String::new() } else { format!(" ({})", joined(wanted)) }
}

fn failing(zones: &[ZoneName]) -> String {
    match zones {
        [] => "its node pools name no zone, and the affinity asks for one".to_owned(),
        [zone] => format!("zone {zone} does not meet the affinity"),
        zones => format!("zones {} do not meet the affinity", joined(zones)),
    }
}

fn joined(all: &[impl fmt::Display]) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
