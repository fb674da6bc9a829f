//! Node pools as templates get them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::hosted_taint;
use crate::model::api::{Autoscale, NodePool, TaintEffect};
use crate::model::tables;

/// The disk of the operating system, in GiB, of a pool that names none.
const OS_DISK_GB: u32 = 128;
/// The replicas of a pool that names neither replicas nor bounds.
const REPLICAS: u32 = 1;

/// How many nodes a pool has at least for a share of them to be one whole node.
const MANY: u32 = 3;
/// The share of broken nodes, in percent, up to which a pool with many is repaired; more is no broken node
/// but a broken network, in which new nodes would not be better.
const REPAIRED_PERCENT: u64 = 40;

/// Label domains that Cluster API copies from a Machine to its Node. Labels of other domains go to the
/// kubelet (Cluster API, "Metadata propagation").
const SYNCED: [&str; 3] =
    ["node.cluster.x-k8s.io", "node-role.kubernetes.io", "node-restriction.kubernetes.io"];

/// What a pool's nodes are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Whatever the cluster runs.
    General,
    /// Hosted control planes and nothing else.
    HostedControlPlanes,
}

/// A pool of the cluster `cluster`, its nodes of a version, and of a size where it names none.
pub(super) fn pool(cluster: &str, pool: &NodePool, role: Role, version: &str, size: &str) -> Value {
    let (synced, mut plain): (BTreeMap<_, _>, BTreeMap<_, _>) =
        pool.labels.clone().into_iter().partition(|(key, _)| is_synced(key));
    let mut machine_labels = synced;
    let mut taints: Vec<_> = pool.taints.iter().map(|t| json!(t)).collect();
    if role == Role::HostedControlPlanes {
        machine_labels
            .insert("node.cluster.x-k8s.io/hosted-control-planes".to_owned(), "true".to_owned());
        taints.push(hosted_taint());
    }
    for taint in &mut taints {
        if let Some(taint) = taint.as_object_mut() {
            taint.entry("value").or_insert(Value::Null);
        }
    }
    plain.insert("carp.dev/pool".to_owned(), pool.name.clone());
    let node_labels: Vec<_> = plain.iter().map(|(k, v)| format!("{k}={v}")).collect();
    let mut context = json!({
        "name": pool.name,
        "version": version,
        "vmSize": pool.vm_size.as_deref().unwrap_or(size),
        "osDiskGB": pool.os_disk.map_or(OS_DISK_GB, |d| d.size_gb),
        "spot": pool.spot,
        "machineLabels": machine_labels,
        "nodeLabels": node_labels.join(","),
        "repairs": repairs(pool),
    });
    context["taints"] = taints.into();
    context["deployments"] = deployments(cluster, pool).into();
    context
}

/// How many broken nodes are repaired of a pool that may be small; `None` where it never is and a percentage
/// does. A percentage is rounded down, so that 40 % of one or two nodes is none and they would never be
/// repaired (Cluster API, `machinehealthcheck_controller.go`, `isAllowedRemediation`).
fn repairs(pool: &NodePool) -> Option<u32> {
    let (least, most) = match pool.autoscale {
        Some(Autoscale { min, max }) => (min, max),
        None => (pool.replicas.unwrap_or(REPLICAS), pool.replicas.unwrap_or(REPLICAS)),
    };
    (least < MANY).then(|| (MANY - 1).max(share_of(most)))
}

fn share_of(nodes: u32) -> u32 {
    u32::try_from(u64::from(nodes) * REPAIRED_PERCENT / 100).unwrap_or(u32::MAX)
}

/// The keys of the pools' taints that keep out what does not tolerate them, each once.
pub(super) fn taint_keys(pools: &[NodePool]) -> BTreeSet<&str> {
    let all = pools.iter().flat_map(|pool| &pool.taints);
    all.filter(|t| t.effect == TaintEffect::NoSchedule).map(|t| t.key.as_str()).collect()
}

/// The autoscaler's release where a pool has bounds.
pub(super) fn autoscaler(pools: &[NodePool], version: &str) -> Option<&'static str> {
    pools.iter().any(|pool| pool.autoscale.is_some()).then_some(())?;
    version.parse().ok().map(tables::autoscaler)
}

fn is_synced(label: &str) -> bool {
    let domain = label.split_once('/').map_or("", |(domain, _)| domain);
    SYNCED.iter().any(|s| domain == *s || domain.ends_with(&format!(".{s}")))
}

