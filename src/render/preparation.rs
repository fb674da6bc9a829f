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

/// Something else that a person does once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Preparation {
    /// Where it is done.
    pub cluster: Where,
    /// What it is for.
    pub why: String,
    /// The command.
    pub command: String,
}
