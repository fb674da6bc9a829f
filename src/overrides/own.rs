//! What stays carp's own, whatever a policy says: which object it is, where it lies, what nobody but its controller
//! says of it, and the labels and annotations by which carp and Flux know it. Here what came out is compared with what
//! was there; what a policy can be seen to want is refused when it loads.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::trouble::ChangeTrouble;
use crate::model::is_carps_key;

/// The maps of metadata that are free, carp's own keys apart.
const FREE: [&str; 2] = ["labels", "annotations"];

/// Whether all that is carp's own is as it was.
pub(super) fn check(before: &Value, after: &Value) -> Result<(), ChangeTrouble> {
    let help =
        "change only what is the object's own: its spec, its data, other labels and annotations";
    let refuse = |what: &str| Err(ChangeTrouble::new("", format!("{what} is carp's own"), help));
    for field in ["apiVersion", "kind", "status"] {
        if before.get(field) != after.get(field) {
            return refuse(&format!("`{field}`"));
        }
    }
    let none = Map::new();
    let metadata = |object: &Value| object.get("metadata").and_then(Value::as_object).cloned();
    let (old, new) = (metadata(before).unwrap_or_default(), metadata(after).unwrap_or_default());
    if let Some(field) = differing(&old, &new, |key| !FREE.contains(&key)) {
        return refuse(&format!("`metadata.{field}`"));
    }
    for map in FREE {
        let entries = |metadata: &Map<String, Value>| {
            metadata.get(map).map_or(Some(none.clone()), |map| map.as_object().cloned())
        };
        let (Some(old), Some(new)) = (entries(&old), entries(&new)) else {
            return Err(ChangeTrouble::new(
                "",
                format!("`metadata.{map}` is no mapping any more"),
                help,
            ));
        };
        if let Some(key) = differing(&old, &new, is_carps_key) {
            return refuse(&format!("`{key}` of `metadata.{map}`"));
        }
        if let Some((key, _)) = new.iter().find(|(_, value)| !value.is_string()) {
            let why = format!("`{key}` of `metadata.{map}` is no text");
            return Err(ChangeTrouble::new("", why, "put the value in quotes"));
        }
    }
    Ok(())
}

/// The first key of some that has another value.
fn differing(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    counts: impl Fn(&str) -> bool,
) -> Option<String> {
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut differ = keys.into_iter().filter(|key| counts(key) && old.get(*key) != new.get(*key));
    differ.next().cloned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object() -> Value {
        json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {
                "name": "a",
                "namespace": "x",
                "labels": {"carp.dev/tenant": "shop", "app": "a"},
                "annotations": {"kustomize.toolkit.fluxcd.io/prune": "disabled"},
            },
            "spec": {"replicas": 1},
        })
    }

    type Change = fn(&mut Value);

    fn after(change: impl Fn(&mut Value)) -> Result<(), String> {
        let mut after = object();
        change(&mut after);
        check(&object(), &after).map_err(|trouble| trouble.why)
    }

    #[test]
    fn what_is_the_objects_own_is_free() {
        assert_eq!(after(|o| o["spec"] = json!({"replicas": 2})), Ok(()));
        assert_eq!(after(|o| o["metadata"]["labels"]["app"] = json!("b")), Ok(()));
        assert_eq!(after(|o| o["metadata"]["annotations"]["why"] = json!("so")), Ok(()));
    }

    #[test]
    fn what_is_carps_own_stays() {
        let whole: [(&str, Change); 9] = [
            ("`apiVersion`", |o| o["apiVersion"] = json!("apps/v2")),
            ("`kind`", |o| o["kind"] = json!("DaemonSet")),
            ("`status`", |o| o["status"] = json!({"ready": true})),
            ("`metadata.name`", |o| o["metadata"]["name"] = json!("b")),
            ("`metadata.namespace`", |o| o["metadata"]["namespace"] = json!("y")),
            ("`metadata.finalizers`", |o| o["metadata"]["finalizers"] = json!(["x/y"])),
            ("`carp.dev/tenant` of `metadata.labels`", |o| {
                o["metadata"]["labels"] = json!({"app": "a"});
            }),
            ("`carp.dev/not-secret` of `metadata.annotations`", |o| {
                o["metadata"]["annotations"]["carp.dev/not-secret"] = json!("spec.x: no");
            }),
            ("`kustomize.toolkit.fluxcd.io/prune` of `metadata.annotations`", |o| {
                o["metadata"].as_object_mut().unwrap().remove("annotations");
            }),
        ];
        for (what, change) in whole {
            assert_eq!(after(change), Err(format!("{what} is carp's own")));
        }
        assert!(after(|o| o["metadata"]["labels"] = json!("x")).is_err());
        let number = after(|o| o["metadata"]["labels"]["n"] = json!(1));
        assert_eq!(number, Err("`n` of `metadata.labels` is no text".to_owned()));
    }
}
