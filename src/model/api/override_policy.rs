//! `OverridePolicy`: what is changed in the objects that templates make.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::override_change::OverrideChange;
use super::selector::{ClusterSelector, Expression, meet, names_take_in};

/// What is changed in the objects that are rendered for the clusters or workers that it selects.
#[derive(
    CustomResource, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "carp.dev",
    version = "v1alpha1",
    kind = "OverridePolicy",
    doc = "What is changed in the objects that are rendered for the clusters or workers that it selects.",
    namespaced,
    shortname = "op",
    category = "carp",
    printcolumn = r#"{"name":"Priority","type":"integer","jsonPath":".spec.priority"}"#,
    printcolumn = r#"{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OverridePolicySpec {
    /// Whose objects: those in the folders of clusters (`ManagedCluster`), or those that workers themselves are made of
    /// (`Worker`). Default: `ManagedCluster`.
    #[serde(default, skip_serializing_if = "OverrideTarget::is_default")]
    pub target: OverrideTarget,
    /// Of which clusters; the empty selector selects all. Not where `target` is `Worker`.
    #[serde(default, skip_serializing_if = "ClusterSelector::is_empty")]
    pub cluster_selector: ClusterSelector,
    /// On which workers, or, where `target` is `Worker`, of which; the empty selector selects all.
    #[serde(default, skip_serializing_if = "WorkerSelector::is_empty")]
    pub worker_selector: WorkerSelector,
    /// When it has its turn: the policies of a cluster or worker are applied from the lowest priority to the highest, and those
    /// of equal priority in the order of their names, so the last of them has the last word. Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub priority: i32,
    /// Which objects: those that any of these selects.
    #[schemars(length(min = 1))]
    pub objects: Vec<ObjectSelector>,
    /// What is changed in them, in this order.
    #[schemars(length(min = 1))]
    pub changes: Vec<OverrideChange>,
}

/// Whose objects a policy changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum OverrideTarget {
    /// Those in the folders of clusters.
    #[default]
    ManagedCluster,
    /// Those that workers themselves are made of: the clusters that these are, and the layers on them.
    Worker,
}

impl OverrideTarget {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
fn is_zero(number: &i32) -> bool {
    *number == 0
}

/// Which workers. Every part that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkerSelector {
    /// Names of workers: the worker has one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Labels that must all be there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub match_labels: BTreeMap<String, String>,
    /// Expressions that must all hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub match_expressions: Vec<Expression>,
}

impl WorkerSelector {
    /// Whether it selects everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.match_labels.is_empty() && self.match_expressions.is_empty()
    }

    /// Whether a worker of this name meets it; `labels` are `None` where nobody knows them. `None` then, where they
    /// decide.
    #[must_use]
    pub fn selects(&self, name: &str, labels: Option<&BTreeMap<String, String>>) -> Option<bool> {
        if !names_take_in(&self.names, name) {
            return Some(false);
        }
        if self.match_labels.is_empty() && self.match_expressions.is_empty() {
            return Some(true);
        }
        Some(meet(labels?, &self.match_labels, &self.match_expressions))
    }
}

/// Which objects. Every part that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ObjectSelector {
    /// The `apiVersion` of the objects, such as `cluster.x-k8s.io/v1beta2`.
    pub api_version: String,
    /// The `kind` of the objects, such as `MachineDeployment`.
    pub kind: String,
    /// Their name. A `*` stands for any text, also none: names of objects mostly begin with their cluster's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Labels that they must all have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_nobody_knows_is_selected_by_its_name_alone() {
        let of = |text: &str| serde_json::from_str::<WorkerSelector>(text).unwrap();
        let gold = BTreeMap::from([("tier".to_owned(), "gold".to_owned())]);
        assert_eq!(of("{}").selects("w", None), Some(true));
        assert_eq!(of(r#"{"names": ["x"]}"#).selects("w", None), Some(false));
        let labels = of(r#"{"names": ["w"], "matchLabels": {"tier": "gold"}}"#);
        assert_eq!(labels.selects("x", None), Some(false));
        assert_eq!(labels.selects("w", None), None);
        assert_eq!(labels.selects("w", Some(&gold)), Some(true));
        assert_eq!(labels.selects("w", Some(&BTreeMap::new())), Some(false));
    }
}
