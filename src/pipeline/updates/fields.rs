//! The fields of a ManagedCluster that change, in the words of whoever reviews it.

use std::collections::BTreeSet;

use serde_json::Value;

/// The most characters of a value that are shown.
const MOST: usize = 60;

/// The annotations that repeat what all else says.
const REPEATED: [&str; 2] = ["carp.dev/digest", "carp.dev/versions"];

/// What changes in a cluster's document, the most telling first: the version, the pools, the rest.
pub(super) fn changed(before: &Value, after: &Value) -> Vec<String> {
    let mut out = Vec::new();
    values("version", &before["spec"]["version"], &after["spec"]["version"], &mut out);
    pools(&before["spec"]["nodePools"], &after["spec"]["nodePools"], &mut out);
    for key in keys(&before["spec"], &after["spec"]) {
        if key != "version" && key != "nodePools" {
            values(&key, &before["spec"][&key], &after["spec"][&key], &mut out);
        }
    }
    for (word, field) in [("label", "labels"), ("annotation", "annotations")] {
        let (before, after) = (&before["metadata"][field], &after["metadata"][field]);
        for key in keys(before, after).iter().filter(|key| !REPEATED.contains(&key.as_str())) {
            values(&format!("{word} {key}"), &before[key], &after[key], &mut out);
        }
    }
    out
}

fn keys(before: &Value, after: &Value) -> BTreeSet<String> {
    let all = [before, after].into_iter().filter_map(Value::as_object);
    all.flat_map(|object| object.keys().cloned()).collect()
}

/// A value that changes; of objects, each field of it.
fn values(path: &str, before: &Value, after: &Value, out: &mut Vec<String>) {
    if before == after {
        return;
    }
    if before.is_object() && after.is_object() {
        for key in keys(before, after) {
            values(&format!("{path}.{key}"), &before[&key], &after[&key], out);
        }
        return;
    }
    out.push(match (before.is_null(), after.is_null()) {
        (true, _) => format!("{path} set to {}", shown(after)),
        (_, true) => format!("{path} {} removed", shown(before)),
        _ => format!("{path} {} → {}", shown(before), shown(after)),
    });
}

fn pools(before: &Value, after: &Value, out: &mut Vec<String>) {
    let named = |all: &Value| -> Vec<(String, Value)> {
        let all = all.as_array().into_iter().flatten();
        let name = |pool: &Value| pool["name"].as_str().unwrap_or_default().to_owned();
        all.map(|pool| (name(pool), pool.clone())).collect()
    };
    let (before, after) = (named(before), named(after));
    let of = |all: &[(String, Value)], name: &str| {
        all.iter().find(|(other, _)| other == name).map(|(_, pool)| pool.clone())
    };
    for (name, pool) in &after {
        match of(&before, name) {
            None => out.push(format!("new pool {name}: {}", size(pool))),
            Some(old) => {
                for key in keys(&old, pool) {
                    let path = match key.as_str() {
                        "replicas" => format!("{name}: nodes"),
                        "vmSize" => format!("{name}:"),
                        key => format!("{name}: {key}"),
                    };
                    values(&path, &old[&key], &pool[&key], out);
                }
            }
        }
    }
    for (name, pool) in before.iter().filter(|(name, _)| of(&after, name).is_none()) {
        out.push(format!("pool {name} goes: {}", size(pool)));
    }
}

/// How many nodes a cluster's document asks for; of a pool that scales by itself the fewest.
pub(super) fn nodes(document: &Value) -> i64 {
    let pools = document["spec"]["nodePools"].as_array().into_iter().flatten();
    let of = |pool: &Value| pool["replicas"].as_i64().or_else(|| pool["autoscale"]["min"].as_i64());
    pools.filter_map(of).sum()
}

/// `3 × Standard_D4s_v5`.
fn size(pool: &Value) -> String {
    let size = pool["vmSize"].as_str().unwrap_or("machines");
    match (&pool["replicas"], &pool["autoscale"]) {
        (Value::Number(replicas), _) => format!("{replicas} × {size}"),
        (_, scale) if scale.is_object() => {
            format!("{} to {} × {size}", shown(&scale["min"]), shown(&scale["max"]))
        }
        _ => size.to_owned(),
    }
}

fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cluster(spec: &Value) -> Value {
        json!({"metadata": {"labels": {"env": "test"}}, "spec": spec})
    }

    #[test]
    fn each_field_is_told_as_it_was_and_as_it_will_be() {
        let pool = |name: &str, size: &str, replicas: u32| json!({"name": name, "vmSize": size, "replicas": replicas});
        let before = cluster(&json!({
            "version": "v1.33.5",
            "class": "small",
            "controlPlane": {"replicas": 1},
            "nodePools": [pool("np0", "D4s", 3), pool("old", "D2s", 1)],
        }));
        let mut after = cluster(&json!({
            "version": "v1.34.2",
            "paused": true,
            "controlPlane": {"replicas": 3},
            "nodePools": [pool("np0", "D8s", 5), pool("gpu", "NC6", 2)],
        }));
        after["metadata"] = json!({
            "labels": {"env": "prod", "team": "shop"},
            "annotations": {"carp.dev/digest": "sha256:ab", "carp.dev/versions": "v1.34.2/v1.33.5"},
        });
        assert_eq!(
            changed(&before, &after),
            [
                "version v1.33.5 → v1.34.2",
                "np0: nodes 3 → 5",
                "np0: D4s → D8s",
                "new pool gpu: 2 × NC6",
                "pool old goes: 1 × D2s",
                "class small removed",
                "controlPlane.replicas 1 → 3",
                "paused set to true",
                "label env test → prod",
                "label team set to shop",
            ]
        );
        assert_eq!(changed(&before, &before), [""; 0]);
        assert_eq!((nodes(&before), nodes(&after), nodes(&Value::Null)), (4, 7, 0));
    }
}
