//! The kinds of reasons, and why a cluster waits as one sentence of them: the same in a plan, a status, a commit
//! message and an explanation.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Reason;
use crate::model::words::words;

words! {
    /// The kind of a [`Reason`], as a decision record keeps it. The order is the order of the filters.
    #[derive(Hash, Serialize, Deserialize, JsonSchema)]
    pub ReasonCode:
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
    /// [`Reason::Network`].
    Network,
    /// [`Reason::NetworkUnknown`].
    NetworkUnknown,
    /// [`Reason::NoDataStore`].
    NoDataStore,
    /// [`Reason::NamespaceTaken`].
    NamespaceTaken,
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
            Self::Network { .. } => ReasonCode::Network,
            Self::NetworkUnknown => ReasonCode::NetworkUnknown,
            Self::NoDataStore { .. } => ReasonCode::NoDataStore,
            Self::NamespaceTaken => ReasonCode::NamespaceTaken,
            Self::Spread { .. } => ReasonCode::Spread,
            Self::SpreadKeyMissing { .. } => ReasonCode::SpreadKeyMissing,
            Self::AntiAffinity { .. } => ReasonCode::AntiAffinity,
            Self::Quota { .. } => ReasonCode::Quota,
            Self::FolderKept => ReasonCode::FolderKept,
            Self::Draining => ReasonCode::Draining,
            Self::Evicted => ReasonCode::Evicted,
        }
    }
}

