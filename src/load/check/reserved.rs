//! `reserved-name`: a cluster's name is its namespace on the worker and a worker's name a folder, so
//! the names of system namespaces and of carp's own folders and layers are taken. No new one has the name
//! of a namespace that is usually somebody else's, or that `reservedNames` in `carp.yaml` reserves: the
//! removal of a cluster `monitoring` would prune what others keep there. What has such a name keeps it.

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::api::FleetSpec;
use crate::model::tables::is_others_namespace;

/// Namespaces that Kubernetes, Flux and the components live in.
const SYSTEM: [&str; 9] = [
    "default",
    "flux-system",
    "cert-manager",
    "capi-system",
    "capi-operator-system",
    "calico-system",
    "calico-apiserver",
    "tigera-operator",
    "carp-system",
];

/// Folders and layers that carp writes.
const OWN: [&str; 8] = [
    "crds",
    "capi-operator",
    "providers",
    "platform",
    "agent",
    "clusters",
    "workers",
    "control-plane",
];

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    if !matches!(subject.body.spec, DocumentSpec::ManagedCluster(_) | DocumentSpec::Worker(_)) {
        return;
    }
    let name = subject.body.name.as_str();
    let control_plane = scene.fleet.and_then(|f| f.control_plane.as_ref()).map(|c| c.name.as_str());
    let of_provider = scene.catalogue.providers().any(|provider| provider.namespace == name)
        || name.starts_with("capi-") && name.ends_with("-system");
    let why = if SYSTEM.contains(&name) || name.starts_with("kube-") || of_provider {
        "a system namespace"
    } else if OWN.contains(&name) {
        "one of carp's own folders"
    } else if Some(name) == control_plane {
        "the control-plane cluster"
    } else if scene.held.is_held(name) {
        return;
    } else if is_others_namespace(name) {
        "a namespace that is usually somebody else's"
    } else if scene.fleet.is_some_and(|f| f.reserved_names.iter().any(|r| is_meant(r, name))) {
        "what `reservedNames` in `carp.yaml` reserves"
    } else {
        return;
    };
    let message = format!("`{name}` is the name of {why}");
    out.add(Code::ReservedName, FieldPath::keys("metadata.name"), message, "choose another name");
}

/// Whether an entry of `reservedNames` means a name.
fn is_meant(entry: &str, name: &str) -> bool {
    if let Some(end) = entry.strip_prefix('*') {
        return name.ends_with(end);
    }
    entry.strip_suffix('*').map_or(entry == name, |begin| name.starts_with(begin))
}

/// Checks `reservedNames` in `carp.yaml`: names, each with one `*` at the beginning or at the end at most.
pub(super) fn of_fleet(spec: &FleetSpec, out: &mut Findings) {
    for (i, entry) in spec.reserved_names.iter().enumerate() {
        let rest = entry.strip_prefix('*').or(entry.strip_suffix('*')).unwrap_or(entry);
        let is_letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        if rest.is_empty() || !rest.bytes().all(is_letter) {
            let path = FieldPath::keys("spec.reservedNames").index(i);
            let message = format!("`{entry}` cannot be a name");
            let help =
                "write a name such as `monitoring`, or one with `*` at an end, such as `team-*`";
            out.add(Code::InvalidValue, path, message, help);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{
        CARP, class, cluster, files_find, finds, finds_nothing, load_files, load_with_eu_1, worker,
    };
    use super::*;

    #[test]
    fn names_of_the_system_and_of_carp_are_taken() {
        for taken in
            ["kube-system", "flux-system", "capi-any-system", "kamaji-system", "crds", "workers"]
        {
            finds(cluster("").replace("pay-eu", taken), Code::ReservedName, "metadata.name");
            finds(worker("").replace("w1", taken), Code::ReservedName, "metadata.name");
        }
        finds_nothing(cluster("").replace("pay-eu", "capi-test"));
        finds_nothing(class("platform", ""));
    }

    #[test]
    fn no_new_one_has_the_name_of_a_namespace_of_others() {
        for taken in ["monitoring", "istio-system", "velero", "any-system", "cattle-fleet"] {
            finds(cluster("").replace("pay-eu", taken), Code::ReservedName, "metadata.name");
            finds(worker("").replace("w1", taken), Code::ReservedName, "metadata.name");
        }
        for free in ["monitoring-eu", "system", "my-velero", "istio"] {
            finds_nothing(cluster("").replace("pay-eu", free));
        }
    }

    #[test]
    fn a_fleet_reserves_names_of_its_own() {
        let carp = format!("{CARP}  reservedNames: [billing, \"team-*\", \"*-prod\"]\n");
        let with = |name: &str| {
            let text = cluster("").replace("pay-eu", name);
            load_files(&[("carp.yaml", &carp), ("fleet/x.yaml", &text)]).diagnostics
        };
        for taken in ["billing", "team-a", "team-", "a-prod", "velero"] {
            assert!(with(taken).has_errors(), "{taken}");
        }
        for free in ["billings", "a-team", "prod", "a-prod-1"] {
            assert!(with(free).is_empty(), "{free}");
        }
        for bad in ["\"*\"", "\"\"", "A", "\"a*b\"", "\"*a*\""] {
            let carp = format!("{CARP}  reservedNames: [{bad}]\n");
            files_find(&[("carp.yaml", &carp)], Code::InvalidValue, "spec.reservedNames[0]");
        }
    }

    #[test]
    fn what_has_such_a_name_keeps_it() {
        let carp = CARP.to_owned() + "  reservedNames: [eu-1]\n";
        let text = worker("").replace("w1", "eu-1");
        let files = [("carp.yaml", &*carp), ("fleet/x.yaml", &*text)];
        files_find(&files, Code::ReservedName, "metadata.name");
        assert!(load_with_eu_1(&files).fleet.workers.contains_key("eu-1"));
    }

    #[test]
    fn the_control_planes_name_is_taken() {
        let carp = format!("{CARP}  controlPlane: {{name: hub}}\n");
        let text = cluster("").replace("pay-eu", "hub");
        let files = [("carp.yaml", &*carp), ("fleet/x.yaml", &text)];
        files_find(&files, Code::ReservedName, "metadata.name");
    }
}
