//! The fields of the API, from the schemas that the CRDs have: `carp explain managedcluster.spec`, the page
//! with all of them, and the schemas for editors.

use std::fmt::Write as _;

use serde_json::Value;

use super::wrap::wrap;
use super::{Palette, Tone};
use crate::diag::suggest;
use crate::model::api::{ApiKind, GROUP, VERSION, api_kinds};

/// A kind with what its documents may say.
pub struct KindSchema {
    /// `ManagedCluster`.
    pub kind: String,
    group: String,
    version: String,
    /// Its documents' schema, as the CRD has it.
    pub schema: Value,
}

/// Every kind, by name.
#[must_use]
pub fn kinds() -> Vec<KindSchema> {
    api_kinds().iter().map(KindSchema::of).collect()
}

/// What people call a kind besides its own names.
const CALLED: &[(&str, &str)] = &[
    ("cluster", "ManagedCluster"),
    ("clusters", "ManagedCluster"),
    ("pool", "WorkerPool"),
    ("pools", "WorkerPool"),
    ("class", "ManagedClusterClass"),
    ("classes", "ManagedClusterClass"),
    ("policy", "PlacementPolicy"),
    ("policies", "PlacementPolicy"),
    ("override", "OverridePolicy"),
    ("overrides", "OverridePolicy"),
    ("overlay", "WorkerOverlay"),
    ("ack", "Acknowledgement"),
];

impl KindSchema {
    /// The kind of a word, in upper or lower case: its name, plural, short name, or what people call it.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        let word = word.to_lowercase();
        let called = CALLED.iter().find(|(called, _)| *called == word).map(|(_, kind)| *kind);
        let of_word = |kind: &&ApiKind| {
            called == Some(kind.resource.kind.as_str())
                || kind.resource.kind.to_lowercase() == word
                || kind.resource.plural == word
                || kind.short_names.contains(&word.as_str())
        };
        api_kinds().iter().find(of_word).map(Self::of)
    }

    fn of(kind: &ApiKind) -> Self {
        let ApiKind { resource, .. } = kind;
        let schema = &kind.crd().1["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        Self {
            kind: resource.kind.clone(),
            group: resource.group.clone(),
            version: resource.version.clone(),
            schema: schema.clone(),
        }
    }

    /// `carp.dev/v1alpha1`.
    #[must_use]
    pub fn api_version(&self) -> String {
        format!("{}/{}", self.group, self.version)
    }
}

/// What the path `KIND.FIELD.FIELD…` leads to, as `kubectl explain` shows it; `None` where the first word is
/// no kind.
///
/// # Errors
/// There is no such field; the text says which there are.
pub fn explain(path: &str, palette: Palette) -> Option<Result<String, String>> {
    let mut words = path.split('.');
    let kind = KindSchema::of_word(words.next()?)?;
    let mut schema = &kind.schema;
    let mut name = "";
    let mut required = false;
    for word in words {
        let below = items(schema);
        let known = || fields(below).map(|(name, _)| name);
        let Some((field, inner)) = fields(below).find(|(name, _)| *name == word) else {
            let help = suggest::help(word, known().collect::<Vec<_>>(), "its fields are");
            let of = if name.is_empty() { &kind.kind } else { name };
            return Some(Err(format!("{of} has no field `{word}`\nhelp: {help}")));
        };
        (required, name, schema) = (is_required(below, field), field, inner);
    }
    Some(Ok(shown(&kind, name, schema, required, palette)))
}

fn shown(
    kind: &KindSchema,
    name: &str,
    schema: &Value,
    required: bool,
    palette: Palette,
) -> String {
    let strong = |text: &str| palette.paint(Tone::Strong, text);
    let mut out = format!(
        "{}   {}\n{}    {}\n{} {}\n",
        strong("GROUP:"),
        kind.group,
        strong("KIND:"),
        kind.kind,
        strong("VERSION:"),
        kind.version
    );
    if !name.is_empty() {
        let _ = write!(out, "\n{} {}\n", strong("FIELD:"), head(name, schema, required));
    }
    let description = description(schema);
    if !description.is_empty() {
        let _ = write!(out, "\n{}\n{}", strong("DESCRIPTION:"), wrap(&description, "  ", 2));
    }
    for line in facts(schema) {
        let _ = write!(out, "{}", wrap(&line, "  ", 2));
    }
    let below = items(schema);
    if fields(below).next().is_some() {
        let _ = write!(out, "\n{}\n", strong("FIELDS:"));
    }
    for (field, inner) in fields(below) {
        let _ = writeln!(out, "  {}", head(field, inner, is_required(below, field)));
        let text = sentence(&self::description(inner));
        if !text.is_empty() {
            out.push_str(&wrap(&text, "      ", 6));
        }
    }
    out
}

fn head(name: &str, schema: &Value, required: bool) -> String {
    let mark = if required { " -required-" } else { "" };
    format!("{name}  <{}>{mark}", kind_of(schema))
}

