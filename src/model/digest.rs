//! Digests of meaning, not of text.

use std::fmt;
use std::io::{self, BufWriter, Read, Write};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::hex;

/// A SHA-256 digest, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// Writes into a hash.
#[derive(Debug)]
struct HashWriter(Sha256);

impl Write for HashWriter {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        self.0.update(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Digest {
    /// The digest of a set without members.
    pub const NONE: Self = Self([0; 32]);

    /// The digest of bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of bytes that stand in several places, one after the other.
    #[must_use]
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = Sha256::new();
        parts.into_iter().for_each(|part| hasher.update(part));
        Self(hasher.finalize().into())
    }

    /// The digest of all that is read, of which a part at a time is in memory.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn of_reader(mut from: impl Read) -> io::Result<Self> {
        let (mut hasher, mut part) = (Sha256::new(), vec![0; 64 << 10]);
        loop {
            match from.read(&mut part) {
                Ok(0) => return Ok(Self(hasher.finalize().into())),
                Ok(read) => hasher.update(&part[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The digest of a value as it serialises to JSON, of which a part at a time is in memory.
    ///
    /// # Panics
    /// Never for carp's own types: they serialise to JSON.
    #[must_use]
    pub fn of_serialized(value: &impl Serialize) -> Self {
        let mut writer = BufWriter::with_capacity(64 << 10, HashWriter(Sha256::new()));
        serde_json::to_writer(&mut writer, value).expect("carp's own types serialise to JSON");
        let hashed = writer.into_inner().expect("a hash takes everything");
        Self(hashed.0.finalize().into())
    }

    /// The digest of a value's canonical form: neither the order of keys nor the layout of the text it
    /// was read from makes a difference.
    ///
    /// # Panics
    /// Never for carp's own types: they serialise to JSON.
    #[must_use]
    pub fn of_value(value: &impl Serialize) -> Self {
        let value = serde_json::to_value(value).expect("carp's own types serialise to JSON");
        Self::of_json(&value)
    }

    /// The digest of the canonical JSON of a value that is JSON already, which need not be copied.
    #[must_use]
    pub fn of_json(value: &Value) -> Self {
        Self::of(canonical_json(value).as_bytes())
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

    /// The digest of a set whose members have these digests, to which one is added, or of which it is taken out
    /// again: the order makes no difference, and the empty set has [`NONE`](Self::NONE).
    #[must_use]
    pub fn with(self, member: Self) -> Self {
        let Self(mut bytes) = self;
        for (byte, other) in bytes.iter_mut().zip(member.0) {
            *byte ^= other;
        }
        Self(bytes)
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
        hex::show(&self.0, f)
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
        let digits = text.strip_prefix("sha256:").unwrap_or(text);
        let wrong = || format!("`{text}` is not a digest of 64 hexadecimal digits");
        hex::decode(digits).map(Self).ok_or_else(wrong)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        hex::serialize(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        hex::deserialize(deserializer)
    }
}

/// JSON with sorted keys and no white space.
#[must_use]
pub fn canonical_json(value: &Value) -> String {
    let mut out = Vec::with_capacity(1024);
    write_canonical(value, &mut out);
    String::from_utf8(out).expect("JSON is UTF-8")
}

/// Writes the canonical JSON of a value to the end of some bytes.
pub fn write_canonical(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Object(map) => {
            let mut pairs: Vec<_> = map.iter().collect();
            if !pairs.is_sorted_by_key(|(key, _)| *key) {
                pairs.sort_unstable_by_key(|(key, _)| *key);
            }
            out.push(b'{');
            for (i, (key, value)) in pairs.into_iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write_json(key, out);
                out.push(b':');
                write_canonical(value, out);
            }
            out.push(b'}');
        }
        Value::Array(items) => {
            out.push(b'[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write_canonical(item, out);
            }
            out.push(b']');
        }
        scalar => write_json(scalar, out),
    }
}

/// Writes a value as JSON, in the order in which it serialises.
pub fn write_json(value: &(impl Serialize + ?Sized), out: &mut Vec<u8>) {
    serde_json::to_writer(out, value).expect("carp's own types serialise to JSON");
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
    fn what_is_read_in_parts_has_the_digest_of_the_whole() {
        for length in [0, 1, 64 << 10, (64 << 10) + 1, 200_000] {
            let bytes: Vec<u8> = (0_u8..=255).cycle().take(length).collect();
            assert_eq!(Digest::of_reader(&*bytes).unwrap(), Digest::of(&bytes), "{length}");
        }
    }

    #[test]
    fn a_set_of_names_has_one_digest() {
        assert_eq!(Digest::of_names(["b", "a", "b"]), Digest::of_names(["a", "b"]));
        assert_ne!(Digest::of_names(["ab"]), Digest::of_names(["a", "b"]));
    }
}
