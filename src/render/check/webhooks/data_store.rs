//! `DataStore` (kamaji 26.8.2-edge, `controllers/datastore_controller.go`, `validateTLSConfig` and `validateBasicAuth`, and
//! `internal/datastore/datastore.go`): one that is refused is never ready, and no control plane is made in it.

use serde_json::Value;

use super::rules;
use super::value::{at, has, list, text};
use crate::pattern::DocumentPart;

/// Where it reads what is secret, all of them optional here.
const CONTENTS: [&str; 6] = [
    "/spec/tlsConfig/certificateAuthority/certificate",
    "/spec/tlsConfig/certificateAuthority/privateKey",
    "/spec/tlsConfig/clientCertificate/certificate",
    "/spec/tlsConfig/clientCertificate/privateKey",
    "/spec/basicAuth/username",
    "/spec/basicAuth/password",
];

rules! {
    "has an endpoint that is no address with a port", "spec: {endpoints: [etcd-0.etcd]}" =>
        |o| list(o, "/spec/endpoints").iter().any(no_endpoint);
    // validateContentReference
    "says neither what is secret nor where it stands",
        "spec: {basicAuth: {username: {}}}" =>
        |o| contents(o).any(|one| !has(one, "/content") && !has(one, "/secretReference"));
    "reads from a Secret without a name",
        "spec: {basicAuth: {username: {secretReference: {namespace: x, keyPath: k}}}}" =>
        |o| contents(o).any(|one| lacks(one, "name"));
    "reads from a Secret in no namespace",
        "spec: {basicAuth: {username: {secretReference: {name: s, keyPath: k}}}}" =>
        |o| contents(o).any(|one| lacks(one, "namespace"));
    "is etcd without the key of its authority or a certificate of its client",
        "spec: {tlsConfig: {clientCertificate: null}}" =>
        |o| text(o, "/spec/driver") == "etcd"
            && !(has(o, CONTENTS[1]) && has(o, "/spec/tlsConfig/clientCertificate"));
}

fn contents(object: DocumentPart<'_>) -> impl Iterator<Item = &Value> {
    CONTENTS.iter().filter_map(move |path| at(object, path)).filter(|one| !one.is_null())
}

/// Whether a reference to a Secret that counts does not say something.
fn lacks(content: &Value, field: &str) -> bool {
    let reference = at(content, "/secretReference").filter(|_| !has(content, "/content"));
    reference.is_some_and(|reference| text(reference, &format!("/{field}")).is_empty())
}

/// Go's `net.SplitHostPort`, and a port that is a number.
fn no_endpoint(endpoint: &Value) -> bool {
    let Some((host, port)) = endpoint.as_str().and_then(|text| text.rsplit_once(':')) else {
        return true;
    };
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).is_none();
    port.parse::<u16>().is_err() || bare && host.contains(':')
}

#[cfg(test)]
pub(super) const GOOD: &str = r"
apiVersion: kamaji.clastix.io/v1alpha1
kind: DataStore
metadata: {name: default}
spec:
  driver: etcd
  endpoints: ['etcd-0.etcd.kamaji-system.svc:2379', '[fd00::1]:2379']
  tlsConfig:
    certificateAuthority:
      certificate: {secretReference: {name: ca, namespace: x, keyPath: tls.crt}}
      privateKey: {secretReference: {name: ca, namespace: x, keyPath: tls.key}}
    clientCertificate:
      certificate: {secretReference: {name: c, namespace: x, keyPath: tls.crt}}
      privateKey: {content: eA==}
";
