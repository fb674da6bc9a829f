//! What templates get: plain values, defaults filled in, nothing that a template does not need.

mod azure;
mod cluster;
mod components;
mod containers;
mod pool;
mod worker;

pub(super) use azure::{find as find_azure, issuer};
pub(super) use cluster::cluster;
pub(super) use components::{Components, Hosting, MACHINE_TAINTS, providers};
pub(super) use worker::worker;

use serde_json::{Value, json};

/// The VM size of a machine that names none.
const VM_SIZE: &str = "Standard_D4s_v5";
/// The replicas of a self-managed control plane that names none: etcd wants an odd number.
const CONTROL_PLANE_REPLICAS: u32 = 3;
/// The replicas of a hosted control plane that names none.
const HOSTED_REPLICAS: u32 = 2;

/// The taint of the pools that carry hosted control planes.
fn hosted_taint() -> Value {
    json!({"key": "carp.dev/hosted-control-planes", "value": "true", "effect": "NoSchedule"})
}

/// A list, or what it is by default.
fn or_default(list: Option<&Vec<String>>, default: &str) -> Vec<String> {
    match list {
        Some(list) if !list.is_empty() => list.clone(),
        _ => vec![default.to_owned()],
    }
}
