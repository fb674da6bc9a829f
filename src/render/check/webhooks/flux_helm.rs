//! `HelmRepository` (source-controller v1.9.1, `internal/controller/helmrepository_controller.go` and
//! `helmchart_controller.go`): what the controllers stop at, so that no chart of it is found.

use super::flux::no_time;
use super::rules;
use super::value::text;

rules! {
    "is looked at once and never again: its interval is nothing", "spec: {interval: 0s}" =>
        |o| no_time(o, "/spec/interval");
    "has no time to be fetched: its timeout is nothing", "spec: {timeout: 0s}" =>
        |o| no_time(o, "/spec/timeout");
    // reconcileSource
    "has an address of a registry and not the type oci", "spec: {url: 'oci://ghcr.io/charts'}" =>
        |o| text(o, "/spec/url").starts_with("oci://") && text(o, "/spec/type") != "oci";
    // buildFromHelmRepository
    "has the type oci and an address of no registry", "spec: {type: oci}" =>
        |o| text(o, "/spec/type") == "oci" && !text(o, "/spec/url").starts_with("oci://");
    "has an address without a host", "spec: {url: 'https:///charts'}" =>
        |o| text(o, "/spec/url").split_once("://").is_some_and(|(_, rest)| rest.starts_with('/'));
}

#[cfg(test)]
pub(super) const GOOD: &str = r"
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: a, namespace: x}
spec: {interval: 24h, timeout: 60s, url: 'https://charts.example.com/stable'}
";
