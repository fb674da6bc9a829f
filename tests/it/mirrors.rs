//! Where `images.registry` names a mirror, no image comes from anywhere else: every image of a worker and of
//! its clusters is listed here, with the field that says where it comes from. With `images.sources: Mirror` the
//! same holds of charts and manifests.

use std::collections::BTreeSet;

use carp::model::api::Sources;
use carp::model::tables;
use carp::render::Files;
use serde_json::Value;

use crate::federation;
use crate::support::{documents, fleet};

const MIRROR: &str = "mirror.example.com";
/// The registries that the images come from without a mirror.
const REGISTRIES: &[&str] =
    &["registry.k8s.io", "quay.io", "docker.io", "ghcr.io", "mcr.microsoft.com"];

/// A component, the version whose charts and manifests were read for the lists below, and where those are.
/// Another version may have other images: read it, and write it down here.
const READ: &[(&str, &str, &str)] = &[
    ("flux", "v2.9.4", "fluxcd/flux2 manifests/install"),
    ("cert-manager", "v1.21.1", "cert-manager/cert-manager deploy/charts/cert-manager/values.yaml"),
    ("capi-operator", "0.28.0", "cluster-api-operator hack/charts/cluster-api-operator"),
    ("capi", "v1.13.5", "cluster-api config/manager, bootstrap and controlplane/kubeadm"),
    ("capz", "v1.26.0", "cluster-api-provider-azure config/manager"),
    ("aso", "v2.18.0", "cluster-api-provider-azure config/aso"),
    ("caaph", "v0.6.4", "cluster-api-addon-provider-helm config/manager"),
    ("kamaji", "26.8.2-edge", "kamaji charts/kamaji with kamaji-etcd 0.15.0; its kubeadm images"),
    ("kamaji-provider", "v0.20.0", "cluster-api-control-plane-provider-kamaji config/manager"),
    ("kamaji-etcd", "0.15.0", "kamaji-etcd charts/kamaji-etcd, whose etcd is v3.5.17"),
    ("etcd", "v3.5.17", "the chart's own; its etcdctl and etcdutl take and read snapshots"),
    ("rclone", "1.71.2", "rclone Dockerfile"),
    ("calico", "v3.31.7", "projectcalico/calico charts/tigera-operator"),
    ("cloud-provider-azure", "1.36.0", "cloud-provider-azure helm/cloud-provider-azure"),
    ("azuredisk-csi", "1.34.5", "azuredisk-csi-driver charts/v1.34.5"),
];

/// An image, and where the name begins that is pulled: a kind, a name, a path into it (after `!`, into the YAML
/// text there), and what follows in the image's name.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str);

const PROVIDER: &str = "/spec/deployment/containers/0/imageUrl";
const ASO: &str = "/spec/additionalDeployments/azureserviceoperator-controller-manager/deployment\
                   /containers/0/imageUrl";

const WORKER: &[Row] = &[
    (
        "quay.io/jetstack/cert-manager-controller",
        "HelmRelease",
        "cert-manager",
        "/spec/values/image/repository",
        "",
    ),
    (
        "quay.io/jetstack/cert-manager-webhook",
        "HelmRelease",
        "cert-manager",
        "/spec/values/webhook/image/repository",
        "",
    ),
    (
        "quay.io/jetstack/cert-manager-cainjector",
        "HelmRelease",
        "cert-manager",
        "/spec/values/cainjector/image/repository",
        "",
    ),
    (
        "quay.io/jetstack/cert-manager-acmesolver",
        "HelmRelease",
        "cert-manager",
        "/spec/values/acmesolver/image/repository",
        "",
    ),
    (
        "quay.io/jetstack/cert-manager-startupapicheck",
        "HelmRelease",
        "cert-manager",
        "/spec/values/startupapicheck/image/repository",
        "",
    ),
    ("quay.io/jetstack/charts/cert-manager", "OCIRepository", "cert-manager", "/spec/url", ""),
    (
        "registry.k8s.io/capi-operator/cluster-api-operator",
        "HelmRelease",
        "cluster-api-operator",
        "/spec/values/image/manager/repository",
        "",
    ),
    (
        "registry.k8s.io/cluster-api/cluster-api-controller",
        "CoreProvider",
        "cluster-api",
        PROVIDER,
        "",
    ),
    (
        "registry.k8s.io/cluster-api/kubeadm-bootstrap-controller",
        "BootstrapProvider",
        "kubeadm",
        PROVIDER,
        "",
    ),
    (
        "registry.k8s.io/cluster-api/kubeadm-control-plane-controller",
        "ControlPlaneProvider",
        "kubeadm",
        PROVIDER,
        "",
    ),
    (
        "registry.k8s.io/cluster-api-azure/cluster-api-azure-controller",
        "InfrastructureProvider",
        "azure",
        PROVIDER,
        "",
    ),
    (
        "registry.k8s.io/cluster-api-azure/cluster-api-azure-controller",
        "InfrastructureProvider",
        "azure",
        "/spec/patches/0/patch!/0/value",
        "",
    ),
    ("mcr.microsoft.com/k8s/azureserviceoperator", "InfrastructureProvider", "azure", ASO, ""),
    (
        "registry.k8s.io/cluster-api-helm/cluster-api-helm-controller",
        "AddonProvider",
        "helm",
        PROVIDER,
        "",
    ),
    (
        "docker.io/clastix/cluster-api-control-plane-provider-kamaji",
        "ControlPlaneProvider",
        "kamaji",
        PROVIDER,
        "",
    ),
    ("docker.io/clastix/kamaji", "HelmRelease", "kamaji", "/spec/values/image/repository", ""),
    (
        "quay.io/coreos/etcd",
        "HelmRelease",
        "kamaji",
        "/spec/values/kamaji-etcd/image/repository",
        "",
    ),
    (
        "docker.io/cfssl/cfssl",
        "HelmRelease",
        "kamaji",
        "/spec/values/kamaji-etcd/jobs/cfssl/image",
        "",
    ),
    (
        "docker.io/clastix/kubectl",
        "HelmRelease",
        "kamaji",
        "/spec/values/kamaji-etcd/jobs/kubectl/image",
        "",
    ),
    (
        "quay.io/coreos/etcd",
        "HelmRelease",
        "kamaji",
        "/spec/values/kamaji-etcd/jobs/etcd/image",
        "",
    ),
    ("ghcr.io/fluxcd/flux-manifests", "OCIRepository", "flux", "/spec/url", ""),
];

