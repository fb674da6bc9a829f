//! `ExternalSecret` (external-secrets v2.9.0, `apis/externalsecrets/v1/externalsecret_validator.go`).

use super::rules;
use super::value::{at, has, list, repeats, text};
use crate::pattern::DocumentPart;

const TYPE: &str = "/spec/target/template/type";
const TOKEN: &str = "kubernetes.io/service-account-token";
const ACCOUNT: &str = "kubernetes.io/service-account.name";

rules! {
    "takes nothing from its store", "spec: {data: null, dataFrom: null}" =>
        |o| list(o, "/spec/data").is_empty() && list(o, "/spec/dataFrom").is_empty();
    // validatePolicies
    "deletes a Secret that it does not own", "spec: {target: {creationPolicy: Merge, deletionPolicy: Delete}}" =>
        |o| text(o, "/spec/target/deletionPolicy") == "Delete"
            && ["Merge", "None", "CreateOrMerge"].contains(&text(o, "/spec/target/creationPolicy"));
    "merges into a Secret that it does not make", "spec: {target: {creationPolicy: None, deletionPolicy: Merge}}" =>
        |o| text(o, "/spec/target/deletionPolicy") == "Merge"
            && text(o, "/spec/target/creationPolicy") == "None";
    // validatePrivilegedTemplate
    "makes a token of a ServiceAccount",
        "spec: {target: {template: {type: kubernetes.io/service-account-token, metadata: {annotations: {kubernetes.io/service-account.name: a}}}}}" =>
        |o| text(o, TYPE) == TOKEN
            && (at(o, "/spec/target/template/metadata/annotations").is_some_and(|all| all.get(ACCOUNT).is_some())
                || targets(o).any(|target| target.eq_ignore_ascii_case("Annotations")));
    "makes a token with which nodes join", "spec: {target: {template: {type: bootstrap.kubernetes.io/token}}}" =>
        |o| text(o, TYPE) == "bootstrap.kubernetes.io/token";
    // ValidateSecretTemplateFromTargets
    "writes what is no data, label or annotation of its Secret",
        "spec: {target: {template: {templateFrom: [{target: type, literal: x}]}}}" =>
        |o| !has(o, "/spec/target/manifest")
            && targets(o).any(|target| {
                let known = ["", "Data", "Annotations", "Labels"];
                !known.iter().any(|known| target.eq_ignore_ascii_case(known))
            });
    // validateFindExtractSourceRef
    "takes something of its store and does not say what", "spec: {dataFrom: [{}]}" =>
        |o| list(o, "/spec/dataFrom")
            .iter().any(|one| !["find", "extract", "sourceRef"].iter().any(|by| has(one, &format!("/{by}"))));
    // validateExtractFindGenerator
    "finds, extracts and generates at once", "spec: {dataFrom: [{extract: {key: a}, find: {path: b}}]}" =>
        |o| list(o, "/spec/dataFrom")
            .iter().any(|one| ["/find", "/extract", "/sourceRef/generatorRef"]
                .iter().filter(|by| has(one, by)).count() > 1);
    // validateSourceRef
    "names a source that is neither a store nor a generator", "spec: {dataFrom: [{extract: {key: a}, sourceRef: {}}]}" =>
        |o| list(o, "/spec/dataFrom").iter().any(|one| has(one, "/sourceRef")
            && !has(one, "/sourceRef/generatorRef") && !has(one, "/sourceRef/storeRef"));
    // validateDuplicateKeys
    "has two entries for one key", "spec: {data: [{secretKey: a, remoteRef: {key: b}}, {secretKey: a, remoteRef: {key: c}}]}" =>
        |o| ["", "Retain"].contains(&text(o, "/spec/target/deletionPolicy"))
            && repeats(list(o, "/spec/data").iter().map(|one| text(one, "/secretKey")));
}

/// Where templates write.
fn targets(object: DocumentPart<'_>) -> impl Iterator<Item = &str> {
    list(object, "/spec/target/template/templateFrom").iter().map(|one| text(one, "/target"))
}

#[cfg(test)]
pub(super) const GOOD: &str = r"
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: a, namespace: x}
spec:
  secretStoreRef: {kind: ClusterSecretStore, name: s}
  target: {name: a, creationPolicy: Owner, template: {type: Opaque, templateFrom: [{target: Data, literal: x}]}}
  data: [{secretKey: a, remoteRef: {key: b}}, {secretKey: b, remoteRef: {key: b}}]
  dataFrom: [{extract: {key: a}, sourceRef: {storeRef: {name: s}}}]
";
