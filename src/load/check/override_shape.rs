//! `invalid-override`: a change is of exactly one kind, and says what can be done. What only the object can tell is told
//! where it is rendered (`override-failed`).

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath, visible};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::api::{
    ChangeOf, EntriesChange, FieldChange, ImageChange, ItemsChange, OverrideChange, OverrideTarget,
    PatchOperation, PatchVerb,
};
use crate::model::{is_label_key, is_label_value};

/// The kinds of changes.
const KINDS: &str = "jsonPatch, mergePatch, image, command, args, labels, annotations, field";

pub(super) fn check(subject: &Subject<'_>, _: &CheckContext<'_>, out: &mut Findings) {
    let DocumentSpec::OverridePolicy(policy) = &subject.body.spec else { return };
    let spec = FieldPath::keys("spec");
    for (field, is_empty) in
        [("objects", policy.objects.is_empty()), ("changes", policy.changes.is_empty())]
    {
        let path = spec.key(field);
        let told = out.list.iter().filter_map(|d| d.place.as_ref()?.field.as_ref());
        if is_empty && !told.into_iter().any(|known| known.0.starts_with(&path.0)) {
            let message = format!("`spec.{field}` is empty, so the policy does nothing");
            add(out, path, message, "add an item, or remove the policy");
        }
    }
    if policy.target == OverrideTarget::Worker && !policy.cluster_selector.is_empty() {
        let message = "a policy about workers selects no clusters";
        let help =
            "remove `clusterSelector` and select by `workerSelector`, or remove `target: Worker`";
        add(out, spec.key("clusterSelector"), message, help);
    }
    for (at, change) in policy.changes.iter().enumerate() {
        one(change, &spec.key("changes").index(at), out);
    }
}

fn add(out: &mut Findings, path: FieldPath, message: impl Into<String>, help: impl Into<String>) {
    out.add(Code::InvalidOverride, path, message, help);
}

fn one(change: &OverrideChange, path: &FieldPath, out: &mut Findings) {
    let kinds = change.kinds();
    let [kind] = kinds[..] else {
        let message = if kinds.is_empty() {
            "the change says nothing".to_owned()
        } else {
            let kinds: Vec<_> = kinds.iter().map(|kind| format!("`{}`", kind.field())).collect();
            format!("the change is of several kinds: {}", kinds.join(", "))
        };
        add(
            out,
            path.clone(),
            message,
            format!("write one of {KINDS}, each as an item of its own"),
        );
        return;
    };
    let path = path.key(kind.field());
    match kind {
        ChangeOf::JsonPatch(steps) => operations(steps, &path, out),
        ChangeOf::MergePatch(steps) if steps.is_empty() => {
            add(out, path, "the patch is empty", "write what is to be");
        }
        ChangeOf::MergePatch(_) => {}
        ChangeOf::Image(change) => image(change, &path, out),
        ChangeOf::Command(change) | ChangeOf::Args(change) => items(change, &path, out),
        ChangeOf::Labels(change) => entries(change, true, &path, out),
        ChangeOf::Annotations(change) => entries(change, false, &path, out),
        ChangeOf::Field(change) => field(change, &path, out),
    }
}

fn operations(steps: &[PatchOperation], path: &FieldPath, out: &mut Findings) {
    for (at, operation) in steps.iter().enumerate() {
        let path = path.index(at);
        pointer(&operation.path, &path.key("path"), out);
        let verb = operation.op;
        let wants_value = matches!(verb, PatchVerb::Add | PatchVerb::Replace | PatchVerb::Test);
        let wants_from = matches!(verb, PatchVerb::Move | PatchVerb::Copy);
        let name = format!("{verb:?}").to_lowercase();
        for (field, wants, is) in [
            ("value", wants_value, operation.value.is_some()),
            ("from", wants_from, operation.from.is_some()),
        ] {
            if wants && !is {
                let message = format!("`{name}` has no `{field}`");
                add(out, path.clone(), message, format!("add `{field}:`"));
            } else if is && !wants {
                let message = format!("`{name}` takes no `{field}`");
                add(out, path.key(field), message, format!("remove `{field}`"));
            }
        }
        if let Some(from) = &operation.from {
            pointer(from, &path.key("from"), out);
        }
    }
}

