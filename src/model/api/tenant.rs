//! Whose clusters they are, and what a tenant may have.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Quantity;
use super::together::Quota;

/// One tenant: the folders that are its own, and what its clusters may use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tenant {
    /// The tenant's name: the `metadata.namespace` of its clusters.
    pub name: String,
    /// The folders, from `carp.yaml` on, in which its clusters' documents stand. Nothing else loads from
    /// there, and what does not load there holds nobody else. Unset: its clusters stand in no tenant's folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The pools of workers it may use; with an empty list none. Unset: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pools: Option<Vec<String>>,
    /// How much its clusters may take together. What is placed already stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<Quota>,
    /// The highest `priority` that its clusters may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_priority: Option<i32>,
    /// The credentials it may use, the first being its default; with an empty list none. Unset: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<Vec<String>>,
    /// The keys of the labels that its clusters may have; `example.com/` stands for all keys below that
    /// domain. With an empty list none. Unset: all. Policies choose clusters by their labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    /// How much may stand in its folders. Beyond that nothing of them is read until less stands there: its clusters stay
    /// as they are, and nobody else is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<TenantLimits>,
}

/// How much may stand in a tenant's folders.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TenantLimits {
    /// The most documents. Default: 20000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub documents: Option<u32>,
    /// The most bytes of its files, each counted in whole blocks of 4 KiB. Default: `128Mi`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Quantity>,
    /// The most rules of its clusters' own: terms of affinity with their expressions, spread, anti-affinity.
    /// Default: 20000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rules: Option<u32>,
}

impl Tenant {
    /// The credentials of a cluster that names none.
    #[must_use]
    pub fn default_credentials(&self) -> Option<&str> {
        self.credentials.as_ref()?.first().map(String::as_str)
    }

    /// Whether it may use credentials.
    #[must_use]
    pub fn may_use(&self, credentials: &str) -> bool {
        self.credentials.as_ref().is_none_or(|own| own.iter().any(|name| name == credentials))
    }

    /// Whether its clusters may have a label of that key.
    #[must_use]
    pub fn may_set(&self, key: &str) -> bool {
        let is = |granted: &String| match granted.strip_suffix('/') {
            Some(domain) => key.split_once('/').is_some_and(|(of, _)| of == domain),
            None => granted == key,
        };
        self.labels.as_ref().is_none_or(|own| own.iter().any(is))
    }
}
