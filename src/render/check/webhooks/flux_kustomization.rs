//! `Kustomization` of Flux (kustomize-controller v1.9.4, `internal/controller/kustomization_controller.go`; fluxcd/pkg,
//! `kustomize` and `ssa`): the controller stops at one, and applies nothing of its path.

use super::flux::{
    aimless_patch, empty_patch, no_health, no_namespace, no_one_cluster, no_time, waits_for_itself,
};
use super::rules;
use super::value::{at, bad_metadata, has, list, text};
use crate::model::is_label_value;

rules! {
    // ssa/manager.go, SetOwnerLabels: each object that it applies has it as a label.
    "has a name that is no value of a label", "metadata: {name: a..}" =>
        |o| !is_label_value(text(o, "/metadata/name"));
    "is looked at once and never again: its interval is nothing", "spec: {interval: 0s}" =>
        |o| no_time(o, "/spec/interval");
    "never comes back to what failed: its retryInterval is nothing", "spec: {retryInterval: 0m}" =>
        |o| no_time(o, "/spec/retryInterval");
    "waits for itself", "spec: {dependsOn: [{name: a}]}" => waits_for_itself;
    "applies to another cluster and names not one: a Secret or a ConfigMap",
        "spec: {kubeConfig: {configMapRef: {name: b}}}" => no_one_cluster;
    "applies to what no namespace is called", "spec: {targetNamespace: A}" =>
        |o| no_namespace(o, "/spec/targetNamespace");
    "has a check of health that does not say when something is healthy",
        "spec: {healthCheckExprs: [{apiVersion: g/v1, kind: K, current: ''}]}" => no_health;
    // kustomize_generator.go
    "has a component that is not beside its path", "spec: {components: [/components/a]}" =>
        |o| list(o, "/spec/components").iter().filter_map(|path| path.as_str()).any(leads_away);
    "has a patch of nothing", "spec: {patches: [{patch: ' '}]}" =>
        |o| empty_patch(list(o, "/spec/patches"));
    "has a JSON patch that says nothing of what it changes",
        "spec: {patches: [{patch: '- {op: remove, path: /spec}'}]}" =>
        |o| aimless_patch(list(o, "/spec/patches"));
    // kustomize_varsub.go, varSubstitution
    "has a variable whose name is none: letters, digits and `_`, and no digit first",
        "spec: {postBuild: {substitute: {my-name: x}}}" =>
        |o| at(o, "/spec/postBuild/substitute")
            .and_then(|all| all.as_object())
            .is_some_and(|all| all.keys().any(|name| !is_variable(name)));
    // It is written into every object, and the API server refuses them.
    "gives all that it applies malformed labels or annotations",
        "spec: {commonMetadata: {labels: {a: two words}}}" =>
        |o| bad_metadata(o, "/spec/commonMetadata");
    "decrypts as a ServiceAccount of its own, which wants the feature gate ObjectLevelWorkloadIdentity",
        "spec: {decryption: {provider: sops, serviceAccountName: b}}" =>
        |o| has(o, "/spec/decryption/serviceAccountName");
    "reads an ExternalArtifact, which wants a feature gate of that name",
        "spec: {sourceRef: {kind: ExternalArtifact}}" =>
        |o| text(o, "/spec/sourceRef/kind") == "ExternalArtifact";
}

/// Whether a path is absolute, or an address of another repository (`IsLocalRelativePath`).
fn leads_away(path: &str) -> bool {
    const REMOTE: [&str; 8] =
        ["git::", "gh:", "ssh://", "https://", "http://", "git@", "github.com:", "github.com/"];
    let path = path.to_lowercase();
    REMOTE.iter().any(|begin| path.starts_with(begin))
        || path.trim_start_matches("file://").starts_with('/')
}

fn is_variable(name: &str) -> bool {
    let known = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    !name.is_empty() && name.bytes().all(known) && !name.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
pub(super) const GOOD: &str = r"
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: a, namespace: flux-system}
spec:
  interval: 10m
  retryInterval: 1m
  timeout: 10m
  path: ./workers/a
  prune: true
  sourceRef: {kind: GitRepository, name: carp}
  dependsOn: [{name: b}, {name: a, namespace: c}]
  kubeConfig: {secretRef: {name: a-kubeconfig}}
  targetNamespace: b
  components: [../components/a]
  patches: [{patch: '- {op: remove, path: /spec}', target: {kind: A}}, {patch: 'kind: A'}]
  postBuild: {substitute: {_a1: x}}
  commonMetadata: {labels: {a: b}}
  decryption: {provider: sops}
  healthCheckExprs: [{apiVersion: g/v1, kind: K, current: status.ready}]
";
