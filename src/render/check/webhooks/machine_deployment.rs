//! `MachineDeployment` (cluster-api v1.13.5, `internal/webhooks/machinedeployment.go` and `machine.go`).

use serde_json::Value;

use super::rules;
use super::value::{
    at, bad_metadata, bad_naming, bad_selector, bad_taint, below, has, list, no_share, no_version,
    reserved_taint, text,
};
use crate::model::is_label_value;
use crate::pattern::DocumentPart;

const TAINTS: &str = "/spec/template/spec/taints";
const ROLLING: &str = "/spec/rollout/strategy/rollingUpdate";
const SIZES: [&str; 2] = [
    "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size",
    "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size",
];

rules! {
    "has a name that is no value of a label", "metadata: {name: a..}" =>
        |o| !is_label_value(text(o, "/metadata/name"));
    "says nothing of how its machines begin", "spec: {template: {spec: {bootstrap: null}}}" =>
        |o| ["configRef", "dataSecretName"]
            .iter().all(|field| !has(o, &format!("/spec/template/spec/bootstrap/{field}")));
    "has a malformed selector",
        "spec: {selector: {matchExpressions: [{key: a, operator: In}]}}" =>
        |o| has(o, "/spec/selector") && bad_selector(o, "/spec/selector");
    "does not select its own machines", "spec: {selector: {matchLabels: {pool: other}}}" =>
        selects_others;
    "says two names of its cluster", "spec: {clusterName: b}" =>
        |o| at(o, "/spec/clusterName") != at(o, "/spec/template/spec/clusterName");
    "has a maxUnavailable that is neither a number nor a percentage",
        "spec: {rollout: {strategy: {rollingUpdate: {maxUnavailable: one}}}}" =>
        |o| no_share(below(o, ROLLING), "/maxUnavailable");
    "has a maxSurge that is neither a number nor a percentage",
        "spec: {rollout: {strategy: {rollingUpdate: {maxSurge: '1'}}}}" =>
        |o| no_share(below(o, ROLLING), "/maxSurge");
    "may neither surge nor be short of a machine",
        "spec: {rollout: {strategy: {rollingUpdate: {maxSurge: 0}}}}" =>
        |o| ["maxSurge", "maxUnavailable"]
            .iter().all(|f| at(o, &format!("{ROLLING}/{f}")) == Some(&Value::from(0)));
    "has a maxInFlight that is neither a number nor a percentage",
        "spec: {remediation: {maxInFlight: half}}" =>
        |o| no_share(o, "/spec/remediation/maxInFlight");
    "has a version that is none", "spec: {template: {spec: {version: v1.34}}}" =>
        |o| has(o, "/spec/template/spec/version")
            && no_version(text(o, "/spec/template/spec/version"));
    "names its machines alike", "spec: {machineNaming: {template: node}}" => bad_naming;
    "has a taint that only the system sets",
        "spec: {template: {spec: {taints: [{key: node.kubernetes.io/not-ready}]}}}" =>
        |o| reserved_taint(o, TAINTS);
    "has a taint whose key is malformed", "spec: {template: {spec: {taints: [{key: a b}]}}}" =>
        |o| bad_taint(o, TAINTS);
    "has the taint of control planes",
        "spec: {template: {spec: {taints: [{key: node-role.kubernetes.io/control-plane}]}}}" =>
        |o| list(o, TAINTS)
            .iter().any(|t| text(t, "/key") == "node-role.kubernetes.io/control-plane");
    "gives its machines malformed labels or annotations",
        "spec: {template: {metadata: {labels: {a: two words}}}}" =>
        |o| bad_metadata(o, "/spec/template/metadata");
    "has a bound for the autoscaler that is no number",
        "metadata: {annotations: {cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size: few}}" =>
        |o| SIZES.iter()
            .filter_map(|size| at(o, "/metadata/annotations")?.get(size))
            .any(|size| size.as_str().is_none_or(|size| size.parse::<i32>().is_err()));
}

/// Whether the labels of the template do not meet the selector.
fn selects_others(object: DocumentPart<'_>) -> bool {
    let labels = at(object, "/spec/template/metadata/labels");
    let wanted = at(object, "/spec/selector/matchLabels").and_then(Value::as_object);
    // The webhook itself adds the name of the cluster to both.
    let wanted =
        wanted.into_iter().flatten().filter(|(k, _)| *k != "cluster.x-k8s.io/cluster-name");
    wanted.into_iter().any(|(key, value)| labels.and_then(|l| l.get(key)) != Some(value))
}

#[cfg(test)]
pub(super) const GOOD: &str = r"
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: a-np0, namespace: a}
spec:
  clusterName: a
  selector: {matchLabels: {cluster.x-k8s.io/cluster-name: a, pool: np0}}
  rollout: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}}
  template:
    metadata: {labels: {pool: np0}}
    spec:
      clusterName: a
      version: v1.34.2
      bootstrap: {configRef: {apiGroup: g, kind: KubeadmConfigTemplate, name: b}}
      taints: [{key: example.com/a, value: b, effect: NoSchedule, propagation: Always}]
";
