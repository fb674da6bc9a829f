//! How far an override reaches into what a worker itself is made of. What runs there is decided by `components` and
//! `images`, who may do what by carp alone, and the content of Secrets by nobody in Git; how it runs may be overridden.
//! Clusters' folders are not bound to this: what applies them may touch nothing else anyway.

use std::collections::BTreeSet;

use serde_json::Value;

use super::object_edits::is_carps_api;

/// What an override may change of a kind of objects of a worker, beside labels and annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverrideReach {
    /// Nothing at all, and why.
    Nothing(&'static str),
    /// What lies at or below these JSON pointers.
    Fields(&'static [&'static str]),
    /// What lies at or below these JSON pointers, of objects that a cluster is made of and no layer has.
    OfCluster(&'static [&'static str]),
}

/// Who runs a Helm release, from where its chart comes, and what is patched in it is not free: the controller that
/// installs it may do everything (`helm-controller`, `api/v2/helmrelease_types.go`).
const RELEASE: &[&str] = &[
    "/spec/interval",
    "/spec/timeout",
    "/spec/install",
    "/spec/upgrade",
    "/spec/driftDetection",
    "/spec/values",
];
/// How a source is fetched, and not what (`source-controller`, `api/v1`).
const SOURCE: &[&str] = &[
    "/spec/interval",
    "/spec/timeout",
    "/spec/provider",
    "/spec/secretRef",
    "/spec/certSecretRef",
    "/spec/proxySecretRef",
];
/// How a provider's managers run. Its patches and additional manifests could bring anything, roles too
/// (`cluster-api-operator`, `api/v1alpha2/provider_types.go`).
const PROVIDER: &[&str] = &["/spec/deployment", "/spec/manager", "/spec/additionalDeployments"];
/// What may change of a `StorageClass` that exists (Kubernetes, `pkg/apis/storage/validation`).
const STORAGE_CLASS: &[&str] = &["/allowVolumeExpansion", "/mountOptions"];
/// With what a chart is installed, and not which (`cluster-api-addon-provider-helm`, `api/v1alpha1`).
const CHART_PROXY: &[&str] = &["/spec/valuesTemplate", "/spec/options", "/spec/reconcileStrategy"];
/// How pods run, and not as whom or with which volumes.
const WORKLOAD: &[&str] = &[
    "/spec/replicas",
    "/spec/strategy",
    "/spec/template/metadata/labels",
    "/spec/template/metadata/annotations",
    "/spec/template/spec/affinity",
    "/spec/template/spec/containers",
    "/spec/template/spec/nodeSelector",
    "/spec/template/spec/priorityClassName",
    "/spec/template/spec/tolerations",
    "/spec/template/spec/topologySpreadConstraints",
];

/// The `apiVersion` of objects of the layers.
const OPERATOR: &str = "operator.cluster.x-k8s.io/v1alpha2";
const SOURCES: &str = "source.toolkit.fluxcd.io/v1";

/// The kinds of which only some fields are free. The layers have objects of others too, which nobody overrides.
const OF_FIELDS: [(&str, &str, &[&str]); 14] = [
    ("v1", "Namespace", &[]),
    ("storage.k8s.io/v1", "StorageClass", STORAGE_CLASS),
    ("helm.toolkit.fluxcd.io/v2", "HelmRelease", RELEASE),
    (SOURCES, "GitRepository", SOURCE),
    (SOURCES, "HelmRepository", SOURCE),
    (SOURCES, "OCIRepository", SOURCE),
    (OPERATOR, "AddonProvider", PROVIDER),
    (OPERATOR, "BootstrapProvider", PROVIDER),
    (OPERATOR, "ControlPlaneProvider", PROVIDER),
    (OPERATOR, "CoreProvider", PROVIDER),
    (OPERATOR, "InfrastructureProvider", PROVIDER),
    (OPERATOR, "IPAMProvider", PROVIDER),
    ("addons.cluster.x-k8s.io/v1alpha1", "HelmChartProxy", CHART_PROXY),
    ("apps/v1", "Deployment", WORKLOAD),
];
/// How many of them, from the first, are kinds of the layers.
const OF_LAYERS: usize = 12;

/// In which order and how patiently machines are replaced (Cluster API, `api/core/v1beta2/machinedeployment_types.go`).
const MACHINES: &[&str] =
    &["/spec/rollout", "/spec/deletion", "/spec/remediation", "/spec/template/spec/deletion"];
/// In which order and how patiently machines of control planes are replaced (`api/controlplane/kubeadm/v1beta2/kubeadm_control_plane_types.go`).
const CONTROL_PLANE: &[&str] =
    &["/spec/rollout", "/spec/remediation", "/spec/machineTemplate/spec/deletion"];
