//! Fields of objects that stay as they are: what validating webhooks compare with the object before, and what nobody
//! refuses and nothing happens of. Which those are is declared beside the provider that brings the kind.

use serde_json::Value;

use super::mutable;
use super::object::Object;
use crate::model::ProvidedKind;

/// A field, and its value before and after.
pub(super) type ChangedField<'a> = (String, Option<&'a Value>, Option<&'a Value>);

/// The fields of an object that have changed and may not, by what is declared of its kind.
pub(super) fn changed<'a>(
    before: &'a Object,
    after: &'a Object,
    kind: &ProvidedKind,
) -> Vec<ChangedField<'a>> {
    let (old, new) = (&before.value, &after.value);
    let all = |fields: &[String]| -> Vec<(String, ChangedField<'a>)> {
        let at = |field: &String| {
            let found = places("", field, Some(old), Some(new));
            found.into_iter().map(|place| (field.clone(), place)).collect::<Vec<_>>()
        };
        fields.iter().flat_map(at).collect()
    };
    let once =
        all(&kind.set_once).into_iter().filter(|(_, (_, old, new))| old.is_some() && old != new);
    let always = all(&kind.immutable).into_iter().filter(|(field, (_, old, new))| {
        let default = kind.defaults.get(field);
        let said = |value: Option<&Value>| {
            value.cloned().or_else(|| default.map(|default| Value::from(default.as_str())))
        };
        said(*old) != said(*new)
    });
    let mut found: Vec<_> = once.chain(always).map(|(_, place)| place).collect();
    if !kind.mutable.is_empty() {
        let refused = mutable::immutable_changes(old, new, &kind.mutable).into_iter();
        let refused = refused.filter(|field| found.iter().all(|(known, ..)| known != field));
        let refused: Vec<_> = refused.collect();
        found.extend(refused.into_iter().map(|f| (f.clone(), old.pointer(&f), new.pointer(&f))));
    }
    found
}

/// The places that a field names, each with its value before and after. An item of a list that is new, or is gone,
/// is free.
fn places<'a>(
    above: &str,
    field: &str,
    old: Option<&'a Value>,
    new: Option<&'a Value>,
) -> Vec<ChangedField<'a>> {
    let Some((list, below)) = field.split_once("/*") else {
        let of = |value: Option<&'a Value>| value.and_then(|value| value.pointer(field));
        return vec![(format!("{above}{field}"), of(old), of(new))];
    };
    let items = |value: Option<&'a Value>| {
        value.and_then(|value| value.pointer(list)?.as_array()).into_iter().flatten()
    };
    let same = |before: &'a Value| {
        let of = name(before)?;
        let after = items(new).find(|item| name(item).as_ref() == Some(&of))?;
        Some(places(&format!("{above}{list}/{of}"), below, Some(before), Some(after)))
    };
    items(old).filter_map(same).flatten().collect()
}

/// By what an item of a list is found: its name, or the kind and the name of an object.
fn name(item: &Value) -> Option<String> {
    let text = |path: &str| item.pointer(path).and_then(Value::as_str);
    let object = || Some(format!("{}/{}", text("/kind")?, text("/metadata/name")?));
    text("/name").map(str::to_owned).or_else(object)
}

#[cfg(test)]
mod tests {
    use super::super::Files;
    use super::super::object::objects;
    use super::*;
    use crate::model::Catalogue;

    fn declared(kind: &str) -> ProvidedKind {
        let all = Catalogue::default();
        all.declared().find(|declared| declared.kind == kind).unwrap().clone()
    }

    fn object(kind: &ProvidedKind, spec: &str) -> Object {
        let ProvidedKind { api_version, kind, .. } = kind;
        let text = format!(
            "apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a}}\nspec: {spec}\n"
        );
        let files = Files::from([("cluster.yaml".to_owned(), text.into_bytes())]);
        objects(&files).unwrap().remove(0)
    }

