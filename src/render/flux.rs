//! The Flux objects: where every `spec.path` and every dependency is written.

use serde_json::{Value, json};

use crate::model::api::FleetSpec;
use crate::model::paths;

/// The namespace of Flux and of carp's objects for it.
pub(super) const FLUX_SYSTEM: &str = "flux-system";
/// The GitRepository with the output.
pub(super) const SOURCE: &str = "carp";
/// The Kustomization of a worker's whole folder.
pub(super) const ROOT: &str = "carp-worker";
/// The service account that applies clusters.
pub(super) const CLUSTER_APPLIER: &str = "carp-clusters";
/// The service account that applies the workers on the control-plane cluster.
pub(super) const WORKER_APPLIER: &str = "carp-workers";

/// Replaces Flux's own check of a dependency: whether it was ever ready, at whatever revision. With the
/// built-in check a component that fails to upgrade would hold every change of every cluster.
const EVER_READY: &str = "has(dep.status) && has(dep.status.lastAppliedRevision)";

/// Where the fleet's root is in its repository, and what a path is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct FleetRepository<'a> {
    pub(super) spec: &'a FleetSpec,
    pub(super) prefix: &'a str,
}

impl FleetRepository<'_> {
    /// `spec.path` of a folder below the fleet's root.
    pub(super) fn path(self, folder: &str) -> String {
        format!("./{}", paths::in_repository(self.prefix, folder))
    }

    /// The GitRepository with a sparse checkout of one folder; `None` where `carp.yaml` names no
    /// delivery, so that whoever runs the worker's Flux makes it.
    pub(super) fn source(self, folder: &str) -> Option<Value> {
        let delivery = self.spec.delivery.as_ref()?;
        let branches = self.spec.branches.clone().unwrap_or_default();
        let mut spec = json!({
            "interval": delivery.interval.as_deref().unwrap_or("5m"),
            "url": delivery.url,
            "ref": {"branch": branches.output},
            "sparseCheckout": [paths::in_repository(self.prefix, folder)],
        });
        if let Some(name) = &delivery.secret_ref {
            spec["secretRef"] = json!({"name": name});
        }
        Some(object("source.toolkit.fluxcd.io/v1", "GitRepository", SOURCE, FLUX_SYSTEM, spec))
    }
}

/// Whether git reaches a repository by ssh: `ssh://…`, or `host:path`.
pub(super) fn is_ssh(url: &str) -> bool {
    match url.split_once("://") {
        Some((scheme, _)) => scheme == "ssh",
        None => !url.starts_with('/'),
    }
}

/// The TCP port on which git reaches a repository; `None` for a folder of the machine.
pub(super) fn port(url: &str) -> Option<u16> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return is_ssh(url).then_some(22);
    };
    let host = rest.split('/').next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    // The colons of an address of IPv6 are in brackets.
    let own = host.rsplit(']').next().unwrap_or_default().rsplit_once(':');
    let usual = match scheme {
        "ssh" => 22,
        "https" => 443,
        "http" => 80,
        "git" => 9418,
        _ => return None,
    };
    Some(own.and_then(|(_, port)| port.parse().ok()).unwrap_or(usual))
}

/// Any object in a namespace.
pub(super) fn object(
    api_version: &str,
    kind: &str,
    name: &str,
    namespace: &str,
    spec: Value,
) -> Value {
    json!({
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    })
}

/// A Flux Kustomization.
#[derive(Clone, Debug)]
pub(super) struct Kustomization(Value);

impl Kustomization {
    /// One that applies a path of the output and prunes what leaves it.
    pub(super) fn new(name: &str, namespace: &str, path: &str) -> Self {
        let mut source = json!({"kind": "GitRepository", "name": SOURCE});
        if namespace != FLUX_SYSTEM {
            source["namespace"] = json!(FLUX_SYSTEM);
        }
        let spec = json!({
            "interval": "10m",
            "retryInterval": "1m",
            "timeout": "10m",
            "path": path,
            "prune": true,
            "sourceRef": source,
        });
        Self(object("kustomize.toolkit.fluxcd.io/v1", "Kustomization", name, namespace, spec))
    }

    /// Sets a field of the spec.
    pub(super) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.0["spec"][field] = value.into();
        self
    }

    /// Waits until another one in the same namespace was ready once.
    pub(super) fn after(self, name: &str) -> Self {
        self.with("dependsOn", json!([{"name": name, "readyExpr": EVER_READY}]))
    }

    /// Applies to another cluster, with the kubeconfig in a Secret of the same namespace.
    pub(super) fn on(self, secret: &str) -> Self {
        self.with("kubeConfig", json!({"secretRef": {"name": secret}}))
    }

    /// The object.
    pub(super) fn done(self) -> Value {
        self.0
    }
}

/// What Flux does with the objects of a folder when its Kustomization goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Removal {
    /// It deletes them, and lets go when they are gone.
    Prune,
    /// It leaves them alone.
    Orphan,
}

