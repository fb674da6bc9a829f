//! `KINDCluster`: a local cluster made by [kind](https://kind.sigs.k8s.io), of an API group of its own.
//!
//! Group, version, names, the first two fields, the finalizer and the secret are those of the first
//! provider (`sergenyalcin/cluster-api-provider-kind`, `api/v1alpha1/kindcluster_types.go`), so that its
//! manifests work as they are. The rest is what the Cluster API contract v1beta2 asks of an
//! infrastructure cluster and of a control plane.
#![expect(unreachable_pub, reason = "KubeSchema repeats the struct inside a function")]

use kube::{CustomResource, KubeSchema};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::super::{Condition, ConditionStatus, Digest};

/// The API group of `KINDCluster`. It has a dash: it is not Cluster API's own.
pub const KIND_CLUSTER_GROUP: &str = "infrastructure.cluster-k8s.io";
/// `apiVersion` of a `KINDCluster`.
pub const KIND_CLUSTER_API_VERSION: &str = "infrastructure.cluster-k8s.io/v1alpha1";
/// The Kubernetes version that a `KINDCluster` without one gets: the newest that carp knows an image of.
pub const DEFAULT_KIND_VERSION: &str = "1.37";
/// How many rows a history keeps: the newest.
pub const MOST_HISTORY: usize = 20;

/// A local Kubernetes cluster, made by kind.
#[derive(CustomResource, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "infrastructure.cluster-k8s.io",
    version = "v1alpha1",
    kind = "KINDCluster",
    plural = "kindclusters",
    doc = "A local Kubernetes cluster, made by kind.",
    namespaced,
    status = "KINDClusterStatus",
    shortname = "kc",
    category = "cluster-api",
    label("cluster.x-k8s.io/v1beta2", "v1alpha1"),
    printcolumn = r#"{"name":"KubernetesVersion","type":"string","jsonPath":".spec.kubernetesVersion"}"#,
    printcolumn = r#"{"name":"ClusterName","type":"string","jsonPath":".spec.clusterName"}"#,
    printcolumn = r#"{"name":"Ready","type":"string","jsonPath":".status.ready"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct KINDClusterSpec {
    /// What kind calls the cluster. It cannot be changed, for the cluster would be lost.
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[a-z0-9.-]+$"))]
    #[x_kube(validation = ("self == oldSelf", "clusterName cannot be changed"))]
    pub cluster_name: String,
    /// The minor version of Kubernetes, from `1.14` to `1.37`. What is made keeps its version: kind
    /// cannot upgrade a cluster.
    #[serde(default = "default_version")]
    #[schemars(regex(pattern = r"^1\.(1[4-9]|2[0-9]|3[0-7])$"))]
    pub kubernetes_version: String,
    /// The node image, in place of the one that carp knows for the version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub image: Option<String>,
    /// How many nodes of the cluster are its control plane, each a container.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 9))]
    pub control_plane_nodes: u8,
    /// How many nodes of the cluster carry workloads, each a container.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(max = 100))]
    pub worker_nodes: u8,
    /// A kind configuration (`kind.x-k8s.io/v1alpha4`), over which the fields above are laid. One with
    /// nodes of its own leaves `controlPlaneNodes` and `workerNodes` without effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "any_object")]
    pub config: Option<Value>,
    /// Where the API server is; the provider writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_endpoint: Option<Endpoint>,
    /// Which address `<cluster>-kubeconfig` and `controlPlaneEndpoint` have.
    #[serde(default, skip_serializing_if = "is_default")]
    pub endpoint_type: EndpointType,
    /// How long kind waits for the control plane to become ready.
    #[serde(default = "default_wait", skip_serializing_if = "is_default_wait")]
    #[schemars(regex(pattern = r"^([0-9]+h)?([0-9]+m)?([0-9]+s)?$"))]
    pub wait: String,
    /// Whether the nodes of a creation that failed stay until the next try, to be looked at.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retain_on_failure: bool,
    /// What becomes of the cluster when this object is deleted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub deletion_policy: KindDeletionPolicy,
}

