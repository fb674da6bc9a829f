//! `workers/<w>/clusters/<c>/`: a cluster's folder.

use serde_json::{Value, json};

use super::context;
use super::folder::{DIGEST_ANNOTATION, NO_DIGEST};
use super::job::{Job, Scope};
use super::templates::Templates;
use crate::diag::{Code, Diagnostic, Diagnostics, FieldPath, Place};
use crate::model::FlavorKind;
use crate::model::api::API_VERSION;
use crate::model::{Cluster, DEFAULT_DATA_STORE, Fleet, Name, Versions, data_store_of};

/// The file with a cluster's objects.
pub(super) const CLUSTER_FILE: &str = "cluster.yaml";
/// The label that names an object's tenant.
pub(super) const TENANT_LABEL: &str = "carp.dev/tenant";

/// The annotation of a ManagedCluster with the versions of its folder, while they are others than its own.
pub(super) const VERSIONS_ANNOTATION: &str = "carp.dev/versions";

/// The annotation of a ManagedCluster with its data store, where that is another than `default`.
pub(super) const DATA_STORE_ANNOTATION: &str = "carp.dev/data-store";

/// The job that makes a cluster's folder on a worker: `kustomization.yaml` and `cluster.yaml`, which
/// holds the flavor's objects and the ManagedCluster itself. All parts have the desired version.
#[must_use]
pub fn cluster_job(fleet: &Fleet, cluster: &Cluster, worker: &Name, templates: &Templates) -> Job {
    let versions = Versions::both(&cluster.spec.version);
    cluster_job_at(fleet, cluster, worker, (&versions, None), templates)
}

/// The folder of a cluster on a worker, its parts at given versions, and in the data store that it is in already, if
/// any.
#[must_use]
pub fn cluster_job_at(
    fleet: &Fleet,
    cluster: &Cluster,
    worker: &Name,
    (versions, kept): (&Versions, Option<&str>),
    templates: &Templates,
) -> Job {
    let mut problems = Diagnostics::default();
    let flavor = cluster.flavor();
    if templates.flavor(flavor).is_none() && templates.broken(flavor).next().is_none() {
        problems.push(no_flavor(flavor, &cluster.file));
    }
    let mut context = context::cluster(fleet, cluster, worker, versions, &mut problems);
    let document = fleet.workers.get(worker);
    let store = data_store_of(cluster, document, kept);
    if store.is_none() {
        problems.push(no_data_store(cluster, worker));
    }
    let store = store.filter(|name| *name != DEFAULT_DATA_STORE);
    if let Some(store) = store {
        context["dataStore"] = store.into();
    }
    Job {
        templates: templates.clone(),
        folder: flavor.to_owned(),
        rendered: vec![(format!("{flavor}/{CLUSTER_FILE}"), CLUSTER_FILE.to_owned())],
        context,
        added: vec![(CLUSTER_FILE.to_owned(), vec![managed_cluster(cluster, versions, store)])],
        fixed: Vec::new(),
        listed: vec![(String::new(), vec![CLUSTER_FILE.to_owned()])],
        scope: Scope::Cluster {
            name: cluster.name.to_string(),
            flavor: flavor.to_owned(),
            makes: FlavorKind::ManagedCluster,
        },
        edits: None,
        problems,
    }
}

/// A flavor that has no folder of templates.
pub(super) fn no_flavor(flavor: &str, file: &str) -> Diagnostic {
    let message = format!("the flavor `{flavor}` has no templates that can be read");
    Diagnostic::new(Code::UnknownFlavor, message)
        .at(Place::file(file))
        .help(format!("add templates/{flavor}/flavor.yaml, or use a built-in flavor"))
}

/// A cluster whose worker does not have the data store that it is in, or any that it asks for.
fn no_data_store(cluster: &Cluster, worker: &Name) -> Diagnostic {
    let message = format!("the worker {worker} has no data store for the cluster {}", cluster.name);
    Diagnostic::new(Code::InvalidDataStore, message)
        .at(Place::field(&cluster.file, cluster.document, FieldPath::keys("spec")))
        .help(format!(
            "put the store back into `dataStores` of {worker}, or name one that is there"
        ))
}