/// Whom a reason is about.
enum About {
    /// The workers that give it: what they are.
    Workers(&'static str),
    /// The workers that give it, where that is something they are not: what they are not, and what no worker then is.
    Lacking(&'static str, &'static str),
    /// The workers that give it are in none of these, such as `group of the affinity`.
    InNo(&'static str),
    /// The affinity does not allow where the workers are, or what they are of: `in a location`.
    NotAllowed(&'static str),
    /// The cluster, wherever it would go: all of the sentence.
    Cluster(&'static str),
}

impl About {
    /// What some of several workers are, and the sentence where it is all of them; `None` where it is about the
    /// cluster.
    fn of_workers(&self) -> Option<(String, String)> {
        Some(match self {
            Self::Workers(are) => ((*are).to_owned(), format!("all workers {are}")),
            Self::Lacking(are_not, is) => ((*are_not).to_owned(), format!("no worker {is}")),
            Self::InNo(what) => (format!("are in no {what}"), format!("no worker is in a {what}")),
            Self::NotAllowed(place) => (
                format!("are {place} that the affinity does not allow"),
                format!("no worker is {place} that the affinity allows"),
            ),
            Self::Cluster(_) => return None,
        })
    }
}

impl ReasonCode {
    /// Why a cluster waits, for people: what the workers that refuse it have against it, then the codes as records
    /// keep them. `some workers are cordoned, some have too little room (Cordoned, Capacity)`.
    ///
    /// Every worker has at least one of the reasons, so where there is only one it is every worker's.
    #[must_use]
    pub fn sentence(reasons: &BTreeSet<Self>) -> String {
        let about: Vec<About> = reasons.iter().map(|reason| reason.about()).collect();
        let mut clauses: Vec<String> = about
            .iter()
            .filter_map(|about| match about {
                About::Cluster(clause) => Some((*clause).to_owned()),
                _ => None,
            })
            .collect();
        let (some, all): (Vec<_>, Vec<_>) = about.iter().filter_map(About::of_workers).unzip();
        clauses.extend(match all.as_slice() {
            [] => None,
            [all] if clauses.is_empty() => Some(all.clone()),
            _ => Some(format!("some workers {}", some.join(", some "))),
        });
        let codes: Vec<_> = reasons.iter().map(|reason| reason.name()).collect();
        format!("{} ({})", clauses.join(", and "), codes.join(", "))
    }

    const fn about(self) -> About {
        use About::{Cluster, InNo, Lacking, NotAllowed, Workers};
        match self {
            Self::NeverReported => Lacking("have never reported", "has ever reported"),
            Self::Silent => Workers("stopped reporting"),
            Self::Unhealthy => Lacking("are not healthy", "is healthy"),
            Self::WorkerProvisionTimeout => Lacking("did not come up in time", "came up in time"),
            Self::NotLoaded => Workers("have a document that did not load"),
            Self::Cordoned => Workers("are cordoned"),
            Self::BeingRemoved => Workers("are being removed"),
            Self::Capacity => Workers("have too little room"),
            Self::CapacityUnknown => {
                Lacking("do not say how much room they have", "says how much room it has")
            }
            Self::AffinityName => Lacking(
                "are not among those that the affinity names",
                "is among those that the affinity names",
            ),
            Self::AffinityExcluded => Workers("are excluded by the affinity"),
            Self::AffinityLocation => NotAllowed("in a location"),
            Self::AffinityLabels => Lacking(
                "have labels that do not meet the affinity",
                "has labels that meet the affinity",
            ),
            Self::AffinityProvider => NotAllowed("of a provider"),
            Self::AffinityZone => Lacking(
                "are in zones that the affinity does not allow",
                "is in the zones that the affinity allows",
            ),
            Self::AffinityGroup => InNo("group of the affinity"),
            Self::Taint => Workers("have a taint that is not tolerated"),
            Self::Pool => InNo("pool that the tenant may use"),
            Self::PoolNotUsed => InNo("pool that the placement uses"),
            Self::Version => Lacking("do not support its version", "supports its version"),
            Self::VersionNotOffered => Cluster("the fleet does not offer its version"),
            Self::VersionExpired => Cluster("the fleet offers its version no more"),
            Self::Network => Workers("have addresses that the cluster has too"),
            Self::NetworkUnknown => {
                Lacking("do not say which addresses they have", "says which addresses it has")
            }
            Self::NoDataStore => {
                Lacking("have no data store that it asks for", "has a data store that it asks for")
            }
            Self::NamespaceTaken => Workers("have a namespace of its name that carp did not make"),
            Self::Spread => Workers("are in a domain that is ahead of the others in its spread"),
            Self::SpreadKeyMissing => InNo("domain of its spread"),
            Self::AntiAffinity => Workers("are where a cluster is that it is kept apart from"),
            Self::Quota => Cluster("the quota of its tenant is used up"),
            Self::NoWorkers => Cluster("the fleet has no worker"),
            Self::PlacementsHeld => {
                Cluster("nothing new is placed while a policy or class does not load")
            }
            Self::FolderKept => Workers("have a folder that is not written now"),
            Self::Draining => Workers("are being drained"),
            Self::Evicted => Workers("are the ones that it leaves"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ReasonCode::{
        self, AffinityLabels, AffinityName, Capacity, Cordoned, NoWorkers, Pool, Quota, Taint,
        Version, VersionExpired,
    };

    fn sentence(codes: &[ReasonCode]) -> String {
        ReasonCode::sentence(&codes.iter().copied().collect())
    }

    #[test]
    fn one_reason_is_that_of_all_workers_and_several_are_those_of_some() {
        assert_eq!(sentence(&[Capacity]), "all workers have too little room (Capacity)");
        assert_eq!(
            sentence(&[Taint, Cordoned, Capacity]),
            "some workers are cordoned, some have too little room, some have a taint that is not \
             tolerated (Cordoned, Capacity, Taint)"
        );
    }

    #[test]
    fn what_every_worker_lacks_is_what_no_worker_has() {
        for (code, wanted) in [
            (AffinityName, "no worker is among those that the affinity names (AffinityName)"),
            (AffinityLabels, "no worker has labels that meet the affinity (AffinityLabels)"),
            (Pool, "no worker is in a pool that the tenant may use (Pool)"),
            (Version, "no worker supports its version (Version)"),
        ] {
            assert_eq!(sentence(&[code]), wanted);
        }
        assert_eq!(
            sentence(&[AffinityName, Cordoned]),
            "some workers are cordoned, some are not among those that the affinity names (Cordoned, AffinityName)"
        );
    }

    #[test]
    fn what_is_about_the_cluster_itself_is_said_first() {
        assert_eq!(sentence(&[NoWorkers]), "the fleet has no worker (NoWorkers)");
        assert_eq!(sentence(&[Quota]), "the quota of its tenant is used up (Quota)");
        assert_eq!(
            sentence(&[VersionExpired, Quota, Cordoned]),
            "the fleet offers its version no more, and the quota of its tenant is used up, and some \
             workers are cordoned (Cordoned, VersionExpired, Quota)"
        );
    }
}
