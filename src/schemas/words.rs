//! How faults are told: where, and why, in one line that is not long. What an object has may be long, and may be what
//! nobody should read in a log, so little of it is repeated.

use std::fmt::Write as _;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

/// The most characters of a value, and of what a definition says of a rule.
const SHORT: usize = 60;
const LONG: usize = 300;

/// A text that is cut where it is long.
pub(super) fn cut(text: &str, most: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= most {
        return text;
    }
    let mut short: String = text.chars().take(most).collect();
    short.push('…');
    short
}

/// What a definition says of a rule that is broken.
pub(super) fn of_rule(said: &str) -> String {
    cut(said, LONG)
}

/// A JSON pointer as people write paths: `spec.pools[1].name`.
pub(super) fn path(pointer: &str) -> String {
    let mut path = String::new();
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        let is_index = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if is_index || part.contains(['.', '/']) {
            let _ = write!(path, "[{part}]");
        } else {
            let _ = write!(path, "{}{part}", if path.is_empty() { "" } else { "." });
        }
    }
    path
}

/// A place in backticks, and the object itself without.
pub(super) fn place(pointer: &str) -> String {
    let path = path(pointer);
    if path.is_empty() { "it".to_owned() } else { format!("`{}`", cut(&path, LONG)) }
}

/// What is wrong where an object is not what its schema says.
pub(super) fn of_schema(error: &ValidationError<'_>) -> String {
    let at = error.instance_path().to_string();
    let below =
        |field: &str| place(&format!("{at}/{}", field.replace('~', "~0").replace('/', "~1")));
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let fields: Vec<_> = unexpected.iter().take(5).map(|field| below(field)).collect();
            format!("it has no field {}", fields.join(", "))
        }
        ValidationErrorKind::Required { property } => {
            format!("{} is missing", below(property.as_str().unwrap_or_default()))
        }
        _ => {
            let value = match &**error.instance() {
                Value::Object(_) => "the object".to_owned(),
                Value::Array(_) => "the list".to_owned(),
                scalar => cut(&scalar.to_string(), SHORT),
            };
            format!("{}: {}", place(&at), cut(&error.masked_with(value).to_string(), LONG))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_is_as_people_write_it() {
        assert_eq!(path("/spec/pools/1/name"), "spec.pools[1].name");
        assert_eq!(path("/metadata/labels/a.b~1c"), "metadata.labels[a.b/c]");
        assert_eq!((place("").as_str(), place("/spec").as_str()), ("it", "`spec`"));
    }

    #[test]
    fn what_is_wrong_is_said_in_one_short_line() {
        let schema = json!({
            "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "y"]}, "c": {"pattern": "^a$"}},
            "required": ["d"],
            "additionalProperties": false,
        });
        let validator = jsonschema::validator_for(&schema).unwrap();
        let value = json!({"a": "x".repeat(500), "b": {"z": 1}, "c": "b\nb", "e": 1});
        let mut said: Vec<_> = validator.iter_errors(&value).map(|e| of_schema(&e)).collect();
        said.sort();
        let x = "x".repeat(59);
        assert_eq!(
            said,
            [
                format!("`a`: \"{x}… is not of type \"integer\""),
                "`b`: the object is not one of \"x\" or \"y\"".to_owned(),
                "`c`: \"b\\nb\" does not match \"^a$\"".to_owned(),
                "`d` is missing".to_owned(),
                "it has no field `e`".to_owned(),
            ]
        );
    }
}
