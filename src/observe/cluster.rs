//! One cluster, from its objects.

use super::conditions;
use super::errors;
use super::listing::Listing;
use super::object::{DIGEST_ANNOTATION, ObservedObject};
use super::phase::ReportedPhase;
use super::version;
use super::{FLUX_SYSTEM, ObservedKind};
use crate::model::{Digest, KindRole, Name, ReportedCluster, ReportedMachines, ReportedNodes};

/// The kinds that carp itself writes into the namespace of a cluster, one a cluster.
const WRITTEN: [ObservedKind; 2] = [ObservedKind::ManagedCluster, ObservedKind::Worker];

/// What a report says of one cluster.
pub(super) fn reported(listing: &Listing, name: &Name) -> ReportedCluster {
    let cluster = listing.named(ObservedKind::Cluster, name);
    let managed = WRITTEN.iter().find_map(|kind| listing.named(*kind, name));
    let applied_by = applied_by(listing, name);
    let phase = ReportedPhase::of(cluster, managed);
    ReportedCluster {
        name: name.clone(),
        uid: cluster.map(|c| c.metadata.uid.clone()).filter(|uid| !uid.is_empty()),
        digest: managed.and_then(digest),
        phase: phase.name().to_owned(),
        since: phase.since(cluster),
        version: version::running(listing, name),
        control_plane_version: version::control_plane(listing, name),
        pool_version: version::pools(listing, name),
        endpoint: cluster.and_then(endpoint),
        nodes: cluster.and_then(|cluster| nodes(listing, name, cluster)),
        machines: machines(listing, name),
        suspended: applied_by.is_some_and(is_suspended),
        conditions: conditions::of(cluster, applied_by),
        errors: errors::of(listing, name, applied_by),
        present: present(listing, name),
    }
}

/// The digest of the folder that the ManagedCluster or the Worker was applied from.
pub(super) fn digest(object: &ObservedObject) -> Option<Digest> {
    let text = object.metadata.annotations.get(DIGEST_ANNOTATION)?;
    text.strip_prefix("sha256:").unwrap_or(text).parse().ok()
}

/// The Flux Kustomization that applies the cluster's folder.
fn applied_by<'a>(listing: &'a Listing, name: &Name) -> Option<&'a ObservedObject> {
    listing.get(ObservedKind::Kustomization, FLUX_SYSTEM, &format!("cluster-{name}"))
}

/// The kinds of which there is an object in the cluster's namespace, and the namespace itself.
fn present(listing: &Listing, name: &Name) -> Vec<String> {
    let in_it = listing.kinds().iter().filter(|kind| match kind {
        ObservedKind::Namespace => listing.get(**kind, "", name).is_some(),
        kind if kind.belongs_to_a_cluster() => listing.in_cluster(**kind, name).next().is_some(),
        _ => false,
    });
    let mut names: Vec<_> = in_it.map(|kind| kind.name().to_owned()).collect();
    names.sort_unstable();
    names
}

/// The machines that the provider has of the cluster, by what the cloud calls them; `None` where there are none, or one
/// of them has no name in the cloud yet. A pool that its provider makes as one is a machine like any other.
fn machines(listing: &Listing, name: &Name) -> Option<ReportedMachines> {
    let kinds = listing.kinds().iter().filter(|kind| kind.role() == Some(KindRole::Machine));
    let all = kinds.flat_map(|kind| listing.in_cluster(*kind, name).map(move |one| (kind, one)));
    let known = all.map(|(kind, one)| {
        let id = one.spec.provider_id.as_deref().filter(|id| !id.is_empty())?;
        Some((kind.name(), one.name(), id))
    });
    let mut known: Vec<_> = known.collect::<Option<_>>()?;
    known.sort_unstable();
    let count = u32::try_from(known.len()).ok().filter(|count| *count > 0)?;
    Some(ReportedMachines { count, digest: Digest::of_value(&known) })
}

/// Whether Flux leaves the cluster's folder alone. What it began before it was told so goes on to its end
/// (kustomize-controller, `spec.suspend`).
fn is_suspended(kustomization: &ObservedObject) -> bool {
    let under_way = kustomization.condition("Reconciling");
    kustomization.spec.suspend && under_way.is_none_or(|condition| condition.status != "True")
}

