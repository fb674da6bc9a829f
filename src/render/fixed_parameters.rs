//! Parameters that stay as they are once a cluster has them (`x-carp-immutable`): what is rendered with them could
//! not follow, or only where nobody refuses it. What the cluster has stands in its last good folder.

use serde_json::{Map, Value};

use super::object::Object;
use crate::diag::FieldPath;
use crate::model::Catalogue;
use crate::model::api::GROUP;

/// A parameter that has changed, and what it was and would be.
pub(super) struct ChangedParameter {
    /// Where the document says it.
    pub(super) field: FieldPath,
    pub(super) old: Option<Value>,
    pub(super) new: Option<Value>,
}

/// The parameters of a ManagedCluster or Worker that have changed and may not.
pub(super) fn changed(
    before: &Object,
    after: &Object,
    catalogue: &Catalogue,
) -> Vec<ChangedParameter> {
    if after.group() != GROUP {
        return Vec::new();
    }
    let flavor = |object: &Object| Some(object.value.pointer("/spec/flavor")?.as_str()?.to_owned());
    let Some(name) = flavor(after).filter(|name| flavor(before).as_ref() == Some(name)) else {
        return Vec::new();
    };
    let Some(schema) = catalogue.flavor(&name).map(|flavor| &flavor.parameters.schema) else {
        return Vec::new();
    };
    let none = Value::Object(Map::new());
    let said =
        |object: &Object| schema.filled(object.value.pointer("/spec/parameters").unwrap_or(&none));
    let (old, new) = (said(before), said(after));
    let at = |value: &Value, path: &[&str]| {
        path.iter().try_fold(value, |value, key| value.get(*key)).cloned()
    };
    let fields = schema.immutable_fields().into_iter();
    let both = fields.map(|path| (at(&old, &path), at(&new, &path), path));
    let changed = both.filter(|(old, new, _)| old != new);
    let named = changed.map(|(old, new, path)| ChangedParameter {
        field: path.iter().fold(FieldPath::keys("spec.parameters"), |field, key| field.key(key)),
        old,
        new,
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Files, FolderChange, forbidden_changes};
    use super::*;

    const FLAVOR: &str = "kind: ManagedCluster\nmobility: None\nobjects: []\nparameters:\n  openAPIV3Schema:\n    \
        type: object\n    properties:\n      \
        outbound: {type: string, default: LoadBalancer, x-carp-immutable: true}\n      \
        vnet: {type: object, properties: {name: {type: string, x-carp-immutable: true}, tags: {type: string}}}\n      \
        maxPods: {type: integer}\n";

    fn change(before: &str, after: &str) -> Vec<String> {
        let folder = |parameters: &str, flavor: &str| {
            let text = format!(
                "apiVersion: carp.dev/v1alpha1\nkind: ManagedCluster\nmetadata: {{name: a}}\nspec:\n  flavor: \
                 {flavor}\n  parameters: {parameters}\n"
            );
            Files::from([("cluster.yaml".to_owned(), text.into_bytes())])
        };
        let catalogue = Catalogue::with([("moon/flavor.yaml", FLAVOR)]);
        let of = |flavor: &str| {
            let change = FolderChange::between(&folder(before, flavor), &folder(after, flavor));
            let found = forbidden_changes(&change, &catalogue);
            found.into_iter().map(|f| format!("{}: {}", f.field, f.finding.message))
        };
        assert_eq!(of("elsewhere").count(), 0, "of another flavor nobody knows");
        of("moon").collect()
    }

    #[test]
    fn what_is_marked_stays() {
        assert_eq!(
            change(
                "{vnet: {name: a, tags: x}, maxPods: 30}",
                "{vnet: {name: b}, outbound: NATGateway}"
            ),
            [
                "spec.parameters.outbound: spec.parameters.outbound may not change once the cluster exists: LoadBalancer \
                 to NATGateway",
                "spec.parameters.vnet.name: spec.parameters.vnet.name may not change once the cluster exists: a to b",
            ]
        );
        assert_eq!(change("{vnet: {name: a}}", "{}").len(), 1);
        assert_eq!(change("{}", "{vnet: {name: a}}").len(), 1);
    }

    #[test]
    fn to_say_what_is_so_by_default_is_no_change() {
        let nothing = Vec::<String>::new();
        assert_eq!(change("{}", "{outbound: LoadBalancer}"), nothing);
        assert_eq!(change("{outbound: LoadBalancer, maxPods: 1}", "{maxPods: 2}"), nothing);
    }
}
