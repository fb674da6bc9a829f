//! The definitions in a file that a release publishes, each as a file of a set: without what is for people, or for servers
//! alone. What the file holds besides is passed over.

use serde_json::{Value, json};

use super::bounds::MOST_BYTES;
use super::definition::{Definition, definition_name, parse};
use super::structural::without_prose;

/// The most definitions of a file. That of Azure Service Operator has some 250.
const MOST_DEFINITIONS: usize = 1_000;
/// The line by which a document is a definition: what is released is written by programs, which begin it at the margin.
const KIND: &str = "kind:CustomResourceDefinition";

/// A definition as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedDefinition {
    /// What it is called, and so its file without the ending: `clusters.cluster.x-k8s.io`.
    pub name: String,
    /// The text of the file.
    pub text: String,
}

/// The definitions that a text of YAML holds, by name; of those that are named, where some are.
///
/// # Errors
/// Why it holds none that can be kept, in words that go on behind the file's address.
pub fn published_definitions(
    text: &str,
    only: &[String],
) -> Result<Vec<PublishedDefinition>, String> {
    let mut found = Vec::new();
    for document in documents(text).filter(|document| is_definition(document)) {
        if !only.is_empty() && !only.iter().any(|name| names(document, name)) {
            continue;
        }
        found.extend(read(document)?.filter(|read| only.is_empty() || only.contains(&read.name)));
        if found.len() > MOST_DEFINITIONS {
            return Err(format!("it has more than {MOST_DEFINITIONS} definitions"));
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some(pair) = found.windows(2).find(|pair| pair[0].name == pair[1].name) {
        return Err(format!("it has `{}` twice", pair[0].name));
    }
    if !found.is_empty() {
        return Ok(found);
    }
    if text.trim_start().starts_with('<') {
        return Err("it is a page for people, and no YAML".to_owned());
    }
    if only.is_empty() {
        return Err("it has no CustomResourceDefinition".to_owned());
    }
    Err(format!("it has none of {}", only.join(", ")))
}

/// The documents of a text. A line of three dashes ends one, whatever stands around it.
fn documents(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let whole = rest?;
        let mut at = 0;
        for line in whole.split_inclusive('\n') {
            let end = at + line.len();
            if line.trim_end() == "---" || line.starts_with("--- ") {
                rest = Some(&whole[end..]);
                return Some(&whole[..at]);
            }
            at = end;
        }
        rest = None;
        Some(whole)
    })
}

fn is_definition(document: &str) -> bool {
    let is_kind = |line: &str| {
        line.starts_with("kind:")
            && line
                .chars()
                .filter(|c| !c.is_whitespace() && !['"', '\''].contains(c))
                .eq(KIND.chars())
    };
    document.lines().any(is_kind)
}

/// Whether a document has a name, before it is read: one file has hundreds that nobody wants.
fn names(document: &str, name: &str) -> bool {
    let named =
        |line: &str| line.trim().strip_prefix("name:").is_some_and(|said| said.trim() == name);
    document.lines().any(named)
}

/// One definition; `None` for one that no server serves any more.
fn read(document: &str) -> Result<Option<PublishedDefinition>, String> {
    let value = parse(document).map_err(|why| format!("a definition cannot be read: {why}"))?;
    let definition = Definition::of(&value)?;
    let name = format!("{}.{}", definition.name.plural, definition.name.group);
    let file = format!("{name}.yaml");
    if definition_name(&file).as_ref() != Some(&definition.name) {
        return Err(format!("`{}` is no name of a definition", super::words::cut(&name, 100)));
    }
    let kept = kept(&value, &name);
    if kept["spec"]["versions"] == json!([]) {
        return Ok(None);
    }
    let text = serde_saphyr::to_string(&kept).map_err(|error| format!("{name}: {error}"))?;
    // What is read of the file must be what was published, however it is quoted.
    if text.len() > MOST_BYTES || parse(&text)? != kept {
        return Err(format!("`{name}` cannot be written as it is"));
    }
    Ok(Some(PublishedDefinition { name, text }))
}

