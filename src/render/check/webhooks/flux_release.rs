//! `HelmRelease` (helm-controller v1.6.3, `internal/controller/helmrelease_controller.go`; source-controller v1.9.1 for the
//! `HelmChart` that is made of it, `internal/helm/chart/builder.go`): what the controllers stop at, and Helm itself.

use serde_json::Value;

use super::flux::{
    aimless_patch, empty_patch, no_health, no_namespace, no_one_cluster, no_time,
    nobodys_signature, waits_for_itself,
};
use super::rules;
use super::value::{bad_metadata, has, list, text};
use crate::model::{is_dns_label, is_label_value};
use crate::pattern::DocumentPart;

/// The longest name of a release (helm, `pkg/chart/common/util/validate_name.go`).
const LONGEST: usize = 53;
const SOURCE: &str = "/spec/chart/spec/sourceRef/kind";
const CHART: &str = "/spec/chart/spec/chart";

rules! {
    // fluxcd/pkg, ssa/manager.go, SetOwnerLabels; internal/postrender.
    "has a name that is no value of a label", "metadata: {name: a..}" =>
        |o| !is_label_value(text(o, "/metadata/name"));
    "is looked at once and never again: its interval is nothing", "spec: {interval: 0s}" =>
        |o| no_time(o, "/spec/interval");
    // isValidChartRef
    "has a chart and a reference to one, or neither", "spec: {chartRef: {kind: OCIRepository, name: b}}" =>
        |o| has(o, "/spec/chart") == has(o, "/spec/chartRef");
    "waits for itself", "spec: {dependsOn: [{name: a}]}" => waits_for_itself;
    "installs in another cluster and names not one: a Secret or a ConfigMap",
        "spec: {kubeConfig: {configMapRef: {name: b}}}" => no_one_cluster;
    "has a name of its release that Helm refuses", "spec: {releaseName: My_release}" =>
        |o| has(o, "/spec/releaseName") && no_release_name(text(o, "/spec/releaseName"));
    "installs into what no namespace is called", "spec: {targetNamespace: kube_system}" =>
        |o| no_namespace(o, "/spec/targetNamespace");
    "keeps what it knows in what no namespace is called", "spec: {storageNamespace: kube_system}" =>
        |o| no_namespace(o, "/spec/storageNamespace");
    // builder.go, RemoteReference.Validate
    "has a chart whose name is none", "spec: {chart: {spec: {chart: My chart}}}" =>
        |o| text(o, SOURCE) == "HelmRepository" && no_chart_name(text(o, CHART));
    // builder.go, LocalReference.Validate
    "has a chart at an absolute path",
        "spec: {chart: {spec: {chart: /charts/a, sourceRef: {kind: GitRepository}}}}" =>
        |o| text(o, SOURCE) != "HelmRepository" && text(o, CHART).starts_with('/');
    "asks for signatures without a Secret that says whose",
        "spec: {chart: {spec: {verify: {provider: notation}}}}" =>
        |o| nobodys_signature(o, "/spec/chart/spec/verify");
    // getSourceFromExternalArtifact
    "reads an ExternalArtifact, which wants a feature gate of that name",
        "spec: {chart: null, chartRef: {kind: ExternalArtifact, name: b}}" =>
        |o| text(o, "/spec/chartRef/kind") == "ExternalArtifact";
    "has a check of health that does not say when something is healthy",
        "spec: {healthCheckExprs: [{apiVersion: g/v1, kind: K, current: ''}]}" => no_health;
    // internal/postrender/kustomize.go
    "has a patch of nothing", "spec: {postRenderers: [{kustomize: {patches: [{patch: ''}]}}]}" =>
        |o| renderers(o).any(empty_patch);
    "has a JSON patch that says nothing of what it changes",
        "spec: {postRenderers: [{kustomize: {patches: [{patch: '- {op: remove, path: /spec}'}]}}]}" =>
        |o| renderers(o).any(aimless_patch);
    "gives all that it installs malformed labels or annotations",
        "spec: {commonMetadata: {labels: {a: two words}}}" =>
        |o| bad_metadata(o, "/spec/commonMetadata");
}

/// The patches of each of the post-renderers.
fn renderers(object: DocumentPart<'_>) -> impl Iterator<Item = &[Value]> {
    list(object, "/spec/postRenderers").iter().map(|one| list(one, "/kustomize/patches"))
}

fn no_release_name(name: &str) -> bool {
    name.len() > LONGEST || !name.split('.').all(is_dns_label)
}

/// `^([-a-z0-9]+/?\.?)+$`
fn no_chart_name(name: &str) -> bool {
    let known = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-/.".contains(&b);
    name.is_empty()
        || name.starts_with(['/', '.'])
        || !name.bytes().all(known)
        || ["//", "..", "./"].iter().any(|twice| name.contains(twice))
}

#[cfg(test)]
pub(super) const GOOD: &str = r"
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: a, namespace: x}
spec:
  interval: 1h
  chart: {spec: {chart: stable/a.b, version: 1.2.3, sourceRef: {kind: HelmRepository, name: a}}}
  dependsOn: [{name: b}]
  kubeConfig: {secretRef: {name: a-kubeconfig}}
  releaseName: a.b-1
  targetNamespace: kube-system
  storageNamespace: kube-system
  healthCheckExprs: [{apiVersion: g/v1, kind: K, current: status.ready}]
  postRenderers: [{kustomize: {patches: [{patch: '- {op: remove, path: /spec}', target: {kind: A}}]}}]
  commonMetadata: {labels: {a: b}}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_helm() {
        let long = ["a".repeat(53), "a".repeat(54)];
        assert!(!no_release_name(&long[0]) && no_release_name(&long[1]));
        assert!(no_release_name("") && no_release_name("a-") && !no_release_name("1.a"));
        for good in ["cilium", "a/b", "a/.b", "-a"] {
            assert!(!no_chart_name(good), "{good}");
        }
        for bad in ["", "/a", ".a", "a//b", "a..b", "a./b", "A", "a b"] {
            assert!(no_chart_name(bad), "{bad}");
        }
    }
}
