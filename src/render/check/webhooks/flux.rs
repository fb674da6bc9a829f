//! What the rules of Flux's kinds share. Flux has no webhooks: its controllers stop at such an object, and say so in a
//! condition of it that nobody waits for.

use serde_json::Value;

use super::value::{at, has, list, text};
use crate::model::is_dns_label;
use crate::pattern::DocumentPart;

/// Whether a time is nothing: a controller comes back to an object after its interval, and after none never
/// (controller-runtime, `reconcile.Result`); what is given no time is over before it begins.
pub(super) fn no_time(object: DocumentPart<'_>, path: &str) -> bool {
    let time = text(object, path);
    let mut digits = time.bytes().filter(u8::is_ascii_digit).peekable();
    digits.peek().is_some() && digits.all(|digit| digit == b'0')
}

/// Whether an object waits for itself: it is ready no sooner than what it waits for.
pub(super) fn waits_for_itself(object: DocumentPart<'_>) -> bool {
    let (name, own) = (text(object, "/metadata/name"), text(object, "/metadata/namespace"));
    list(object, "/spec/dependsOn").iter().any(|other| {
        let namespace = text(other, "/namespace");
        text(other, "/name") == name && (namespace.is_empty() || namespace == own)
    })
}

/// Whether a reference to another cluster says two of them, or none (helm-controller v1.6.3,
/// `internal/controller/helmrelease_controller.go`, `buildRESTClientGetter`; fluxcd/pkg, `apis/meta/reference_types.go`).
pub(super) fn no_one_cluster(object: DocumentPart<'_>) -> bool {
    let says = |field: &str| has(object, &format!("/spec/kubeConfig/{field}"));
    has(object, "/spec/kubeConfig") && says("secretRef") == says("configMapRef")
}

/// Whether something stands at a path that no namespace is called.
pub(super) fn no_namespace(object: DocumentPart<'_>, path: &str) -> bool {
    has(object, path) && !is_dns_label(text(object, path))
}

/// Whether a check of health does not say when something is healthy (fluxcd/pkg, `runtime/cel/status_evaluator.go`).
pub(super) fn no_health(object: DocumentPart<'_>) -> bool {
    list(object, "/spec/healthCheckExprs").iter().any(|check| text(check, "/current").is_empty())
}

/// Whether a patch is empty (kustomize, `api/internal/builtins/PatchTransformer.go`, `Config`).
pub(super) fn empty_patch(patches: &[Value]) -> bool {
    patches.iter().any(|patch| text(patch, "/patch").trim().is_empty())
}

/// Whether a JSON patch says nothing of what it changes (the same, `transformJson6902`).
pub(super) fn aimless_patch(patches: &[Value]) -> bool {
    let is_json = |patch: &str| patch.starts_with(['[']) || patch.starts_with("- ");
    patches.iter().any(|patch| is_json(text(patch, "/patch").trim()) && !has(patch, "/target"))
}

/// Whether signatures of Notation are asked for without a Secret that says whose (source-controller v1.9.1,
/// `internal/controller/ocirepository_controller.go`, `verifySignature`).
pub(super) fn nobodys_signature(object: DocumentPart<'_>, path: &str) -> bool {
    at(object, path)
        .is_some_and(|verify| text(verify, "/provider") == "notation" && !has(verify, "/secretRef"))
}

/// Whether a source is logged in to as a `ServiceAccount` of its own, which wants a feature gate that is off by default
/// (fluxcd/pkg, `auth/feature_gates.go`). With the provider `generic` the account only has Secrets.
pub(super) fn gated_account(object: DocumentPart<'_>) -> bool {
    let provider = text(object, "/spec/provider");
    has(object, "/spec/serviceAccountName") && !provider.is_empty() && provider != "generic"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_time_of_nothing_is_none() {
        let value = json!({"a": "0s", "b": "0h0m", "c": "10m", "d": "0.5s", "e": "", "f": 3});
        let found: Vec<_> = "abcdefg"
            .chars()
            .map(|c| no_time(DocumentPart::of(&value), &format!("/{c}")))
            .collect();
        assert_eq!(found, [true, true, false, false, false, false, false]);
    }

    #[test]
    fn what_waits_for_its_name_in_another_namespace_waits_for_another() {
        let waits = |namespace: &str| {
            waits_for_itself(DocumentPart::of(&json!({
                "metadata": {"name": "a", "namespace": "n"},
                "spec": {"dependsOn": [{"name": "b"}, {"name": "a", "namespace": namespace}]},
            })))
        };
        assert_eq!(["", "n", "m"].map(waits), [true, true, false]);
    }

    #[test]
    fn a_merge_patch_names_what_it_changes_itself() {
        let patch = |text: &str| aimless_patch(&[json!({"patch": text})]);
        assert!(patch("- op: remove\n  path: /a") && patch("[{\"op\": \"remove\"}]"));
        assert!(!patch("---\nkind: A") && !patch("kind: A"));
        assert!(!aimless_patch(&[json!({"patch": "- op: x", "target": {"kind": "A"}})]));
    }
}
