//! The version that a cluster runs.
//!
//! Of a control plane on machines it is the oldest of its machines (`status.versions`, before that
//! `status.version`: cluster-api v1.14, `api/controlplane/kubeadm/v1beta2`); of one in pods it is the one
//! that its pods have come to, not the one that is wanted (cluster-api-control-plane-provider-kamaji
//! v0.20, which copies `status.kubernetesResources.version.version` of the `TenantControlPlane`).

use super::ObservedKind;
use super::listing::Listing;
use super::object::ObservedObject;
use crate::model::{KubeVersion, Name};

/// The version that the control plane of a cluster runs, with its `v`, which Kamaji leaves out. `None`
/// where nothing runs yet.
pub(super) fn running(listing: &Listing, name: &Name) -> Option<String> {
    control_planes(listing, name).find_map(of_control_plane)
}

/// The version that all of the control plane has; `None` while it is on its way to another.
pub(super) fn control_plane(listing: &Listing, name: &Name) -> Option<String> {
    let object = control_planes(listing, name).next()?;
    let running = object.status.version.as_deref()?;
    let wanted = object.spec.version.as_deref()?;
    let bare = |text: &str| text.trim_start_matches('v').to_owned();
    let there = bare(running) == bare(wanted) && object.is_up_to_date();
    with_v(running).filter(|_| there)
}

/// The version that every machine of every pool has; `None` while one is on its way to another, and
/// without pools.
pub(super) fn pools(listing: &Listing, name: &Name) -> Option<String> {
    let deployments = listing.in_cluster(ObservedKind::MachineDeployment, name);
    let pools = deployments.chain(listing.in_cluster(ObservedKind::MachinePool, name));
    let mut versions = pools.map(|pool| {
        let there = pool.status.observed_generation.is_some() && pool.is_up_to_date();
        pool.spec.template.spec.version.as_deref().filter(|_| there).and_then(with_v)
    });
    let first = versions.next()??;
    versions.all(|version| version.as_ref() == Some(&first)).then_some(first)
}

fn control_planes<'a>(
    listing: &'a Listing,
    name: &'a Name,
) -> impl Iterator<Item = &'a ObservedObject> {
    let kinds = listing.kinds().iter().filter(|kind| kind.is_control_plane());
    kinds.flat_map(|kind| listing.in_cluster(*kind, name))
}

fn of_control_plane(control_plane: &ObservedObject) -> Option<String> {
    let status = &control_plane.status;
    let counted = status.versions.iter().filter_map(|counted| with_v(&counted.version));
    // What is no version by carp's rules is not older than what is one.
    let oldest = counted.min_by_key(|text| {
        let version = text.parse::<KubeVersion>().ok();
        (version.is_none(), version)
    });
    oldest.or_else(|| with_v(status.version.as_deref()?))
}

/// The version of Kubernetes in a version: with its `v`, and without the build that a distribution writes after `+`
/// (`v1.34.2+k0s.0`, `v1.34.2+rke2r1`), which is no part of it (semver.org, 10).
fn with_v(text: &str) -> Option<String> {
    let version = text.split_once('+').map_or(text, |(version, _)| version);
    let bare = version.trim_start_matches('v');
    (!bare.is_empty()).then(|| format!("v{bare}"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn version(kind: ObservedKind, status: Value) -> Option<String> {
        let mut listing = Listing::default();
        let object =
            json!({"metadata": {"name": "a-control-plane", "namespace": "a"}, "status": status});
        listing.add(kind, [object]);
        running(&listing, &Name::parse("a").unwrap())
    }

    #[test]
    fn while_machines_are_replaced_the_oldest_counts() {
        let rolling = json!({
            "version": "v1.35.0",
            "versions": [{"version": "v1.35.0", "replicas": 1}, {"version": "v1.9.2", "replicas": 2}],
        });
        assert_eq!(
            version(ObservedKind::named("KubeadmControlPlane"), rolling).as_deref(),
            Some("v1.9.2")
        );
    }

    #[test]
    fn the_build_of_a_distribution_is_no_part_of_it() {
        let kind = ObservedKind::named("KubeadmControlPlane");
        let built = json!({"version": "v1.34.2+k0s.0"});
        assert_eq!(version(kind, built).as_deref(), Some("v1.34.2"));
        let before = json!({"version": "v1.34.2-rc.1+k0s.0"});
        assert_eq!(version(kind, before).as_deref(), Some("v1.34.2-rc.1"), "a release before it");
        let at = |wanted: &str, running: &str| {
            let mut listing = Listing::default();
            let status = json!({"version": running, "replicas": 1, "upToDateReplicas": 1});
            let metadata = json!({"name": "a-control-plane", "namespace": "a"});
            listing.add(
                kind,
                [json!({"metadata": metadata, "spec": {"version": wanted}, "status": status})],
            );
            control_plane(&listing, &Name::parse("a").unwrap())
        };
        assert_eq!(at("v1.34.2+k0s.1", "v1.34.2+k0s.1").as_deref(), Some("v1.34.2"));
        assert_eq!(at("v1.34.2+k0s.1", "v1.34.2+k0s.0"), None, "on its way to another build");
    }

    #[test]
    fn a_control_plane_without_counts_says_one_version_or_none() {
        let old = json!({"version": "v1.34.2"});
        assert_eq!(
            version(ObservedKind::named("KubeadmControlPlane"), old).as_deref(),
            Some("v1.34.2")
        );
        let pods = json!({"version": "1.34.2"});
        assert_eq!(
            version(ObservedKind::named("KamajiControlPlane"), pods).as_deref(),
            Some("v1.34.2")
        );
        for nothing in [json!({}), json!({"version": ""}), json!({"versions": []})] {
            assert_eq!(
                version(ObservedKind::named("KubeadmControlPlane"), nothing),
                None,
                "nothing runs yet"
            );
        }
    }
}
