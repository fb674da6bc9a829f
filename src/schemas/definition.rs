//! One file of a set: a `CustomResourceDefinition`, read when it is asked for.

use std::sync::OnceLock;

use serde_json::Value;
use serde_saphyr::{MessageFormatter as _, UserMessageFormatter};

use super::bounds::{MOST_BYTES, SchemaSize};
use super::kind::VersionSchema;
use super::structural::without_prose;
use super::words;

/// Bounds of the YAML: the largest definitions there are have some 40,000 nodes.
const MOST_NODES: usize = 100_000;
const MOST_DEPTH: usize = 200;

/// What a definition is called: the name of its object, and of its file without the ending.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CrdName {
    /// `clusters`.
    pub(super) plural: String,
    /// `cluster.x-k8s.io`.
    pub(super) group: String,
}

/// The name of the definition that a file must hold: `clusters.cluster.x-k8s.io.yaml`, in whatever folder. `None` for a file
/// that is called otherwise.
pub(super) fn definition_name(path: &str) -> Option<CrdName> {
    let file = path.rsplit_once('/').map_or(path, |(_, file)| file);
    let name = file.strip_suffix(".yaml").or_else(|| file.strip_suffix(".yml"))?;
    let (plural, group) = name.split_once('.')?;
    let is_part = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    // A group has a dot, but for some of Kubernetes' own, which are no custom resources.
    let is_name = is_part(plural) && group.contains('.') && group.split('.').all(is_part);
    is_name.then(|| CrdName { plural: plural.to_owned(), group: group.to_owned() })
}

/// A definition.
#[derive(Debug)]
pub(super) struct Definition {
    /// What it is called.
    pub(super) name: CrdName,
    /// The kind that it defines.
    pub(super) kind: String,
    versions: Vec<DefinedVersion>,
}

#[derive(Debug)]
struct DefinedVersion {
    name: String,
    served: bool,
    schema: Result<Value, String>,
    compiled: OnceLock<Result<VersionSchema, String>>,
}

impl Definition {
    /// Reads a definition of this name.
    ///
    /// # Errors
    /// Why the text is none, in words that go on behind the file's name.
    pub(super) fn read(text: &str, name: &CrdName) -> Result<Self, String> {
        let value = parse(text)?;
        let definition = Self::of(&value)?;
        if definition.name != *name {
            let CrdName { plural, group } = &definition.name;
            return Err(format!("it defines `{}`", words::cut(&format!("{plural}.{group}"), 100)));
        }
        Ok(definition)
    }

    /// The definition that a value is.
    pub(super) fn of(value: &Value) -> Result<Self, String> {
        let text = |at: &str| {
            let found = value.pointer(at).and_then(Value::as_str).filter(|text| !text.is_empty());
            found.map(str::to_owned).ok_or_else(|| format!("it has no `{}`", words::path(at)))
        };
        let (api_version, kind) = (text("/apiVersion")?, text("/kind")?);
        if kind != "CustomResourceDefinition" || api_version != "apiextensions.k8s.io/v1" {
            let what = words::cut(&format!("{kind} of {api_version}"), 100);
            return Err(format!(
                "it is no CustomResourceDefinition of apiextensions.k8s.io/v1 but a {what}"
            ));
        }
        let name = CrdName { plural: text("/spec/names/plural")?, group: text("/spec/group")? };
        let versions = value.pointer("/spec/versions").and_then(Value::as_array);
        let versions = versions.into_iter().flatten().filter_map(|version| {
            Some(DefinedVersion {
                name: version["name"].as_str()?.to_owned(),
                served: version["served"] == true,
                schema: measured(&version["schema"]["openAPIV3Schema"]),
                compiled: OnceLock::new(),
            })
        });
        Ok(Self { name, kind: text("/spec/names/kind")?, versions: versions.collect() })
    }

    /// The versions that a server serves.
    pub(super) fn served(&self) -> impl Iterator<Item = &str> {
        self.versions.iter().filter(|version| version.served).map(|version| version.name.as_str())
    }

