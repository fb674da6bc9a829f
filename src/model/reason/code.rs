//! The kinds of reasons.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Reason;

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
    /// [`Reason::Network`].
    Network,
    /// [`Reason::NetworkUnknown`].
    NetworkUnknown,
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
