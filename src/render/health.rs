//! When Flux may take an object of a layer for healthy, where Flux itself cannot tell.
//!
//! Flux goes by kstatus, which takes an object for current as long as it has no status at all
//! (kubernetes-sigs/cli-utils, `pkg/kstatus`): a provider that the operator has not looked at yet would let the
//! next layer begin, and the DataStore has no condition that kstatus knows. An expression that finds no status
//! is an error to Flux, which goes on waiting (fluxcd/pkg, `runtime/cel/status_evaluator.go`); the generation
//! that was observed is compared there as well.

use serde_json::{Value, json};

/// What says of a provider that its manifests are applied and its Deployment is available
/// (`cluster-api-operator`, `internal/controller/healthcheck`).
const READY: &str = "status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')";
/// The group of the operator's kinds.
const OPERATOR: &str = "operator.cluster.x-k8s.io/v1alpha2";
/// The layers with kinds of their own, and for each kind what makes it current.
const KINDS: &[(&str, &str, &str, &str)] = &[
    ("providers", OPERATOR, "CoreProvider", READY),
    ("providers", OPERATOR, "BootstrapProvider", READY),
    ("providers", OPERATOR, "ControlPlaneProvider", READY),
    ("providers", OPERATOR, "InfrastructureProvider", READY),
    ("providers", OPERATOR, "AddonProvider", READY),
    // clastix/kamaji, `api/v1alpha1/datastore_types.go`.
    ("platform", "kamaji.clastix.io/v1alpha1", "DataStore", "status.ready"),
];

/// The `healthCheckExprs` of a layer's Kustomization for the kinds that it has; `None` where kstatus is enough.
pub(super) fn expressions(layer: &str, has: impl Fn(&str) -> bool) -> Option<Value> {
    let of_layer = KINDS.iter().filter(|(of, _, kind, _)| *of == layer && has(kind));
    let all: Vec<_> = of_layer
        .map(|(_, api_version, kind, current)| {
            json!({"apiVersion": api_version, "kind": kind, "current": current})
        })
        .collect();
    (!all.is_empty()).then_some(Value::Array(all))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{fleet, objects_of};
    use super::super::{Templates, worker_job};

    #[test]
    fn flux_waits_for_every_kind_whose_health_it_cannot_tell() {
        let fleet = fleet();
        let worker = fleet.workers.values().next().unwrap();
        let files = worker_job(&fleet, worker, &Templates::built_in(), "").render().unwrap();
        let layers = objects_of(&files, "Kustomization");
        for group in ["operator.cluster.x-k8s.io/", "kamaji.clastix.io/"] {
            let all = super::super::object::objects(&files).unwrap();
            let of_group = all.iter().filter(|o| o.api_version().starts_with(group));
            for object in of_group {
                let layer = object.file.split('/').next().unwrap();
                let name = format!("component-{layer}");
                let flux = layers.iter().find(|l| l["metadata"]["name"] == name.as_str()).unwrap();
                assert_eq!(flux["spec"]["wait"], true, "{name}: expressions need a wait");
                let told = flux["spec"]["healthCheckExprs"].as_array().unwrap();
                let has = |e: &&serde_json::Value| {
                    e["kind"] == object.kind() && e["apiVersion"] == object.api_version()
                };
                assert_eq!(told.iter().filter(has).count(), 1, "{object}");
            }
        }
    }
}