/// Whether it is a JSON pointer: RFC 6901.
fn pointer(text: &str, path: &FieldPath, out: &mut Findings) {
    let parts = text.split('~').skip(1);
    let escaped = parts.into_iter().all(|part| part.starts_with(['0', '1']));
    if (text.is_empty() || text.starts_with('/')) && escaped {
        return;
    }
    let message = format!("`{}` is no JSON pointer", visible::line(text));
    let help = "write `/` before each key; `~1` is a `/` in a key, and `~0` a `~`";
    add(out, path.clone(), message, help);
}

fn image(change: &ImageChange, path: &FieldPath, out: &mut Findings) {
    let ImageChange { container, path: at, registry, repository, tag, digest } = change;
    let parts =
        [("registry", registry), ("repository", repository), ("tag", tag), ("digest", digest)];
    if parts.iter().all(|(_, part)| part.is_none()) {
        let help = "add `registry`, `repository`, `tag` or `digest`";
        add(out, path.clone(), "no part of the image is named", help);
    }
    if let Some(at) = at {
        pointer(at, &path.key("path"), out);
        if container.is_some() {
            let message = "an image is a container's, or stands at a path";
            add(out, path.key("container"), message, "name one of the two");
        }
    }
    for (field, part) in parts {
        let Some(part) = part else { continue };
        if let Some(help) = wrong_part(field, part) {
            let message = format!("`{}` can be no {field} of an image", visible::line(part));
            add(out, path.key(field), message, help);
        }
    }
}

/// What to write instead of a part that can be none (`distribution/reference`, its grammar).
fn wrong_part(field: &str, part: &str) -> Option<&'static str> {
    let all = |text: &str, more: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || more.contains(c);
        !text.is_empty() && text.chars().all(fits)
    };
    let (fits, help) = match field {
        "registry" => {
            let is_host = part.contains(['.', ':']) || part == "localhost";
            (
                is_host && all(part, ".-:"),
                "write a host, perhaps with a port: mirror.example.com:5000",
            )
        }
        "repository" => {
            let lower = !part.contains(|c: char| c.is_ascii_uppercase());
            let parts = part.split('/').all(|part| all(part, "._-"));
            (lower && parts, "write a path in lower case: team/image")
        }
        "tag" => (all(part, "_.-") && part.len() <= 128, "write a tag, without `:`"),
        _ => {
            let digits = part.strip_prefix("sha256:").unwrap_or_default();
            let hex = digits.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
            (digits.len() == 64 && hex, "write `sha256:` and 64 hexadecimal digits")
        }
    };
    (!fits).then_some(help)
}

fn items(change: &ItemsChange, path: &FieldPath, out: &mut Findings) {
    if change.container.is_empty() {
        add(out, path.key("container"), "no container is named", "write the container's name");
    }
    if change.add.is_empty() && change.remove.is_empty() {
        add(out, path.clone(), "nothing is added or removed", "add `add:` or `remove:`");
    }
}

fn entries(change: &EntriesChange, labels: bool, path: &FieldPath, out: &mut Findings) {
    if change.set.is_empty() && change.remove.is_empty() {
        add(out, path.clone(), "nothing is set or removed", "add `set:` or `remove:`");
    }
    let set = change.set.keys().map(|key| (path.key("set").key(key), key));
    let removed = change.remove.iter().enumerate();
    let removed = removed.map(|(at, key)| (path.key("remove").index(at), key));
    for (path, key) in set.chain(removed).filter(|(_, key)| !is_label_key(key)) {
        let message = format!("`{}` cannot be a key", visible::line(key));
        let help = "use letters, digits, `-`, `_` and `.`, at most 63, perhaps after `domain/`";
        add(out, path, message, help);
    }
    for (key, value) in change.set.iter().filter(|(_, value)| labels && !is_label_value(value)) {
        let message = format!("`{}` cannot be the value of a label", visible::line(value));
        let help = "use letters, digits, `-`, `_` and `.`, at most 63 of them";
        add(out, path.key("set").key(key), message, help);
    }
}

