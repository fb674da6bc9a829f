//! Why a cluster waits, as one sentence: the same in a plan, a status, a commit message and an explanation.

use std::collections::BTreeSet;

use super::ReasonCode;

/// Whom a reason is about.
enum About {
    /// The workers that give it: what they are.
    Workers(&'static str),
    /// The cluster, wherever it would go: all of the sentence.
    Cluster(&'static str),
}

impl ReasonCode {
    /// Why a cluster waits, for people: what the workers that refuse it have against it, then the codes as records
    /// keep them. `some workers are cordoned, some have too little room (Cordoned, Capacity)`.
    ///
    /// Every worker has at least one of the reasons, so where there is only one it is every worker's.
    #[must_use]
    pub fn sentence(reasons: &BTreeSet<Self>) -> String {
        let (mut of_cluster, mut of_workers) = (Vec::new(), Vec::new());
        for reason in reasons {
            match reason.about() {
                About::Workers(are) => of_workers.push(are),
                About::Cluster(clause) => of_cluster.push(clause.to_owned()),
            }
        }
        let alone = of_cluster.is_empty();
        of_cluster.extend(match of_workers.as_slice() {
            [] => None,
            [are] if alone => Some(format!("all workers {are}")),
            all => Some(format!("some workers {}", all.join(", some "))),
        });
        let codes: Vec<_> = reasons.iter().map(|reason| format!("{reason:?}")).collect();
        format!("{} ({})", of_cluster.join(", and "), codes.join(", "))
    }

    const fn about(self) -> About {
        use About::{Cluster, Workers};
        match self {
            Self::NeverReported => Workers("have never reported"),
            Self::Silent => Workers("stopped reporting"),
            Self::Unhealthy => Workers("are not healthy"),
            Self::WorkerProvisionTimeout => Workers("are not running in time"),
            Self::NotLoaded => Workers("have a document that did not load"),
            Self::Cordoned => Workers("are cordoned"),
            Self::BeingRemoved => Workers("are being removed"),
            Self::Capacity => Workers("have too little room"),
            Self::CapacityUnknown => Workers("do not say how much room they have"),
            Self::AffinityName => Workers("are not among those that the affinity names"),
            Self::AffinityExcluded => Workers("are excluded by the affinity"),
            Self::AffinityLocation => Workers("are in a location that the affinity does not allow"),
            Self::AffinityLabels => Workers("have labels that do not meet the affinity"),
            Self::AffinityProvider => Workers("are of a provider that the affinity does not allow"),
            Self::AffinityZone => Workers("are in zones that the affinity does not allow"),
            Self::AffinityGroup => Workers("are in no group of the affinity"),
            Self::Taint => Workers("have a taint that is not tolerated"),
            Self::Pool => Workers("are in no pool that the tenant may use"),
            Self::PoolNotUsed => Workers("are in no pool that the placement uses"),
            Self::Version => Workers("do not support its version"),
            Self::VersionNotOffered => Cluster("the fleet does not offer its version"),
            Self::VersionExpired => Cluster("the fleet offers its version no more"),
            Self::Network => Workers("have addresses of the cluster"),
            Self::NetworkUnknown => Workers("do not say which addresses they have"),
            Self::NamespaceTaken => Workers("have a namespace of its name that carp did not make"),
            Self::Spread => Workers("are in a domain that is ahead of the others in its spread"),
            Self::SpreadKeyMissing => Workers("are in no domain of its spread"),
            Self::AntiAffinity => Workers("are where a cluster is that it is kept apart from"),
            Self::Quota => Cluster("the quota of its tenant is used up"),
            Self::NoWorkers => Cluster("the fleet has no worker"),
            Self::PlacementsHeld => {
                Cluster("nothing new is placed while a policy or class does not load")
            }
            Self::FolderKept => Workers("have a folder that is not written now"),
            Self::Draining => Workers("are being drained"),
            Self::Evicted => Workers("are the one that it leaves"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ReasonCode::{self, Capacity, Cordoned, NoWorkers, Quota, Taint, VersionExpired};

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