    /// The schema of a version; `None` for one that is not served.
    pub(super) fn schema(&self, version: &str) -> Option<&Result<VersionSchema, String>> {
        let found = self.versions.iter().find(|v| v.served && v.name == version)?;
        let compiled = || VersionSchema::of(found.schema.as_ref().map_err(Clone::clone)?);
        Some(found.compiled.get_or_init(compiled))
    }
}

/// What of a schema is read, where it is no larger than one that is: a definition may be there for another kind, and is
/// held in memory all the same.
fn measured(schema: &Value) -> Result<Value, String> {
    SchemaSize::of(schema)?;
    Ok(without_prose(schema))
}

/// Reads one document, as JSON where it is that.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    if text.len() > MOST_BYTES {
        return Err(format!(
            "it has more than {} MiB, and no API server takes that",
            MOST_BYTES >> 20
        ));
    }
    let text = text.trim_start_matches('\u{feff}');
    let options = serde_saphyr::options! {
        legacy_octal_numbers: true,
        with_snippet: false,
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 10_000 },
        budget: serde_saphyr::budget! {
            max_depth: MOST_DEPTH,
            max_nodes: MOST_NODES,
            max_events: MOST_NODES * 4,
            max_aliases: 100,
        },
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let line = error.location().map(|at| format!("line {}: ", at.line())).unwrap_or_default();
        words::cut(&format!("{line}{}", UserMessageFormatter.format_message(&error)), 300)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(file: &str) -> CrdName {
        definition_name(file).unwrap()
    }

    #[test]
    fn a_file_is_called_as_its_definition() {
        let CrdName { plural, group } = name("clusters.cluster.x-k8s.io.yaml");
        assert_eq!((plural.as_str(), group.as_str()), ("clusters", "cluster.x-k8s.io"));
        assert_eq!(
            name("capi/clusters.cluster.x-k8s.io.yml"),
            name("clusters.cluster.x-k8s.io.yaml")
        );
        for other in [
            "clusters.yaml",
            "Clusters.x.io.yaml",
            "a.b..yaml",
            ".x.io.yaml",
            "a.b.c.json",
            "README.md",
        ] {
            assert_eq!(definition_name(other), None, "{other}");
        }
    }

    const TEXT: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.x.io}\n\
        spec:\n  group: x.io\n  names: {kind: A, plural: as}\n  scope: Namespaced\n  versions:\n  - name: v1\n    served: true\n    \
        storage: true\n    schema: {openAPIV3Schema: {type: object, description: long, properties: {a: {type: string}}}}\n  \
        - {name: v0, served: false, storage: false}\n";

    #[test]
    fn a_definition_has_the_versions_that_are_served() {
        let read = Definition::read(TEXT, &name("as.x.io.yaml")).unwrap();
        assert_eq!((read.kind.as_str(), read.served().collect::<Vec<_>>()), ("A", vec!["v1"]));
        assert!(read.schema("v1").is_some_and(Result::is_ok) && read.schema("v0").is_none());
    }

    #[test]
    fn what_is_none_is_told() {
        let file = name("as.x.io.yaml");
        for (text, said) in [
            (
                "kind: A\napiVersion: v1\n",
                "it is no CustomResourceDefinition of apiextensions.k8s.io/v1 but a A of v1",
            ),
            ("a: [\n", "line 1: "),
            ("", "it has no `apiVersion`"),
            (&*TEXT.replace("plural: as", "plural: bs"), "it defines `bs.x.io`"),
            (&*format!("a: {}", "[".repeat(5_000)), ""),
            (
                &*format!("{TEXT}# {}", "x".repeat(MOST_BYTES)),
                "it has more than 3 MiB, and no API server takes that",
            ),
        ] {
            let why = Definition::read(text, &file).unwrap_err();
            assert!(why.starts_with(said), "{why}");
        }
    }
}
