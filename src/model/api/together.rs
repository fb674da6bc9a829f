//! Where clusters stand in relation to each other: spread, anti-affinity, and what a tenant may use.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Resources;
use super::selector::LabelSelector;
use super::shared::no_resources;

/// Keeps clusters evenly spread over domains of workers, as Kubernetes' `topologySpreadConstraints` does
/// with pods and nodes.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SpreadConstraint {
    /// What makes workers one domain: the key of a label of theirs, or `carp.dev/worker`,
    /// `carp.dev/location`, `carp.dev/geography`, `carp.dev/provider`, `carp.dev/flavor` or
    /// `carp.dev/pool`.
    pub topology_key: String,
    /// By how many clusters a domain may be ahead of the one that has the fewest.
    #[schemars(range(min = 1, max = 10000))]
    pub max_skew: u32,
    /// What happens where it cannot be kept. Default: `DoNotSchedule`.
    #[serde(default, skip_serializing_if = "WhenUnsatisfiable::is_default")]
    pub when_unsatisfiable: WhenUnsatisfiable,
    /// Which clusters are counted. Default: those that the policy's `clusterSelector` selects. A
    /// cluster's own constraint must say it, and counts clusters of its own tenant only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<LabelSelector>,
    /// Labels of which the counted clusters have the same values as the one that is placed. A cluster
    /// that lacks one of them is not bound.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub match_label_keys: Vec<String>,
    /// Whose clusters are counted: `{}` means all tenants'. Unset: those of the tenant whose cluster is placed, where
    /// any tenant has `paths`, and else all. For policies only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_selector: Option<TenantSelector>,
}

/// Keeps clusters apart: no two of those that it selects in one domain of workers. It holds both ways: a
/// cluster that is placed keeps away newcomers that its own rule selects.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AntiAffinity {
    /// What makes workers one domain, as in `spread`.
    pub topology_key: String,
    /// What happens where it cannot be kept. Default: `DoNotSchedule`.
    #[serde(default, skip_serializing_if = "WhenUnsatisfiable::is_default")]
    pub when_unsatisfiable: WhenUnsatisfiable,
    /// Which clusters to keep away from. Default: in a policy, those that its `clusterSelector` selects; in a
    /// cluster's own rule, those that `matchLabelKeys` leaves. A cluster's own rule is about clusters of
    /// its own tenant only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<LabelSelector>,
    /// Labels of which the other cluster has the same values. A cluster that lacks one of them is not
    /// bound.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub match_label_keys: Vec<String>,
    /// Whose clusters the other one is among: `{}` means all tenants'. Unset: those of the same tenant, where any
    /// tenant has `paths`, and else all. For policies only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_selector: Option<TenantSelector>,
}

/// Whose clusters a rule of a policy is about, as `namespaceSelector` says it of pods.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct TenantSelector {
    /// Those of these tenants; none named means all tenants'.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// What happens where a rule cannot be kept.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum WhenUnsatisfiable {
    /// The worker is refused.
    #[default]
    DoNotSchedule,
    /// The worker is taken only where no other is better; each rule that it breaks is one violation.
    ScheduleAnyway,
}

impl WhenUnsatisfiable {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the rule refuses workers.
    #[must_use]
    pub const fn refuses(self) -> bool {
        matches!(self, Self::DoNotSchedule)
    }
}

/// How much a tenant's clusters may take together. What is not named is not limited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quota {
    /// Over all locations, by resource; `clusters` is the number of clusters.
    #[serde(default, skip_serializing_if = "no_resources")]
    pub total: Resources,
    /// By location: that of the clusters' nodes, where the cloud's own quota is, not the worker's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub locations: BTreeMap<String, Resources>,
}
