//! `jsonPatch`: operations as RFC 6902 has them, one after the other. One that cannot be done ends the policy: a path
//! that is not there any more is told, where a silent nothing would leave people with what they did not want.

use json_patch::jsonptr::PointerBuf;
use json_patch::{
    AddOperation, CopyOperation, MoveOperation, PatchErrorKind, PatchOperation as Operation,
    RemoveOperation, ReplaceOperation, TestOperation,
};
use serde_json::Value;

use super::bounds;
use super::trouble::ChangeTrouble;
use crate::diag::FieldPath;
use crate::model::api::{PatchOperation, PatchVerb};

/// Changes a document. Each operation may make it twice as large, so its size is looked at after each.
pub(super) fn apply(document: &mut Value, patch: &[PatchOperation]) -> Result<(), ChangeTrouble> {
    for (at, operation) in patch.iter().enumerate() {
        let below = |trouble: ChangeTrouble| trouble.below(&FieldPath::keys("jsonPatch").index(at));
        let known = known(operation).map_err(below)?;
        json_patch::patch(document, std::slice::from_ref(&known))
            .map_err(|error| below(trouble(operation, &error.kind)))?;
        bounds::size(document).map_err(below)?;
    }
    Ok(())
}

fn known(operation: &PatchOperation) -> Result<Operation, ChangeTrouble> {
    let pointer = |field: &'static str, text: &str| {
        PointerBuf::parse(text).map_err(|_| {
            let why = format!("`{text}` is no JSON pointer");
            ChangeTrouble::new(
                field,
                why,
                "write `/` before each key; `~1` is a `/` in one, `~0` a `~`",
            )
        })
    };
    let path = pointer("path", &operation.path)?;
    let value = || {
        operation.value.clone().ok_or_else(|| {
            ChangeTrouble::new("", "the operation has no `value`", "add `value:`; `null` is none")
        })
    };
    let from = || match &operation.from {
        Some(from) => pointer("from", from),
        None => Err(ChangeTrouble::new("", "the operation has no `from`", "add `from:`")),
    };
    Ok(match operation.op {
        PatchVerb::Add => Operation::Add(AddOperation { path, value: value()? }),
        PatchVerb::Remove => Operation::Remove(RemoveOperation { path }),
        PatchVerb::Replace => Operation::Replace(ReplaceOperation { path, value: value()? }),
        PatchVerb::Move => Operation::Move(MoveOperation { from: from()?, path }),
        PatchVerb::Copy => Operation::Copy(CopyOperation { from: from()?, path }),
        PatchVerb::Test => Operation::Test(TestOperation { path, value: value()? }),
    })
}

fn trouble(operation: &PatchOperation, kind: &PatchErrorKind) -> ChangeTrouble {
    let path = &operation.path;
    match kind {
        PatchErrorKind::TestFailed => {
            let why = format!("there is something else at `{path}` than the test wants");
            ChangeTrouble::new("value", why, "mend the test, or select only objects that meet it")
        }
        PatchErrorKind::InvalidFromPointer | PatchErrorKind::CannotMoveInsideItself => {
            let from = operation.from.as_deref().unwrap_or_default();
            let why = format!("nothing can be taken from `{from}`");
            ChangeTrouble::new("from", why, "name a field that is there")
        }
        _ if operation.op == PatchVerb::Add => {
            let why = format!("nothing can be added at `{path}`: what it lies in is not there");
            let help =
                "add what it lies in first, or use `mergePatch`, which makes what is missing";
            ChangeTrouble::new("path", why, help)
        }
        _ => {
            let why = format!("there is no `{path}`");
            let help = "name a field that is there; `add` also makes one, and `mergePatch` takes \
                        out what may be there with `null`";
            ChangeTrouble::new("path", why, help)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn patched(mut document: Value, patch: &Value) -> Result<Value, String> {
        let patch: Vec<PatchOperation> = serde_json::from_value(patch.clone()).unwrap();
        apply(&mut document, &patch).map(|()| document).map_err(|t| format!("{}: {}", t.at, t.why))
    }

    #[test]
    fn each_operation_does_what_the_rfc_says() {
        let before = || json!({"a": [1, 2], "b": {"c/d": 1}});
        for (patch, after) in [
            (
                json!([{"op": "add", "path": "/a/-", "value": 3}]),
                json!({"a": [1, 2, 3], "b": {"c/d": 1}}),
            ),
            (
                json!([{"op": "add", "path": "/a/0", "value": 0}]),
                json!({"a": [0, 1, 2], "b": {"c/d": 1}}),
            ),
            (json!([{"op": "remove", "path": "/b/c~1d"}]), json!({"a": [1, 2], "b": {}})),
            (
                json!([{"op": "replace", "path": "/a", "value": false}]),
                json!({"a": false, "b": {"c/d": 1}}),
            ),
            (
                json!([{"op": "move", "from": "/b", "path": "/e"}]),
                json!({"a": [1, 2], "e": {"c/d": 1}}),
            ),
            (
                json!([{"op": "copy", "from": "/a/1", "path": "/e"}]),
                json!({"a": [1, 2], "b": {"c/d": 1}, "e": 2}),
            ),
            (json!([{"op": "test", "path": "/a/0", "value": 1}]), before()),
        ] {
            assert_eq!(patched(before(), &patch), Ok(after), "{patch}");
        }
    }

    #[test]
    fn what_cannot_be_done_says_which_operation_it_is() {
        for (operation, told) in [
            (
                json!({"op": "replace", "path": "/x", "value": 1}),
                "jsonPatch[1].path: there is no `/x`",
            ),
            (json!({"op": "remove", "path": "/a/5"}), "jsonPatch[1].path: there is no `/a/5`"),
            (
                json!({"op": "add", "path": "/x/y", "value": 1}),
                "jsonPatch[1].path: nothing can be added at `/x/y`",
            ),
            (
                json!({"op": "test", "path": "/a", "value": 2}),
                "jsonPatch[1].value: there is something else",
            ),
            (
                json!({"op": "copy", "from": "/x", "path": "/y"}),
                "jsonPatch[1].from: nothing can be taken from `/x`",
            ),
            (json!({"op": "add", "path": "/x"}), "jsonPatch[1]: the operation has no `value`"),
            (json!({"op": "move", "path": "/x"}), "jsonPatch[1]: the operation has no `from`"),
            (json!({"op": "remove", "path": "a"}), "jsonPatch[1].path: `a` is no JSON pointer"),
        ] {
            let patch = json!([{"op": "test", "path": "/a", "value": [1]}, operation]);
            let why = patched(json!({"a": [1]}), &patch).unwrap_err();
            assert!(why.starts_with(told), "{why}");
        }
    }

    #[test]
    fn a_document_does_not_grow_without_end() {
        let copy = json!({"op": "copy", "from": "/a", "path": "/a/-"});
        let why = patched(json!({"a": ["x".repeat(100)]}), &json!(vec![copy; 30])).unwrap_err();
        assert!(why.contains("more than"), "{why}");
    }
}
