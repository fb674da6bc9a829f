//! `control-plane/`: what the control-plane cluster's Flux syncs: its components, and for each worker
//! the cluster that the worker is, and its bootstrap.

use serde_json::{Value, json};

use super::agent::Agent;
use super::cluster::{CLUSTER_FILE, no_flavor};
use super::context::{self, ComponentVersions};
use super::external::{self, Carried, ExternalSecret};
use super::federation;
use super::flux::{FLUX_SYSTEM, FleetRepository, Kustomization, ROOT, WORKER_APPLIER, object};
use super::folder::{DIGEST_ANNOTATION, NO_DIGEST};
use super::job::{Job, Scope};
use super::layers::{self, LayerSite};
use super::rights::RenderSettings;
use super::templates::Templates;
use crate::diag::Diagnostics;
use crate::model::FlavorKind;
use crate::model::api::API_VERSION;
use crate::model::{Fleet, Nodes, Worker, paths};

/// Flux among the components.
pub(super) const FLUX: &str = "flux";
/// The Flux objects of a worker's bootstrap.
const BOOTSTRAP_FILE: &str = "bootstrap.yaml";
/// The folder that is applied to the worker itself.
const BOOTSTRAP: &str = "bootstrap";
/// Flux's published manifests: one file for the whole installation.
const FLUX_MANIFESTS: &str = "ghcr.io/fluxcd/flux-manifests";
/// The images in them.
const FLUX_CONTROLLERS: &[&str] = &[
    "helm-controller",
    "image-automation-controller",
    "image-reflector-controller",
    "kustomize-controller",
    "notification-controller",
    "source-controller",
    "source-watcher",
];

/// The job that makes the control plane's own files: `kustomization.yaml`, `layers.yaml` and a folder
/// for each layer, with the settings with which the workers' folders are rendered, or were. `workers.yaml`, `fleet.lock` and
/// those folders have doors of their own.
#[must_use]
pub fn control_plane_job(
    fleet: &Fleet,
    templates: &Templates,
    prefix: &str,
    settings: RenderSettings,
) -> Job {
    let own = fleet.spec.control_plane.as_ref().map(|cluster| &cluster.components);
    let site = LayerSite {
        folder: paths::CONTROL_PLANE.to_owned(),
        repository: FleetRepository { spec: &fleet.spec, prefix },
        components: own.map_or_else(ComponentVersions::built_in, ComponentVersions::overlaid),
        in_containers: false,
        storage_class: false,
        applier: WORKER_APPLIER,
        tenants: Vec::new(),
        applies: FlavorKind::Worker,
        settings,
        containers: true,
        agent: Agent::of_control_plane(fleet),
        data_stores: Vec::new(),
        beside: &["workers.yaml"],
    };
    layers::job(site, templates)
}

/// The job that makes `control-plane/<worker>/`: the cluster that the worker is, and its bootstrap.
/// `None` for an attached worker, which exists already: [`preparations`](super::preparations) says what
/// to run there.
#[must_use]
pub fn control_plane_worker_job(
    fleet: &Fleet,
    worker: &Worker,
    templates: &Templates,
    prefix: &str,
) -> Option<Job> {
    let flavor = worker.flavor();
    if worker.nodes() == Nodes::Existing {
        return None;
    }
    let mut problems = Diagnostics::default();
    if templates.flavor(flavor).is_none() && templates.broken(flavor).next().is_none() {
        problems.push(no_flavor(flavor, &worker.file));
    }
    let mut context = context::worker(fleet, worker, &mut problems);
    federation::add(&mut context, fleet, worker);
    let repository = FleetRepository { spec: &fleet.spec, prefix };
    let mut added = vec![(CLUSTER_FILE.to_owned(), vec![worker_object(worker)])];
    let mut listed = vec![(String::new(), vec![CLUSTER_FILE.to_owned()])];
    if let Some(sync) = sync(worker, repository) {
        added.push((BOOTSTRAP_FILE.to_owned(), bootstrap(fleet, worker, repository)));
        added.push((format!("{BOOTSTRAP}/sync.yaml"), sync));
        listed[0].1.push(BOOTSTRAP_FILE.to_owned());
        listed.push((BOOTSTRAP.to_owned(), vec!["sync.yaml".to_owned()]));
    }
    Some(Job {
        templates: templates.clone(),
        folder: flavor.to_owned(),
        rendered: vec![(format!("{flavor}/{CLUSTER_FILE}"), CLUSTER_FILE.to_owned())],
        context,
        added,
        fixed: Vec::new(),
        listed,
        scope: Scope::Cluster {
            name: worker.name.to_string(),
            flavor: flavor.to_owned(),
            makes: FlavorKind::Worker,
        },
        edits: None,
        problems,
    })
}