/// What the add-ons of every cluster in Azure are made of, a worker's own as well.
const ADD_ONS: &[Row] = &[
    (
        "quay.io/tigera/operator",
        "HelmChartProxy",
        "calico",
        "/spec/valuesTemplate!/tigeraOperator/registry",
        "/tigera/operator",
    ),
    (
        "quay.io/calico/node",
        "HelmChartProxy",
        "calico",
        "/spec/valuesTemplate!/installation/registry",
        "calico/node",
    ),
    (
        "mcr.microsoft.com/oss/v2/kubernetes/azure-cloud-controller-manager",
        "HelmChartProxy",
        "cloud-provider-azure",
        "/spec/valuesTemplate!/cloudControllerManager/imageRepository",
        "/azure-cloud-controller-manager",
    ),
    (
        "mcr.microsoft.com/oss/v2/kubernetes/azure-cloud-node-manager",
        "HelmChartProxy",
        "cloud-provider-azure",
        "/spec/valuesTemplate!/cloudNodeManager/imageRepository",
        "/azure-cloud-node-manager",
    ),
    (
        "mcr.microsoft.com/oss/v2/kubernetes-csi/azuredisk-csi",
        "HelmChartProxy",
        "azuredisk-csi",
        "/spec/valuesTemplate!/image/baseRepo",
        "/oss/v2/kubernetes-csi/azuredisk-csi",
    ),
];

const CLUSTER: &[Row] = &[
    (
        "registry.k8s.io/kube-apiserver",
        "KamajiControlPlane",
        "pay-eu",
        "/spec/registry",
        "/kube-apiserver",
    ),
    (
        "registry.k8s.io/coredns/coredns",
        "KamajiControlPlane",
        "pay-eu",
        "/spec/addons/coreDNS/imageRepository",
        "/coredns",
    ),
    (
        "registry.k8s.io/kube-proxy",
        "KamajiControlPlane",
        "pay-eu",
        "/spec/addons/kubeProxy/imageRepository",
        "/kube-proxy",
    ),
    (
        "registry.k8s.io/kas-network-proxy/proxy-agent",
        "KamajiControlPlane",
        "pay-eu",
        "/spec/addons/konnectivity/agent/image",
        "",
    ),
    (
        "registry.k8s.io/kas-network-proxy/proxy-server",
        "KamajiControlPlane",
        "pay-eu",
        "/spec/addons/konnectivity/server/image",
        "",
    ),
    (
        "registry.k8s.io/autoscaling/cluster-autoscaler",
        "Deployment",
        "cluster-autoscaler",
        "/spec/template/spec/containers/0/image",
        "",
    ),
];

/// The control plane of a worker that is a cluster of its own.
const SELF_MANAGED: &[Row] = &[
    (
        "registry.k8s.io/kube-apiserver",
        "KubeadmControlPlane",
        "wk-weu-1-control-plane",
        "/spec/kubeadmConfigSpec/clusterConfiguration/imageRepository",
        "/kube-apiserver",
    ),
    (
        "registry.k8s.io/coredns/coredns",
        "KubeadmControlPlane",
        "wk-weu-1-control-plane",
        "/spec/kubeadmConfigSpec/clusterConfiguration/dns/imageRepository",
        "/coredns",
    ),
];

