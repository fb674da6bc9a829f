//! What rules declare to read: of a worker, of a cluster, and of what stands around them.

/// What a filter or score reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DependsOn {
    /// The worker's name.
    Name,
    /// Whether the worker takes part.
    State,
    /// What the worker's agent says.
    Health,
    /// How far a worker is that a pool is making.
    Pending,
    /// Whether the worker is cordoned.
    Cordon,
    /// Whether the worker is drained.
    Drain,
    /// What the worker has, and what of that is kept free.
    Capacity,
    /// How far the worker can grow.
    Ceiling,
    /// What the clusters on the worker take. It only grows while clusters are placed.
    Allocated,
    /// How many clusters are on the worker. It only grows while clusters are placed.
    Clusters,
    /// Which clusters are placed where, on workers whose documents did not load too, and what their tenants
    /// take.
    Placed,
    /// How the worker is made.
    Flavor,
    /// The worker's labels.
    Labels,
    /// Where the worker is.
    Location,
    /// Whose machines the worker is made of.
    Provider,
    /// The zones of the worker's node pools.
    Zones,
    /// The versions of the worker's components.
    Components,
    /// The versions that the fleet offers.
    Versions,
    /// The addresses of the worker, and which flavors need others.
    Networks,
    /// The namespaces on the worker that carp did not make, and the name of a cluster that has one's name.
    Namespaces,
    /// The worker's taints.
    Taints,
    /// The pool that the worker is in.
    Pool,
    /// The worker's data stores.
    DataStores,
    /// The cluster: its document, class defaults included. A rule that says this is asked for every
    /// cluster, one that says what it reads of it, as the next ones do, once for those that are alike.
    #[allow(dead_code, reason = "whatever reads more than what has a name of its own says this")]
    Cluster,
    /// Of the cluster, what it takes.
    Demand,
    /// Of the cluster, where its nodes are.
    Site,
    /// Of the cluster, its own `spec.placement` and `spec.dataStore`.
    Wishes,
    /// Of the cluster, its version and its flavor.
    Version,
    /// Of the cluster, its addresses and its flavor.
    Network,
    /// Of the cluster, the group of its policy's affinity in which it was placed before.
    Group,
    /// Of the cluster, the worker that it leaves.
    Leaving,
    /// The policies.
    Policies,
    /// The tenants, and whose the cluster is.
    Tenants,
}
