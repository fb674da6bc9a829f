//! Why a worker does not take a cluster: written once, read by `explain`, records, conditions and
//! commit messages.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::Taint;
use super::{KubeVersion, Name, Quantity, Unsupported, topology};

/// Why one worker refuses one cluster, with the amounts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// No report has come yet from a worker that is observed by its agent.
    NeverReported,
    /// The worker's reports stopped.
    Silent {
        /// Since when, as RFC 3339.
        since: String,
    },
    /// The worker reports that it is not healthy.
    Unhealthy {
        /// The report's own word.
        reason: String,
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
        resource: String,
        /// What the cluster needs.
        needs: Quantity,
        /// What is free; negative where the worker is overcommitted.
        free: Quantity,
    },
    /// A resource does not suffice, and would not if the worker grew to its ceiling.
    Ceiling {
        /// The resource.
        resource: String,
        /// What the cluster needs.
        needs: Quantity,
        /// What is left below the ceiling; negative where more is taken.
        left: Quantity,
    },
    /// The worker does not say how much of a resource it has.
    CapacityUnknown {
        /// The resource.
        resource: String,
    },
    /// A required affinity term names other workers.
    AffinityName,
    /// A required affinity term excludes this worker.
    AffinityExcluded,
    /// A required affinity term names other locations.
    AffinityLocation {
        /// Where the worker is.
        location: String,
    },
    /// The worker's labels do not meet a required affinity term.
    AffinityLabels {
        /// The label key that fails.
        key: String,
    },
    /// The worker's provider does not meet a required affinity term.
    AffinityProvider {
        /// The worker's provider; `None` where it has none.
        provider: Option<String>,
    },
    /// The zones of the worker do not meet a required affinity term.
    AffinityZone {
        /// The zones of its node pools, sorted.
        zones: Vec<String>,
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
        pool: Option<String>,
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
        /// From when on, as `carp.yaml` has it.
        since: String,
    },
    /// The worker's domain has too many clusters already, compared with the one that has the fewest.
    Spread {
        /// What makes workers one domain.
        key: String,
        /// The worker's domain.
        domain: String,
        /// How many of the clusters that are spread are in the domain.
        count: u64,
        /// How many are in the domain that has the fewest.
        min: u64,
        /// By how many a domain may be ahead.
        max_skew: u32,
    },
    /// The worker is in no domain over which clusters are spread.
    SpreadKeyMissing {
        /// What makes workers one domain.
        key: String,
    },
    /// A cluster is in the worker's domain from which this one is kept apart.
    AntiAffinity {
        /// What makes workers one domain.
        key: String,
        /// The worker's domain; `None` where it is not known which domain the other cluster is in.
        domain: Option<String>,
        /// The other cluster, the first by name.
        cluster: Name,
    },
    /// The tenant's quota does not suffice.
    Quota {
        /// The location that the quota is for; `None`: all.
        location: Option<String>,
        /// The resource.
        resource: String,
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

/// The kind of a [`Reason`], as a decision record keeps it. The order is the order of the filters.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum ReasonCode {
    /// [`Reason::NeverReported`].
    NeverReported,
    /// [`Reason::Silent`].
    Silent,
    /// [`Reason::Unhealthy`].
    Unhealthy,
    /// [`Reason::ProvisionTimeout`].
    WorkerProvisionTimeout,
    /// [`Reason::NotLoaded`].
    NotLoaded,
    /// [`Reason::Cordoned`].
    Cordoned,
    /// [`Reason::BeingRemoved`].
    BeingRemoved,
    /// [`Reason::Capacity`] or [`Reason::Ceiling`]: what there is, is exhausted.
    Capacity,
    /// [`Reason::CapacityUnknown`].
    CapacityUnknown,
    /// [`Reason::AffinityName`].
    AffinityName,
    /// [`Reason::AffinityExcluded`].
    AffinityExcluded,
    /// [`Reason::AffinityLocation`].
    AffinityLocation,
    /// [`Reason::AffinityLabels`].
    AffinityLabels,
    /// [`Reason::AffinityProvider`].
    AffinityProvider,
    /// [`Reason::AffinityZone`].
    AffinityZone,
    /// [`Reason::AffinityGroup`].
    AffinityGroup,
    /// [`Reason::Taint`].
    Taint,
    /// [`Reason::Pool`].
    Pool,
    /// [`Reason::PoolNotUsed`].
    PoolNotUsed,
    /// [`Reason::Version`].
    Version,
    /// [`Reason::VersionNotOffered`].
    VersionNotOffered,
    /// [`Reason::VersionExpired`].
    VersionExpired,
    /// [`Reason::Spread`].
    Spread,
    /// [`Reason::SpreadKeyMissing`].
    SpreadKeyMissing,
    /// [`Reason::AntiAffinity`].
    AntiAffinity,
    /// [`Reason::Quota`].
    Quota,
    /// There is no worker at all.
    NoWorkers,
    /// A policy or class did not load, so nothing new is placed.
    PlacementsHeld,
    /// [`Reason::FolderKept`].
    FolderKept,
    /// [`Reason::Draining`].
    Draining,
    /// [`Reason::Evicted`].
    Evicted,
}

