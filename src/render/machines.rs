//! The machines behind an object, and what makes Cluster API replace them.
//!
//! Only the contract of Cluster API is read, no provider's kind: a MachineDeployment or `MachinePool` has
//! `spec.replicas` machines of `spec.template`, a control plane of machines has `spec.replicas` of
//! `spec.machineTemplate`, and a Cluster of a `ClusterClass` has the same in `spec.topology`
//! (<https://cluster-api.sigs.k8s.io/developer/providers/contracts/overview>).

use serde_json::{Value, json};

use super::object::Object;

const CORE: &str = "cluster.x-k8s.io";
const CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io";
/// The most machines that the autoscaler makes; `spec.replicas` is its own then.
const MAX_SIZE: &str =
    "/metadata/annotations/cluster.x-k8s.io~1cluster-api-autoscaler-node-group-max-size";

/// What decides over the machines of a MachineDeployment: `MachineTemplateUpToDate` in Cluster API's
/// `internal/controllers/machinedeployment/mdutil/util.go` leaves out what is changed in place.
const POOL_TEMPLATE: &[&str] = &[
    "/spec/template/spec/version",
    "/spec/template/spec/failureDomain",
    "/spec/template/spec/bootstrap",
    "/spec/template/spec/infrastructureRef",
    "/spec/rolloutAfter",
    "/spec/rollout/after",
];
/// What decides over the machines of a control plane: `UpToDate` in Cluster API's
/// `controlplane/kubeadm/internal/filters.go`. What other control planes of machines have beside these is not known here.
const CONTROL_PLANE_TEMPLATE: &[&str] = &[
    "/spec/version",
    "/spec/machineTemplate/infrastructureRef",
    "/spec/machineTemplate/spec/infrastructureRef",
    "/spec/kubeadmConfigSpec",
    "/spec/rolloutAfter",
    "/spec/rollout/after",
];

/// Machines of one make: those of a MachineDeployment, of a control plane, or of a pool in a topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineGroup {
    /// Its name in the object; empty where the object is the group.
    pub name: String,
    /// How many there are at most: what the autoscaler may make counts.
    pub machines: u64,
    /// What they are made of. Another one replaces them; `Null` where nothing does.
    pub template: Value,
    /// The Kubernetes version of their nodes; empty where the object does not say.
    pub version: String,
}

/// The Kubernetes version of a control plane; `None` for any other object.
pub(super) fn control_plane_version(object: &Object) -> Option<&str> {
    let version = || object.value.pointer("/spec/version").and_then(Value::as_str);
    (object.group() == CONTROL_PLANE).then(version).flatten()
}

/// The groups of machines that an object makes. Control planes that are pods are groups too, of which
/// nothing is replaced.
#[must_use]
pub fn machine_groups(object: &Value) -> Vec<MachineGroup> {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    let group_of = text("apiVersion").split_once('/').map_or("", |(group, _)| group);
    let has = |at: &str| object.pointer(at).is_some();
    match (group_of, text("kind")) {
        (CORE, "Cluster") => topology(object),
        (CORE, _) if has("/spec/template/spec") => vec![group(object, POOL_TEMPLATE)],
        (CONTROL_PLANE, _) if has("/spec/machineTemplate") => {
            vec![group(object, CONTROL_PLANE_TEMPLATE)]
        }
        _ if has("/spec/replicas") => vec![group(object, &[])],
        _ => Vec::new(),
    }
}

fn group(value: &Value, template: &[&str]) -> MachineGroup {
    let machines = count(value.pointer("/spec/replicas"), value.pointer(MAX_SIZE));
    let version = ["/spec/template/spec/version", "/spec/version"].map(|at| value.pointer(at));
    let version = version.into_iter().flatten().find_map(Value::as_str).unwrap_or_default();
    MachineGroup {
        name: String::new(),
        machines,
        template: fields(value, template),
        version: version.to_owned(),
    }
}

/// `spec.replicas` unset is one, as Cluster API defaults it, unless the autoscaler has the say. A zero that is written
/// out is applied by Flux, whatever the autoscaler may make later.
fn count(replicas: Option<&Value>, most: Option<&Value>) -> u64 {
    let most = most.and_then(Value::as_str).and_then(|text| text.parse().ok());
    let replicas = replicas.and_then(Value::as_u64);
    match (replicas, most) {
        (Some(0), _) => 0,
        (Some(replicas), Some(most)) => replicas.max(most),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => 1,
    }
}

/// What is at the pointers; `Null` where nothing is.
fn fields(value: &Value, pointers: &[&str]) -> Value {
    let found: Vec<_> =
        pointers.iter().filter_map(|p| value.pointer(p).map(|v| json!([p, v]))).collect();
    if found.is_empty() { Value::Null } else { Value::Array(found) }
}

