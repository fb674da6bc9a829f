//! Why a worker does not take a cluster: written once, read by `explain`, records, conditions and
//! commit messages.

mod code;
mod sentence;
mod words;

pub use code::ReasonCode;

use super::api::Taint;
use super::{KubeVersion, Name, Quantity, Unsupported};

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
        /// The locations that the term names; empty where an expression fails that names none.
        wanted: Vec<String>,
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
        /// The providers that the term names; empty where an expression fails that names none.
        wanted: Vec<String>,
    },
    /// The zones of the worker do not meet a required affinity term.
    AffinityZone {
        /// The zones of its node pools, sorted.
        zones: Vec<String>,
        /// The zones that the term names; empty where an expression fails that names none.
        wanted: Vec<String>,
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
    /// An address could be the cluster's and the worker's, and the cluster's flavor needs them apart.
    Network {
        /// A range of the cluster.
        range: String,
        /// The range of the worker that overlaps it.
        of_worker: String,
    },
    /// The worker's addresses are not known, and the cluster's flavor needs others.
    NetworkUnknown,
    /// A namespace of the cluster's name is on the worker, and carp did not make it.
    NamespaceTaken,
    /// The worker's domain has too many clusters already, compared with the one that has the fewest.
    Spread {
        /// What makes workers one domain.
        key: String,
        /// The worker's domain.
        domain: String,
        /// How many of the clusters that are spread are in the domain.
        count: u64,
        /// The domain that has the fewest, the first by name.
        fewest: Option<String>,
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
