//! What every document has around its `spec`: `apiVersion`, `kind` and `metadata`.

use serde_json::{Map, Value};

use super::finding::Findings;
use super::habits;
use super::kind::{Kind, Root};
use super::structure::is_slip_for;
use crate::diag::suggest;
use crate::diag::{Code, FieldPath};
use crate::model::api::{API_VERSION, OLD_API_VERSION, planned};

/// The fields of a document.
const FIELDS: [&str; 5] = ["apiVersion", "kind", "metadata", "spec", "status"];

/// Metadata that the API server sets.
const SERVER_SET: [&str; 10] = [
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
    "ownerReferences",
    "finalizers",
];

/// The annotation that `kubectl apply` leaves on an object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Which API a document speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    /// `carp.dev/v1alpha1`.
    Current,
    /// The original prototype's.
    Old,
}

/// The parts of a document, with what a server has set taken away.
pub(super) struct Envelope {
    pub(super) api: Api,
    pub(super) kind: Option<Kind>,
    pub(super) metadata: Value,
    pub(super) spec: Value,
    /// Fields that another key was meant for.
    pub(super) slips: Vec<&'static str>,
}

/// Takes a document apart. A kind that is not read here, or one in the wrong place, is `None`.
pub(super) fn open(document: &mut Map<String, Value>, root: Root, out: &mut Findings) -> Envelope {
    // What is somebody else's has fields of its own; the kind says it all, and a Secret's are not shown.
    let unknown = |key: &&String| !FIELDS.contains(&key.as_str());
    let is_foreign = foreign(document).is_some();
    for key in document.keys().filter(unknown).filter(|_| !is_foreign) {
        let help = suggest::help(key, FIELDS[..4].iter().copied(), "the fields here");
        let message = format!("`{key}` is not a field of a document");
        out.add_on_key(Code::UnknownField, FieldPath::default().key(key), message, help);
    }
    let meant =
        |field: &&str| document.keys().any(|key| is_slip_for(key, field, FIELDS.into_iter()));
    let slips: Vec<&'static str> = FIELDS.into_iter().filter(meant).collect();
    let written = |field: &str| document.get(field).filter(|v| !v.is_null());
    let (mut api, mut kind) = (Api::Current, None);
    if let Some((other, of)) = foreign(document) {
        let message = format!("a {other} of `{of}` is no document of carp");
        let help = match other {
            "Secret" => habits::SECRET.to_owned(),
            _ => format!("keep it elsewhere; {}", known_kinds(root)),
        };
        out.add(Code::UnknownKind, FieldPath::keys("kind"), message, help);
    } else {
        if written("apiVersion").is_some() || !slips.contains(&"apiVersion") {
            api = self::api(written("apiVersion"), out);
        }
        if written("kind").is_some() || !slips.contains(&"kind") {
            kind = self::kind(written("kind"), root, out);
        }
    }
    let mut pasted = Vec::new();
    let mut metadata = document.remove("metadata").unwrap_or_default();
    if let Value::Object(fields) = &mut metadata {
        strip_server_set(fields, &mut pasted);
    }
    if document.contains_key("status") {
        pasted.push(FieldPath::keys("status"));
    }
    server_set(&pasted, out);
    Envelope { api, kind, metadata, spec: document.remove("spec").unwrap_or_default(), slips }
}

/// The kind and the API of a document that is somebody else's.
fn foreign(document: &Map<String, Value>) -> Option<(&str, &str)> {
    let (kind, api) = (document.get("kind")?.as_str()?, document.get("apiVersion")?.as_str()?);
    let ours = [API_VERSION, OLD_API_VERSION].into_iter().any(|own| group(own) == group(api));
    let known = Kind::ALL.iter().map(|kind| kind.name()).chain(planned::KINDS.iter().copied());
    (!ours && suggest::nearest(kind, known).is_none()).then_some((kind, api))
}

/// The group of an `apiVersion`; empty where it has none.
fn group(api: &str) -> &str {
    api.split_once('/').map_or("", |(group, _)| group)
}

fn known_kinds(root: Root) -> String {
    let here = Kind::ALL.iter().filter(|k| k.root() == root).map(|kind| kind.name());
    format!("the kinds here: {}", here.collect::<Vec<_>>().join(", "))
}

fn api(value: Option<&Value>, out: &mut Findings) -> Api {
    let path = || FieldPath::keys("apiVersion");
    let help = || format!("write `apiVersion: {API_VERSION}`");
    match value {
        Some(Value::String(text)) if text == API_VERSION => {}
        Some(Value::String(text)) if text == OLD_API_VERSION => {
            let message = format!(
                "`{OLD_API_VERSION}` is the API of carp's prototype and is read as `{API_VERSION}`"
            );
            out.add(Code::OldGroup, path(), message, help());
            return Api::Old;
        }
        Some(Value::String(text)) => {
            let message = format!("`{text}` is not an API that carp reads");
            out.add(Code::UnknownApiVersion, path(), message, help());
        }
        None => {
            out.add(Code::MissingField, path(), "`apiVersion` is missing", help());
        }
        Some(_) => out.add(Code::WrongType, path(), "`apiVersion` wants text", help()),
    }
    Api::Current
}

