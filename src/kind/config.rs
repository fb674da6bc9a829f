//! The configuration that kind gets: the object's own, with its fields laid over it.
//!
//! kind looks at most of it only after it asked docker, so roles, ports and subnets are looked at here
//! first. The form is kind's `v1alpha4` (`pkg/apis/config/v1alpha4/types.go`).

use serde_json::{Map, Value, json};

use super::version::node_image;
use crate::model::api::KINDClusterSpec;

/// The form that kind reads.
const API_VERSION: &str = "kind.x-k8s.io/v1alpha4";

/// The configuration of a cluster, as JSON, which kind reads as YAML.
///
/// # Errors
/// What is wrong with the object's fields, for people.
pub fn config(spec: &KINDClusterSpec) -> Result<Value, String> {
    let mut config = match &spec.config {
        Some(Value::Object(map)) => map.clone(),
        None => Map::new(),
        Some(_) => return Err("`config` is not an object".to_owned()),
    };
    for (key, wanted) in [("kind", "Cluster"), ("apiVersion", API_VERSION)] {
        let given = config.insert(key.to_owned(), json!(wanted));
        if given.is_some_and(|given| given != wanted) {
            return Err(format!("`config.{key}` is not `{wanted}`"));
        }
    }
    config.insert("name".to_owned(), json!(spec.cluster_name));
    let image = match &spec.image {
        Some(image) => image.clone(),
        None => node_image(&spec.kubernetes_version)
            .map(|image| image.reference.to_owned())
            .ok_or_else(|| format!("no node image is known for {}", spec.kubernetes_version))?,
    };
    let nodes = match config.remove("nodes") {
        None => nodes(spec),
        Some(Value::Array(nodes)) => nodes,
        Some(_) => return Err("`config.nodes` is not a list".to_owned()),
    };
    let nodes: Result<Vec<Value>, String> =
        nodes.into_iter().enumerate().map(|(at, node)| complete(at, node, &image)).collect();
    let nodes = nodes?;
    if !nodes.iter().any(|node| node["role"] == "control-plane") {
        return Err("`config.nodes` has no control-plane node".to_owned());
    }
    config.insert("nodes".to_owned(), Value::Array(nodes));
    subnets(&config)?;
    Ok(Value::Object(config))
}

/// How many nodes a configuration makes: those that kind counts, without a load balancer.
#[must_use]
pub fn node_count(config: &Value) -> u32 {
    let nodes = config["nodes"].as_array().map_or(1, Vec::len);
    u32::try_from(nodes).unwrap_or(u32::MAX)
}

fn nodes(spec: &KINDClusterSpec) -> Vec<Value> {
    let of = |role: &str, count: u8| vec![json!({"role": role}); count.into()];
    let mut nodes = of("control-plane", spec.control_plane_nodes.max(1));
    nodes.extend(of("worker", spec.worker_nodes));
    nodes
}

/// A node with its role and image, its ports looked at.
fn complete(at: usize, node: Value, image: &str) -> Result<Value, String> {
    let Value::Object(mut node) = node else {
        return Err(format!("`config.nodes[{at}]` is not an object"));
    };
    let role = node.entry("role").or_insert_with(|| json!("control-plane"));
    if role != "control-plane" && role != "worker" {
        return Err(format!("`config.nodes[{at}].role` is {role}, not control-plane or worker"));
    }
    node.entry("image").or_insert_with(|| json!(image));
    for mapping in node.get("extraPortMappings").and_then(Value::as_array).into_iter().flatten() {
        for (key, least) in [("containerPort", 1), ("hostPort", -1)] {
            let Some(port) = mapping.get(key) else { continue };
            if !port.as_i64().is_some_and(|port| (least..=65535).contains(&port)) {
                return Err(format!("`config.nodes[{at}].extraPortMappings`: {key} is {port}"));
            }
        }
    }
    Ok(Value::Object(node))
}

fn subnets(config: &Map<String, Value>) -> Result<(), String> {
    let Some(networking) = config.get("networking") else { return Ok(()) };
    for key in ["podSubnet", "serviceSubnet"] {
        let Some(subnets) = networking.get(key) else { continue };
        let text = subnets.as_str().unwrap_or_default();
        if !text.split(',').all(is_subnet) {
            return Err(format!("`config.networking.{key}` is {subnets}, which is no subnet"));
        }
    }
    Ok(())
}

fn is_subnet(text: &str) -> bool {
    let Some((address, bits)) = text.trim().split_once('/') else { return false };
    let most = match address.parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V4(_)) => 32,
        Ok(std::net::IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    bits.parse::<u8>().is_ok_and(|bits| bits <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(config: Value) -> KINDClusterSpec {
        KINDClusterSpec { config: Some(config), ..KINDClusterSpec::named("a") }
    }

    #[test]
    fn counts_become_nodes_with_the_image_of_the_version() {
        let spec = KINDClusterSpec {
            kubernetes_version: "1.20".to_owned(),
            control_plane_nodes: 3,
            worker_nodes: 1,
            ..KINDClusterSpec::named("a")
        };
        let config = config(&spec).unwrap();
        assert_eq!(config["apiVersion"], API_VERSION);
        assert_eq!((&config["name"], node_count(&config)), (&json!("a"), 4));
        let roles: Vec<_> =
            config["nodes"].as_array().unwrap().iter().map(|n| n["role"].clone()).collect();
        assert_eq!(roles, ["control-plane", "control-plane", "control-plane", "worker"]);
        assert_eq!(config["nodes"][3]["image"], "kindest/node:v1.20.7");
    }

    #[test]
    fn an_image_and_a_configuration_of_ones_own_are_kept() {
        let mut spec = with(json!({
            "featureGates": {"X": true},
            "nodes": [{"image": "mine"}, {"role": "worker"}],
        }));
        spec.image = Some("theirs".to_owned());
        spec.worker_nodes = 5;
        let config = config(&spec).unwrap();
        let nodes = config["nodes"].as_array().unwrap();
        assert_eq!(nodes.len(), 2, "nodes of its own count");
        assert_eq!((&nodes[0]["image"], &nodes[1]["image"]), (&json!("mine"), &json!("theirs")));
        assert_eq!(config["featureGates"]["X"], true);
    }

    #[test]
    fn what_kind_would_refuse_late_is_refused_first() {
        for (given, said) in [
            (json!([]), "not an object"),
            (json!({"kind": "Pod"}), "`config.kind` is not `Cluster`"),
            (json!({"nodes": {}}), "not a list"),
            (json!({"nodes": [{"role": "worker"}]}), "no control-plane node"),
            (json!({"nodes": [{"role": "master"}]}), "\"master\""),
            (
                json!({"nodes": [{"extraPortMappings": [{"containerPort": 0}]}]}),
                "containerPort is 0",
            ),
            (json!({"nodes": [{"extraPortMappings": [{"hostPort": 70000}]}]}), "hostPort is 70000"),
            (json!({"networking": {"podSubnet": "10.0.0.0"}}), "no subnet"),
            (json!({"networking": {"serviceSubnet": "10.0.0.0/33"}}), "no subnet"),
        ] {
            let error = config(&with(given)).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
        let fine = json!({
            "nodes": [{"extraPortMappings": [{"containerPort": 80, "hostPort": -1}]}],
            "networking": {"podSubnet": "10.0.0.0/16,fd00::/64"},
        });
        config(&with(fine)).unwrap();
    }
}