/// What of a definition objects are held against: the versions that are served, their schemas without descriptions.
fn kept(value: &Value, name: &str) -> Value {
    let spec = &value["spec"];
    let versions = spec["versions"].as_array().into_iter().flatten();
    let versions = versions.filter(|version| version["served"] == true).map(|version| {
        json!({
            "name": version["name"],
            "served": true,
            "storage": version["storage"],
            "schema": {"openAPIV3Schema": without_prose(&version["schema"]["openAPIV3Schema"])},
        })
    });
    let names = ["kind", "listKind", "plural", "singular"].iter();
    let names = names.filter_map(|key| Some(((*key).to_owned(), spec["names"].get(key)?.clone())));
    json!({
        "apiVersion": value["apiVersion"],
        "kind": value["kind"],
        "metadata": {"name": name},
        "spec": {
            "group": spec["group"],
            "names": names.collect::<serde_json::Map<_, _>>(),
            "scope": spec["scope"],
            "versions": versions.collect::<Vec<_>>(),
        },
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::CrdSet;
    use super::*;
    use crate::model::ObjectSchemas as _;

    const RELEASE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: as.x.io}\n---\n\
        apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: bs.x.io\n  labels: {a: b}\n\
        spec:\n  group: x.io\n  names:\n    kind: B\n    plural: bs\n    shortNames: [b]\n  scope: Namespaced\n  versions:\n  \
        - name: v1\n    served: true\n    storage: true\n    additionalPrinterColumns: []\n    schema:\n      openAPIV3Schema:\n        \
        description: 'Long: and more.'\n        type: object\n        properties:\n          spec:\n            type: object\n            \
        properties:\n              description: {type: string, description: Its own., default: 'yes', pattern: '^[a-z:#]+$'}\n  \
        - name: v0\n    served: false\n    storage: false\n    schema: {}\nstatus: {conditions: []}\n\
        --- # another\nkind: \"CustomResourceDefinition\"\napiVersion: apiextensions.k8s.io/v1\nmetadata:\n  name: as.x.io\nspec:\n  \
        group: x.io\n  names: {kind: A, plural: as}\n  scope: Cluster\n  versions: [{name: v1, served: true, storage: true}]\n---\n\
        kind: Deployment\nspec: {replicas: ${REPLICAS:=1}}\n";

    fn names_of(text: &str, only: &[&str]) -> Result<Vec<String>, String> {
        let only: Vec<_> = only.iter().map(|name| (*name).to_owned()).collect();
        Ok(published_definitions(text, &only)?.into_iter().map(|found| found.name).collect())
    }

    #[test]
    fn definitions_are_kept_without_what_is_for_people_and_all_else_is_passed_over() {
        let found = published_definitions(RELEASE, &[]).unwrap();
        assert_eq!(names_of(RELEASE, &[]).unwrap(), ["as.x.io", "bs.x.io"], "sorted");
        let text = &found[1].text;
        for gone in ["Long", "Its own", "v0", "shortNames", "labels", "status", "Printer"] {
            assert!(!text.contains(gone), "{gone}: {text}");
        }
        for kept in ["description:", "default:", "pattern:", "scope: Namespaced"] {
            assert!(text.contains(kept), "{kept}: {text}");
        }
        assert_eq!(published_definitions(text, &[]).unwrap()[0], found[1], "the same again");
    }

    #[test]
    fn what_is_kept_checks_as_what_was_published() {
        let text = published_definitions(RELEASE, &[]).unwrap().remove(1).text;
        let files = [("pulled/x/bs.x.io.yaml".to_owned(), Ok(Arc::from(text.as_str())))];
        let set = CrdSet::new("crds", &files.into());
        let faults = |spec: Value| {
            set.faults(&json!({"apiVersion": "x.io/v1", "kind": "B", "metadata": {}, "spec": spec}))
                .len()
        };
        assert_eq!(faults(json!({"description": "a"})), 0);
        assert_eq!(faults(json!({"description": "A"})), 1, "the pattern");
        assert_eq!(faults(json!({"other": "a"})), 1);
    }

    #[test]
    fn only_those_that_are_named_are_read() {
        assert_eq!(names_of(RELEASE, &["as.x.io", "cs.x.io"]).unwrap(), ["as.x.io"]);
        let torn =
            RELEASE.replace("    storage: true\n    additional", "  storage: [\n    additional");
        assert!(names_of(&torn, &[]).unwrap_err().starts_with("a definition cannot be read: line"));
        assert_eq!(names_of(&torn, &["as.x.io"]).unwrap(), ["as.x.io"]);
        assert_eq!(names_of(RELEASE, &["cs.x.io"]).unwrap_err(), "it has none of cs.x.io");
    }

    #[test]
    fn what_holds_none_is_told() {
        for (text, said) in [
            ("", "it has no CustomResourceDefinition"),
            (
                "  <!DOCTYPE html><html>kind: CustomResourceDefinition",
                "it is a page for people, and no YAML",
            ),
            ("Not Found", "it has no CustomResourceDefinition"),
        ] {
            assert_eq!(names_of(text, &[]).unwrap_err(), said);
        }
        let twice = format!("{RELEASE}---\n{RELEASE}");
        assert_eq!(names_of(&twice, &[]).unwrap_err(), "it has `as.x.io` twice");
    }

    #[test]
    fn a_name_is_no_path() {
        for (from, to) in
            [("group: x.io", "group: x.io/../../y.io"), ("plural: as", "plural: ../as")]
        {
            let text = RELEASE.replace(from, to);
            assert!(
                names_of(&text, &[]).unwrap_err().contains("is no name of a definition"),
                "{to}"
            );
        }
    }
}
