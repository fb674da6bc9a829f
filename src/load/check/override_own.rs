//! `override-refused`: no override of what is carp's own, as far as the policy itself tells. What only comes out is told
//! where it is rendered, under the same code.

use super::{CheckContext, Subject};
use crate::diag::Code;
use crate::diag::FieldPath;
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::api::{ObjectSelector, OverridePolicySpec, OverrideTarget};
use crate::model::{OverrideReach, carps_path, is_carps_api, is_free, override_reach};

pub(super) fn check(subject: &Subject<'_>, _: &CheckContext<'_>, out: &mut Findings) {
    let DocumentSpec::OverridePolicy(policy) = &subject.body.spec else { return };
    for (at, object) in policy.objects.iter().enumerate() {
        let (api, kind) = (object.api_version.as_str(), object.kind.as_str());
        let Some(refused) = is_refused(policy.target, api, kind) else { continue };
        let path = FieldPath::keys("spec.objects").index(at);
        let (path, message, help) = match refused {
            RefusedObjects::Carps => (
                path.key("apiVersion"),
                format!("objects of `{api}` are carp's own"),
                "change the documents that they come from: by them clusters are applied and known",
            ),
            RefusedObjects::OfRights(why) => (
                path.key("kind"),
                format!("objects of the kind {kind} of workers are not overridden: {why}"),
                "change the template that makes them, or the document that they come from",
            ),
        };
        out.add(Code::OverrideRefused, path, message, help);
    }
    for (at, change) in policy.changes.iter().enumerate() {
        let kinds = change.kinds();
        let Some(kind) = kinds.first() else { continue };
        let path = FieldPath::keys("spec.changes").index(at).key(kind.field());
        let writes = change.writes();
        let own = writes.iter().find_map(|at| {
            let is_pointer = at.is_empty() || at.starts_with('/');
            Some((at, carps_path(at).filter(|_| is_pointer)?))
        });
        if let Some((at, why)) = own {
            let message = match &**at {
                "" => format!("the whole object may not be replaced: {why}"),
                at => format!("`{at}` may not be changed: {why}"),
            };
            let help = "change only what is the object's own: its spec, its data, other labels and \
                        annotations";
            out.add(Code::OverrideRefused, path, message, help);
            continue;
        }
        if let Some(at) = writes.iter().find(|at| is_out_of_reach(policy, at)) {
            let message = format!("`{at}` is none of what overrides of workers may change");
            let help = "what runs on a worker is decided by its `components` and by `images`; how it runs may be \
                        overridden (docs/overrides.md)";
            out.add(Code::OverrideRefused, path, message, help);
        }
    }
}

/// Why no override is about objects of a kind.
pub(super) enum RefusedObjects {
    /// They are carp's own.
    Carps,
    /// Of workers: they say who may do what, or carry Secrets.
    OfRights(&'static str),
}

/// Why no override of a target is about objects of a kind; `None` where one may be.
pub(super) fn is_refused(
    target: OverrideTarget,
    api_version: &str,
    kind: &str,
) -> Option<RefusedObjects> {
    let is_carps = is_carps_api(api_version);
    match (target, override_reach(api_version, kind)) {
        (OverrideTarget::ManagedCluster, _) => is_carps.then_some(RefusedObjects::Carps),
        (OverrideTarget::Worker, OverrideReach::Nothing(_)) if is_carps => {
            Some(RefusedObjects::Carps)
        }
        (OverrideTarget::Worker, OverrideReach::Nothing(why)) => {
            Some(RefusedObjects::OfRights(why))
        }
        (OverrideTarget::Worker, _) => None,
    }
}

/// Whether a place is beside what is free of all objects of workers that a policy selects.
fn is_out_of_reach(policy: &OverridePolicySpec, at: &str) -> bool {
    let beside = |object: &ObjectSelector| {
        let reach = override_reach(&object.api_version, &object.kind);
        match reach {
            OverrideReach::Fields(fields) | OverrideReach::OfCluster(fields) => {
                !is_free(fields, at)
            }
            OverrideReach::Nothing(_) => false,
        }
    };
    policy.target == OverrideTarget::Worker
        && at.starts_with('/')
        && policy.objects.iter().any(beside)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{files_find, override_policy};
    use super::*;

    #[test]
    fn what_is_carps_own_is_refused_before_it_is_rendered() {
        for (change, path) in [
            ("{jsonPatch: [{op: replace, path: /metadata/namespace, value: x}]}", "jsonPatch"),
            ("{jsonPatch: [{op: replace, path: \"\", value: {}}]}", "jsonPatch"),
            ("{jsonPatch: [{op: move, from: /kind, path: /spec/x}]}", "jsonPatch"),
            ("{mergePatch: {metadata: {finalizers: [x]}}}", "mergePatch"),
            ("{mergePatch: {status: {ready: true}}}", "mergePatch"),
            ("{labels: {set: {carp.dev/tenant: x}}}", "labels"),
            ("{annotations: {remove: [kustomize.toolkit.fluxcd.io/prune]}}", "annotations"),
            ("{annotations: {set: {carp.dev/not-secret: x}}}", "annotations"),
        ] {
            let text = override_policy(change);
            let path = format!("spec.changes[0].{path}");
            files_find(&[("policies/o.yaml", &text)], Code::OverrideRefused, &path);
        }
    }

    #[test]
    fn no_object_of_carps_or_fluxs_is_selected() {
        let text = override_policy("{labels: {set: {a: b}}}");
        for api in ["carp.dev/v1alpha1", "kustomize.toolkit.fluxcd.io/v1"] {
            let text = text.replace("apps/v1", api);
            let path = "spec.objects[0].apiVersion";
            files_find(&[("policies/o.yaml", &text)], Code::OverrideRefused, path);
        }
    }

    #[test]
    fn of_a_worker_what_has_rights_and_what_runs_is_not_changed() {
        let text = override_policy("{labels: {set: {a: b}}}");
        let text = text.replace("spec:\n", "spec:\n  target: Worker\n");
        for (api, kind, field) in [
            ("v1", "Secret", "kind"),
            ("rbac.authorization.k8s.io/v1", "ClusterRole", "kind"),
            ("addons.cluster.x-k8s.io/v1beta2", "ClusterResourceSet", "kind"),
            ("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "apiVersion"),
            ("carp.dev/v1alpha1", "Worker", "apiVersion"),
        ] {
            let text =
                text.replace("apps/v1", api).replace("kind: Deployment", &format!("kind: {kind}"));
            let path = format!("spec.objects[0].{field}");
            files_find(&[("policies/o.yaml", &text)], Code::OverrideRefused, &path);
        }
        let release = text
            .replace("apps/v1", "helm.toolkit.fluxcd.io/v2")
            .replace("kind: Deployment", "kind: HelmRelease");
        for change in [
            "mergePatch: {spec: {postRenderers: []}}",
            "mergePatch: {spec: {serviceAccountName: root}}",
            "jsonPatch: [{op: add, path: /spec/valuesFrom, value: []}]",
        ] {
            let text = release.replace("labels: {set: {a: b}}", change);
            let path = format!("spec.changes[0].{}", change.split(':').next().unwrap());
            files_find(&[("policies/o.yaml", &text)], Code::OverrideRefused, &path);
        }
    }
}
