//! Objects that are never changed: another takes their place, whose name ends in a hash of what they hold. Where what a
//! template named so is changed afterwards, its name follows, and so does everything that names it, which may be
//! another object of that kind.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::object::Object;
use crate::model::{Catalogue, Digest};

/// How many digits of a hash a name ends in, as the filter `sha8` makes them.
const DIGITS: usize = 8;

/// The objects of one name.
struct NamedByHash {
    at: Vec<usize>,
    /// The name as it was rendered.
    rendered: String,
    /// What the objects held then.
    held: Digest,
    /// The name now.
    now: String,
}

/// Gives objects that hold something else than they were rendered with another name, in all objects.
pub(super) fn follow(
    objects: &mut [Object],
    rendered: &[Object],
    catalogue: &Catalogue,
) -> Result<(), String> {
    let mut all = named_by_hash(rendered, catalogue);
    for _ in 0..=all.len() {
        let mut is_settled = true;
        for one in &mut all {
            let held = held(objects, &one.at, &one.now);
            let wanted = if held == one.held {
                one.rendered.clone()
            } else {
                format!("{}-{}", stem(&one.rendered).unwrap_or_default(), held.short(DIGITS))
            };
            if wanted != one.now {
                rename(objects, &one.now, &wanted);
                one.now = wanted;
                is_settled = false;
            }
        }
        if is_settled {
            return Ok(());
        }
    }
    let names: Vec<_> = all.iter().map(|one| one.rendered.as_str()).collect();
    Err(format!("the names of {} follow each other without end", names.join(", ")))
}

/// The objects that rotate, by their names.
fn named_by_hash(rendered: &[Object], catalogue: &Catalogue) -> Vec<NamedByHash> {
    let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, object) in rendered.iter().enumerate().filter(|(_, o)| stem(o.name()).is_some()) {
        if catalogue.provided(object.group(), object.kind()).any(|kind| kind.rotates) {
            by_name.entry(object.name()).or_default().push(at);
        }
    }
    let named = |(name, at): (&str, Vec<usize>)| {
        let held = held(rendered, &at, name);
        NamedByHash { at, rendered: name.to_owned(), held, now: name.to_owned() }
    };
    by_name.into_iter().map(named).collect()
}

/// What stands before the hash of a name; `None` for a name without one.
fn stem(name: &str) -> Option<&str> {
    let (stem, hash) = name.rsplit_once('-')?;
    let is_digit = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    (hash.len() == DIGITS && hash.chars().all(is_digit)).then_some(stem)
}

/// The digest of what objects hold, their metadata and their own name apart.
fn held(objects: &[Object], at: &[usize], name: &str) -> Digest {
    let one = |at: &usize| {
        let mut value = (*objects[*at].value).clone();
        if let Some(fields) = value.as_object_mut() {
            fields.remove("metadata");
        }
        rename_in(&mut value, name, stem(name).unwrap_or_default());
        value
    };
    Digest::of_json(&json!(at.iter().map(one).collect::<Vec<_>>()))
}

fn rename(objects: &mut [Object], from: &str, to: &str) {
    for object in objects {
        rename_in(object.value_mut(), from, to);
        if let Some(text) = renamed(&object.text, from, to) {
            object.text = text;
        }
    }
}

fn rename_in(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::String(text) => {
            if let Some(renamed) = renamed(text, from, to) {
                *text = renamed;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename_in(item, from, to)),
        Value::Object(map) => map.values_mut().for_each(|value| rename_in(value, from, to)),
        _ => {}
    }
}

