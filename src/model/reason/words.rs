//! Reasons in words: one by one, and as a count of workers reads them.

use std::fmt;

use super::Reason;
use crate::model::{amount, topology};

impl Reason {
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
            Self::Network { .. } => "had addresses of the cluster".to_owned(),
            Self::NetworkUnknown => "had unknown networks".to_owned(),
            Self::NamespaceTaken => "had a namespace of its name".to_owned(),
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
                write!(f, "needs {}, {free} free", amount(*needs, resource))
            }
            Self::Ceiling { resource, needs, left } => {
                write!(f, "needs {}, {left} left below the ceiling", amount(*needs, resource))
            }
            Self::CapacityUnknown { resource } => write!(f, "capacity for {resource} is not known"),
            Self::AffinityName => write!(f, "not among the workers that the affinity names"),
            Self::AffinityExcluded => write!(f, "excluded by the affinity"),
            Self::AffinityLocation { location, wanted } => {
                write!(f, "location {location} is not one that the affinity allows")?;
                list(f, wanted)
            }
            Self::AffinityLabels { key } => {
                write!(f, "label {key} does not meet the affinity")
            }
            Self::AffinityProvider { provider, wanted } => {
                match provider {
                    Some(provider) => {
                        write!(f, "provider {provider} is not one that the affinity allows")?;
                    }
                    None => write!(f, "its provider is not known, and the affinity asks for one")?,
                }
                list(f, wanted)
            }
            Self::AffinityZone { zones, wanted } => {
                match zones.as_slice() {
                    [] => write!(f, "its node pools name no zone, and the affinity asks for one")?,
                    [zone] => write!(f, "zone {zone} does not meet the affinity")?,
                    zones => write!(f, "zones {} do not meet the affinity", zones.join(", "))?,
                }
                list(f, wanted)
            }
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
            Self::Network { range, of_worker } => {
                write!(f, "{range} overlaps {of_worker} of the worker")
            }
            Self::NetworkUnknown => {
                write!(f, "its networks are not known, and the cluster's must be others")
            }
            Self::NamespaceTaken => {
                write!(f, "a namespace of the cluster's name is there, and carp did not make it")
            }
            Self::Spread { key, domain, count, fewest, min, max_skew, unknown } => {
                write!(f, "spread over {}: {domain} ", topology::spoken(key))?;
                match (unknown, fewest) {
                    (None, Some(fewest)) => write!(f, "has {count}, {fewest} has only {min}, ")?,
                    (None, None) => write!(f, "has {count}, the fewest anywhere are {min}, ")?,
                    (Some(worker), _) => write!(
                        f,
                        "may have {count}, and a domain may have only {min}, for that of {worker} is not \
                         known; "
                    )?,
                }
                write!(f, "maxSkew is {max_skew}")
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
                write!(f, "quota: needs {}, {used} of {limit} used", amount(*needs, resource))?;
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

/// What would do, where a list says it: ` (westeurope, northeurope)`.
fn list(f: &mut fmt::Formatter<'_>, wanted: &[String]) -> fmt::Result {
    if wanted.is_empty() { Ok(()) } else { write!(f, " ({})", wanted.join(", ")) }
}
