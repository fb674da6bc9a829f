//! One change of an `OverridePolicy`: seven kinds and the merge patch, of which each change has one.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One change of an object: exactly one of the fields is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OverrideChange {
    /// Operations as RFC 6902 has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub json_patch: Vec<PatchOperation>,
    /// A merge patch as RFC 7396 has it: maps are merged, all else is replaced, and `null` takes out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "any_mapping")]
    pub merge_patch: Option<Map<String, Value>>,
    /// Parts of the images that containers run: registry, repository, tag or digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageChange>,
    /// Words that are added to a container's `command`, or taken out of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<ItemsChange>,
    /// Words that are added to a container's `args`, or taken out of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<ItemsChange>,
    /// Labels of the object that are set or taken out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<EntriesChange>,
    /// Annotations of the object that are set or taken out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<EntriesChange>,
    /// A document of YAML or JSON that stands in a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<FieldChange>,
}

/// The one kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeOf<'a> {
    /// `jsonPatch`.
    JsonPatch(&'a [PatchOperation]),
    /// `mergePatch`.
    MergePatch(&'a Map<String, Value>),
    /// `image`.
    Image(&'a ImageChange),
    /// `command`.
    Command(&'a ItemsChange),
    /// `args`.
    Args(&'a ItemsChange),
    /// `labels`.
    Labels(&'a EntriesChange),
    /// `annotations`.
    Annotations(&'a EntriesChange),
    /// `field`.
    Field(&'a FieldChange),
}

impl OverrideChange {
    /// The kinds of which it says something: exactly one, in one that means something.
    #[must_use]
    pub fn kinds(&self) -> Vec<ChangeOf<'_>> {
        let patch = Some(&*self.json_patch).filter(|all| !all.is_empty());
        [
            patch.map(ChangeOf::JsonPatch),
            self.merge_patch.as_ref().map(ChangeOf::MergePatch),
            self.image.as_ref().map(ChangeOf::Image),
            self.command.as_ref().map(ChangeOf::Command),
            self.args.as_ref().map(ChangeOf::Args),
            self.labels.as_ref().map(ChangeOf::Labels),
            self.annotations.as_ref().map(ChangeOf::Annotations),
            self.field.as_ref().map(ChangeOf::Field),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// How many steps it takes, which is what bounds are on.
    #[must_use]
    pub fn steps(&self) -> usize {
        let steps = |change: ChangeOf<'_>| match change {
            ChangeOf::JsonPatch(all) => all.len(),
            ChangeOf::Field(field) => field.json_patch.len().max(1),
            ChangeOf::Command(items) | ChangeOf::Args(items) => {
                (items.add.len() + items.remove.len()).max(1)
            }
            ChangeOf::Labels(entries) | ChangeOf::Annotations(entries) => {
                (entries.set.len() + entries.remove.len()).max(1)
            }
            ChangeOf::MergePatch(_) | ChangeOf::Image(_) => 1,
        };
        self.kinds().into_iter().map(steps).sum::<usize>().max(1)
    }
}

impl ChangeOf<'_> {
    /// The field of the change that has it.
    #[must_use]
    pub const fn field(self) -> &'static str {
        match self {
            Self::JsonPatch(_) => "jsonPatch",
            Self::MergePatch(_) => "mergePatch",
            Self::Image(_) => "image",
            Self::Command(_) => "command",
            Self::Args(_) => "args",
            Self::Labels(_) => "labels",
            Self::Annotations(_) => "annotations",
            Self::Field(_) => "field",
        }
    }
}

/// One operation of a JSON patch (RFC 6902).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PatchOperation {
    /// What the operation does at `path`: `add`, `copy`, `move`, `remove`, `replace` or `test`.
    pub op: PatchVerb,
    /// Where, as a JSON pointer (RFC 6901): `/spec/replicas`, `/metadata/labels/example.com~1tier`, `/spec/list/-` for
    /// what comes after the last item.
    pub path: String,
    /// From where, for `move` and `copy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The value, for `add`, `replace` and `test`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "any_value")]
    pub value: Option<Value>,
}

/// What an operation of a JSON patch does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PatchVerb {
    /// Adds a field or an item; a field that is there is replaced.
    #[default]
    Add,
    /// Takes out what must be there.
    Remove,
    /// Replaces what must be there.
    Replace,
    /// Moves what must be there.
    Move,
    /// Copies what must be there.
    Copy,
    /// Holds the whole policy to what must be there.
    Test,
}

/// Parts of images: `registry/repository:tag@digest`. What is not named stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImageChange {
    /// The container. Unset: every container of the pods, those that run before the others included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Where the image stands, as a JSON pointer, in objects that have no pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The registry: a host, perhaps with a port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registry: Option<String>,
    /// The repository: the path below the registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// The tag. A digest that was there goes, because it would win.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The digest: `sha256:` and 64 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// Items of a container's command or arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ItemsChange {
    /// The name of the container, as the rendered object has it.
    pub container: String,
    /// Items that are taken out, wherever they stand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<String>,
    /// Items that are added at the end, together and in this order, unless they stand there so already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add: Vec<String>,
}

/// Labels or annotations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EntriesChange {
    /// Keys that are taken out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<String>,
    /// Keys with the values that they get.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, String>,
}

/// A document that stands in a text, such as a file in a ConfigMap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FieldChange {
    /// The text, as a JSON pointer: `/data/config.yaml`.
    pub path: String,
    /// What the text at `path` is written in. Default: `YAML`.
    #[serde(default, skip_serializing_if = "FieldFormat::is_default")]
    pub format: FieldFormat,
    /// Operations as RFC 6902 has them, on the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub json_patch: Vec<PatchOperation>,
    /// A merge patch as RFC 7396 has it, on the document, before the operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "any_mapping")]
    pub merge_patch: Option<Map<String, Value>>,
}

