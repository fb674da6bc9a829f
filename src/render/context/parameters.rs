//! The parameters of a flavor, as its templates get them: complete by their defaults.

use serde_json::{Map, Value};

use crate::model::Flavor;
use crate::model::api::{NodePool, Parameters};

/// What was said, with the defaults of the flavor.
pub(super) fn parameters(flavor: Option<&Flavor>, own: &Parameters) -> Value {
    let own = own.value();
    flavor.map_or_else(|| own.clone(), |flavor| flavor.parameters.schema.filled(&own))
}

/// What a pool has of them: what pools may say for themselves, and where this one does not, what the cluster says.
pub(super) fn of_pool(flavor: Option<&Flavor>, of_cluster: &Value, pool: &NodePool) -> Value {
    let mut all = Map::new();
    for (name, schema) in flavor.into_iter().flat_map(|flavor| flavor.parameters.schema.of_pools())
    {
        let own = pool.parameters.0.get(name).map(|value| schema.filled(value));
        if let Some(value) = own.or_else(|| of_cluster.get(name).cloned()) {
            all.insert(name.clone(), value);
        }
    }
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pool_has_its_own_or_else_the_clusters() {
        let flavor: Flavor = serde_json::from_value(json!({
            "kind": "Worker", "mobility": "None", "objects": [],
            "parameters": {"openAPIV3Schema": {"type": "object", "properties": {
                "maxPods": {"type": "integer", "default": 110, "x-carp-per-pool": true},
                "proxy": {"type": "object", "x-carp-per-pool": true, "properties": {
                    "port": {"type": "integer", "default": 3128}}},
                "vnet": {"type": "string", "default": "v"},
            }}},
        }))
        .unwrap();
        let told = |value: Value| serde_json::from_value::<Parameters>(value).unwrap();
        let cluster = parameters(Some(&flavor), &told(json!({})));
        assert_eq!(cluster, json!({"maxPods": 110, "vnet": "v"}));
        let pool = |value: Value| {
            let pool = NodePool { parameters: told(value), ..NodePool::default() };
            of_pool(Some(&flavor), &cluster, &pool)
        };
        assert_eq!(pool(json!({})), json!({"maxPods": 110}));
        assert_eq!(
            pool(json!({"maxPods": 30, "proxy": {}})),
            json!({"maxPods": 30, "proxy": {"port": 3128}})
        );
        assert_eq!(parameters(None, &told(json!({"a": 1}))), json!({"a": 1}));
    }
}