/// Whether Flux applies a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Applying {
    /// It does, and prunes.
    Active,
    /// It leaves everything as it is, and prunes nothing either when its Kustomization goes
    /// (kustomize-controller, `finalizerShouldDeleteResources`).
    Suspended,
}

/// The Kustomization of a cluster's folder. It never waits for health (fifty waiting clusters would hold
/// every slot of the controller; readiness is the agent's to report), and on deletion it lets go only
/// when its objects are gone.
pub(super) fn cluster(
    name: &str,
    path: &str,
    applier: &str,
    (removal, applying): (Removal, Applying),
) -> Value {
    let all = Kustomization::new(&format!("cluster-{name}"), FLUX_SYSTEM, path)
        .with("timeout", "30m")
        .with("wait", false)
        .with("deletionPolicy", "WaitForTermination")
        .with("serviceAccountName", applier)
        .after("component-platform");
    let all = match applying {
        Applying::Active => all,
        Applying::Suspended => all.with("suspend", true),
    };
    match removal {
        Removal::Prune => all.done(),
        Removal::Orphan => all.with("prune", false).with("deletionPolicy", "Orphan").done(),
    }
}

/// The Kustomize file of a folder. Every Flux path has one, so that nothing else is applied by accident.
pub(super) fn kustomization_file<'a>(resources: impl IntoIterator<Item = &'a str>) -> Vec<u8> {
    let mut resources: Vec<_> = resources.into_iter().collect();
    resources.sort_unstable();
    let head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n";
    let lines = resources.into_iter().flat_map(|r| ["- ", r, "\n"]);
    std::iter::once(head).chain(lines).collect::<String>().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::Delivery;

    #[test]
    fn a_path_is_relative_to_the_repository() {
        let spec = FleetSpec::default();
        let at = |prefix| FleetRepository { spec: &spec, prefix }.path("workers/w");
        assert_eq!(at(""), "./workers/w");
        assert_eq!(at("teams/a"), "./teams/a/workers/w");
    }

    #[test]
    fn ssh_is_known_by_its_address() {
        for (url, ssh) in [
            ("ssh://git@example.com/f.git", true),
            ("git@example.com:f.git", true),
            ("https://example.com/f.git", false),
            ("/srv/f.git", false),
        ] {
            assert_eq!(is_ssh(url), ssh, "{url}");
        }
    }

    #[test]
    fn a_repository_has_a_port() {
        for (url, expected) in [
            ("ssh://git@example.com/f.git", Some(22)),
            ("ssh://git@example.com:2222/f.git", Some(2222)),
            ("git@example.com:f.git", Some(22)),
            ("https://me:word@example.com/f.git", Some(443)),
            ("https://example.com:8443/f.git", Some(8443)),
            ("https://[2001:db8::1]/f.git", Some(443)),
            ("https://[2001:db8::1]:8443/f.git", Some(8443)),
            ("http://example.com/f.git", Some(80)),
            ("git://example.com/f.git", Some(9418)),
            ("file:///srv/f.git", None),
            ("/srv/f.git", None),
        ] {
            assert_eq!(port(url), expected, "{url}");
        }
    }

    #[test]
    fn the_source_checks_out_one_folder_of_the_output_branch() {
        let delivery =
            Delivery { url: "ssh://git@example.com/f.git".into(), ..Delivery::default() };
        let spec = FleetSpec { delivery: Some(delivery), ..FleetSpec::default() };
        let source = FleetRepository { spec: &spec, prefix: "p" }.source("workers/w").unwrap();
        assert_eq!(source["spec"]["sparseCheckout"], json!(["p/workers/w"]));
        assert_eq!(source["spec"]["ref"]["branch"], "carp/rendered");
        assert!(source["spec"].get("secretRef").is_none());
    }

    #[test]
    fn a_cluster_does_not_wait_and_lets_go_last() {
        let of = |removal| {
            let removal = (removal, Applying::Active);
            cluster("pay", "./workers/w/clusters/pay", CLUSTER_APPLIER, removal)["spec"].clone()
        };
        assert!(of(Removal::Prune).get("suspend").is_none());
        let suspended = (Removal::Prune, Applying::Suspended);
        let suspended = cluster("pay", "./workers/w/clusters/pay", CLUSTER_APPLIER, suspended);
        assert_eq!(suspended["spec"]["suspend"], true);
        let spec = of(Removal::Prune);
        assert_eq!(spec["wait"], false);
        assert_eq!(spec["prune"], true);
        assert_eq!(spec["deletionPolicy"], "WaitForTermination");
        assert_eq!(spec["dependsOn"][0]["name"], "component-platform");
        assert!(spec.get("postBuild").is_none());
        let orphan = of(Removal::Orphan);
        assert_eq!(
            (&orphan["prune"], &orphan["deletionPolicy"]),
            (&json!(false), &json!("Orphan"))
        );
    }
}
