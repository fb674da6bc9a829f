//! Digests of meaning, not of text.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of a value's canonical form: neither the order of keys nor the layout of the text it
    /// was read from makes a difference.
    ///
    /// # Panics
    /// Never for carp's own types: they serialise to JSON.
    #[must_use]
    pub fn of_value(value: &impl Serialize) -> Self {
        let value = serde_json::to_value(value).expect("carp's own types serialise to JSON");
        Self::of(canonical_json(&value).as_bytes())
    }

    /// The digest of a set of names, as `plan` prints it for an Acknowledgement: the names sorted,
    /// one a line.
    #[must_use]
    pub fn of_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut names: Vec<_> = names.into_iter().collect();
        names.sort_unstable();
        names.dedup();
        let mut lines = names.join("\n");
        lines.push('\n');
        Self::of(lines.as_bytes())
    }

    /// The first `digits` hexadecimal digits.
    #[must_use]
    pub fn short(&self, digits: usize) -> String {
        let mut text = self.to_string();
        text.truncate(digits);
        text
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({})", self.short(12))
    }
}

impl FromStr for Digest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let hex = text.strip_prefix("sha256:").unwrap_or(text);
        let wrong = || format!("`{text}` is not a digest of 64 hexadecimal digits");
        if hex.len() != 64 || !hex.is_ascii() {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// JSON with sorted keys and no white space.
#[must_use]
pub fn canonical_json(value: &Value) -> String {
    let mut out = String::new();
    write_canonical(value, &mut out);
    out
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<_> = map.keys().collect();
            keys.sort_unstable();
            out.push('{');
            for (i, key) in keys.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                write_canonical(&map[key], out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

/// The value without nulls, empty maps and empty lists, which mean the same as an absent field
/// everywhere in carp's API.
#[must_use]
pub fn without_defaults(value: Value) -> Value {
    let empty = |v: &Value| match v {
        Value::Null => true,
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    match value {
        Value::Object(map) => Value::Object(
            map.into_iter()
                .map(|(k, v)| (k, without_defaults(v)))
                .filter(|(_, v)| !empty(v))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.into_iter().map(without_defaults).collect()),
        scalar => scalar,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_keys_makes_no_difference() {
        let a: Value = serde_json::from_str(r#"{"a":1,"b":[{"d":"x","c":null}]}"#).unwrap();
        let b: Value = serde_json::from_str(r#"{"b":[{"c":null,"d":"x"}],"a":1}"#).unwrap();
        assert_eq!(Digest::of_value(&a), Digest::of_value(&b));
        assert_eq!(canonical_json(&b), r#"{"a":1,"b":[{"c":null,"d":"x"}]}"#);
    }

    #[test]
    fn a_field_left_out_and_an_empty_one_are_alike() {
        let explicit = json!({"a": 1, "b": {}, "c": {"d": []}, "e": null});
        assert_eq!(without_defaults(explicit), json!({"a": 1}));
    }

    #[test]
    fn a_set_of_names_has_one_digest() {
        assert_eq!(Digest::of_names(["b", "a", "b"]), Digest::of_names(["a", "b"]));
        assert_ne!(Digest::of_names(["ab"]), Digest::of_names(["a", "b"]));
    }
}
