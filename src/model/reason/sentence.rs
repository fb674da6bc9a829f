//! Why a cluster waits, as one sentence: the same in a plan, a status, a commit message and an explanation.

use std::collections::BTreeSet;

use super::ReasonCode;

/// Whom a reason is about.
enum About {
    /// The workers that give it: what they are.
    Workers(&'static str),
    /// The workers that give it, where that is something they are not: what they are not, and what no worker then is.
    Lacking(&'static str, &'static str),
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
        let (mut of_cluster, mut of_workers, mut of_all) = (Vec::new(), Vec::new(), String::new());
        for reason in reasons {
            match reason.about() {
                About::Workers(are) => {
                    of_workers.push(are);
                    of_all = format!("all workers {are}");
                }
                About::Lacking(are_not, is) => {
                    of_workers.push(are_not);
                    of_all = format!("no worker {is}");
                }
                About::Cluster(clause) => of_cluster.push(clause.to_owned()),
            }
        }
        let alone = of_cluster.is_empty();
        of_cluster.extend(match of_workers.as_slice() {
            [] => None,
            [_] if alone => Some(of_all),
            all => Some(format!("some workers {}", all.join(", some "))),
        });
        let codes: Vec<_> = reasons.iter().map(|reason| format!("{reason:?}")).collect();
        format!("{} ({})", of_cluster.join(", and "), codes.join(", "))
    }

    #[expect(clippy::too_many_lines, reason = "one entry for each reason")]
    const fn about(self) -> About {
        use About::{Cluster, Lacking, Workers};
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
            Self::AffinityLocation => Lacking(
                "are in a location that the affinity does not allow",
                "is in a location that the affinity allows",
            ),
            Self::AffinityLabels => Lacking(
                "have labels that do not meet the affinity",
                "has labels that meet the affinity",
            ),
            Self::AffinityProvider => Lacking(
                "are of a provider that the affinity does not allow",
                "is of a provider that the affinity allows",
            ),
            Self::AffinityZone => Lacking(
                "are in zones that the affinity does not allow",
                "is in the zones that the affinity allows",
            ),
            Self::AffinityGroup => {
                Lacking("are in no group of the affinity", "is in a group of the affinity")
            }
            Self::Taint => Workers("have a taint that is not tolerated"),
            Self::Pool => Lacking(
                "are in no pool that the tenant may use",
                "is in a pool that the tenant may use",
            ),
            Self::PoolNotUsed => Lacking(
                "are in no pool that the placement uses",
                "is in a pool that the placement uses",
            ),
            Self::Version => Lacking("do not support its version", "supports its version"),
            Self::VersionNotOffered => Cluster("the fleet does not offer its version"),
            Self::VersionExpired => Cluster("the fleet offers its version no more"),
            Self::Network => Workers("have addresses that the cluster has too"),
            Self::NetworkUnknown => {
                Lacking("do not say which addresses they have", "says which addresses it has")
            }
            Self::NamespaceTaken => Workers("have a namespace of its name that carp did not make"),
            Self::Spread => Workers("are in a domain that is ahead of the others in its spread"),
            Self::SpreadKeyMissing => {
                Lacking("are in no domain of its spread", "is in a domain of its spread")
            }
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
