//! The kinds that people write, and where each belongs.

use serde_json::Value;

use crate::diag::suggest;
use crate::model::CloneOnWrite;
use crate::model::api::{
    AcknowledgementSpec, FleetSpec, ManagedClusterClassSpec, ManagedClusterSpec,
    OverridePolicySpec, PlacementPolicySpec, PlacementPolicyTestSpec, WorkerOverlaySpec,
    WorkerPoolSpec, WorkerSpec,
};
use crate::model::words::words;

words! {
    /// A kind that carp reads.
    pub(super) Kind:
    Fleet,
    ManagedCluster,
    Worker,
    WorkerOverlay,
    WorkerPool,
    ManagedClusterClass,
    PlacementPolicy,
    PlacementPolicyTest,
    Acknowledgement,
    OverridePolicy,
}

/// Where a document stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Root {
    /// `carp.yaml`.
    File,
    /// Below `roots.fleet`.
    Fleet,
    /// Below `roots.policies`.
    Policies,
    /// Below `tests/` in `roots.policies`.
    PolicyTests,
}

impl Kind {
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|k| k.name() == name)
    }

    pub(super) fn root(self) -> Root {
        match self {
            Self::Fleet => Root::File,
            Self::PlacementPolicy | Self::OverridePolicy => Root::Policies,
            Self::PlacementPolicyTest => Root::PolicyTests,
            _ => Root::Fleet,
        }
    }

    /// The kind that somebody meant: by its name, or one that is a slip of the pen away from it.
    pub(super) fn meant(name: &str) -> Option<Self> {
        let names = Self::ALL.iter().map(|kind| kind.name());
        Self::named(name).or_else(|| suggest::nearest(name, names).and_then(Self::named))
    }

    /// Whether new placements depend on documents of this kind.
    pub(super) fn steers_placement(self) -> bool {
        matches!(self, Self::PlacementPolicy | Self::ManagedClusterClass)
    }
}

impl Root {
    /// The root as a help names it.
    pub(super) fn described(self) -> &'static str {
        match self {
            Self::File => "`carp.yaml`",
            Self::Fleet => "the root `fleet`",
            Self::Policies => "the root `policies`",
            Self::PolicyTests => "the folder `tests` of the root `policies`",
        }
    }
}

/// The typed `spec` of a document.
#[derive(Clone, Debug)]
pub(super) enum DocumentSpec {
    Fleet(Box<FleetSpec>),
    ManagedCluster(CloneOnWrite<ManagedClusterSpec>),
    Worker(CloneOnWrite<WorkerSpec>),
    WorkerOverlay(Box<WorkerOverlaySpec>),
    WorkerPool(Box<WorkerPoolSpec>),
    ManagedClusterClass(Box<ManagedClusterClassSpec>),
    PlacementPolicy(Box<PlacementPolicySpec>),
    PlacementPolicyTest(Box<PlacementPolicyTestSpec>),
    Acknowledgement(AcknowledgementSpec),
    OverridePolicy(Box<OverridePolicySpec>),
}

impl DocumentSpec {
    /// Decodes a `spec` that has passed the check of its structure.
    pub(super) fn decode(kind: Kind, spec: Value) -> Result<Self, serde_json::Error> {
        use serde_json::from_value;
        Ok(match kind {
            Kind::Fleet => Self::Fleet(from_value(spec)?),
            Kind::ManagedCluster => Self::ManagedCluster(from_value(spec)?),
            Kind::Worker => Self::Worker(from_value(spec)?),
            Kind::WorkerOverlay => Self::WorkerOverlay(from_value(spec)?),
            Kind::WorkerPool => Self::WorkerPool(from_value(spec)?),
            Kind::ManagedClusterClass => Self::ManagedClusterClass(from_value(spec)?),
            Kind::PlacementPolicy => Self::PlacementPolicy(from_value(spec)?),
            Kind::PlacementPolicyTest => Self::PlacementPolicyTest(from_value(spec)?),
            Kind::Acknowledgement => Self::Acknowledgement(from_value(spec)?),
            Kind::OverridePolicy => Self::OverridePolicy(from_value(spec)?),
        })
    }

    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Fleet(_) => Kind::Fleet,
            Self::ManagedCluster(_) => Kind::ManagedCluster,
            Self::Worker(_) => Kind::Worker,
            Self::WorkerOverlay(_) => Kind::WorkerOverlay,
            Self::WorkerPool(_) => Kind::WorkerPool,
            Self::ManagedClusterClass(_) => Kind::ManagedClusterClass,
            Self::PlacementPolicy(_) => Kind::PlacementPolicy,
            Self::PlacementPolicyTest(_) => Kind::PlacementPolicyTest,
            Self::Acknowledgement(_) => Kind::Acknowledgement,
            Self::OverridePolicy(_) => Kind::OverridePolicy,
        }
    }

    /// The spec as JSON; fields that have their default are left out where the type says so.
    pub(super) fn to_value(&self) -> Value {
        let written = match self {
            Self::Fleet(s) => serde_json::to_value(s),
            Self::ManagedCluster(s) => serde_json::to_value(s),
            Self::Worker(s) => serde_json::to_value(s),
            Self::WorkerOverlay(s) => serde_json::to_value(s),
            Self::WorkerPool(s) => serde_json::to_value(s),
            Self::ManagedClusterClass(s) => serde_json::to_value(s),
            Self::PlacementPolicy(s) => serde_json::to_value(s),
            Self::PlacementPolicyTest(s) => serde_json::to_value(s),
            Self::Acknowledgement(s) => serde_json::to_value(s),
            Self::OverridePolicy(s) => serde_json::to_value(s),
        };
        written.expect("carp's own types serialise to JSON")
    }
}