/// What a text is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum FieldFormat {
    /// YAML: comments and the order of keys are lost.
    #[default]
    #[serde(rename = "YAML")]
    Yaml,
    /// JSON.
    #[serde(rename = "JSON")]
    Json,
}

impl FieldFormat {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The key of a schema that says that what stands there is taken as it is written.
pub const AS_WRITTEN: &str = "x-kubernetes-preserve-unknown-fields";

fn any_value(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "x-kubernetes-preserve-unknown-fields": true })
}

fn any_mapping(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}

impl OverrideChange {
    /// Where it writes, as JSON pointers; a text that is a document counts as a whole. What cannot be told without the
    /// object, the images of pods for one, is named by what it is.
    #[must_use]
    pub fn writes(&self) -> Vec<Cow<'_, str>> {
        let mut all = Vec::new();
        for kind in self.kinds() {
            match kind {
                ChangeOf::JsonPatch(patch) => {
                    let moved = |op: &&PatchOperation| op.op == PatchVerb::Move;
                    let from = patch.iter().filter(moved).filter_map(|op| op.from.as_deref());
                    all.extend(from.map(Cow::Borrowed));
                    let written = patch.iter().filter(|op| op.op != PatchVerb::Test);
                    all.extend(written.map(|op| Cow::Borrowed(op.path.as_str())));
                }
                ChangeOf::MergePatch(patch) => leaves("", patch, &mut all),
                ChangeOf::Image(ImageChange { path: Some(path), .. })
                | ChangeOf::Field(FieldChange { path, .. }) => all.push(Cow::Borrowed(path)),
                ChangeOf::Image(image) => {
                    let of = image.container.as_deref().unwrap_or("*");
                    let parts = [
                        ("registry", &image.registry),
                        ("repository", &image.repository),
                        ("tag", &image.tag),
                        ("tag", &image.digest),
                    ];
                    let set = parts.into_iter().filter(|(_, value)| value.is_some());
                    all.extend(set.map(|(part, _)| Cow::Owned(format!("image of {of}: {part}"))));
                }
                ChangeOf::Command(items) | ChangeOf::Args(items) => {
                    let (of, what) = (&items.container, kind.field());
                    let each = items.add.iter().chain(&items.remove);
                    all.extend(each.map(|item| Cow::Owned(format!("{what} of {of}: {item}"))));
                }
                ChangeOf::Labels(entries) | ChangeOf::Annotations(entries) => {
                    let keys = entries.set.keys().chain(&entries.remove);
                    let below = format!("/metadata/{}", kind.field());
                    all.extend(keys.map(|key| Cow::Owned(format!("{below}/{}", escaped(key)))));
                }
            }
        }
        all
    }
}

/// The places of a merge patch that are replaced.
fn leaves(parent: &str, patch: &Map<String, Value>, all: &mut Vec<Cow<'_, str>>) {
    for (key, value) in patch {
        let at = format!("{parent}/{}", escaped(key));
        match value {
            Value::Object(below) if !below.is_empty() => leaves(&at, below, all),
            _ => all.push(Cow::Owned(at)),
        }
    }
}

/// A key as a part of a JSON pointer.
#[must_use]
pub fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(text: &str) -> OverrideChange {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_change_says_what_it_is_and_where_it_writes() {
        for (text, field, writes) in [
            (
                r#"{"jsonPatch": [{"op": "move", "from": "/a", "path": "/b"}, {"op": "test", "path": "/c", "value": 1}]}"#,
                "jsonPatch",
                &["/a", "/b"][..],
            ),
            (r#"{"mergePatch": {"a": {"b/c": null}, "d": []}}"#, "mergePatch", &["/a/b~1c", "/d"]),
            (
                r#"{"image": {"registry": "r", "tag": "v1"}}"#,
                "image",
                &["image of *: registry", "image of *: tag"],
            ),
            (r#"{"image": {"path": "/spec/image", "tag": "v1"}}"#, "image", &["/spec/image"]),
            (r#"{"command": {"container": "c", "add": ["a"]}}"#, "command", &["command of c: a"]),
            (r#"{"args": {"container": "c", "remove": ["a"]}}"#, "args", &["args of c: a"]),
            (r#"{"labels": {"set": {"a/b": "c"}}}"#, "labels", &["/metadata/labels/a~1b"]),
            (r#"{"annotations": {"remove": ["a"]}}"#, "annotations", &["/metadata/annotations/a"]),
            (r#"{"field": {"path": "/data/x", "mergePatch": {"a": 1}}}"#, "field", &["/data/x"]),
        ] {
            let change = change(text);
            let kinds = change.kinds();
            assert_eq!(kinds.len(), 1, "{text}");
            assert_eq!(kinds[0].field(), field);
            assert_eq!(change.writes(), writes, "{text}");
            let written = serde_json::to_value(&change).unwrap();
            assert_eq!(written, serde_json::from_str::<Value>(text).unwrap(), "as it was written");
        }
        assert!(change("{}").kinds().is_empty());
        let both = change(r#"{"mergePatch": {"a": 1}, "labels": {"set": {"a": "b"}}}"#);
        assert_eq!(both.kinds().len(), 2);
    }
}