/// `string`, `[]Object`, `map[string]string`.
fn kind_of(schema: &Value) -> String {
    if schema.get("x-kubernetes-int-or-string").is_some() {
        return "quantity".to_owned();
    }
    match schema["type"].as_str() {
        Some("array") => format!("[]{}", kind_of(&schema["items"])),
        Some("object") if schema["additionalProperties"].is_object() => {
            format!("map[string]{}", kind_of(&schema["additionalProperties"]))
        }
        Some("object") => "Object".to_owned(),
        Some(other) => other.to_owned(),
        None => "any".to_owned(),
    }
}

/// What may stand there, and what stands there where nothing is said.
fn facts(schema: &Value) -> Vec<String> {
    let mut facts = Vec::new();
    let words: Vec<_> = one_of(schema);
    if !words.is_empty() {
        facts.push(format!("One of: {}", words.join(", ")));
    }
    if let Some(default) = schema.get("default").filter(|d| !d.is_null()) {
        facts.push(format!(
            "Default: {}",
            default.as_str().map_or_else(|| default.to_string(), str::to_owned)
        ));
    }
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    match (bound("minimum"), bound("maximum")) {
        (Some(low), Some(high)) => facts.push(format!("From {low} to {high}")),
        (Some(low), None) if low > 0.0 => facts.push(format!("At least {low}")),
        (None, Some(high)) => facts.push(format!("At most {high}")),
        _ => {}
    }
    facts.extend(schema["pattern"].as_str().map(|pattern| format!("Form: {pattern}")));
    facts
}

fn one_of(schema: &Value) -> Vec<String> {
    let of = items(schema);
    let words = of["enum"].as_array().into_iter().flatten();
    words.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// What a list is of, or a map; else the schema itself.
fn items(schema: &Value) -> &Value {
    match (schema.get("items"), schema.get("additionalProperties")) {
        (Some(inner), _) => items(inner),
        (None, Some(inner)) if inner.is_object() => items(inner),
        _ => schema,
    }
}

fn fields(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, inner)| (name.as_str(), inner))
}

fn is_required(schema: &Value, field: &str) -> bool {
    schema["required"].as_array().is_some_and(|all| all.iter().any(|name| name == field))
}

fn description(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first sentence of a description.
fn sentence(text: &str) -> String {
    text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.').to_owned()
}

/// The page of all fields of all kinds of carp's own, in Markdown.
#[must_use]
pub fn page() -> String {
    let mut out = format!(
        "# Fields\n\nEvery field of every kind of `{GROUP}/{VERSION}`. A test keeps this page as the types have it: \
         `UPDATE=1 cargo test\nfield_reference` writes it anew. `carp explain KIND.FIELD` shows the same on a terminal, \
         and `carp schema` prints the\nschemas that editors check documents with.\n"
    );
    for kind in kinds() {
        let _ = write!(out, "\n## {}\n\n{}\n", kind.kind, description(&kind.schema));
        out.push_str("\n| field | type | meaning |\n|---|---|---|\n");
        for top in ["spec", "status"] {
            if let Some(schema) = kind.schema["properties"].get(top) {
                rows(schema, top, &mut out);
            }
        }
    }
    out
}

fn rows(schema: &Value, path: &str, out: &mut String) {
    let (list, below) = (kind_of(schema).matches("[]").count(), items(schema));
    let path = format!("{path}{}", "[]".repeat(list));
    for (field, inner) in fields(below) {
        let mark = if is_required(below, field) { ", required" } else { "" };
        let mut text = description(inner);
        for fact in facts(inner) {
            let _ = write!(text, " {fact}.");
        }
        let text = text.trim().replace('|', "\\|").replace('<', "&lt;");
        let _ = writeln!(out, "| `{path}.{field}` | {}{mark} | {text} |", kind_of(inner));
        rows(inner, &format!("{path}.{field}"), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(path: &str) -> String {
        explain(path, Palette::plain()).unwrap().unwrap()
    }

    #[test]
    fn a_field_is_explained_as_kubectl_does() {
        insta::assert_snapshot!(explained("cluster.spec.nodePools.replicas"), @r"
        GROUP:   carp.dev
        KIND:    ManagedCluster
        VERSION: v1alpha1

        FIELD: replicas  <integer>

        DESCRIPTION:
          How many nodes; not together with `autoscale`.
          From 0 to 1000
        ");
        let pools = explained("managedcluster.spec.nodePools");
        assert!(pools.contains("FIELD: nodePools  <[]Object>"), "{pools}");
        assert!(pools.contains("\n  name  <string> -required-\n"), "{pools}");
        assert!(explained("mc").contains("\n  spec  <Object> -required-\n"));
        assert!(explained("clusters.spec.deletionPolicy").contains("One of: Delete, Orphan"));
    }

    #[test]
    fn a_slip_is_told_with_the_nearest_field() {
        let error = explain("cluster.spec.nodePool", Palette::plain()).unwrap().unwrap_err();
        assert_eq!(error, "spec has no field `nodePool`\nhelp: did you mean `nodePools`?");
        assert!(explain("pay-eu", Palette::plain()).is_none());
    }

    #[test]
    fn every_field_says_what_it_is() {
        let page = page();
        for line in page.lines().filter(|line| line.starts_with("| `")) {
            assert!(!line.ends_with("|  |"), "{line}");
        }
    }
}
