//! `OCIRepository` (source-controller v1.9.1, `internal/controller/ocirepository_controller.go`; go-containerregistry,
//! `pkg/name/repository.go` and `pkg/v1/hash.go`): what the controller stops at.

use super::flux::{gated_account, no_time, nobodys_signature};
use super::rules;
use super::value::{bad_tag, text};

rules! {
    "is looked at once and never again: its interval is nothing", "spec: {interval: 0s}" =>
        |o| no_time(o, "/spec/interval");
    "has no time to be fetched: its timeout is nothing", "spec: {timeout: 0s}" =>
        |o| no_time(o, "/spec/timeout");
    // parseRepository
    "has an address that does not begin with oci://", "spec: {url: 'https://ghcr.io/a/b'}" =>
        |o| !text(o, "/spec/url").starts_with("oci://");
    "has a tag in its address, which belongs to `ref`", "spec: {url: 'oci://ghcr.io/a/b:1.2.3'}" =>
        |o| repository(text(o, "/spec/url")).contains(':');
    "has an address of which no repository is: small letters, digits and `_-./`",
        "spec: {url: 'oci://ghcr.io/Team/b'}" =>
        |o| no_repository(repository(text(o, "/spec/url")));
    "has a digest that is none", "spec: {ref: {digest: 'sha256:12'}}" =>
        |o| no_digest(text(o, "/spec/ref/digest"));
    // What a registry calls a tag (distribution-spec, `spec.md`): a chart's `+` is a `_` there.
    "has a tag that is none", "spec: {ref: {tag: 1.2.3+a}}" => |o| bad_tag(text(o, "/spec/ref/tag"));
    "asks for signatures without a Secret that says whose", "spec: {verify: {provider: notation}}" =>
        |o| nobodys_signature(o, "/spec/verify");
    "is fetched as a ServiceAccount of its own, which wants the feature gate ObjectLevelWorkloadIdentity",
        "spec: {provider: azure, serviceAccountName: b}" => gated_account;
}

/// What stands behind the registry; all where none is named, which is a repository of Docker's.
fn repository(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    match rest.split_once('/') {
        Some((host, path)) if host.contains(['.', ':']) || host == "localhost" => path,
        _ => rest,
    }
}

fn no_repository(path: &str) -> bool {
    let known = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-./:".contains(&b);
    !(2..=255).contains(&path.len()) || !path.bytes().all(known)
}

fn no_digest(digest: &str) -> bool {
    let is_hash = |hash: &str| hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit());
    !digest.is_empty() && !digest.strip_prefix("sha256:").is_some_and(is_hash)
}

#[cfg(test)]
pub(super) const GOOD: &str = r"
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: a, namespace: x}
spec:
  interval: 24h
  timeout: 60s
  url: oci://registry.example.com:5000/charts/a_b
  ref: {tag: 1.2.3_a, digest: 'sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}
  serviceAccountName: b
  verify: {provider: cosign}
";