/// One MachineDeployment, or one for each zone: Cluster API spreads only control planes by itself.
fn deployments(cluster: &str, pool: &NodePool) -> Vec<Value> {
    let zones: Vec<Option<&str>> = match pool.zones.as_slice() {
        [] => vec![None],
        zones => zones.iter().map(|z| Some(z.as_str())).collect(),
    };
    let parts = u32::try_from(zones.len()).unwrap_or(u32::MAX);
    let base = format!("{cluster}-{}", pool.name);
    let part = |(at, zone): (u32, Option<&str>)| {
        json!({
            "name": zone.map_or_else(|| base.clone(), |z| format!("{base}-{z}")),
            "zone": zone,
            "replicas": share(pool.replicas.unwrap_or(REPLICAS), parts, at),
            "autoscale": pool.autoscale.map(|a| share_bounds(a, parts, at)),
        })
    };
    (0..).zip(zones).map(part).collect()
}

/// The part of a number that falls to one of several places: even, the rest to the first ones.
fn share(total: u32, parts: u32, at: u32) -> u32 {
    total / parts + u32::from(at < total % parts)
}

fn share_bounds(bounds: Autoscale, parts: u32, at: u32) -> Autoscale {
    Autoscale { min: share(bounds.min, parts, at), max: share(bounds.max, parts, at) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pool: NodePool) -> Value {
        super::pool(
            "c",
            &NodePool { name: "np0".into(), ..pool },
            Role::General,
            "v1.34.2",
            "large",
        )
    }

    #[test]
    fn each_zone_gets_its_part() {
        let zones = vec!["1".to_owned(), "2".to_owned(), "3".to_owned()];
        let pool = of(NodePool { replicas: Some(5), zones: zones.clone(), ..NodePool::default() });
        let parts = pool["deployments"].as_array().unwrap();
        let replicas: Vec<_> = parts.iter().map(|d| d["replicas"].as_u64().unwrap()).collect();
        assert_eq!(replicas, [2, 2, 1]);
        assert_eq!(parts[2]["name"], "c-np0-3");
        let autoscale = Some(Autoscale { min: 1, max: 7 });
        let pool = of(NodePool { autoscale, zones, ..NodePool::default() });
        assert_eq!(pool["deployments"][0]["autoscale"], json!({"min": 1, "max": 3}));
        assert_eq!(pool["deployments"][2]["autoscale"], json!({"min": 0, "max": 2}));
    }

    #[test]
    fn a_pool_that_may_be_small_is_repaired_too() {
        let fixed = |n| repairs(&NodePool { replicas: Some(n), ..NodePool::default() });
        assert_eq!([fixed(0), fixed(1), fixed(2)], [Some(2); 3], "every node");
        assert_eq!(fixed(3), None, "40 % of three is one");
        let scaled = |min, max| {
            let autoscale = Some(Autoscale { min, max });
            repairs(&NodePool { autoscale, ..NodePool::default() })
        };
        assert_eq!((scaled(0, 3), scaled(1, 20), scaled(3, 20)), (Some(2), Some(8), None));
        assert_eq!(scaled(0, u32::MAX), Some(1_717_986_918));
    }

    #[test]
    fn a_cluster_has_an_autoscaler_where_a_pool_has_bounds() {
        let bounds = Some(Autoscale { min: 1, max: 2 });
        let pools = [NodePool::default(), NodePool { autoscale: bounds, ..NodePool::default() }];
        assert_eq!(autoscaler(&pools[..1], "v1.34.2"), None);
        assert!(autoscaler(&pools, "v1.34.2").is_some_and(|tag| tag.starts_with("v1.34.")));
    }

    #[test]
    fn labels_go_where_they_take_effect() {
        let labels = [("node-role.kubernetes.io/x", ""), ("team", "pay")];
        let labels = labels.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        let pool = of(NodePool { labels, ..NodePool::default() });
        assert_eq!(pool["machineLabels"], json!({"node-role.kubernetes.io/x": ""}));
        assert_eq!(pool["nodeLabels"], "carp.dev/pool=np0,team=pay");
    }

    #[test]
    fn a_pool_for_hosted_control_planes_keeps_the_rest_away() {
        let pool =
            super::pool("c", &NodePool::default(), Role::HostedControlPlanes, "v1.34.2", "large");
        assert_eq!(pool["taints"], json!([hosted_taint()]));
        assert_eq!(of(NodePool::default())["taints"], json!([]));
    }
}