    fn fields(kind: &ProvidedKind, before: &str, after: &str) -> Vec<String> {
        let (before, after) = (object(kind, before), object(kind, after));
        // What else may change is looked at beside it.
        let kind = &ProvidedKind { mutable: Vec::new(), ..kind.clone() };
        changed(&before, &after, kind).into_iter().map(|(field, ..)| field).collect()
    }

    /// `/spec/a/b` with a value, as YAML; an item of a list is called `x`.
    fn with(field: &str, value: &str) -> String {
        let keys = field.trim_start_matches("/spec/").split('/');
        keys.rev().fold(value.to_owned(), |inner, key| match key {
            "*" => format!("[{{name: x, {}]", inner.trim_start_matches('{')),
            key => format!("{{{}: {inner}}}", key.replace("~1", "/")),
        })
    }

    fn shown(field: &str) -> String {
        field.replace('*', "x")
    }

    #[test]
    fn what_is_set_once_stays() {
        let all = Catalogue::default();
        assert!(all.declared().flat_map(|kind| &kind.set_once).count() > 30);
        for kind in all.declared() {
            for field in &kind.set_once {
                let (one, two) = (with(field, "one"), with(field, "two"));
                assert_eq!(fields(kind, &one, &two), [shown(field)], "{kind}");
                assert!(fields(kind, &one, &one).is_empty(), "{kind}");
                if !field.contains('*') {
                    assert_eq!(fields(kind, &one, "{}"), [field.as_str()], "{kind}: it stays");
                    assert!(fields(kind, "{}", &one).is_empty(), "{kind}");
                }
            }
        }
    }

    #[test]
    fn what_is_from_the_beginning_is_not_even_set_later() {
        let all = Catalogue::default();
        assert!(all.declared().flat_map(|kind| &kind.immutable).count() > 8);
        for kind in all.declared() {
            for field in &kind.immutable {
                let default = kind.defaults.get(field);
                let (one, two) = (with(field, "one"), with(field, "two"));
                for (before, after) in [(&*one, &*two), (&one, "{}"), ("{}", &one)] {
                    assert_eq!(fields(kind, before, after), [field.as_str()], "{kind}");
                }
                let said = default.map_or_else(|| "{}".to_owned(), |value| with(field, value));
                assert!(fields(kind, "{}", &said).is_empty(), "{kind}: what it is by default");
            }
        }
    }

    #[test]
    fn an_object_in_a_list_is_found_by_its_kind_and_name() {
        let kind = declared("AzureASOManagedCluster");
        let of = |all: &str| {
            format!("{{resources: [{{kind: ResourceGroup, metadata: {{name: a}}}}, {all}]}}")
        };
        let one = |kind: &str, owner: &str| {
            format!("{{kind: {kind}, metadata: {{name: b}}, spec: {{owner: {{name: {owner}}}}}}}")
        };
        let (vnet, other) = (one("VirtualNetwork", "a"), one("VirtualNetworksSubnet", "x"));
        let before = of(&format!("{vnet}, {other}"));
        let found = |after: &str| fields(&kind, &before, &of(after));
        assert!(found(&format!("{other}, {vnet}")).is_empty(), "order is free");
        assert_eq!(
            found(&format!("{}, {other}", one("VirtualNetwork", "c"))),
            ["/spec/resources/VirtualNetwork/b/spec/owner"]
        );
    }

    #[test]
    fn an_item_of_a_list_is_found_by_its_name() {
        let kind = declared("AzureCluster");
        let of = |all: &str| format!("{{networkSpec: {{subnets: [{all}]}}}}");
        let before = of("{name: a, cidrBlocks: [x]}, {name: b, natGateway: {name: n}}");
        let found = |after: &str| fields(&kind, &before, &of(after));
        let turned = "{name: b, natGateway: {name: n}}, {name: a, cidrBlocks: [x]}, {name: c}";
        assert!(found(turned).is_empty(), "order and new ones are free");
        assert_eq!(
            found("{name: a, cidrBlocks: [y]}, {name: b}"),
            [
                "/spec/networkSpec/subnets/a/cidrBlocks",
                "/spec/networkSpec/subnets/b/natGateway/name"
            ]
        );
    }
}