impl Reason {
    /// The kind of the reason.
    #[must_use]
    pub fn code(&self) -> ReasonCode {
        match self {
            Self::NeverReported => ReasonCode::NeverReported,
            Self::Silent { .. } => ReasonCode::Silent,
            Self::Unhealthy { .. } => ReasonCode::Unhealthy,
            Self::ProvisionTimeout => ReasonCode::WorkerProvisionTimeout,
            Self::NotLoaded => ReasonCode::NotLoaded,
            Self::Cordoned => ReasonCode::Cordoned,
            Self::BeingRemoved => ReasonCode::BeingRemoved,
            Self::Capacity { .. } | Self::Ceiling { .. } => ReasonCode::Capacity,
            Self::CapacityUnknown { .. } => ReasonCode::CapacityUnknown,
            Self::AffinityName => ReasonCode::AffinityName,
            Self::AffinityExcluded => ReasonCode::AffinityExcluded,
            Self::AffinityLocation { .. } => ReasonCode::AffinityLocation,
            Self::AffinityLabels { .. } => ReasonCode::AffinityLabels,
            Self::AffinityProvider { .. } => ReasonCode::AffinityProvider,
            Self::AffinityZone { .. } => ReasonCode::AffinityZone,
            Self::AffinityGroup => ReasonCode::AffinityGroup,
            Self::Taint(_) => ReasonCode::Taint,
            Self::Pool { .. } => ReasonCode::Pool,
            Self::PoolNotUsed { .. } => ReasonCode::PoolNotUsed,
            Self::Version { .. } => ReasonCode::Version,
            Self::VersionNotOffered { .. } => ReasonCode::VersionNotOffered,
            Self::VersionExpired { .. } => ReasonCode::VersionExpired,
            Self::Spread { .. } => ReasonCode::Spread,
            Self::SpreadKeyMissing { .. } => ReasonCode::SpreadKeyMissing,
            Self::AntiAffinity { .. } => ReasonCode::AntiAffinity,
            Self::Quota { .. } => ReasonCode::Quota,
            Self::FolderKept => ReasonCode::FolderKept,
            Self::Draining => ReasonCode::Draining,
            Self::Evicted => ReasonCode::Evicted,
        }
    }

    /// The reason as a count of workers reads it: `2 worker(s) had insufficient clusters`.
    #[must_use]
    pub fn summary(&self) -> String {
        match self {
            Self::NeverReported => "never reported".to_owned(),
            Self::Silent { .. } => "stopped reporting".to_owned(),
            Self::Unhealthy { .. } => "were not healthy".to_owned(),
            Self::ProvisionTimeout => "were not running in time".to_owned(),
            Self::NotLoaded => "did not load".to_owned(),
            Self::Cordoned => "were unschedulable".to_owned(),
            Self::BeingRemoved => "were being removed".to_owned(),
            Self::Capacity { resource, .. } | Self::Ceiling { resource, .. } => {
                format!("had insufficient {resource}")
            }
            Self::CapacityUnknown { resource } => format!("had unknown capacity for {resource}"),
            Self::AffinityName
            | Self::AffinityExcluded
            | Self::AffinityLocation { .. }
            | Self::AffinityLabels { .. }
            | Self::AffinityProvider { .. }
            | Self::AffinityZone { .. }
            | Self::AffinityGroup => "did not match the placement affinity".to_owned(),
            Self::Taint(taint) => format!("had untolerated taint {{{taint}}}"),
            Self::Pool { .. } => "were in a pool that the tenant may not use".to_owned(),
            Self::PoolNotUsed { .. } => "were in a pool that the placement does not use".to_owned(),
            Self::Version { by, .. } => format!("had a {} for other versions", by.component),
            Self::VersionNotOffered { .. } => "are of a fleet without that version".to_owned(),
            Self::VersionExpired { .. } => "are of a fleet that ended that version".to_owned(),
            Self::Spread { key, .. } => {
                format!("did not match the spread over {}", topology::spoken(key))
            }
            Self::SpreadKeyMissing { key } => {
                format!("did not match the spread over {} (missing)", topology::spoken(key))
            }
            Self::AntiAffinity { .. } => "did not match the anti-affinity".to_owned(),
            Self::Quota { resource, .. } => format!("exceeded the quota for {resource}"),
            Self::FolderKept => "have a folder that is not written now".to_owned(),
            Self::Draining => "were draining".to_owned(),
            Self::Evicted => "were the one that it leaves".to_owned(),
        }
    }
}