/// The Worker as it stands on the control-plane cluster.
fn worker_object(worker: &Worker) -> Value {
    let mut metadata = json!({
        "name": worker.name,
        "namespace": worker.name,
        "annotations": {DIGEST_ANNOTATION: NO_DIGEST},
    });
    if !worker.labels.is_empty() {
        metadata["labels"] = json!(worker.labels);
    }
    json!({"apiVersion": API_VERSION, "kind": "Worker", "metadata": metadata, "spec": worker.spec})
}

/// What installs Flux on the worker and points it at its path. The objects lie in the worker's
/// namespace, where Cluster API puts its kubeconfig: Flux reads such a Secret from the same namespace
/// only. When they go, what they made on the worker stays.
fn bootstrap(fleet: &Fleet, worker: &Worker, repository: FleetRepository<'_>) -> Vec<Value> {
    let name = worker.name.as_str();
    let registry = fleet.spec.images.as_ref().and_then(|i| i.registry.as_deref());
    let mirrored = |image: &str| match registry {
        Some(registry) => format!("{registry}/{image}"),
        None => image.to_owned(),
    };
    let kubeconfig = format!("{name}-kubeconfig");
    let version = ComponentVersions::overlaid(&worker.spec.components.0).version(FLUX).to_owned();
    let source = json!({
        "interval": "24h",
        "url": format!("oci://{}", mirrored(FLUX_MANIFESTS)),
        "ref": {"tag": version},
    });
    let mut install = Kustomization::new("component-flux", name, "./")
        .with("sourceRef", json!({"kind": "OCIRepository", "name": "flux"}))
        .with("wait", true)
        .with("deletionPolicy", "Orphan")
        .on(&kubeconfig);
    if registry.is_some() {
        let image = |controller: &&str| {
            let image = format!("ghcr.io/fluxcd/{controller}");
            json!({"name": image, "newName": mirrored(&image)})
        };
        install = install.with("images", FLUX_CONTROLLERS.iter().map(image).collect::<Vec<_>>());
    }
    let path = repository.path(&format!("{}/{BOOTSTRAP}", paths::control_plane(&worker.name)));
    let sync = Kustomization::new("component-sync", name, &path)
        .with("wait", false)
        .with("deletionPolicy", "Orphan")
        .after("component-flux")
        .on(&kubeconfig);
    let mut objects = vec![
        object("source.toolkit.fluxcd.io/v1", "OCIRepository", "flux", name, source),
        install.done(),
        sync.done(),
    ];
    objects.extend(credential(fleet).map(|s| copied("carp-credential", &[s], name)));
    let agent = Agent::of_worker(fleet, worker);
    objects.extend(agent.map(|agent| copied("carp-agent", &agent.secrets(), name)));
    let external = external::of_worker(fleet, worker);
    let others = external.iter().filter(|secret| secret.carried == Some(Carried::Others));
    let others: Vec<_> = others.map(|secret| secret.name.as_str()).collect();
    if !others.is_empty() {
        objects.push(copied("carp-secrets", &others, name));
    }
    objects.extend(external.iter().map(ExternalSecret::object));
    objects
}

/// The Secret with which the worker's Flux reads the output.
fn credential(fleet: &Fleet) -> Option<&str> {
    fleet.spec.delivery.as_ref()?.secret_ref.as_ref()?;
    Some(fleet.spec.bootstrap.as_ref()?.credential_ref.as_str())
}

/// What carries Secrets to the worker: Cluster API applies the content of a Secret of the type
/// `addons.cluster.x-k8s.io/resource-set`. The Secrets themselves are made by a person or an operator; Git has
/// their names. One that is not there is waited for, and keeps no other back (Cluster API,
/// `clusterresourceset_controller.go`).
fn copied(name: &str, secrets: &[&str], worker: &str) -> Value {
    let secret = |name: &&str| json!({"kind": "Secret", "name": name});
    let spec = json!({
        "clusterSelector": {"matchLabels": {"carp.dev/worker": worker}},
        "resources": secrets.iter().map(secret).collect::<Vec<_>>(),
        "strategy": "Reconcile",
    });
    object("addons.cluster.x-k8s.io/v1beta2", "ClusterResourceSet", name, worker, spec)
}

/// What the worker's Flux begins with: the source and the Kustomization of its whole folder. The worker
/// itself keeps the source from then on (it is in `layers.yaml`), so it is only made where it is
/// missing. `None` where `carp.yaml` names no delivery.
fn sync(worker: &Worker, repository: FleetRepository<'_>) -> Option<Vec<Value>> {
    let folder = paths::worker(&worker.name);
    let mut source = repository.source(&folder)?;
    source["metadata"]["annotations"] = json!({
        "kustomize.toolkit.fluxcd.io/prune": "disabled",
        "kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent",
    });
    let mut root =
        Kustomization::new(ROOT, FLUX_SYSTEM, &repository.path(&folder)).with("wait", false).done();
    root["metadata"]["annotations"] = json!({"kustomize.toolkit.fluxcd.io/prune": "disabled"});
    Some(vec![source, root])
}