/// Host and port of an API server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Endpoint {
    /// The name or address of the API server, without a scheme.
    #[serde(default)]
    pub host: String,
    /// The TCP port of the API server.
    #[serde(default)]
    pub port: u16,
}

/// From where a cluster is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum EndpointType {
    /// From the machine that has the nodes: a port of it.
    #[default]
    External,
    /// From the nodes' own network, such as out of another kind cluster.
    Internal,
}

/// What becomes of a cluster whose object is deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum KindDeletionPolicy {
    /// It is deleted.
    #[default]
    Delete,
    /// It stays.
    Orphan,
}

/// What the provider knows of the cluster, and what Cluster API reads of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KINDClusterStatus {
    /// Whether the cluster was made and its API server answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// What went wrong last, as one word; gone with the trouble.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
    /// What went wrong last, for people; gone with the trouble.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_message: Option<String>,
    /// `Ready`, `ClusterCreated`, `KubeconfigReady`, `Available`, `UpToDate`, `Paused`.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "conditions")]
    pub conditions: Vec<Condition>,
    /// What happened, the newest twenty, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<HistoryRow>,
    /// How far the cluster is, at the paths of the contract that Cluster API reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialization: Option<Initialization>,
    /// That this object is the control plane too, which no Machine stands for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub external_managed_control_plane: bool,
    /// The version that the API server says it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How many nodes kind made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// How many nodes say that they are ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_nodes: Option<u32>,
    /// The generation that this speaks of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The name under which the cluster is made: written before it is, and never changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_name: Option<String>,
    /// `kind://<host>/<name>`: on which machine. Whoever has this owns the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "providerID")]
    pub provider_id: Option<String>,
    /// What the cluster was made from; `None` until it is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<MadeFrom>,
}

/// A row of a history. The first provider kept these under `conditions`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryRow {
    /// When it happened, in RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// What happened, for people.
    #[serde(default)]
    pub message: String,
    /// What happened, as one word in CamelCase.
    #[serde(default)]
    pub reason: String,
}

/// What Cluster API waits for: the paths of the contract v1beta2 for an infrastructure cluster and for a
/// control plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Initialization {
    /// Whether the nodes are there: Cluster API goes on to the control plane.
    #[serde(default)]
    pub provisioned: bool,
    /// Whether the API server answered once: Cluster API looks at the cluster from then on.
    #[serde(default)]
    pub control_plane_initialized: bool,
}

/// What a cluster was made from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MadeFrom {
    /// When the cluster was made, in RFC 3339.
    pub time: String,
    /// The digest of the fields of the spec that make a cluster what it is. Empty for an adopted one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub spec_digest: String,
}

impl KINDClusterSpec {
    /// The smallest spec.
    #[must_use]
    pub fn named(cluster_name: &str) -> Self {
        Self {
            cluster_name: cluster_name.to_owned(),
            kubernetes_version: default_version(),
            image: None,
            control_plane_nodes: 1,
            worker_nodes: 0,
            config: None,
            control_plane_endpoint: None,
            endpoint_type: EndpointType::default(),
            wait: default_wait(),
            retain_on_failure: false,
            deletion_policy: KindDeletionPolicy::default(),
        }
    }

    /// The digest of what makes a cluster what it is: version, image, nodes and configuration.
    #[must_use]
    pub fn digest(&self) -> String {
        let facts = serde_json::json!({
            "kubernetesVersion": self.kubernetes_version,
            "image": self.image,
            "controlPlaneNodes": self.control_plane_nodes,
            "workerNodes": self.worker_nodes,
            "config": self.config,
        });
        Digest::of(facts.to_string().as_bytes()).short(16)
    }
}