impl fmt::Display for Reason {
    #[expect(clippy::too_many_lines, reason = "one entry for each reason")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeverReported => write!(f, "has never reported"),
            Self::Silent { since } => write!(f, "silent since {since}"),
            Self::Unhealthy { reason } => write!(f, "not healthy: {reason}"),
            Self::ProvisionTimeout => write!(f, "its pool made it, and it is not running in time"),
            Self::NotLoaded => write!(f, "its document did not load"),
            Self::Cordoned => write!(f, "cordoned"),
            Self::BeingRemoved => write!(f, "being removed"),
            Self::Capacity { resource, needs, free } => {
                write!(f, "needs {needs} {resource}, {free} free")
            }
            Self::Ceiling { resource, needs, left } => {
                write!(f, "needs {needs} {resource}, {left} left below the ceiling")
            }
            Self::CapacityUnknown { resource } => write!(f, "capacity for {resource} is not known"),
            Self::AffinityName => write!(f, "not among the workers that the affinity names"),
            Self::AffinityExcluded => write!(f, "excluded by the affinity"),
            Self::AffinityLocation { location } => {
                write!(f, "location {location} is not one that the affinity allows")
            }
            Self::AffinityLabels { key } => {
                write!(f, "label {key} does not meet the affinity")
            }
            Self::AffinityProvider { provider: Some(provider) } => {
                write!(f, "provider {provider} is not one that the affinity allows")
            }
            Self::AffinityProvider { provider: None } => {
                write!(f, "its provider is not known, and the affinity asks for one")
            }
            Self::AffinityZone { zones } => match zones.as_slice() {
                [] => write!(f, "its node pools name no zone, and the affinity asks for one"),
                [zone] => write!(f, "zone {zone} does not meet the affinity"),
                zones => write!(f, "zones {} do not meet the affinity", zones.join(", ")),
            },
            Self::AffinityGroup => write!(f, "in no group of the affinity that may be used"),
            Self::PoolNotUsed { pool: Some(pool) } => {
                write!(f, "pool {pool} is not one that the placement uses")
            }
            Self::PoolNotUsed { pool: None } => write!(f, "in no pool that the placement uses"),
            Self::Version { version, by } => {
                write!(f, "version {version} is not supported: {by}")
            }
            Self::VersionNotOffered { version } => {
                write!(f, "version {version} is not among the fleet's supportedVersions")
            }
            Self::VersionExpired { version, since } => {
                write!(f, "version {version} has expired on {since}")
            }
            Self::FolderKept => {
                write!(f, "its folder on the output branch is not written now")
            }
            Self::Spread { key, domain, count, min, max_skew } => {
                let key = topology::spoken(key);
                write!(
                    f,
                    "spread over {key}: {domain} has {count}, the fewest anywhere are {min}, maxSkew is {max_skew}"
                )
            }
            Self::SpreadKeyMissing { key } => {
                write!(f, "spread over {}: it has none", topology::spoken(key))
            }
            Self::AntiAffinity { key, domain: Some(domain), cluster } => {
                write!(
                    f,
                    "kept apart from cluster {cluster}, in {} {domain}",
                    topology::spoken(key)
                )
            }
            Self::AntiAffinity { key, domain: None, cluster } => {
                let key = topology::spoken(key);
                write!(f, "kept apart from cluster {cluster}, whose {key} is not known")
            }
            Self::Quota { location, resource, needs, used, limit } => {
                write!(f, "quota: needs {needs} {resource}, {used} of {limit} used")?;
                location.iter().try_for_each(|location| write!(f, " in {location}"))
            }
            Self::Draining => write!(f, "draining"),
            Self::Evicted => write!(f, "the cluster is leaving this worker"),
            Self::Taint(taint) => write!(f, "untolerated taint {{{taint}}}"),
            Self::Pool { pool: Some(pool) } => {
                write!(f, "pool {pool} is not granted to the tenant")
            }
            Self::Pool { pool: None } => write!(f, "in no pool that is granted to the tenant"),
        }
    }
}
