//! `GitRepository` (source-controller v1.9.1, `internal/controller/gitrepository_controller.go`; fluxcd/pkg,
//! `git/options.go`): what the controller stops at, so that nothing of the repository reaches the cluster.

use super::flux::{gated_account, no_time};
use super::rules;
use super::value::{has, list, text};

rules! {
    "is looked at once and never again: its interval is nothing", "spec: {interval: 0s}" =>
        |o| no_time(o, "/spec/interval");
    "has no time to be fetched: its timeout is nothing", "spec: {timeout: 0s}" =>
        |o| no_time(o, "/spec/timeout");
    // git/options.go, Validate
    "has an address without a host", "spec: {url: 'ssh:///fleet.git'}" =>
        |o| text(o, "/spec/url").split_once("://").is_some_and(|(_, rest)| rest.starts_with('/'));
    "is fetched by SSH without a Secret that has a key and known hosts",
        "spec: {url: 'ssh://git@git.example.com/fleet.git', secretRef: null}" =>
        |o| text(o, "/spec/url").starts_with("ssh://") && !has(o, "/spec/secretRef");
    // getAuthOpts
    "is fetched as an app of GitHub without a Secret that has the app's key",
        "spec: {provider: github, secretRef: null}" =>
        |o| text(o, "/spec/provider") == "github" && !has(o, "/spec/secretRef");
    "is fetched as a ServiceAccount of its own, which wants the feature gate ObjectLevelWorkloadIdentity",
        "spec: {provider: azure, serviceAccountName: b}" => gated_account;
    // verifySignature
    "verifies a tag and follows none", "spec: {verify: {mode: TagAndHEAD, secretRef: {name: s}}}" =>
        |o| text(o, "/spec/verify/mode").starts_with("Tag")
            && !["tag", "semver", "name"].iter().any(|by| has(o, &format!("/spec/ref/{by}")));
    // An artifact that is included must be there before the one that includes it.
    "includes itself", "spec: {include: [{repository: {name: a}}]}" =>
        |o| list(o, "/spec/include")
            .iter().any(|one| text(one, "/repository/name") == text(o, "/metadata/name"));
}

#[cfg(test)]
pub(super) const GOOD: &str = r"
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: a, namespace: flux-system}
spec:
  interval: 5m
  timeout: 1m
  url: https://git.example.com/fleet.git
  ref: {branch: carp/rendered}
  secretRef: {name: git}
  verify: {mode: HEAD, secretRef: {name: s}}
  include: [{repository: {name: b}}]
";
