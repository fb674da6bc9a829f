//! `workers/<w>/`: what a worker's Flux syncs, its clusters' folders apart.

use super::agent::Agent;
use super::context::{self, ComponentVersions};
use super::flux::{CLUSTER_APPLIER, FleetRepository};
use super::job::Job;
use super::layers::{self, LayerSite};
use super::rights::RenderSettings;
use super::templates::Templates;
use crate::model::{Brings, Flavor, FlavorKind};
use crate::model::{Fleet, Nodes, Worker, paths};

/// The job that makes a worker's own files: `kustomization.yaml`, `layers.yaml` and a folder for each
/// layer. `clusters.yaml`, `sentinel.yaml` and `carp.lock` change with the clusters and have doors of
/// their own.
#[must_use]
pub fn worker_job(fleet: &Fleet, worker: &Worker, templates: &Templates, prefix: &str) -> Job {
    let nodes = worker.nodes();
    let in_containers = nodes == Nodes::Containers;
    let parameters = &worker.spec.parameters;
    let leaves_one = |f: &Flavor| f.leaves_out(Brings::StorageClass, parameters);
    let site = LayerSite {
        folder: paths::worker(&worker.name),
        repository: FleetRepository { spec: &fleet.spec, prefix },
        components: ComponentVersions::overlaid(&worker.spec.components.0),
        in_containers,
        storage_class: nodes == Nodes::Machines && !worker.manifest().is_some_and(leaves_one),
        applier: CLUSTER_APPLIER,
        tenants: fleet.spec.tenants.iter().map(|tenant| tenant.name.as_str()).collect(),
        applies: FlavorKind::ManagedCluster,
        settings: RenderSettings::of(&fleet.spec),
        containers: nodes != Nodes::Machines,
        agent: Agent::of_worker(fleet, worker),
        data_stores: context::data_stores(worker),
        beside: &["clusters.yaml", "sentinel.yaml"],
    };
    layers::job(site, templates)
}

#[cfg(test)]
mod tests {
    use super::super::Files;
    use super::super::fixture::{fleet, text};
    use super::*;
    use crate::model::api;

    fn files(fleet: &Fleet) -> Files {
        let worker = fleet.workers.values().next().unwrap();
        worker_job(fleet, worker, &Templates::built_in(), "").render().unwrap()
    }

    #[test]
    fn every_layer_is_a_folder_after_the_one_before() {
        let files = files(&fleet());
        let layers = String::from_utf8(files["layers.yaml"].clone()).unwrap();
        let order = ["crds", "cert-manager", "capi-operator", "providers", "platform"];
        for pair in order.windows(2) {
            let depends = format!("dependsOn:\n  - name: component-{}\n", pair[0]);
            assert!(layers.contains(&depends), "{layers}");
            assert!(files.contains_key(&format!("{}/kustomization.yaml", pair[1])));
        }
        assert_eq!(layers.matches("wait: true\n").count(), order.len());
        assert!(!layers.contains("postBuild"));
        assert!(files.contains_key("crds/managedclusters.carp.dev.yaml"));
    }

    #[test]
    fn a_worker_may_pin_its_components() {
        let mut fleet = fleet();
        let before = text(&files(&fleet));
        let worker = fleet.workers.values_mut().next().unwrap();
        worker.spec.components.0.insert("capz".into(), "v9.9.9".into());
        let after = text(&files(&fleet));
        assert!(!before.contains("v9.9.9") && after.contains("version: \"v9.9.9\"\n"));
    }

    #[test]
    fn an_attached_worker_has_its_own_storage() {
        let mut fleet = fleet();
        assert!(text(&files(&fleet)).contains("kind: StorageClass"));
        let worker = fleet.workers.values_mut().next().unwrap();
        worker.spec.flavor = Some("attached".to_owned());
        assert!(!text(&files(&fleet)).contains("kind: StorageClass"));
    }

    #[test]
    fn a_worker_without_a_cloud_has_no_provider_of_machines() {
        let mut fleet = fleet();
        assert!(text(&files(&fleet)).contains("InfrastructureProvider"));
        fleet.spec.credentials.clear();
        let worker = fleet.workers.values_mut().next().unwrap();
        worker.spec.flavor = Some("attached".to_owned());
        assert!(!text(&files(&fleet)).contains("InfrastructureProvider"));
    }

    #[test]
    fn another_cloud_is_told_to_what_makes_networks() {
        let mut fleet = fleet();
        assert!(!text(&files(&fleet)).contains("aso-controller-settings"));
        let azure = fleet.spec.credentials[0].azure.as_mut().unwrap();
        azure.environment = Some("AzureUSGovernmentCloud".into());
        let text = text(&files(&fleet));
        for line in [
            "      name: aso-controller-settings\n",
            "        path: \"/stringData/AZURE_AUTHORITY_HOST\"\n",
            "        value: \"https://login.microsoftonline.us/\"\n",
        ] {
            assert!(text.contains(line), "{line}");
        }
    }

    #[test]
    fn a_worker_of_kind_is_light_and_lets_cluster_api_touch_its_clusters() {
        let mut fleet = fleet();
        let full = text(&files(&fleet));
        assert!(!full.contains("carp-kind-cluster-api"), "nobody makes them there");
        let worker = fleet.workers.values_mut().next().unwrap();
        worker.spec.flavor = Some("kind".to_owned());
        let light = files(&fleet);
        let light = text(&light);
        for gone in ["kamaji-system", "InfrastructureProvider", "StorageClass"] {
            assert!(full.contains(gone) && !light.contains(gone), "{gone}");
        }
        assert!(light.contains("\"CoreProvider\""), "{light}");
        assert!(light.contains("cluster.x-k8s.io/aggregate-to-manager: \"true\"\n"));
        let crds =
            api::all_crds().into_iter().filter(|(file, _)| file.starts_with("kindclusters."));
        for (file, _) in crds {
            assert!(files(&fleet).contains_key(&format!("crds/{file}")), "{file}");
        }
    }

    #[test]
    fn without_a_delivery_the_source_is_someone_elses() {
        let mut fleet = fleet();
        fleet.spec.delivery = None;
        assert!(!text(&files(&fleet)).contains("sparseCheckout"));
    }
}
