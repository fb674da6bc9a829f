//! Reading and writing YAML as Kubernetes understands it.

use std::rc::Rc;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::plain_yaml::{self, FIRST};
use super::reader::{self, YamlError};

/// Reads one document as [`reader::parse`] does.
pub(super) fn parse(text: &str) -> Result<Value, YamlError> {
    parse_shared(text).map(Rc::unwrap_or_clone)
}

/// Reads one document that nobody changes.
pub(super) fn parse_shared(text: &str) -> Result<Rc<Value>, YamlError> {
    reader::parse(text).map(|read| read.value)
}

/// Writes one document: keys sorted, but `apiVersion`, `kind`, `metadata` and `spec` first.
pub(super) fn emit(value: &Value) -> String {
    plain_yaml::write(value, &emit_scalar).unwrap_or_else(|| emit_any(value))
}

/// Writes any value as [`emit`] does, plain words or not.
pub(super) fn emit_any(value: &Value) -> String {
    written(&Sorted(value))
}

/// Writes a text alone.
pub(super) fn emit_scalar(text: &str) -> String {
    written(&text)
}

fn written(value: &impl Serialize) -> String {
    let options = serde_saphyr::ser_options! {
        // Folded text would read differently from reader to reader; long lines are harmless.
        folded_wrap_chars: 1_000_000,
    };
    serde_saphyr::to_string_with_options(value, options)
        .expect("a JSON value can be written as YAML")
}

/// Writes documents, one after the other.
pub(super) fn emit_all<'a>(values: impl IntoIterator<Item = &'a Value>) -> String {
    values.into_iter().map(emit).collect::<Vec<_>>().join("---\n")
}

/// A value whose maps are written in a fixed order, whatever order the map type keeps.
struct Sorted<'a>(&'a Value);

impl Serialize for Sorted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(map) => {
                let mut entries: Vec<_> = map.iter().collect();
                entries.sort_by_key(|(key, _)| (rank(key), *key));
                let mut out = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    out.serialize_entry(key, &Sorted(value))?;
                }
                out.end()
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(Sorted)),
            scalar => scalar.serialize(serializer),
        }
    }
}

fn rank(key: &str) -> usize {
    FIRST.iter().position(|first| *first == key).unwrap_or(FIRST.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_is_the_one_people_write() {
        let value = json!({"data": {"b": "1", "a": "on"}, "kind": "K", "apiVersion": "v1"});
        assert_eq!(emit(&value), "apiVersion: v1\nkind: K\ndata:\n  a: \"on\"\n  b: \"1\"\n");
    }

    #[test]
    fn words_are_read_as_kubernetes_reads_them() {
        assert_eq!(
            parse("a: on\nb: 0644\nc: \"on\"\n"),
            Ok(json!({"a": true, "b": 420, "c": "on"}))
        );
        let error = parse("a: 1\nb: [\n").unwrap_err();
        assert!(error.line.is_some(), "{error:?}");
    }

    #[test]
    fn what_is_written_reads_back() {
        let value =
            json!({"a": ["x: y", "", "- z", "1e3", "line\nline\n"], "b": {}, "c": [{"d": []}]});
        assert_eq!(parse(&emit(&value)), Ok(value));
    }
}