fn endpoint(cluster: &ObservedObject) -> Option<String> {
    let endpoint = cluster.spec.control_plane_endpoint.as_ref()?;
    let known = !endpoint.host.is_empty() && endpoint.port > 0;
    known.then(|| format!("https://{}:{}", endpoint.host, endpoint.port))
}

/// How many nodes are wanted and ready: the workers as the `Cluster` counts them, and the machines of a
/// control plane that has some. A control plane in pods has no nodes.
fn nodes(listing: &Listing, name: &Name, cluster: &ObservedObject) -> Option<ReportedNodes> {
    let counted = cluster.status.workers.as_ref().and_then(|workers| {
        workers.desired_replicas.map(|desired| (desired, workers.ready_replicas.unwrap_or(0)))
    });
    let (desired, ready) = counted.or_else(|| in_pools(listing, name))?;
    let mut on_machines = listing.kinds().iter().filter(|kind| kind.is_on_machines());
    let on_machines = on_machines.any(|kind| listing.in_cluster(*kind, name).next().is_some());
    let control_plane = cluster.status.control_plane.as_ref().filter(|_| on_machines);
    let of_control_plane = control_plane
        .map_or((0, 0), |c| (c.desired_replicas.unwrap_or(0), c.ready_replicas.unwrap_or(0)));
    Some(ReportedNodes { desired: desired + of_control_plane.0, ready: ready + of_control_plane.1 })
}

