//! What overrides see of a worker's own folders, and what of that they leave alone. Of what carp makes beside the
//! templates, of the agent and of the data stores they see nothing: by these the fleet is delivered and known, and these
//! hold what the clusters are.

use serde_json::Value;

use super::agent;
use super::edits::KeptField;
use super::job::{Job, Scope};
use super::object::{Object, objects};
use crate::diag::Diagnostics;
use crate::model::{
    FlavorKind, OverrideReach, changed_beside, changed_label, changed_rights, override_reach,
    turned_off,
};

/// Where the chart of a Helm release is named, and where its values are.
const CHART: &str = "/spec/chart/spec/chart";
const VALUES: &str = "/spec/values";

impl Job {
    /// The objects of the folder that overrides see, as the templates make them.
    ///
    /// # Errors
    /// As [`render`](Self::render).
    pub fn reached(&self) -> Result<Vec<Value>, Diagnostics> {
        let plain = Self { edits: None, ..self.clone() };
        let mut files = plain.render()?;
        // What carp makes itself is no template's: CRDs are large, and nobody overrides them.
        files.retain(|file, _| self.rendered.iter().any(|(_, made)| made == file));
        let all = objects(&files).unwrap_or_default();
        Ok(all.iter().filter(|o| self.is_reached(o)).map(|o| (*o.value).clone()).collect())
    }

    /// Whether overrides see an object of this folder.
    pub(super) fn is_reached(&self, object: &Object) -> bool {
        let reach = override_reach(object.api_version(), object.kind());
        match &self.scope {
            Scope::Cluster { makes: FlavorKind::ManagedCluster, .. } => true,
            Scope::Cluster { makes: FlavorKind::Worker, .. } => {
                self.is_of_template(object) && !matches!(reach, OverrideReach::Nothing(_))
            }
            Scope::Components => {
                let is_agents = object.file.starts_with(&format!("{}/", agent::LAYER));
                self.is_of_template(object)
                    && matches!(reach, OverrideReach::Fields(_))
                    && !is_agents
                    && !self.is_store(object)
            }
        }
    }

    /// What of an object of a worker was changed and may not be; `None` where all of it may, and in clusters' folders.
    pub(super) fn kept_from_overrides(&self, before: &Object, after: &Value) -> Option<KeptField> {
        if matches!(self.scope, Scope::Cluster { makes: FlavorKind::ManagedCluster, .. }) {
            return None;
        }
        let value = &*before.value;
        let reach = override_reach(before.api_version(), before.kind());
        if let OverrideReach::Fields(fields) | OverrideReach::OfCluster(fields) = reach
            && let Some(field) = changed_beside(fields, value, after)
        {
            let help = "what runs on a worker is decided by its `components` and by `images`, and who may do what by \
                        the templates; how it runs may be overridden (docs/overrides.md)";
            return Some(KeptField {
                field,
                why: "is none of what overrides of workers may change",
                help,
            });
        }
        if let Some(field) = changed_rights(value, after) {
            let help =
                "what has rights is made by templates, and said by parameters where there are any";
            return Some(KeptField {
                field,
                why: "says as whom something runs, or what it may do",
                help,
            });
        }
        if let Some(field) = changed_label(value, after) {
            let help = "choose another name: charts select by those of the templates, and controllers act upon theirs";
            return Some(KeptField { field, why: "is one that something goes by", help });
        }
        if let Some(field) = turned_off(value, after) {
            let help = "leave one at least: the clusters of the worker hang on it";
            return Some(KeptField { field, why: "would be none, and is some", help });
        }
        let field = self.changed_store(value, after)?;
        let help =
            "write it into `dataStores` of the Worker: the state of the clusters is in there";
        Some(KeptField { field, why: "is about its data stores", help })
    }

    /// Whether a template made the object's file. What carp adds to it is of its own kinds.
    fn is_of_template(&self, object: &Object) -> bool {
        self.rendered.iter().any(|(_, made)| *made == object.file)
    }

    /// The charts of the data stores that any flavor has.
    fn store_charts(&self) -> impl Iterator<Item = &str> {
        let flavors = self.templates.catalogue().flavors();
        let stores = flavors.filter_map(|(_, flavor)| flavor.data_stores.as_ref());
        stores.flat_map(|stores| &stores.components).map(String::as_str)
    }

    fn is_store(&self, object: &Object) -> bool {
        let chart = object.value.pointer(CHART).and_then(Value::as_str).unwrap_or_default();
        let last = chart.rsplit('/').next().unwrap_or_default();
        self.store_charts().any(|store| store == last)
    }

    /// The values for a data store within those of another chart, where they differ.
    fn changed_store(&self, before: &Value, after: &Value) -> Option<String> {
        let differs = |store: &&str| {
            let of =
                |object: &Value| object.pointer(VALUES).and_then(|all| all.get(*store)).cloned();
            of(before) != of(after)
        };
        self.store_charts().find(differs).map(|store| format!("{VALUES}/{store}"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::fixture::fleet;
    use super::super::{Templates, control_plane_worker_job, worker_job};
    use crate::model::{Fleet, overridable_in_layers};

    /// What overrides see of the layers of the fixture's worker: `Kind name`.
    fn seen(fleet: &Fleet) -> BTreeSet<(String, String, String)> {
        let worker = fleet.workers.values().next().unwrap();
        let objects = worker_job(fleet, worker, &Templates::built_in(), "").reached().unwrap();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let of = |o: &serde_json::Value| {
            (text(&o["apiVersion"]), text(&o["kind"]), text(&o["metadata"]["name"]))
        };
        objects.iter().map(of).collect()
    }

    #[test]
    fn every_kind_of_the_layers_that_may_be_overridden_is_there_in_its_version() {
        let fleet = fleet();
        let mut mirrored = fleet.clone();
        mirrored.spec.images = serde_json::from_str(r#"{"registry": "m", "sources": true}"#).ok();
        let all: BTreeSet<_> = seen(&fleet).into_iter().chain(seen(&mirrored)).collect();
        for (api_version, kind) in overridable_in_layers() {
            let is_seen = all.iter().any(|(api, of, _)| api == api_version && of == kind);
            // No provider of addresses is built in.
            assert!(is_seen || kind == "IPAMProvider", "{kind} of {api_version}: {all:?}");
        }
        let of_rights =
            ["ServiceAccount", "ClusterRole", "DataStore", "Kustomization", "Deployment"];
        assert!(all.iter().all(|(_, kind, _)| !of_rights.contains(&kind.as_str())), "{all:?}");
        assert!(all.iter().all(|(_, _, name)| name != "carp-system" && name != "fleet"), "{all:?}");
    }

    #[test]
    fn of_the_cluster_that_a_worker_is_neither_its_bootstrap_nor_its_identity_is_seen() {
        let fleet = fleet();
        let worker = fleet.workers.values().next().unwrap();
        let job = control_plane_worker_job(&fleet, worker, &Templates::built_in(), "").unwrap();
        let objects = job.reached().unwrap();
        let kinds: BTreeSet<_> = objects.iter().filter_map(|o| o["kind"].as_str()).collect();
        for seen in ["Cluster", "KubeadmControlPlane", "MachineDeployment", "Namespace"] {
            assert!(kinds.contains(seen), "{seen}: {kinds:?}");
        }
        let carps = ["Worker", "Kustomization", "OCIRepository", "ClusterResourceSet", "ConfigMap"];
        for unseen in carps.into_iter().chain(["AzureClusterIdentity", "ServiceAccount"]) {
            assert!(!kinds.contains(unseen), "{unseen}");
        }
    }
}