#[cfg(test)]
mod tests {
    use super::super::Files;
    use super::super::fixture::{fleet, kinds, objects_of, text};
    use super::*;
    use crate::model::api::Images;

    fn files(fleet: &Fleet) -> Files {
        let worker = fleet.workers.values().next().unwrap();
        let job = control_plane_worker_job(fleet, worker, &Templates::built_in(), "p").unwrap();
        job.render().unwrap()
    }

    #[test]
    fn a_worker_is_a_cluster_with_a_bootstrap() {
        let files = files(&fleet());
        let names: Vec<_> = files.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "bootstrap.yaml",
                "bootstrap/kustomization.yaml",
                "bootstrap/sync.yaml",
                "cluster.yaml",
                "kustomization.yaml"
            ]
        );
        for kind in ["KubeadmControlPlane", "Worker", "ClusterResourceSet", "OCIRepository"] {
            assert!(kinds(&files).contains(&kind.to_owned()), "{kind}");
        }
    }

    #[test]
    fn flux_objects_lie_where_the_kubeconfig_is_and_leave_what_they_made() {
        let flux = objects_of(&files(&fleet()), "Kustomization");
        let flux: Vec<_> =
            flux.iter().filter(|k| k.pointer("/spec/kubeConfig").is_some()).collect();
        assert_eq!(flux.len(), 2);
        for kustomization in flux {
            assert_eq!(kustomization["metadata"]["namespace"], "wk-1");
            assert_eq!(kustomization["spec"]["kubeConfig"]["secretRef"]["name"], "wk-1-kubeconfig");
            assert_eq!(kustomization["spec"]["deletionPolicy"], "Orphan");
        }
    }

    #[test]
    fn the_workers_own_flux_keeps_its_source() {
        let files = files(&fleet());
        let sync = String::from_utf8(files["bootstrap/sync.yaml"].clone()).unwrap();
        assert!(sync.contains("kustomize.toolkit.fluxcd.io/ssa: IfNotPresent"), "{sync}");
        assert!(sync.contains("path: ./p/workers/wk-1\n"), "{sync}");
    }

    #[test]
    fn one_pool_has_no_taint_and_the_others_carry_hosted_control_planes() {
        let pools = objects_of(&files(&fleet()), "MachineDeployment");
        let tainted = |name: &str| {
            let pool = pools.iter().find(|p| p["metadata"]["name"] == name).unwrap();
            pool.pointer("/spec/template/spec/taints/0/key").cloned()
        };
        assert_eq!(tainted("wk-1-system"), None);
        assert_eq!(tainted("wk-1-np0"), Some(json!("carp.dev/hosted-control-planes")));
    }

    #[test]
    fn the_issuer_is_the_workers_own() {
        let mut fleet = fleet();
        assert!(!text(&files(&fleet)).contains("service-account-issuer"));
        let azure = fleet.spec.credentials[0].azure.as_mut().unwrap();
        azure.oidc_issuer_prefix = Some("https://oidc.example.com".into());
        assert!(text(&files(&fleet)).contains("value: \"https://oidc.example.com/wk-1\"\n"));
    }

    #[test]
    fn a_mirror_stands_before_flux_too() {
        let mut fleet = fleet();
        fleet.spec.images =
            Some(Images { registry: Some("m.example.com".into()), ..Default::default() });
        let bootstrap = String::from_utf8(files(&fleet)["bootstrap.yaml"].clone()).unwrap();
        assert!(bootstrap.contains("url: oci://m.example.com/ghcr.io/fluxcd/flux-manifests\n"));
        assert!(bootstrap.contains("newName: m.example.com/ghcr.io/fluxcd/source-controller\n"));
    }

    #[test]
    fn an_attached_worker_has_no_folder_here() {
        let mut fleet = fleet();
        let worker = fleet.workers.values_mut().next().unwrap();
        worker.spec.flavor = Some("attached".to_owned());
        let worker = fleet.workers.values().next().unwrap();
        assert!(control_plane_worker_job(&fleet, worker, &Templates::built_in(), "").is_none());
    }

    #[test]
    fn the_control_plane_hosts_no_control_planes() {
        let job =
            control_plane_job(&fleet(), &Templates::built_in(), "", RenderSettings::default());
        let files = job.render().unwrap();
        assert!(!text(&files).contains("kamaji"), "no Kamaji, no DataStore");
        let all: String = files.values().map(|b| String::from_utf8_lossy(b)).collect();
        assert!(all.contains("name: \"carp-workers\"") && all.contains("kubeadmcontrolplanes"));
    }
}