fn kind(value: Option<&Value>, root: Root, out: &mut Findings) -> Option<Kind> {
    let path = || FieldPath::keys("kind");
    let here = || Kind::ALL.iter().filter(move |k| k.root() == root).map(|kind| kind.name());
    let known = || known_kinds(root);
    let Some(name) = value else {
        out.add(Code::MissingField, path(), "`kind` is missing", known());
        return None;
    };
    let Some(name) = name.as_str() else {
        out.add(Code::WrongType, path(), "`kind` wants text", known());
        return None;
    };
    match Kind::named(name) {
        Some(kind) if kind.root() == root => return Some(kind),
        Some(kind) => {
            let message = format!("a {name} does not belong here");
            let help = format!("move it to {}", kind.root().described());
            out.add(Code::UnknownKind, path(), message, help);
        }
        None if planned::KINDS.contains(&name) => {
            let message = format!("the kind {name} is planned and has no effect yet");
            out.add(
                Code::NotBuiltYet,
                path(),
                message,
                "remove the document until carp acts on it",
            );
        }
        None => {
            let message = format!("`{name}` is not a kind that carp reads");
            let near = suggest::nearest(name, here());
            let help = near.map_or_else(known, |near| format!("did you mean `{near}`?"));
            out.add(Code::UnknownKind, path(), message, help);
        }
    }
    None
}

fn strip_server_set(metadata: &mut Map<String, Value>, pasted: &mut Vec<FieldPath>) {
    let path = FieldPath::keys("metadata");
    for key in SERVER_SET {
        if metadata.remove(key).is_some() {
            pasted.push(path.key(key));
        }
    }
    if let Some(Value::Object(annotations)) = metadata.get_mut("annotations")
        && annotations.remove(LAST_APPLIED).is_some()
    {
        pasted.push(path.key("annotations").key(LAST_APPLIED));
    }
}

/// One finding for all that was pasted at once.
fn server_set(pasted: &[FieldPath], out: &mut Findings) {
    let Some(first) = pasted.first() else { return };
    let message = match pasted.len() {
        1 => format!("`{first}` was set by a cluster and is ignored"),
        more => format!("{more} fields were set by a cluster and are ignored"),
    };
    let each: Vec<_> = pasted.iter().map(|path| format!("`{path}`")).collect();
    let help = format!("remove {}", each.join(", "));
    out.add_on_key(Code::ServerSetField, first.clone(), message, help);
}

#[cfg(test)]
mod tests {
    use super::super::tests::{POLICY, cluster, files_find, finds, load_fleet, loads};
    use super::*;

    #[test]
    fn only_carps_own_api_is_read() {
        let found = cluster("").replace("carp.dev/v1alpha1", "carp.dev/v1beta1");
        finds(found, Code::UnknownApiVersion, "apiVersion");
        let missing = cluster("").replace("apiVersion", "# ");
        finds(missing, Code::MissingField, "apiVersion");
    }

    #[test]
    fn an_unknown_kind_names_the_one_that_was_meant() {
        let found = finds(
            cluster("").replace("ManagedCluster", "ManagedClustr"),
            Code::UnknownKind,
            "kind",
        );
        assert_eq!(found.help.as_deref(), Some("did you mean `ManagedCluster`?"));
        finds(cluster("").replace("ManagedCluster", "Deployment"), Code::UnknownKind, "kind");
    }

    #[test]
    fn what_is_not_carps_is_one_finding() {
        let text = cluster("")
            .replace("ManagedCluster", "Deployment")
            .replace("carp.dev/v1alpha1", "apps/v1");
        finds(&text, Code::UnknownKind, "kind");
        assert_eq!(load_fleet(&[("fleet/x.yaml", &text)]).diagnostics.iter().count(), 1);
    }

    #[test]
    fn a_kind_in_the_wrong_root_is_told_where_it_belongs() {
        let found = files_find(&[("fleet/p.yaml", POLICY)], Code::UnknownKind, "kind");
        assert_eq!(found.help.as_deref(), Some("move it to the root `policies`"));
        let found = files_find(&[("policies/c.yaml", &cluster(""))], Code::UnknownKind, "kind");
        assert_eq!(found.help.as_deref(), Some("move it to the root `fleet`"));
    }

    #[test]
    fn a_planned_kind_is_refused_kindly() {
        let pool = cluster("").replace("ManagedCluster", "RolloutPolicy");
        finds(pool, Code::NotBuiltYet, "kind");
    }

    #[test]
    fn metadata_is_strict() {
        let found =
            finds(cluster("").replace("labels:", "lables:"), Code::UnknownField, "metadata.lables");
        assert_eq!(found.help.as_deref(), Some("did you mean `labels`?"));
        finds(cluster("").replace("spec:", "spek:"), Code::UnknownField, "spek");
    }

    #[test]
    fn what_a_cluster_has_set_is_ignored() {
        let text = cluster("").replace(
            "  labels:",
            "  uid: x\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: x\n  labels:",
        );
        let text = format!("{text}status:\n  phase: Running\n");
        let found = finds(&text, Code::ServerSetField, "metadata.uid");
        let help = found.help.unwrap();
        assert!(help.contains("last-applied") && help.contains("`status`"), "{help}");
        let with = loads(&text).clusters["pay-eu"].facts;
        assert_eq!(with, loads(cluster("")).clusters["pay-eu"].facts);
    }
}
