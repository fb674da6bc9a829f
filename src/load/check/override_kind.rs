//! `unknown-object`: an override is about objects that some flavor's folders may hold. An `apiVersion` that is none of
//! theirs any more, after an upgrade for one, would select nothing, and nobody would hear of it.

use std::collections::BTreeSet;

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath, suggest};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::{FlavorKind, FlavorObject, is_carps_api};

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    let DocumentSpec::OverridePolicy(policy) = &subject.body.spec else { return };
    if scene.catalogue.broken().next().is_some() {
        // What cannot be read may have it.
        return;
    }
    let flavors = scene.catalogue.flavors();
    let known: Vec<&FlavorObject> =
        flavors.flat_map(|(_, flavor)| flavor.objects_of(FlavorKind::ManagedCluster)).collect();
    for (at, object) in policy.objects.iter().enumerate() {
        let (api, kind) = (&object.api_version, &object.kind);
        let is_known = known.iter().any(|o| o.api_version == *api && o.kind == *kind);
        if is_known || is_carps_api(api) {
            continue;
        }
        let path = FieldPath::keys("spec.objects").index(at);
        let of_kind: Vec<_> =
            known.iter().filter(|o| o.kind == *kind).map(|o| o.api_version.as_str()).collect();
        let (path, help) = if let Some(other) = of_kind.first() {
            (path.key("apiVersion"), format!("the flavors have it as `{other}`"))
        } else {
            let kinds: BTreeSet<_> = known.iter().map(|o| o.kind.as_str()).collect();
            let help = suggest::help(kind, kinds, "the kinds of the flavors");
            (path.key("kind"), help)
        };
        let message = format!("no flavor has objects of the kind {kind} of `{api}`");
        out.add(Code::UnknownObject, path, message, help);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{files_find, override_policy};
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
}