/// Disks of machines, and tags; not what runs on them, nor as whom (`cluster-api-provider-azure`,
/// `api/v1beta1/azuremachine_types.go`).
const AZURE_MACHINE: &[&str] = &[
    "/spec/template/spec/acceleratedNetworking",
    "/spec/template/spec/additionalTags",
    "/spec/template/spec/osDisk/cachingType",
    "/spec/template/spec/osDisk/diskSizeGB",
    "/spec/template/spec/osDisk/managedDisk/storageAccountType",
];
/// The kinds of the cluster that a worker is of which some fields are free.
const OF_CLUSTER: [(&str, &str, &[&str]); 5] = [
    ("cluster.x-k8s.io/v1beta2", "MachineDeployment", MACHINES),
    ("cluster.x-k8s.io/v1beta2", "MachinePool", MACHINES),
    ("controlplane.cluster.x-k8s.io/v1beta2", "KubeadmControlPlane", CONTROL_PLANE),
    ("infrastructure.cluster.x-k8s.io/v1beta1", "AzureCluster", &["/spec/additionalTags"]),
    ("infrastructure.cluster.x-k8s.io/v1beta1", "AzureMachineTemplate", AZURE_MACHINE),
];
/// Domains of labels and annotations that controllers act upon.
const OF_CONTROLLERS: [&str; 6] =
    ["azure.com", "carp.dev", "fluxcd.io", "k8s.io", "kubernetes.io", "x-k8s.io"];

/// API groups of objects that say who may do what, or that make Secrets.
const GROUPS_OF_RIGHTS: [&str; 5] = [
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "authorization.azure.com",
    "external-secrets.io",
    "rbac.authorization.k8s.io",
];
/// Kinds of objects that do: what a `ClusterResourceSet` names, and what stands in a `ConfigMap` that it names, is
/// applied to the worker with all rights.
const KINDS_OF_RIGHTS: [&str; 4] = ["ClusterResourceSet", "ConfigMap", "Secret", "ServiceAccount"];
/// How the kinds of clouds' identities and of their rights end.
const ENDS_OF_RIGHTS: [&str; 3] = ["Identity", "Credential", "RoleAssignment"];
/// Parts of names of fields, in small letters, that say as whom something runs and what it may do, in objects and in the
/// values of charts; what runs at all; and whether definitions of kinds stay, for all objects go with theirs.
const FIELDS_OF_RIGHTS: [&str; 20] = [
    "apiserver",
    "approvesigner",
    "clusterrole",
    "crds",
    "extradeploy",
    "extramanifests",
    "extraobjects",
    "hostipc",
    "hostnetwork",
    "hostpid",
    "identit",
    "image",
    "kubeconfig",
    "privileged",
    "rbac",
    "registry",
    "repositor",
    "roleassignment",
    "securitycontext",
    "serviceaccount",
];

/// Names of fields, in small letters, by which containers would run something else or read files and Secrets of others
/// (Kubernetes, `core/v1`), and others than the templates would be root on machines (Cluster API,
/// `api/bootstrap/kubeadm/v1beta2/kubeadmconfig_types.go`).
const FIELDS_OF_ROOT: [&str; 12] = [
    "bootcommands",
    "command",
    "envfrom",
    "files",
    "hostpath",
    "lifecycle",
    "postkubeadmcommands",
    "prekubeadmcommands",
    "users",
    "valuefrom",
    "volumemounts",
    "volumes",
];

/// What an override may change of objects of a kind that a worker is made of.
#[must_use]
pub fn override_reach(api_version: &str, kind: &str) -> OverrideReach {
    // By its group: of another version it is no other kind.
    let group = group(api_version);
    let known = OF_FIELDS.iter().find(|(of, name, _)| *name == kind && self::group(of) == group);
    if let Some((_, _, fields)) = known {
        return OverrideReach::Fields(fields);
    }
    if is_carps_api(api_version) {
        return OverrideReach::Nothing("by them carp and Flux know the worker");
    }
    let is_named = KINDS_OF_RIGHTS.contains(&kind);
    if GROUPS_OF_RIGHTS.contains(&group)
        || is_named
        || ENDS_OF_RIGHTS.iter().any(|end| kind.ends_with(end))
    {
        return OverrideReach::Nothing("they say who may do what, or carry Secrets");
    }
    // Of others, labels and annotations: objects of AKS hold objects of any kind, and flavors bring kinds of their own.
    let of_cluster =
        OF_CLUSTER.iter().find(|(of, name, _)| *name == kind && self::group(of) == group);
    OverrideReach::OfCluster(of_cluster.map_or(&[], |(_, _, fields)| fields))
}

