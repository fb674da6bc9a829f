//! When Flux may take an object of a layer for healthy, where Flux itself cannot tell.
//!
//! Flux goes by kstatus, which takes an object for current as long as it has no status at all
//! (kubernetes-sigs/cli-utils, `pkg/kstatus`): a provider that the operator has not looked at yet would let the
//! next layer begin, and the DataStore has no condition that kstatus knows. An expression that finds no status
//! is an error to Flux, which goes on waiting (fluxcd/pkg, `runtime/cel/status_evaluator.go`); the generation
//! that was observed is compared there as well.

use serde_json::{Value, json};

use crate::model::PlatformPart;

/// What says of a provider that its manifests are applied and its Deployment is available
/// (`cluster-api-operator`, `internal/controller/healthcheck`).
const READY: &str = "status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')";
/// The group of the operator's kinds.
const OPERATOR: &str = "operator.cluster.x-k8s.io/v1alpha2";
/// The kinds of providers.
const PROVIDERS: [&str; 5] = [
    "CoreProvider",
    "BootstrapProvider",
    "ControlPlaneProvider",
    "InfrastructureProvider",
    "AddonProvider",
];

/// What the layers of a cluster have.
pub(super) struct Has<'a> {
    /// The providers, as templates get them.
    pub(super) providers: Value,
    /// The parts of the platform.
    pub(super) platform: Vec<&'a PlatformPart>,
}

/// The `healthCheckExprs` of a layer's Kustomization for the kinds that it has; `None` where kstatus is enough.
pub(super) fn expressions(layer: &str, has: &Has<'_>) -> Option<Value> {
    let all: Vec<_> = match layer {
        "providers" => {
            let there = |kind: &&str| {
                has.providers.as_array().into_iter().flatten().any(|p| p["kind"] == **kind)
            };
            PROVIDERS
                .iter()
                .filter(|kind| there(kind))
                .map(|kind| expression(OPERATOR, kind, READY))
                .collect()
        }
        "platform" => {
            let kinds = has.platform.iter().flat_map(|part| &part.waits_for);
            kinds.map(|of| expression(&of.api_version, &of.kind, &of.current)).collect()
        }
        _ => Vec::new(),
    };
    (!all.is_empty()).then_some(Value::Array(all))
}

fn expression(api_version: &str, kind: &str, current: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "current": current})
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