/// The ManagedCluster as it stands on the worker: in the namespace of its name, its tenant a label.
fn managed_cluster(cluster: &Cluster, versions: &Versions, store: Option<&str>) -> Value {
    let mut annotations = json!({DIGEST_ANNOTATION: NO_DIGEST});
    if *versions != Versions::both(&cluster.spec.version) {
        annotations[VERSIONS_ANNOTATION] = versions.to_string().into();
    }
    if let Some(store) = store {
        annotations[DATA_STORE_ANNOTATION] = store.into();
    }
    let mut labels = cluster.labels.clone();
    labels.insert(TENANT_LABEL.to_owned(), cluster.tenant.clone());
    let mut object = json!({
        "apiVersion": API_VERSION,
        "kind": "ManagedCluster",
        "metadata": {"name": cluster.name, "namespace": cluster.name, "labels": labels},
        "spec": cluster.spec,
    });
    object["metadata"]["annotations"] = annotations;
    object
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{cluster_files, fleet, kinds, objects_of, text};
    use super::super::{Files, FolderChange, forbidden_changes};
    use super::*;
    use crate::model::Catalogue;
    use crate::model::api::{Autoscale, NodePool};

    const PRUNE: &str = "kustomize.toolkit.fluxcd.io/prune";

    fn pool(files: &Files) -> Value {
        objects_of(files, "MachineDeployment")[0].clone()
    }

    fn name_of(files: &Files, kind: &str) -> String {
        objects_of(files, kind)[0]["metadata"]["name"].as_str().unwrap().to_owned()
    }

    fn with(change: impl Fn(&mut NodePool)) -> Files {
        let mut fleet = fleet();
        fleet.clusters.values_mut().for_each(|c| change(&mut c.spec.node_pools[0]));
        cluster_files(&fleet)
    }

    #[test]
    fn everything_is_in_the_namespace_of_the_clusters_name() {
        let files = cluster_files(&fleet());
        for kind in kinds(&files).iter().filter(|k| *k != "Namespace") {
            for object in objects_of(&files, kind) {
                assert_eq!(object["metadata"]["namespace"], "pay-eu", "{kind}");
            }
        }
        let cluster = &objects_of(&files, "ManagedCluster")[0];
        assert_eq!(cluster["metadata"]["labels"]["carp.dev/tenant"], "pay");
    }

    #[test]
    fn flux_prunes_the_cluster_and_leaves_what_it_owns_to_cluster_api() {
        let prunable = [
            "Cluster",
            "ClusterResourceSet",
            "ConfigMap",
            "HelmChartProxy",
            "MachineDeployment",
            "MachineHealthCheck",
            "NetworkPolicy",
            "PodDisruptionBudget",
        ];
        let files = cluster_files(&fleet());
        for kind in kinds(&files).iter().filter(|k| *k != "ManagedCluster") {
            for object in objects_of(&files, kind) {
                let kept = object["metadata"]["annotations"][PRUNE] == "disabled";
                assert_eq!(kept, !prunable.contains(&kind.as_str()), "{kind}");
            }
        }
    }

    #[test]
    fn a_changed_machine_renames_the_whole_chain() {
        let (before, after) = (with(|_| ()), with(|p| p.vm_size = Some("Standard_D8s_v5".into())));
        for kind in ["AzureMachineTemplate", "KubeadmConfigTemplate"] {
            assert_ne!(name_of(&before, kind), name_of(&after, kind), "{kind}");
        }
        let spec = pool(&after)["spec"]["template"]["spec"].clone();
        let machine = name_of(&after, "AzureMachineTemplate");
        assert_eq!(spec["infrastructureRef"]["name"], machine.as_str());
        let config = name_of(&after, "KubeadmConfigTemplate");
        assert_eq!(spec["bootstrap"]["configRef"]["name"], config.as_str());
        assert!(text(&after).contains(&format!("{machine}-azure-json")));
        assert!(
            forbidden_changes(&FolderChange::between(&before, &after), &Catalogue::default())
                .is_empty(),
            "a new name is no change"
        );
    }

    #[test]
    fn a_changed_kubelet_renames_the_bootstrap_alone() {
        let label = |p: &mut NodePool| drop(p.labels.insert("team".into(), "pay".into()));
        let (before, after) = (with(|_| ()), with(label));
        let machine = |files| name_of(files, "AzureMachineTemplate");
        assert_eq!(machine(&before), machine(&after));
        let config = |files| name_of(files, "KubeadmConfigTemplate");
        assert_ne!(config(&before), config(&after));
    }

    #[test]
    fn an_unrelated_change_rolls_no_machine() {
        let before = cluster_files(&fleet());
        let mut fleet = fleet();
        for cluster in fleet.clusters.values_mut() {
            cluster.spec.version = "v1.34.3".into();
            cluster.labels.insert("a".into(), "b".into());
            cluster.spec.node_pools[0].replicas = Some(7);
        }
        let after = cluster_files(&fleet);
        assert_ne!(before, after);
        for kind in ["AzureMachineTemplate", "KubeadmConfigTemplate"] {
            assert_eq!(name_of(&before, kind), name_of(&after, kind), "{kind}");
        }
    }

    #[test]
    fn the_parts_of_a_cluster_may_have_versions_of_their_own() {
        let fleet = fleet();
        let cluster = fleet.clusters.values().next().unwrap();
        let worker = Name::parse("wk-1").unwrap();
        let templates = Templates::built_in();
        let at = |versions: &str| {
            let versions = Versions::parse(versions).unwrap();
            cluster_job_at(&fleet, cluster, &worker, (&versions, None), &templates)
        };
        assert_eq!(
            at("v1.34.2/v1.34.2").key(),
            cluster_job(&fleet, cluster, &worker, &templates).key()
        );
        let files = at("v1.33.10/v1.32.9").render().unwrap();
        assert_eq!(objects_of(&files, "KamajiControlPlane")[0]["spec"]["version"], "1.33.10");
        assert_eq!(pool(&files)["spec"]["template"]["spec"]["version"], "v1.32.9");
        let own = &objects_of(&files, "ManagedCluster")[0];
        assert_eq!(own["spec"]["version"], "v1.34.2", "what people want");
        assert_eq!(own["metadata"]["annotations"]["carp.dev/versions"], "v1.33.10/v1.32.9");
        assert!(!text(&cluster_files(&fleet)).contains("carp.dev/versions"));
        let machine = |files| name_of(files, "AzureMachineTemplate");
        assert_eq!(
            machine(&files),
            machine(&cluster_files(&fleet)),
            "a version makes no new template"
        );
    }

    #[test]
    fn the_autoscaler_owns_the_replicas_of_its_pools() {
        let files = with(|p| {
            p.replicas = None;
            p.autoscale = Some(Autoscale { min: 2, max: 5 });
        });
        let pool = pool(&files);
        assert!(pool["spec"].get("replicas").is_none());
        let max = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size";
        assert_eq!(pool["metadata"]["annotations"][max], "5");
    }

    #[test]
    fn a_control_plane_that_kamaji_makes_is_not_made_by_azure() {
        let files = cluster_files(&fleet());
        let azure = &objects_of(&files, "AzureCluster")[0]["spec"];
        assert_eq!(azure["controlPlaneEnabled"], false);
        assert!(azure.get("controlPlaneEndpoint").is_none());
        let hosted = &objects_of(&files, "KamajiControlPlane")[0]["spec"];
        assert_eq!(hosted["version"], "1.34.2", "without the v");
        assert_eq!(hosted["deployment"]["tolerations"][0]["key"], "carp.dev/hosted-control-planes");
    }

    #[test]
    fn an_argument_of_the_api_server_stands_once() {
        let said = serde_json::json!({
            "auditPolicy": "x",
            "oidc": {"issuerURL": "https://a", "clientID": "a"},
            "apiServerExtraArgs": {"audit-log-path": "/x", "oidc-client-id": "", "v": "4"},
        });
        let args = |flavor: &str| {
            let mut fleet = fleet();
            for cluster in fleet.clusters.values_mut() {
                cluster.spec.flavor = Some(flavor.to_owned());
                cluster.spec.parameters = serde_json::from_value(said.clone()).unwrap();
            }
            let files = cluster_files(&fleet);
            let (kind, at) = match flavor {
                "capz" => (
                    "KubeadmControlPlane",
                    "/spec/kubeadmConfigSpec/clusterConfiguration/apiServer/extraArgs",
                ),
                _ => ("KamajiControlPlane", "/spec/apiServer/extraArgs"),
            };
            let args = objects_of(&files, kind)[0].pointer(at).unwrap().as_array().unwrap().clone();
            let text = |arg: &Value| match arg.as_str() {
                Some(text) => text.to_owned(),
                None => format!(
                    "--{}={}",
                    arg["name"].as_str().unwrap(),
                    arg["value"].as_str().unwrap()
                ),
            };
            args.iter().map(text).collect::<Vec<_>>()
        };
        let hosted = [
            "--oidc-issuer-url=https://a",
            "--audit-policy-file=/etc/kubernetes/audit/policy.yaml",
            "--audit-log-path=/x",
            "--v=4",
        ];
        assert_eq!(args("kamaji-capz"), hosted);
        let own = args("capz");
        assert_eq!(
            own.iter().filter(|arg| arg.starts_with("--audit-log-path=")).count(),
            1,
            "{own:?}"
        );
        assert!(own.contains(&"--audit-log-path=/x".to_owned()), "{own:?}");
        assert!(own.contains(&"--audit-log-maxage=30".to_owned()), "{own:?}");
    }

    #[test]
    fn paused_is_said_only_when_it_is_so() {
        assert!(!text(&cluster_files(&fleet())).contains("paused"));
    }

    #[test]
    fn the_key_follows_the_cluster_and_not_its_neighbours() {
        let key = |fleet: &Fleet| {
            let worker = Name::parse("wk-1").unwrap();
            let cluster = &fleet.clusters[&Name::parse("pay-eu").unwrap()];
            cluster_job(fleet, cluster, &worker, &Templates::built_in()).key()
        };
        let before = fleet();
        let mut neighbour = fleet();
        let other = neighbour.clusters.values().next().unwrap().clone();
        neighbour.clusters.insert(Name::parse("other").unwrap(), other);
        neighbour.spec.guards = Some(crate::model::api::Guards::default());
        assert_eq!(key(&before), key(&neighbour));
        let mut changed = fleet();
        changed.clusters.values_mut().for_each(|c| c.spec.paused = true);
        assert_ne!(key(&before), key(&changed));
        let mut registry = fleet();
        registry.spec.images = Some(crate::model::api::Images {
            registry: Some("m.example.com".into()),
            ..Default::default()
        });
        assert_ne!(key(&before), key(&registry), "what the templates get counts");
    }

    #[test]
    fn missing_credentials_and_flavors_are_findings() {
        let mut fleet = fleet();
        fleet.spec.credentials.clear();
        let codes = |fleet: &Fleet| {
            let cluster = fleet.clusters.values().next().unwrap();
            let worker = Name::parse("wk-1").unwrap();
            let job = cluster_job(fleet, cluster, &worker, &Templates::built_in());
            job.render().unwrap_err().iter().map(|d| d.code).collect::<Vec<_>>()
        };
        assert_eq!(codes(&fleet), [Code::UnknownCredentials]);
        fleet.clusters.values_mut().for_each(|c| c.spec.flavor = Some("gone".into()));
        assert_eq!(codes(&fleet), [Code::UnknownFlavor]);
    }
}
