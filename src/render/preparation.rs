//! What people do once, and where.

/// The cluster on which something is done.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Where {
    /// The control-plane cluster.
    ControlPlane,
    /// The worker itself.
    Worker,
    /// Azure.
    Azure,
}

/// For what something is done once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Once {
    /// For the fleet, however many workers it has or gets.
    Fleet,
    /// For each worker.
    Worker,
    /// For each cluster.
    Cluster,
}

/// Something else that a person does once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Preparation {
    /// Where it is done.
    pub cluster: Where,
    /// For what.
    pub once: Once,
    /// What it is for.
    pub why: String,
    /// The command.
    pub command: String,
}