/// The kinds of the layers of which something is free, each with its `apiVersion`.
pub fn overridable_in_layers() -> impl Iterator<Item = (&'static str, &'static str)> {
    OF_FIELDS[..OF_LAYERS].iter().map(|(api_version, kind, _)| (*api_version, *kind))
}

/// The first label or annotation that a controller acts upon, or that the templates wrote, and that has another value;
/// `None` where there is none. Charts and policies select objects by those that are there.
#[must_use]
pub fn changed_label(before: &Value, after: &Value) -> Option<String> {
    let of_controller = |key: &str| {
        let domain = key.split_once('/').map_or("", |(domain, _)| domain);
        OF_CONTROLLERS.iter().any(|of| {
            domain.strip_suffix(of).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
    };
    ["/metadata/labels", "/metadata/annotations"].into_iter().find_map(|at| {
        let of = |object: &Value| object.pointer(at).and_then(Value::as_object).cloned();
        let (old, new) = (of(before).unwrap_or_default(), of(after).unwrap_or_default());
        let mut keys = old.keys().chain(new.keys());
        let is_kept = |key: &&String| {
            old.get(*key) != new.get(*key) && (old.contains_key(*key) || of_controller(key))
        };
        keys.find(is_kept).map(|key| format!("{at}/{}", super::api::escaped(key)))
    })
}

/// The first field that would leave nothing running of what ran; `None` where there is none.
#[must_use]
pub fn turned_off(before: &Value, after: &Value) -> Option<String> {
    let mut left = vec![(String::new(), after)];
    while let Some((at, value)) = left.pop() {
        match value {
            Value::Object(fields) => {
                for (key, below) in fields {
                    let at = format!("{at}/{}", super::api::escaped(key));
                    let is_none = below.as_f64() == Some(0.0) || below == "0";
                    let counts = key.to_lowercase().contains("replica");
                    if counts && is_none && before.pointer(&at) != Some(below) {
                        return Some(at);
                    }
                    left.push((at, below));
                }
            }
            Value::Array(items) => {
                left.extend(items.iter().enumerate().map(|(n, item)| (format!("{at}/{n}"), item)));
            }
            _ => {}
        }
    }
    None
}

/// Whether an override may change a place, a JSON pointer, of an object of a worker of which some fields are free.
#[must_use]
pub fn is_free(fields: &[&str], pointer: &str) -> bool {
    let lies_in = |field: &&str| {
        pointer.strip_prefix(*field).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    ["/metadata/labels", "/metadata/annotations"].iter().chain(fields).any(lies_in)
}

/// The first place at which two values differ that is in none of the free fields; `None` where there is none.
#[must_use]
pub fn changed_beside(fields: &[&str], before: &Value, after: &Value) -> Option<String> {
    beside("", fields, before, after)
}

fn beside(at: &str, fields: &[&str], before: &Value, after: &Value) -> Option<String> {
    if before == after || is_free(fields, at) {
        return None;
    }
    let (Value::Object(old), Value::Object(new)) = (before, after) else {
        return Some(at.to_owned());
    };
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let none = Value::Null;
    keys.into_iter().find_map(|key| {
        let below = |of: &'_ serde_json::Map<String, Value>| of.get(key).unwrap_or(&none).clone();
        beside(&format!("{at}/{}", super::api::escaped(key)), fields, &below(old), &below(new))
    })
}

/// The first field that says as whom something runs, or what it may do, and that has another value; `None` where there
/// is none.
#[must_use]
pub fn changed_rights(before: &Value, after: &Value) -> Option<String> {
    let (old, new) = (rights(before), rights(after));
    let differs = old.symmetric_difference(&new).next();
    differs.map(|(at, _)| at.clone())
}

/// The fields of rights in a value, each with what it says.
fn rights(value: &Value) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    let mut left = vec![(String::new(), value)];
    while let Some((at, value)) = left.pop() {
        match value {
            Value::Object(fields) => {
                for (key, below) in fields {
                    let at = format!("{at}/{}", super::api::escaped(key));
                    let small = key.to_lowercase();
                    let is_root = FIELDS_OF_ROOT.contains(&&*small);
                    if is_root || FIELDS_OF_RIGHTS.iter().any(|part| small.contains(part)) {
                        found.insert((at, below.to_string()));
                    } else {
                        left.push((at, below));
                    }
                }
            }
            Value::Array(items) => {
                left.extend(items.iter().enumerate().map(|(n, item)| (format!("{at}/{n}"), item)));
            }
            _ => {}
        }
    }
    found
}

fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

#[cfg(test)]
mod tests;