/// Reads conditions, and the rows that the first provider kept there: those have no type, and are told
/// by it until they are moved to the history.
fn conditions<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Condition>, D::Error> {
    let rows: Option<Vec<Value>> = Option::deserialize(deserializer)?;
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let read = |row: Value| {
        serde_json::from_value(row.clone()).unwrap_or_else(|_| Condition {
            kind: String::new(),
            status: ConditionStatus::Unknown,
            reason: text(&row, "reason"),
            message: text(&row, "message"),
            last_transition_time: row["timestamp"].as_str().map(str::to_owned),
            observed_generation: None,
        })
    };
    Ok(rows.unwrap_or_default().into_iter().map(read).collect())
}

fn default_version() -> String {
    DEFAULT_KIND_VERSION.to_owned()
}

fn default_wait() -> String {
    "5m".to_owned()
}

fn is_default_wait(wait: &str) -> bool {
    wait == "5m"
}

const fn one() -> u8 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
fn is_one(number: &u8) -> bool {
    *number == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
fn is_zero(number: &u8) -> bool {
    *number == 0
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn any_object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

#[cfg(test)]
mod tests {
    use kube::CustomResourceExt as _;
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        let crd = serde_json::to_value(KINDCluster::crd()).unwrap();
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone()
    }

    #[test]
    fn group_names_and_columns_are_those_of_the_first_provider() {
        let crd = serde_json::to_value(KINDCluster::crd()).unwrap();
        assert_eq!(crd["metadata"]["name"], "kindclusters.infrastructure.cluster-k8s.io");
        assert_eq!(crd["metadata"]["labels"]["cluster.x-k8s.io/v1beta2"], "v1alpha1");
        let names = &crd["spec"]["names"];
        assert_eq!((&names["kind"], &names["shortNames"]), (&json!("KINDCluster"), &json!(["kc"])));
        let version = &crd["spec"]["versions"][0];
        assert_eq!(version["subresources"], json!({"status": {}}));
        let columns: Vec<_> = version["additionalPrinterColumns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| (c["name"].as_str().unwrap(), c["jsonPath"].as_str().unwrap()))
            .collect();
        assert_eq!(
            columns,
            [
                ("KubernetesVersion", ".spec.kubernetesVersion"),
                ("ClusterName", ".spec.clusterName"),
                ("Ready", ".status.ready"),
            ]
        );
    }

    #[test]
    fn a_name_is_bounded_and_cannot_be_changed() {
        let spec = &schema()["properties"]["spec"];
        assert_eq!(spec["required"], json!(["clusterName"]));
        let name = &spec["properties"]["clusterName"];
        assert_eq!((&name["maxLength"], &name["pattern"]), (&json!(64), &json!("^[a-z0-9.-]+$")));
        assert_eq!(name["x-kubernetes-validations"][0]["rule"], "self == oldSelf");
        let version = &spec["properties"]["kubernetesVersion"];
        assert_eq!(version["default"], DEFAULT_KIND_VERSION);
        let config = &spec["properties"]["config"];
        assert_eq!(config["x-kubernetes-preserve-unknown-fields"], true);
    }

    #[test]
    fn rows_of_the_first_provider_are_read_as_conditions_without_a_type() {
        let status: KINDClusterStatus = serde_json::from_value(json!({
            "ready": true,
            "conditions": [
                {"timestamp": "2021-09-01T00:00:00Z", "message": "Cluster was successfully created", "reason": ""},
                {"type": "Ready", "status": "True", "reason": "Ready"},
            ],
        }))
        .unwrap();
        let kinds: Vec<_> = status.conditions.iter().map(|c| c.kind.as_str()).collect();
        assert_eq!(kinds, ["", "Ready"]);
        let time = status.conditions[0].last_transition_time.as_deref();
        assert_eq!(time, Some("2021-09-01T00:00:00Z"));
    }

    #[test]
    fn only_what_makes_a_cluster_changes_the_digest() {
        let spec = KINDClusterSpec::named("a");
        let other = KINDClusterSpec { wait: "1m".to_owned(), ..spec.clone() };
        assert_eq!(spec.digest(), other.digest());
        let other = KINDClusterSpec { worker_nodes: 1, ..spec.clone() };
        assert_ne!(spec.digest(), other.digest());
    }
}