/// Every source of a worker and of a cluster on it: a kind, a name, and what it is behind the mirror. The
/// version comes from the table of components.
const SOURCES: &[(&str, &str, &str)] = &[
    (
        "AddonProvider",
        "helm",
        "github.com/kubernetes-sigs/cluster-api-addon-provider-helm/addon-components",
    ),
    ("BootstrapProvider", "kubeadm", "github.com/kubernetes-sigs/cluster-api/bootstrap-components"),
    (
        "ControlPlaneProvider",
        "kamaji",
        "github.com/clastix/cluster-api-control-plane-provider-kamaji/control-plane-components",
    ),
    (
        "ControlPlaneProvider",
        "kubeadm",
        "github.com/kubernetes-sigs/cluster-api/control-plane-components",
    ),
    ("CoreProvider", "cluster-api", "github.com/kubernetes-sigs/cluster-api/core-components"),
    (
        "HelmChartProxy",
        "azuredisk-csi",
        "raw.githubusercontent.com/kubernetes-sigs/azuredisk-csi-driver/master/charts/azuredisk-csi-driver",
    ),
    ("HelmChartProxy", "calico", "docs.tigera.io/calico/charts/tigera-operator"),
    (
        "HelmChartProxy",
        "cloud-provider-azure",
        "raw.githubusercontent.com/kubernetes-sigs/cloud-provider-azure/master/helm/repo/cloud-provider-azure",
    ),
    (
        "HelmRelease",
        "cluster-api-operator",
        "kubernetes-sigs.github.io/cluster-api-operator/cluster-api-operator",
    ),
    ("HelmRelease", "kamaji", "github.com/clastix/kamaji/charts/kamaji"),
    (
        "InfrastructureProvider",
        "azure",
        "github.com/kubernetes-sigs/cluster-api-provider-azure/infrastructure-components",
    ),
    ("OCIRepository", "cert-manager", "quay.io/jetstack/charts/cert-manager"),
    ("OCIRepository", "flux", "ghcr.io/fluxcd/flux-manifests"),
];

/// The artifact that an object is made of, its tag apart; `None` where it is made of none. A source that is Git's
/// is the fleet's own.
fn artifact(object: &Value, all: &[(String, Value)]) -> Option<String> {
    let text = |path: &str| object.pointer(path).and_then(Value::as_str);
    let found = match object["kind"].as_str()? {
        "OCIRepository" => text("/spec/url")?.to_owned(),
        "HelmChartProxy" => format!("{}/{}", text("/spec/repoURL")?, text("/spec/chartName")?),
        "HelmRelease" => {
            let chart = text("/spec/chart/spec/chart")?;
            let of = |o: &Value| {
                o["kind"] == object.pointer("/spec/chart/spec/sourceRef/kind").cloned().unwrap()
                    && o["metadata"]["name"]
                        == object.pointer("/spec/chart/spec/sourceRef/name").cloned().unwrap()
            };
            let source = all.iter().map(|(_, o)| o).find(|o| of(o)).unwrap();
            format!("{}/{chart}", source.pointer("/spec/url").and_then(Value::as_str)?)
        }
        kind if kind.ends_with("Provider")
            && object["apiVersion"].as_str()?.contains("operator") =>
        {
            format!("oci://{}", text("/spec/fetchConfig/oci").unwrap_or("the internet"))
        }
        _ => return None,
    };
    Some(found)
}

/// What stands at a path, and after a `!` in the YAML text that is there.
fn at(object: &Value, path: &str) -> Option<String> {
    let (outer, inner) = path.split_once('!').map_or((path, None), |(o, i)| (o, Some(i)));
    let found = object.pointer(outer)?.as_str()?.to_owned();
    let Some(inner) = inner else { return Some(found) };
    let text: Value = serde_yaml::from_str(&found).ok()?;
    Some(text.pointer(inner)?.as_str()?.to_owned())
}

/// The rows whose image does not come from behind the mirror in the files below a folder.
fn past(tree: &Files, folder: &str, rows: &[Row]) -> Vec<String> {
    let below: Files = tree
        .iter()
        .filter(|(path, _)| path.starts_with(folder))
        .map(|(path, bytes)| (path.clone(), bytes.clone()))
        .collect();
    let objects = documents(&below);
    let is_behind = |(image, kind, name, path, rest): &&Row| {
        let named = |o: &Value| o["kind"] == *kind && o["metadata"]["name"] == *name;
        let mut there = objects.iter().filter(|(_, o)| named(o)).filter_map(|(_, o)| at(o, path));
        let found =
            there.next().map(|value| format!("{}{rest}", value.trim_start_matches("oci://")));
        let wanted = format!("{MIRROR}/{image}");
        found.is_some_and(|f| f == wanted || f.starts_with(&format!("{wanted}:")))
    };
    let past = rows.iter().filter(|row| !is_behind(row));
    past.map(|(image, kind, name, path, _)| format!("{folder}: {image}: {kind} {name} {path}"))
        .collect()
}

