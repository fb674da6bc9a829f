//! What of an object may change, where its webhook has a list and refuses all else.

use serde_json::{Map, Value};

/// The fields below `spec` that have changed and are not in the list, as JSON pointers. One of the list that ends in
/// `/*` is all that is below it, and not the whole.
pub(super) fn immutable_changes(before: &Value, after: &Value, allowed: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let spec = |object: &Value| object.get("spec").and_then(Value::as_object).cloned();
    differences(spec(before).as_ref(), spec(after).as_ref(), "/spec", &mut found);
    found.retain(|path| !is_allowed(path, allowed));
    found
}

/// The paths of a merge patch from one to the other: down to what is no object, or is gone.
fn differences(
    before: Option<&Map<String, Value>>,
    after: Option<&Map<String, Value>>,
    parent: &str,
    found: &mut Vec<String>,
) {
    let keys = |map: Option<&Map<String, Value>>| -> Vec<String> {
        map.into_iter().flat_map(Map::keys).cloned().collect()
    };
    let mut all = keys(before);
    all.extend(keys(after));
    all.sort_unstable();
    all.dedup();
    for key in all {
        let (old, new) = (before.and_then(|b| b.get(&key)), after.and_then(|a| a.get(&key)));
        let path = format!("{parent}/{key}");
        match (old, new) {
            _ if old == new => {}
            (old, Some(Value::Object(new))) => {
                differences(old.and_then(Value::as_object), Some(new), &path, found);
            }
            _ => found.push(path),
        }
    }
}

fn is_allowed(path: &str, allowed: &[String]) -> bool {
    allowed.iter().any(|allowed| match allowed.strip_suffix('*') {
        Some(above) => path.starts_with(above),
        None => path == *allowed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Catalogue;

    fn found(before: &str, after: &str) -> Vec<String> {
        let read = |text: &str| serde_json::json!({"spec": serde_saphyr::from_str::<Value>(text).unwrap()});
        let all = Catalogue::default();
        let kind = all.declared().find(|kind| kind.kind == "KubeadmControlPlane").unwrap();
        immutable_changes(&read(before), &read(after), &kind.mutable)
    }

    #[test]
    fn what_the_webhook_lists_may_change() {
        let nothing = Vec::<String>::new();
        for (before, after) in [
            ("{replicas: 1, version: v1.34.2}", "{replicas: 3, version: v1.35.0}"),
            ("{kubeadmConfigSpec: {files: [{path: /a}]}}", "{kubeadmConfigSpec: {}}"),
            (
                "{kubeadmConfigSpec: {clusterConfiguration: {}}}",
                "{kubeadmConfigSpec: {clusterConfiguration: {dns: {imageRepository: r}}}}",
            ),
            ("{machineTemplate: {spec: {a: {b: 1}}}}", "{machineTemplate: {spec: {a: {b: 2}}}}"),
            ("{remediation: {maxRetry: 3}}", "{}"),
        ] {
            assert_eq!(found(before, after), nothing, "{before} → {after}");
        }
    }

    #[test]
    fn what_it_does_not_list_may_not() {
        let cluster =
            |inner: &str| format!("{{kubeadmConfigSpec: {{clusterConfiguration: {inner}}}}}");
        let below = "/spec/kubeadmConfigSpec/clusterConfiguration";
        for field in ["certificatesDir", "controlPlaneEndpoint", "caCertificateValidityPeriodDays"]
        {
            let (before, after) =
                (cluster(&format!("{{{field}: a}}")), cluster(&format!("{{{field}: b}}")));
            assert_eq!(found(&before, &after), [format!("{below}/{field}")]);
            assert_eq!(found(&before, &cluster("{}")), [format!("{below}/{field}")]);
            assert_eq!(found(&cluster("{}"), &after), [format!("{below}/{field}")]);
        }
        let join = "{kubeadmConfigSpec: {joinConfiguration: {timeouts: {a: 1}}}}";
        let path = "/spec/kubeadmConfigSpec/joinConfiguration";
        assert_eq!(found(join, "{kubeadmConfigSpec: {}}"), [path], "not as a whole");
    }
}