/// The sum over the pools, where the `Cluster` does not count.
fn in_pools(listing: &Listing, name: &Name) -> Option<(u32, u32)> {
    let deployments = listing.in_cluster(ObservedKind::MachineDeployment, name);
    let pools = listing.in_cluster(ObservedKind::MachinePool, name);
    deployments
        .chain(pools)
        .map(|p| {
            let desired = p.spec.replicas.or(p.status.replicas).unwrap_or(0);
            (desired, p.status.ready_replicas.unwrap_or(0))
        })
        .reduce(|a, b| (a.0 + b.0, a.1 + b.1))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn object(name: &str, rest: Value) -> Value {
        let mut object =
            json!({"metadata": {"name": name, "namespace": "a", "uid": format!("uid-{name}")}});
        for (key, value) in rest.as_object().unwrap() {
            object[key] = value.clone();
        }
        object
    }

    fn listing(all: &[(ObservedKind, Value)]) -> Listing {
        let mut listing = Listing::default();
        for kind in ObservedKind::built_in() {
            listing.add(kind, all.iter().filter(|(k, _)| *k == kind).map(|(_, o)| o.clone()));
        }
        listing
    }

    fn seen(all: &[(ObservedKind, Value)]) -> ReportedCluster {
        reported(&listing(all), &Name::parse("a").unwrap())
    }

    fn running() -> Value {
        object(
            "a",
            json!({
                "spec": {"controlPlaneEndpoint": {"host": "10.0.0.1", "port": 6443}},
                "status": {
                    "conditions": [{"type": "Available", "status": "True", "reason": "Available"}],
                    "workers": {"desiredReplicas": 3, "readyReplicas": 2},
                    "controlPlane": {"desiredReplicas": 2, "readyReplicas": 2},
                },
            }),
        )
    }

    #[test]
    fn a_hosted_cluster_is_read_from_its_objects() {
        let hosted = object("a", json!({"status": {"version": "1.34.2"}}));
        let digest = Digest::of(b"folder");
        let managed = json!({"metadata": {
            "name": "a", "namespace": "a", "annotations": {"carp.dev/digest": format!("sha256:{digest}")},
        }});
        let seen = seen(&[
            (ObservedKind::Cluster, running()),
            (ObservedKind::named("KamajiControlPlane"), hosted),
            (ObservedKind::ManagedCluster, managed),
        ]);
        assert_eq!((seen.uid.as_deref(), seen.digest), (Some("uid-a"), Some(digest)));
        assert_eq!(seen.version.as_deref(), Some("v1.34.2"));
        assert_eq!(seen.endpoint.as_deref(), Some("https://10.0.0.1:6443"));
        assert_eq!(seen.nodes, Some(ReportedNodes { desired: 3, ready: 2 }), "pods are no nodes");
        assert_eq!(seen.phase, "Running");
        assert_eq!(seen.present, ["Cluster", "KamajiControlPlane", "ManagedCluster"]);
    }

    #[test]
    fn a_workers_own_cluster_is_read_as_any_other() {
        let digest = Digest::of(b"folder");
        let worker = json!({"metadata": {
            "name": "a", "namespace": "a", "annotations": {"carp.dev/digest": format!("sha256:{digest}")},
        }});
        let control_plane =
            object("a-control-plane", json!({"status": {"versions": [{"version": "v1.34.2"}]}}));
        let seen = seen(&[
            (ObservedKind::Worker, worker),
            (ObservedKind::Cluster, running()),
            (ObservedKind::named("KubeadmControlPlane"), control_plane),
        ]);
        assert_eq!((seen.digest, seen.phase.as_str()), (Some(digest), "Running"));
        assert_eq!(seen.version.as_deref(), Some("v1.34.2"));
        assert_eq!(seen.nodes, Some(ReportedNodes { desired: 5, ready: 4 }));
        assert_eq!(seen.present, ["Cluster", "KubeadmControlPlane", "Worker"]);
    }

    #[test]
    fn a_control_plane_on_machines_counts_as_nodes() {
        let control_plane = object("a-control-plane", json!({"status": {"version": "v1.34.2"}}));
        let seen = seen(&[
            (ObservedKind::Cluster, running()),
            (ObservedKind::named("KubeadmControlPlane"), control_plane),
        ]);
        assert_eq!(seen.nodes, Some(ReportedNodes { desired: 5, ready: 4 }));
        assert_eq!(seen.version.as_deref(), Some("v1.34.2"));
    }

    #[test]
    fn a_version_is_reached_when_nothing_is_left_of_another() {
        let control_plane = |wanted: &str, runs: &str, of: (u32, u32)| {
            let status = json!({"version": runs, "replicas": of.1, "upToDateReplicas": of.0, "observedGeneration": 2});
            let mut object = object("a", json!({"spec": {"version": wanted}, "status": status}));
            object["metadata"]["generation"] = json!(2);
            object
        };
        let reached = |object: Value| {
            seen(&[(ObservedKind::named("KamajiControlPlane"), object)]).control_plane_version
        };
        assert_eq!(reached(control_plane("1.34.2", "1.34.2", (2, 2))).as_deref(), Some("v1.34.2"));
        assert_eq!(reached(control_plane("1.34.2", "1.33.9", (2, 2))), None, "it has not begun");
        assert_eq!(
            reached(control_plane("1.34.2", "1.34.2", (1, 2))),
            None,
            "one pod is the old one"
        );
        let mut unseen = control_plane("1.34.2", "1.34.2", (2, 2));
        unseen["metadata"]["generation"] = json!(3);
        assert_eq!(reached(unseen), None, "its status is of what was asked for before");
        let mut rolling = control_plane("v1.34.2", "v1.34.2", (2, 2));
        rolling["status"]["conditions"] = json!([{"type": "RollingOut", "status": "True"}]);
        assert_eq!(reached(rolling), None);
    }

    #[test]
    fn pools_have_a_version_when_all_of_their_machines_have_it() {
        let pool = |name: &str, version: &str, of: (u32, u32)| {
            let status =
                json!({"replicas": of.1, "upToDateReplicas": of.0, "observedGeneration": 1});
            let spec = json!({"template": {"spec": {"version": version}}});
            (ObservedKind::MachineDeployment, object(name, json!({"spec": spec, "status": status})))
        };
        let version = |all: &[(ObservedKind, Value)]| seen(all).pool_version;
        let cluster = || (ObservedKind::Cluster, running());
        let two = |other| [cluster(), pool("a-1", "v1.34.2", (3, 3)), other];
        assert_eq!(version(&two(pool("a-2", "v1.34.2", (0, 0)))).as_deref(), Some("v1.34.2"));
        assert_eq!(
            version(&two(pool("a-2", "v1.34.2", (1, 2)))),
            None,
            "one machine is the old one"
        );
        assert_eq!(version(&two(pool("a-2", "v1.33.9", (2, 2)))), None, "a pool is older");
        assert_eq!(version(&[cluster()]), None, "there are no pools");
        let (kind, mut unseen) = pool("a-2", "v1.34.2", (0, 0));
        unseen["status"] = json!({});
        assert_eq!(version(&two((kind, unseen))), None, "nobody has looked at it yet");
    }

    #[test]
    fn pools_are_counted_where_the_cluster_does_not() {
        let cluster = object("a", json!({}));
        let pool = |name: &str, replicas: Value, ready: u32| {
            object(
                name,
                json!({"spec": {"replicas": replicas}, "status": {"replicas": 4, "readyReplicas": ready}}),
            )
        };
        let seen = seen(&[
            (ObservedKind::Cluster, cluster),
            (ObservedKind::MachineDeployment, pool("a-1", json!(2), 1)),
            (ObservedKind::MachinePool, pool("a-2", Value::Null, 4)),
        ]);
        assert_eq!(
            seen.nodes,
            Some(ReportedNodes { desired: 6, ready: 5 }),
            "an autoscaler's own count"
        );
    }

    #[test]
    fn machines_are_known_again_by_what_the_cloud_calls_them() {
        let machine = |name: &str, id: Option<&str>| {
            let spec = id.map_or_else(|| json!({}), |id| json!({"providerID": id}));
            (ObservedKind::named("AzureMachine"), object(name, json!({"spec": spec})))
        };
        let machines = |all: &[(ObservedKind, Value)]| seen(all).machines;
        let both = [machine("a-1", Some("azure:///1")), machine("a-2", Some("azure:///2"))];
        let known = machines(&both).unwrap();
        assert_eq!(known.count, 2);
        let [one, two] = both.clone();
        assert_eq!(machines(&[two, one]), Some(known), "in whatever order");
        let other = [machine("a-1", Some("azure:///1")), machine("a-2", Some("azure:///3"))];
        assert_ne!(machines(&other), Some(known));
        let coming = [machine("a-1", Some("azure:///1")), machine("a-2", None)];
        assert_eq!(machines(&coming), None, "one is not made yet");
        assert_eq!(machines(&[]), None);
    }

    #[test]
    fn flux_leaves_a_folder_alone_once_nothing_of_it_is_under_way() {
        let suspended = |suspend: bool, reconciling: &str| {
            let mut kustomization = object(
                "cluster-a",
                json!({
                    "spec": {"suspend": suspend},
                    "status": {"conditions": [{"type": "Reconciling", "status": reconciling}]},
                }),
            );
            kustomization["metadata"]["namespace"] = json!(super::FLUX_SYSTEM);
            seen(&[(ObservedKind::Kustomization, kustomization)]).suspended
        };
        assert!(suspended(true, "False"));
        assert!(!suspended(true, "True"), "what it began goes on");
        assert!(!suspended(false, "False"));
        assert!(!seen(&[]).suspended);
    }

    #[test]
    fn what_is_left_of_a_deleted_cluster_is_told() {
        let seen = seen(&[
            (ObservedKind::Namespace, json!({"metadata": {"name": "a"}})),
            (ObservedKind::named("AzureCluster"), object("a", json!({}))),
            (ObservedKind::named("HelmChartProxy"), object("a-calico", json!({}))),
        ]);
        assert_eq!(seen.uid, None);
        assert_eq!(seen.present, ["AzureCluster", "HelmChartProxy", "Namespace"]);
        assert_eq!(seen.nodes, None);
    }

    #[test]
    fn a_digest_that_cannot_be_read_is_none() {
        let managed = json!({"metadata": {
            "name": "a", "namespace": "a", "annotations": {"carp.dev/digest": "sha256:zz"},
        }});
        assert_eq!(seen(&[(ObservedKind::ManagedCluster, managed)]).digest, None);
    }
}