#[test]
fn every_image_of_a_worker_and_a_cluster_is_behind_the_mirror() {
    let tree = fleet::tree(&fleet::full(), "");
    let (worker, own) = ("workers/wk-weu-1/", "control-plane/wk-weu-1/");
    let cluster = "workers/wk-weu-1/clusters/pay-eu/";
    let (flux, on_worker) = WORKER.split_last().unwrap();
    let mut found = past(&tree, worker, on_worker);
    found.extend(past(&tree, own, &[*flux]));
    found.extend(past(&tree, cluster, ADD_ONS));
    found.extend(past(&tree, own, ADD_ONS));
    found.extend(past(&tree, cluster, CLUSTER));
    found.extend(past(&tree, own, SELF_MANAGED));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_source_is_behind_the_mirror() {
    let tree = fleet::tree(&fleet::full(), "");
    let all = documents(&tree);
    let mut found: Vec<_> = all
        .iter()
        .filter_map(|(_, object)| {
            let name = object["metadata"]["name"].as_str()?;
            Some((object["kind"].as_str()?, name, artifact(object, &all)?))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    let behind = |(kind, name, path): &(&'static str, &'static str, &'static str)| {
        (*kind, *name, format!("oci://{MIRROR}/{path}"))
    };
    assert_eq!(found, SOURCES.iter().map(behind).collect::<Vec<_>>());
    for (path, object) in all.iter().filter(|(_, o)| o["kind"] == "GitRepository") {
        assert_eq!(object["spec"]["url"], "ssh://git@git.example.com/fleet.git", "{path}");
    }
}

#[test]
fn nothing_is_read_from_the_internet() {
    for (path, bytes) in fleet::tree(&fleet::full(), "") {
        let text = String::from_utf8_lossy(&bytes);
        for line in text.lines().filter(|line| !path.contains("/crds/") && line.contains("http")) {
            let own = line.contains("https://oidc.example.com/") || line.contains("/httproute");
            assert!(own || !line.contains("://"), "{path}: {line}");
        }
    }
}

#[test]
fn images_alone_may_come_from_the_mirror() {
    let mut fleet = fleet::full();
    fleet.spec.images.as_mut().unwrap().sources = Sources::Upstream;
    let tree = fleet::tree(&fleet, "");
    let all = documents(&tree);
    let found: Vec<_> = all.iter().filter_map(|(_, object)| artifact(object, &all)).collect();
    assert!(found.contains(&"https://docs.tigera.io/calico/charts/tigera-operator".to_owned()));
    assert!(past(&tree, "workers/wk-weu-1/clusters/pay-eu/", ADD_ONS).is_empty());
}

#[test]
fn a_cluster_before_the_images_moved_takes_them_where_they_are() {
    let mut fleet = fleet::full();
    fleet.clusters.values_mut().for_each(|c| c.spec.version = "v1.31.9".into());
    let tree = fleet::tree(&fleet, "");
    let found = past(&tree, "workers/wk-weu-1/clusters/pay-eu/", &ADD_ONS[2..4]);
    assert_eq!(found.len(), 2, "{found:?}");
    let text: String = tree.values().map(|bytes| String::from_utf8_lossy(bytes)).collect();
    assert!(text.contains("mirror.example.com/mcr.microsoft.com/oss/kubernetes\""));
}

#[test]
fn no_registry_is_named_but_behind_the_mirror() {
    let mut federated = fleet::full();
    federation::federated(&mut federated);
    let trees = [fleet::full(), federated].map(|fleet| fleet::tree(&fleet, ""));
    for (path, bytes) in trees.into_iter().flatten() {
        let text = String::from_utf8_lossy(&bytes);
        // What is replaced is named as it is: `images` of a Kustomization.
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("- name: "));
        for line in lines.filter(|_| !path.contains("/crds/")) {
            for registry in REGISTRIES {
                let behind = line.matches(&format!("{MIRROR}/{registry}/")).count();
                let named = line.matches(&format!("{registry}/")).count();
                assert_eq!(named, behind, "{path}: {line}");
            }
        }
    }
}

#[test]
fn the_images_were_read_from_the_versions_that_are_pinned() {
    let mut read: BTreeSet<_> = READ.iter().map(|(name, version, _)| (*name, *version)).collect();
    read.insert(("carp", env!("CARGO_PKG_VERSION")));
    let pinned: BTreeSet<_> =
        tables::components().iter().map(|(name, v)| (name.as_str(), v.as_str())).collect();
    assert_eq!(read, pinned, "read the new version's charts and manifests, and list their images");
}
