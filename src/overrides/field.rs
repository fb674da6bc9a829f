//! `field`: a document of YAML or JSON that stands in a text, such as a file in a ConfigMap. It is read, changed and
//! written again; where nothing of it changes, the text stays as it is.

use serde_json::Value;

use super::trouble::ChangeTrouble;
use super::{json_patch, merge_patch};
use crate::diag::FieldPath;
use crate::model::api::{FieldChange, FieldFormat};

/// The deepest document.
const DEEPEST: usize = 64;

/// Changes an object.
pub(super) fn apply(object: &mut Value, change: &FieldChange) -> Result<(), ChangeTrouble> {
    let below = |trouble: ChangeTrouble| trouble.below(&FieldPath::keys("field"));
    let path = &change.path;
    let Some(Value::String(text)) = object.pointer_mut(path) else {
        let why = format!("there is no text at `{path}`");
        return Err(below(ChangeTrouble::new("path", why, "name the field that has the document")));
    };
    let before = read(text, change).map_err(below)?;
    let mut after = before.clone();
    if let Some(patch) = &change.merge_patch {
        merge_patch::apply(&mut after, patch).map_err(below)?;
    }
    json_patch::apply(&mut after, &change.json_patch).map_err(below)?;
    if after != before {
        *text = written(&after, change.format).map_err(below)?;
    }
    Ok(())
}

fn read(text: &str, change: &FieldChange) -> Result<Value, ChangeTrouble> {
    let (read, format) = match change.format {
        FieldFormat::Yaml => (read_yaml(text), "YAML"),
        FieldFormat::Json => (serde_json::from_str(text).ok(), "JSON"),
    };
    read.ok_or_else(|| {
        let why = format!("the text at `{}` is no document of {format}", change.path);
        ChangeTrouble::new(
            "path",
            why,
            "name a text that is one, or write the `format` that it has",
        )
    })
}

/// One document, its words read as Kubernetes reads them.
fn read_yaml(text: &str) -> Option<Value> {
    let options = serde_saphyr::options! {
        legacy_octal_numbers: true,
        with_snippet: false,
        budget: serde_saphyr::budget! { max_depth: DEEPEST, max_nodes: 50_000 },
    };
    serde_saphyr::from_str_with_options(text, options).ok()
}

fn written(value: &Value, format: FieldFormat) -> Result<String, ChangeTrouble> {
    let text = match format {
        FieldFormat::Yaml => {
            let options = serde_saphyr::ser_options! { folded_wrap_chars: 1_000_000 };
            serde_saphyr::to_string_with_options(value, options).ok()
        }
        FieldFormat::Json => serde_json::to_string_pretty(value).ok().map(|text| text + "\n"),
    };
    text.ok_or_else(|| {
        ChangeTrouble::new("path", "the document cannot be written", "change less of it")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn changed(text: &str, change: Value) -> Result<String, ChangeTrouble> {
        let mut object = json!({"data": {"app.yaml": text}});
        let mut change: FieldChange = serde_json::from_value(change).unwrap();
        change.path = "/data/app.yaml".to_owned();
        apply(&mut object, &change)?;
        let once = object.clone();
        apply(&mut object, &change)?;
        assert_eq!(object, once, "once more makes no difference");
        Ok(object["data"]["app.yaml"].as_str().unwrap().to_owned())
    }

    #[test]
    fn a_document_in_a_text_is_changed() {
        let yaml = "# why\nb: on\na:\n  size: 1\n";
        let patch =
            json!({"path": "", "jsonPatch": [{"op": "replace", "path": "/a/size", "value": 2}]});
        assert_eq!(changed(yaml, patch).unwrap(), "a:\n  size: 2\nb: true\n");
        let merge = json!({"path": "", "mergePatch": {"a": {"size": null}}});
        assert_eq!(changed(yaml, merge).unwrap(), "a: {}\nb: true\n");
        let none = json!({"path": "", "mergePatch": {"b": true}});
        assert_eq!(changed(yaml, none).unwrap(), yaml, "nothing changes, not even the comment");
        let json = json!({"path": "", "format": "JSON", "mergePatch": {"b": [1]}});
        assert_eq!(
            changed("{\"a\": 1}", json).unwrap(),
            "{\n  \"a\": 1,\n  \"b\": [\n    1\n  ]\n}\n"
        );
    }

    #[test]
    fn what_is_no_document_is_told() {
        let merge = |format: &str| json!({"path": "", "format": format, "mergePatch": {"a": 1}});
        for (text, format) in [("a: [", "YAML"), ("a: 1\n---\nb: 2\n", "YAML"), ("a: 1", "JSON")] {
            let trouble = changed(text, merge(format)).unwrap_err();
            assert_eq!(trouble.at.to_string(), "field.path", "{text}");
        }
        let missing = FieldChange { path: "/data/x".into(), ..FieldChange::default() };
        assert!(apply(&mut json!({"data": {}}), &missing).is_err());
        let wrong = json!({"path": "", "jsonPatch": [{"op": "remove", "path": "/x"}]});
        assert_eq!(changed("a: 1\n", wrong).unwrap_err().at.to_string(), "field.jsonPatch[0].path");
    }
}
