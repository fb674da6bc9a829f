//! The providers of Cluster API's operator (cluster-api-operator v0.28.0, `internal/controller/preflight_checks.go`,
//! `component_customizer.go`, `internal/patch`; clusterctl of cluster-api v1.13.5, `client/config/providers_client.go` and
//! `client/repository`). Its webhooks fill in and refuse nothing: its controller stops before it installs anything, or in
//! the middle of an upgrade.

use super::rules;
use super::value::{at, has, list, no_version, text};
use crate::pattern::DocumentPart;

/// What the operator makes arguments of the manager from before it adds `additionalArgs`.
const TAKEN: &[(&str, &str)] = &[
    ("--feature-gates", "/spec/manager/featureGates"),
    ("--max-concurrent-reconciles", "/spec/manager/maxConcurrentReconciles"),
    ("--namespace", "/spec/manager/cacheNamespace"),
    ("--sync-period", "/spec/manager/syncPeriod"),
];

rules! {
    // validateProvider
    "has a name that no provider has, for it is no DNS name in small letters", "metadata: {name: Core}" =>
        |o| text(o, "/metadata/name") != text(o, "/metadata/name").to_lowercase();
    "is the core of Cluster API, whose name is `cluster-api`", "metadata: {name: core}" =>
        |o| is_core(o) && text(o, "/metadata/name") != CORE;
    "has the name of the core of Cluster API", "kind: BootstrapProvider" =>
        |o| !is_core(o) && text(o, "/metadata/name") == CORE;
    // checkProviderVersion
    "has a version that is none", "spec: {version: v1.13}" =>
        |o| has(o, "/spec/version")
            && no_version(&format!("v{}", text(o, "/spec/version").trim_start_matches('v')));
    // repositoryFactory, NewGitHubRepository, NewGitLabRepository
    "is fetched from where clusterctl finds nothing: releases on GitHub, packages of GitLab, or files",
        "spec: {fetchConfig: {url: 'https://github.com/a/b/blob/main/components.yaml'}}" =>
        |o| no_release(text(o, "/spec/fetchConfig/url"));
    "is fetched from two places, or from none", "spec: {fetchConfig: {oci: ghcr.io/a/b}}" =>
        |o| has(o, "/spec/fetchConfig")
            && ["oci", "selector", "url"]
                .iter().filter(|by| has(o, &format!("/spec/fetchConfig/{by}"))).count() != 1;
    // component_patches.go
    "has patches of two kinds, `patches` and `manifestPatches`", "spec: {manifestPatches: ['kind: A']}" =>
        |o| !list(o, "/spec/patches").is_empty() && !list(o, "/spec/manifestPatches").is_empty();
    "has a patch of nothing", "spec: {patches: [{patch: ''}]}" =>
        |o| list(o, "/spec/patches").iter().any(|patch| text(patch, "/patch").trim().is_empty());
    // customizeManagerContainer
    "says an argument of its manager twice", "spec: {manager: {additionalArgs: {--feature-gates: A=true}}}" =>
        |o| TAKEN.iter().any(|(name, by)| has(o, by)
            && at(o, "/spec/manager/additionalArgs").is_some_and(|all| all.get(name).is_some()));
    // customizeContainer goes by names, and is done with the first.
    "customises a container without a name", "spec: {deployment: {containers: [{imageUrl: a}]}}" =>
        |o| list(o, "/spec/deployment/containers").iter().any(|one| text(one, "/name").is_empty());
}

/// What the core of Cluster API is called.
const CORE: &str = "cluster-api";

fn is_core(object: DocumentPart<'_>) -> bool {
    text(object, "/kind") == "CoreProvider"
}

fn no_release(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let steps: Vec<_> = path.split('/').collect();
    match scheme {
        "https" if host == "github.com" => steps.len() < 5 || steps[2] != "releases",
        "https" if host.starts_with("gitlab.") => {
            steps.len() != 9
                || !path.starts_with("api/v4/projects/")
                || steps[4..6] != ["packages", "generic"]
        }
        scheme => scheme != "file",
    }
}

#[cfg(test)]
pub(super) const GOOD: &str = r"
apiVersion: operator.cluster.x-k8s.io/v1alpha2
kind: CoreProvider
metadata: {name: cluster-api, namespace: capi-system}
spec:
  version: v1.13.5
  fetchConfig: {url: 'https://github.com/a/b/releases/v1.13.5/core-components.yaml'}
  manager: {featureGates: {A: true}, additionalArgs: {--kube-api-qps: '50'}}
  deployment: {containers: [{name: manager, imageUrl: a}]}
  patches: [{patch: 'kind: A'}]
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_that_clusterctl_reads() {
        for good in [
            "",
            "/srv/providers/a/v1.0.0/components.yaml",
            "file:///srv/a.yaml",
            "https://github.com/a/b/releases/latest/components.yaml",
            "https://gitlab.example.com/api/v4/projects/a%2Fb/packages/generic/p/v1.0.0/c.yaml",
        ] {
            assert!(!no_release(good), "{good}");
        }
        for bad in [
            "https://github.com/a/b/releases/components.yaml",
            "https://gitlab.example.com/a/b/-/releases/v1/c.yaml",
            "https://example.com/components.yaml",
            "http://github.com/a/b/releases/v1/c.yaml",
        ] {
            assert!(no_release(bad), "{bad}");
        }
    }
}