fn field(change: &FieldChange, path: &FieldPath, out: &mut Findings) {
    pointer(&change.path, &path.key("path"), out);
    if change.json_patch.is_empty() && change.merge_patch.is_none() {
        let message = "nothing of the document is changed";
        add(out, path.clone(), message, "add `jsonPatch:` or `mergePatch:`");
    }
    operations(&change.json_patch, &path.key("jsonPatch"), out);
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{files_find, load_fleet, override_policy};
    use super::*;

    fn finds(change: &str, path: &str) {
        let text = override_policy(change);
        files_find(&[("policies/o.yaml", &text)], Code::InvalidOverride, path);
    }

    #[test]
    fn what_can_be_done_loads_as_it_is_written() {
        for change in [
            "{jsonPatch: [{op: add, path: /a~1b/-, value: {c: null, d: [], e: {}, f: false}}]}",
            "{jsonPatch: [{op: move, from: /a, path: /b}, {op: remove, path: /c}]}",
            "{mergePatch: {a: null, b: {}, c: [], d: 1.5}}",
            "{image: {registry: \"m.example.com:5000\", repository: a/b, tag: v1}}",
            "{image: {path: /spec/image, digest: \"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}",
            "{command: {container: c, add: [a]}}",
            "{args: {container: c, remove: [a]}}",
            "{labels: {set: {example.com/a: b}, remove: [c]}}",
            "{annotations: {set: {a: \"any text, at all\"}}}",
            "{field: {path: /data/x, format: JSON, mergePatch: {a: null}}}",
        ] {
            let text = override_policy(change);
            let loaded = load_fleet(&[("policies/o.yaml", &text)]);
            assert!(loaded.diagnostics.is_empty(), "{change}: {:?}", loaded.diagnostics);
            let own = loaded.fleet.overrides.values().next().unwrap();
            let read = serde_json::to_value(&own.spec.changes[0]).unwrap();
            let written: serde_json::Value = serde_saphyr::from_str(change).unwrap();
            assert_eq!(read, written);
        }
    }

    #[test]
    fn a_change_is_of_one_kind() {
        finds("{}", "spec.changes[0]");
        finds("{jsonPatch: []}", "spec.changes[0]");
        finds("{labels: {set: {a: b}}, mergePatch: {a: 1}}", "spec.changes[0]");
    }

    #[test]
    fn an_operation_has_what_it_needs_and_no_more() {
        let finds = |operation: &str, path: &str| {
            finds(
                &format!("{{jsonPatch: [{operation}]}}"),
                &format!("spec.changes[0].jsonPatch[0]{path}"),
            );
        };
        finds("{op: add, path: /a}", "");
        finds("{op: replace, path: /a, value: null}", "");
        finds("{op: copy, path: /a}", "");
        finds("{op: remove, path: /a, value: 1}", ".value");
        finds("{op: add, path: /a, value: 1, from: /b}", ".from");
        finds("{op: remove, path: a.b}", ".path");
        finds("{op: remove, path: /a~b}", ".path");
        finds("{op: move, path: /a, from: b}", ".from");
    }

    #[test]
    fn a_part_of_an_image_can_be_one() {
        for (part, path) in [
            ("{}", ""),
            ("{container: c}", ""),
            ("{registry: mirror.example.com/path}", ".registry"),
            ("{registry: nohost}", ".registry"),
            ("{repository: Upper}", ".repository"),
            ("{tag: \"v1:2\"}", ".tag"),
            ("{digest: \"sha256:0\"}", ".digest"),
            ("{container: c, path: /a, tag: v1}", ".container"),
            ("{path: a, tag: v1}", ".path"),
        ] {
            finds(&format!("{{image: {part}}}"), &format!("spec.changes[0].image{path}"));
        }
    }

    #[test]
    fn what_does_nothing_is_told() {
        for (change, path) in [
            ("{mergePatch: {}}", "mergePatch"),
            ("{command: {container: c}}", "command"),
            ("{args: {container: \"\", add: [a]}}", "args.container"),
            ("{labels: {}}", "labels"),
            ("{labels: {remove: [\"a b\"]}}", "labels.remove[0]"),
            ("{labels: {set: {a: b c}}}", "labels.set.a"),
            ("{annotations: {set: {}}}", "annotations"),
            ("{field: {path: /data/x}}", "field"),
            ("{field: {path: x, mergePatch: {a: 1}}}", "field.path"),
            ("{field: {path: /x, jsonPatch: [{op: add, path: /a}]}}", "field.jsonPatch[0]"),
        ] {
            finds(change, &format!("spec.changes[0].{path}"));
        }
        let text = override_policy("{labels: {set: {a: b}}}");
        let none =
            text.replace("  - {labels: {set: {a: b}}}\n", "").replace("changes:", "changes: []");
        files_find(&[("policies/o.yaml", &none)], Code::InvalidOverride, "spec.changes");
    }
}