/// The machines of a Cluster that is made from a `ClusterClass`.
fn topology(cluster: &Value) -> Vec<MachineGroup> {
    let Some(topology) = cluster.pointer("/spec/topology") else { return Vec::new() };
    let version = topology.get("version").cloned().unwrap_or_default();
    let class = ["class", "classRef"].map(|key| topology.get(key).cloned().unwrap_or_default());
    let make = |name: String, part: &Value| {
        let mut of = part.clone();
        if let Some(of) = of.as_object_mut() {
            for key in ["replicas", "metadata"] {
                of.remove(key);
            }
        }
        let most = part.pointer(MAX_SIZE);
        let machines = count(part.get("replicas"), most);
        let template = json!([version, class, of]);
        let version = version.as_str().unwrap_or_default().to_owned();
        MachineGroup { name, machines, template, version }
    };
    let mut groups = Vec::new();
    if let Some(control_plane) = topology.get("controlPlane") {
        groups.push(make("control plane".to_owned(), control_plane));
    }
    for list in ["machineDeployments", "machinePools"] {
        let pools = topology.pointer(&format!("/workers/{list}")).and_then(Value::as_array);
        for pool in pools.into_iter().flatten() {
            let name = pool.get("name").and_then(Value::as_str).unwrap_or_default();
            groups.push(make(format!("pool {name}"), pool));
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(spec: &Value, annotations: &Value) -> Vec<MachineGroup> {
        machine_groups(&json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineDeployment",
            "metadata": {"name": "a", "annotations": annotations}, "spec": spec,
        }))
    }

    #[test]
    fn a_pool_has_the_machines_that_it_may_come_to() {
        let template = json!({"spec": {"version": "v1.34.1"}});
        let most = json!({"cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size": "7"});
        for (replicas, annotations, machines) in [
            (json!(3), json!({}), 3),
            (json!(0), json!({}), 0),
            (Value::Null, json!({}), 1),
            (Value::Null, most.clone(), 7),
            (json!(9), most.clone(), 9),
            (json!(0), most, 0),
        ] {
            let mut spec = json!({"template": template});
            if !replicas.is_null() {
                spec["replicas"] = replicas;
            }
            assert_eq!(pool(&spec, &annotations)[0].machines, machines, "{spec}");
        }
    }

    #[test]
    fn what_is_changed_in_place_makes_no_other_machine() {
        let make =
            |spec: Value| pool(&json!({"replicas": 1, "template": {"spec": spec}}), &json!({}));
        let base = make(json!({"version": "v1.34.1", "nodeDrainTimeout": "1m"}));
        assert_eq!(base, make(json!({"version": "v1.34.1", "nodeDrainTimeout": "9m"})));
        for other in [
            json!({"version": "v1.34.2"}),
            json!({"version": "v1.34.1", "failureDomain": "2"}),
            json!({"version": "v1.34.1", "infrastructureRef": {"name": "b"}}),
            json!({"version": "v1.34.1", "bootstrap": {"configRef": {"name": "b"}}}),
        ] {
            assert_ne!(base[0].template, make(other.clone())[0].template, "{other}");
        }
    }

    #[test]
    fn a_control_plane_of_pods_has_no_machine_to_replace() {
        let of = |spec: Value| {
            machine_groups(&json!({
                "apiVersion": "controlplane.cluster.x-k8s.io/v1beta2", "kind": "Any", "spec": spec,
            }))
        };
        let pods = of(json!({"replicas": 2, "version": "v1.34.1"}));
        assert_eq!((pods[0].machines, &pods[0].template), (2, &Value::Null));
        let machines =
            |version| of(json!({"replicas": 3, "version": version, "machineTemplate": {}}));
        assert_ne!(machines("v1.34.1"), machines("v1.34.2"));
    }

    #[test]
    fn a_topology_has_a_group_for_each_pool() {
        let of = |version: &str| {
            machine_groups(&json!({
                "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
                "spec": {"topology": {"version": version, "controlPlane": {"replicas": 3}, "workers": {
                    "machineDeployments": [{"name": "a", "class": "x", "replicas": 2}],
                    "machinePools": [{"name": "b", "class": "x", "replicas": 4}],
                }}},
            }))
        };
        let groups = of("v1.34.1");
        let counted: Vec<_> = groups.iter().map(|g| (g.name.as_str(), g.machines)).collect();
        assert_eq!(counted, [("control plane", 3), ("pool a", 2), ("pool b", 4)]);
        assert!(groups.iter().zip(of("v1.34.2")).all(|(a, b)| a.template != b.template));
    }
}
