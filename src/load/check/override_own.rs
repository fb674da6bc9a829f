//! `override-refused`: no override of what is carp's own, as far as the policy itself tells. What only comes out is told
//! where it is rendered, under the same code.

use super::{CheckContext, Subject};
use crate::diag::Code;
use crate::diag::FieldPath;
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::{carps_path, is_carps_api};

pub(super) fn check(subject: &Subject<'_>, _: &CheckContext<'_>, out: &mut Findings) {
    let DocumentSpec::OverridePolicy(policy) = &subject.body.spec else { return };
    for (at, object) in policy.objects.iter().enumerate() {
        if is_carps_api(&object.api_version) {
            let path = FieldPath::keys("spec.objects").index(at).key("apiVersion");
            let message = format!("objects of `{}` are carp's own", object.api_version);
            let help =
                "change the documents that they come from: by them clusters are applied and known";
            out.add(Code::OverrideRefused, path, message, help);
        }
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
        }
    }
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
}
