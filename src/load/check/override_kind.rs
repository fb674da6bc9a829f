//! `unknown-object`: an override is about objects that some flavor's folders, or a worker's layers, may hold. An `apiVersion` that is none of
//! theirs any more, after an upgrade for one, would select nothing, and nobody would hear of it.

use std::collections::BTreeSet;

use super::override_own::is_refused;
use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath, suggest};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::api::OverrideTarget;
use crate::model::{FlavorKind, FlavorObject, overridable_in_layers};

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    let DocumentSpec::OverridePolicy(policy) = &subject.body.spec else { return };
    if scene.catalogue.broken().next().is_some() {
        // What cannot be read may have it.
        return;
    }
    let of_workers = policy.target == OverrideTarget::Worker;
    let makes = if of_workers { FlavorKind::Worker } else { FlavorKind::ManagedCluster };
    let flavors = scene.catalogue.flavors().flat_map(|(_, flavor)| flavor.objects_of(makes));
    let mut known: Vec<(&str, &str)> = flavors.map(named).collect();
    if of_workers {
        known.extend(overridable_in_layers().map(|(api, kind)| -> (&str, &str) { (api, kind) }));
    }
    let have = if of_workers { "workers have" } else { "the flavors have" };
    for (at, object) in policy.objects.iter().enumerate() {
        let (api, kind) = (object.api_version.as_str(), object.kind.as_str());
        let is_refused = is_refused(policy.target, api, kind).is_some();
        if is_refused || known.contains(&(api, kind)) {
            continue;
        }
        let path = FieldPath::keys("spec.objects").index(at);
        let mut of_kind = known.iter().filter(|(_, known)| *known == kind);
        let (path, help) = if let Some((other, _)) = of_kind.next() {
            (path.key("apiVersion"), format!("{have} it as `{other}`"))
        } else {
            let kinds: BTreeSet<_> = known.iter().map(|(_, kind)| *kind).collect();
            let of = if of_workers { "the kinds of workers" } else { "the kinds of the flavors" };
            (path.key("kind"), suggest::help(kind, kinds, of))
        };
        let message = match policy.target {
            OverrideTarget::ManagedCluster => {
                format!("no flavor has objects of the kind {kind} of `{api}`")
            }
            OverrideTarget::Worker => {
                format!("no worker has objects of the kind {kind} of `{api}` that overrides see")
            }
        };
        out.add(Code::UnknownObject, path, message, help);
    }
}

fn named(object: &FlavorObject) -> (&str, &str) {
    (&object.api_version, &object.kind)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{files_find, load_fleet, override_policy};
    use super::*;

    #[test]
    fn an_object_is_of_a_kind_that_a_flavor_has() {
        let text = override_policy("{labels: {set: {a: b}}}");
        let find = |from: &str, to: &str, path: &str| {
            let files = [("policies/o.yaml", &*text.replace(from, to))];
            files_find(&files, Code::UnknownObject, path).help.unwrap()
        };
        let help = find("apps/v1", "apps/v1beta1", "spec.objects[0].apiVersion");
        assert_eq!(help, "the flavors have it as `apps/v1`");
        let help = find("kind: Deployment", "kind: Deploymnt", "spec.objects[0].kind");
        assert_eq!(help, "did you mean `Deployment`?");
        find("kind: Deployment", "kind: Ingress", "spec.objects[0].kind");
    }

    #[test]
    fn an_object_of_a_worker_is_of_its_flavors_or_its_layers() {
        let text = override_policy("{labels: {set: {a: b}}}");
        let text = text.replace("spec:\n", "spec:\n  target: Worker\n");
        let of = |api: &str, kind: &str| {
            text.replace("apps/v1", api).replace("kind: Deployment", &format!("kind: {kind}"))
        };
        let find = |api: &str, kind: &str, path: &str| {
            let text = of(api, kind);
            files_find(&[("policies/o.yaml", &text)], Code::UnknownObject, path).help.unwrap()
        };
        let help =
            find("helm.toolkit.fluxcd.io/v2beta2", "HelmRelease", "spec.objects[0].apiVersion");
        assert_eq!(help, "workers have it as `helm.toolkit.fluxcd.io/v2`");
        find("kamaji.clastix.io/v1alpha1", "DataStore", "spec.objects[0].kind");
        let operator = "operator.cluster.x-k8s.io/v1alpha2";
        let help = find(operator, "CorePovider", "spec.objects[0].kind");
        assert_eq!(help, "did you mean `CoreProvider`?");
        for (api, kind) in [
            ("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
            ("controlplane.cluster.x-k8s.io/v1beta2", "KubeadmControlPlane"),
        ] {
            let loaded = load_fleet(&[("policies/o.yaml", &of(api, kind))]);
            assert_eq!(loaded.fleet.overrides.len(), 1, "{:?}", loaded.diagnostics);
        }
    }
}