/// The text with another name, where it stands as a whole or as the beginning of one; `None` where it does not.
fn renamed(text: &str, from: &str, to: &str) -> Option<String> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(from) {
        let before = rest[..at].chars().next_back().or_else(|| out.chars().next_back());
        let after = rest[at + from.len()..].chars().next();
        let begins = !before.is_some_and(is_of_name);
        let ends = !after.is_some_and(|c| c.is_ascii_alphanumeric());
        out.push_str(&rest[..at]);
        out.push_str(if begins && ends { to } else { from });
        rest = &rest[at + from.len()..];
    }
    out.push_str(rest);
    (out != text).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::super::Files;
    use super::super::object::objects;
    use super::*;

    const MACHINES: &str = "infrastructure.cluster.x-k8s.io/v1beta1";

    fn read(text: &str) -> Vec<Object> {
        let files = Files::from([("cluster.yaml".to_owned(), text.as_bytes().to_vec())]);
        objects(&files).unwrap()
    }

    fn machine(name: &str, spec: &str) -> String {
        format!(
            "apiVersion: {MACHINES}\nkind: AzureMachineTemplate\nmetadata: {{name: {name}}}\nspec: {spec}\n"
        )
    }

    fn followed(text: &str, change: impl Fn(&mut [Object])) -> Result<Vec<String>, String> {
        let rendered = read(text);
        let mut now = rendered.clone();
        change(&mut now);
        follow(&mut now, &rendered, &Catalogue::default())?;
        Ok(now.iter().map(|object| object.name().to_owned()).collect())
    }

    fn size(object: &mut Object, size: &str) {
        object.value_mut()["spec"]["size"] = json!(size);
    }

    #[test]
    fn a_name_follows_what_its_object_holds() {
        let text = machine("a-np0-0123abcd", "{size: s}");
        let same = followed(&text, |_| ()).unwrap();
        assert_eq!(same, ["a-np0-0123abcd"]);
        let larger = followed(&text, |all| size(&mut all[0], "l")).unwrap();
        assert!(stem(&larger[0]) == Some("a-np0") && larger != same, "{larger:?}");
        assert_eq!(followed(&text, |all| size(&mut all[0], "l")).unwrap(), larger);
        let label =
            |all: &mut [Object]| all[0].value_mut()["metadata"]["labels"] = json!({"a": "b"});
        assert_eq!(followed(&text, label).unwrap(), same, "a label replaces no machine");
        // Whatever the template made of it, what comes out alike is called alike.
        let other = machine("a-np0-ffffffff", "{size: m}");
        assert_eq!(followed(&other, |all| size(&mut all[0], "l")).unwrap(), larger);
    }

    #[test]
    fn what_names_an_object_that_rotates_rotates_too() {
        let text = [
            machine("a-0123abcd", "{size: s}"),
            machine("b-0123abcd", "{secret: a-0123abcd-json}"),
            machine("c-0123abcd", "{of: [b-0123abcd]}"),
            machine("plain", "{of: c-0123abcd, other: x-a-0123abcd, hash: a-0123abcdef}"),
        ]
        .join("---\n");
        let rendered = read(&text);
        let mut now = rendered.clone();
        size(&mut now[0], "l");
        follow(&mut now, &rendered, &Catalogue::default()).unwrap();
        let names: Vec<_> = now.iter().map(Object::name).collect();
        assert_eq!(now[1].value["spec"]["secret"], format!("{}-json", names[0]));
        assert_eq!(now[2].value["spec"]["of"][0], names[1]);
        let plain = &now[3].value["spec"];
        assert_eq!(plain["of"], names[2]);
        assert_eq!(
            (&plain["other"], &plain["hash"]),
            (&json!("x-a-0123abcd"), &json!("a-0123abcdef"))
        );
        assert!(now[3].text.contains(&format!("{{of: {}, other: x-a-0123abcd", names[2])));
    }

    #[test]
    fn an_object_may_say_its_own_name_and_two_may_share_one() {
        let own = machine("a-0123abcd", "{size: s, own: a-0123abcd}");
        assert_ne!(followed(&own, |all| size(&mut all[0], "l")).unwrap(), ["a-0123abcd"]);
        let two = [own.clone(), own.replace("AzureMachineTemplate", "AzureMachinePoolTemplate")];
        let names = followed(&two.join("---\n"), |all| size(&mut all[0], "l")).unwrap();
        assert_eq!(names[0], names[1], "who names it means both");
    }

    #[test]
    fn what_goes_in_circles_is_told() {
        let text =
            [machine("a-0123abcd", "{of: b-0123abcd}"), machine("b-0123abcd", "{of: a-0123abcd}")];
        let why = followed(&text.join("---\n"), |all| size(&mut all[0], "l")).unwrap_err();
        assert!(why.contains("without end"), "{why}");
    }
}
