//! The containers of an object: those of its pods, wherever its kind has them.

use serde_json::Value;

/// Where kinds have the spec of their pods: `CronJob`; Deployment, `DaemonSet`, `StatefulSet`, `ReplicaSet`, Job; Pod.
const PODS: &[&str] = &["/spec/jobTemplate/spec/template/spec", "/spec/template/spec", "/spec"];

/// The containers of an object, those that run before the others first; only those of a name where one is given.
pub(super) fn containers<'a>(object: &'a mut Value, name: Option<&str>) -> Vec<&'a mut Value> {
    let has_pods = |at: &&&str| object.pointer(&format!("{at}/containers")).is_some();
    let Some(at) = PODS.iter().find(has_pods) else { return Vec::new() };
    let Some(Value::Object(spec)) = object.pointer_mut(at) else { return Vec::new() };
    let lists =
        spec.iter_mut().filter(|(key, _)| matches!(key.as_str(), "containers" | "initContainers"));
    let mut lists: Vec<_> = lists.collect();
    lists.sort_by_key(|(key, _)| *key == "containers");
    let all = lists.into_iter().filter_map(|(_, list)| list.as_array_mut()).flatten();
    all.filter(|one| name.is_none_or(|name| one.get("name").is_some_and(|own| own == name)))
        .collect()
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// A Deployment of the containers `setup`, which runs first, and `app`, with this in `app`.
    pub(crate) fn deployment(app: Value) -> Value {
        let mut app = app;
        app["name"] = "app".into();
        let pods =
            json!({"initContainers": [{"name": "setup", "image": "busybox"}], "containers": [app]});
        json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "a", "namespace": "x"},
            "spec": {"template": {"spec": pods}},
        })
    }

    /// The container `app` of such a Deployment.
    pub(crate) fn app(object: &Value) -> &Value {
        &object["spec"]["template"]["spec"]["containers"][0]
    }

    #[test]
    fn containers_are_found_where_their_kind_has_them() {
        let pods = json!({"initContainers": [{"name": "i"}], "containers": [{"name": "a"}, {"name": "b"}]});
        let of = |mut object: Value, name| {
            let all = containers(&mut object, name);
            all.iter().map(|one| one["name"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
        };
        let cron = json!({"spec": {"jobTemplate": {"spec": {"template": {"spec": pods}}}}});
        for object in [json!({"spec": pods}), json!({"spec": {"template": {"spec": pods}}}), cron] {
            assert_eq!(of(object.clone(), None), "i a b");
            assert_eq!(of(object.clone(), Some("b")), "b");
            assert_eq!(of(object, Some("c")), "");
        }
        assert_eq!(of(json!({"spec": {"template": {"spec": {"version": "v1"}}}}), None), "");
    }
}
