//! What templates get: plain values, defaults filled in, nothing that a template does not need.

mod azure;
mod cluster;
mod components;
mod containers;
mod credentials;
mod data_stores;
mod parameters;
mod pool;
mod requests;
mod worker;

pub(super) use cluster::cluster;
pub(super) use components::{ComponentVersions, MACHINE_TAINTS, ProviderSite, providers};
pub(super) use data_stores::data_stores;
pub(super) use requests::share;
pub(super) use worker::worker;

use serde_json::{Value, json};

use crate::model::{Flavor, KubeVersion};

/// The replicas of a self-managed control plane that names none: etcd wants an odd number.
const CONTROL_PLANE_REPLICAS: u32 = 3;
/// The replicas of a hosted control plane that names none.
const HOSTED_REPLICAS: u32 = 2;

/// Where the cloud provider's images of a cluster's version are: only those from 1.32 on are in the newer
/// place, which the chart knows and a mirror does not (cloud-provider-azure,
/// `helm/cloud-provider-azure/templates/cloud-provider-azure.yaml`).
fn cloud_images(version: &str) -> &'static str {
    const MOVED: KubeVersion = KubeVersion { major: 1, minor: 32, patch: 0 };
    if version.parse::<KubeVersion>().is_ok_and(|version| version < MOVED) {
        "mcr.microsoft.com/oss/kubernetes"
    } else {
        "mcr.microsoft.com/oss/v2/kubernetes"
    }
}

/// The size of a machine that names none; empty where the flavor has no sizes.
fn default_size(flavor: Option<&Flavor>) -> &str {
    flavor.and_then(|flavor| flavor.sizes.as_ref()).map_or("", |sizes| &sizes.default)
}

/// The replicas of a control plane that names none.
fn replicas(flavor: Option<&Flavor>, or: u32) -> u32 {
    flavor.and_then(|flavor| flavor.control_plane).map_or(or, |defaults| defaults.replicas)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cloud_providers_images_have_moved() {
        assert_eq!(cloud_images("v1.31.9"), "mcr.microsoft.com/oss/kubernetes");
        assert_eq!(cloud_images("v1.32.0"), "mcr.microsoft.com/oss/v2/kubernetes");
    }
}
