//! `spec.secrets`: who makes the Secrets that workers need, so that nobody makes them by hand.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long an operator waits before it looks at the store again, where nothing is said.
const REFRESH_INTERVAL: &str = "1h";
/// What stands for the worker's name in the name of an entry.
pub const WORKER_IN_KEY: &str = "{worker}";

/// Who makes the Secrets of workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SecretSettings {
    /// The External Secrets Operator on the control-plane cluster makes those of the workers that carp makes, of
    /// entries of a store. Unset: people make them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_secrets: Option<ExternalSecretSettings>,
}

/// Of what the External Secrets Operator makes the Secrets of workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExternalSecretSettings {
    /// The `ClusterSecretStore` on the control-plane cluster that has the entries.
    pub cluster_secret_store: String,
    /// How often the operator looks at the store again. Default: `1h`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_interval: Option<String>,
    /// The entries in the store, by the names of the Secrets, where they are called otherwise. `{worker}` in one stands
    /// for the worker's name, and then each worker has an entry of its own. Default: the name of the Secret, so that
    /// one entry is for all workers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keys: BTreeMap<String, String>,
}

impl ExternalSecretSettings {
    /// How often the operator looks at the store again.
    #[must_use]
    pub fn interval(&self) -> &str {
        self.refresh_interval.as_deref().unwrap_or(REFRESH_INTERVAL)
    }

    /// The entry of a Secret, with `{worker}` in it where each worker has its own.
    #[must_use]
    pub fn key<'a>(&'a self, secret: &'a str) -> &'a str {
        self.keys.get(secret).map_or(secret, String::as_str)
    }
}
