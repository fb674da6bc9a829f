//! The text of a lock: JSON with one line for each field and, in a map of rows, one for each row, which reads as a diff
//! and parses twenty times faster than YAML. A digest of all the rest stands in it, so that one which was edited by hand, or
//! merged out of two, is known.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Digest;
use super::digest::{canonical_json, write_canonical, write_json};

/// The field that holds the digest of all others, from format 2 on: a lock that was edited by hand, or
/// merged out of two, does not agree with it.
const DIGEST: &str = "digest";

/// The field with the number of the format.
const SCHEMA_VERSION: &str = "schemaVersion";

/// Writes a lock: JSON, one line for each field, and in a map of rows one line for each row.
///
/// # Panics
/// Never: locks serialise to JSON.
#[must_use]
pub fn lock_to_bytes(lock: &impl Serialize) -> Vec<u8> {
    let value = serde_json::to_value(lock).expect("locks serialise to JSON");
    let fields = value.as_object().into_iter().flatten();
    let mut text = LockText(fields.map(|(key, value)| (json(key), FieldText::of(value))).collect());
    let digest = Digest::of(text.canonical().as_bytes());
    text.0.insert(json(DIGEST), FieldText::Whole(json(&digest.to_string())));
    text.written().into_bytes()
}

/// Why bytes are no lock.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LockFault {
    /// A newer carp wrote it.
    #[error("it has schemaVersion {0}, which this carp does not know")]
    Newer(u64),
    /// It is no such lock, or not as carp wrote it.
    #[error("{0}")]
    Damaged(String),
}

/// Reads a lock of the format `schema` or an older one, which is brought into the form of this one; its
/// `schemaVersion` stays, so that whoever reads it knows that it must be written anew.
///
/// # Errors
/// The text is not such a lock, was changed since carp wrote it, or is of a newer format.
pub fn lock_from_bytes<T: DeserializeOwned>(bytes: &[u8], schema: u32) -> Result<T, LockFault> {
    as_written(bytes, schema).map_or_else(|| as_json(bytes, schema), Ok)
}

/// A lock in any layout.
fn as_json<T: DeserializeOwned>(bytes: &[u8], schema: u32) -> Result<T, LockFault> {
    let damaged = |why: &dyn ToString| LockFault::Damaged(why.to_string());
    if bytes.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"<<<<<<< ")) {
        return Err(damaged(&"it has the marks of a merge conflict"));
    }
    let mut value: Value = serde_json::from_slice(bytes).map_err(|e| damaged(&e))?;
    let version = value.get(SCHEMA_VERSION).and_then(Value::as_u64);
    match version.ok_or_else(|| damaged(&"it has no schemaVersion"))? {
        newer if newer > u64::from(schema) => return Err(LockFault::Newer(newer)),
        // Format 1 had no digest, and not the ids of the records.
        0 | 1 => {}
        _ => check_digest(&mut value).map_err(|why| damaged(&why))?,
    }
    serde_json::from_value(value).map_err(|e| damaged(&e))
}

/// Takes the digest out of a lock and compares it with what is left.
fn check_digest(value: &mut Value) -> Result<(), &'static str> {
    let said = value.as_object_mut().and_then(|fields| fields.remove(DIGEST));
    let is = Digest::of_json(value).to_string();
    match said.as_ref().and_then(Value::as_str) {
        Some(said) if said == is => Ok(()),
        Some(_) => Err("it was changed since carp wrote it: its digest is another"),
        None => Err("it has no digest"),
    }
}

/// A lock whose text is just as carp writes it: its lines are put together to what the digest is of, and read straight into
/// their types. `None` for any other text, which is read as the JSON that it may be.
fn as_written<T: DeserializeOwned>(bytes: &[u8], schema: u32) -> Option<T> {
    let mut text = LockText::read(std::str::from_utf8(bytes).ok()?)?;
    let FieldText::Whole(version) = text.0.get(&*json(SCHEMA_VERSION))? else { return None };
    (2..=schema).contains(&version.parse().ok()?).then_some(())?;
    let FieldText::Whole(said) = text.0.remove(&*json(DIGEST))? else { return None };
    let canonical = text.canonical();
    let is = Digest::of(canonical.as_bytes());
    (said == json(&is.to_string())).then(|| serde_json::from_str(&canonical).ok())?
}

/// The fields of a lock by their keys, which are JSON, as everything here.
struct LockText<S>(BTreeMap<S, FieldText<S>>);

/// A field: a value without white space, or rows of a map, `"key":value` each.
enum FieldText<S> {
    Whole(S),
    Rows(Vec<S>),
}

impl FieldText<String> {
    fn of(field: &Value) -> Self {
        match field {
            Value::Object(rows) if rows.len() > 1 || rows.values().any(Value::is_object) => {
                let row = |(key, row): (&String, &Value)| {
                    let mut out = Vec::new();
                    write_json(key, &mut out);
                    out.push(b':');
                    write_canonical(row, &mut out);
                    String::from_utf8(out).expect("JSON is UTF-8")
                };
                Self::Rows(rows.iter().map(row).collect())
            }
            other => Self::Whole(canonical_json(other)),
        }
    }
}

impl<'t> LockText<&'t str> {
    /// The fields of a text that is written as [`written`](LockText::written) has it.
    fn read(text: &'t str) -> Option<Self> {
        let mut lines = text.strip_prefix("{\n")?.strip_suffix("\n}\n")?.split('\n');
        let mut fields = BTreeMap::new();
        let mut follows = true;
        while let Some(line) = lines.next() {
            // Where a comma has to stand there is one, and none where it has not to.
            follows.then_some(())?;
            let (key, value) = line.strip_prefix(' ')?.split_once("\":")?;
            let key = &line[1..=key.len() + 1];
            let field = if value == "{" {
                let (rows, end) = Self::rows(&mut lines)?;
                follows = end;
                FieldText::Rows(rows)
            } else {
                let whole = value.strip_suffix(',');
                follows = whole.is_some();
                FieldText::Whole(whole.unwrap_or(value))
            };
            fields.insert(key, field).is_none().then_some(())?;
        }
        (!follows).then_some(Self(fields))
    }

    /// The rows up to the end of a map, and whether another field follows it.
    fn rows(lines: &mut impl Iterator<Item = &'t str>) -> Option<(Vec<&'t str>, bool)> {
        let (mut rows, mut follows) = (Vec::new(), true);
        loop {
            let line = lines.next()?;
            match line {
                " }" | " }," if !follows => return Some((rows, line == " },")),
                _ => {}
            }
            follows.then_some(())?;
            let row = line.strip_prefix("  ")?;
            let one = row.strip_suffix(',');
            follows = one.is_some();
            rows.push(one.unwrap_or(row));
        }
    }
}

impl<S: AsRef<str> + Ord> LockText<S> {
    /// All of it without white space, the keys sorted.
    fn canonical(&self) -> String {
        let close = ["{", ",", "}"];
        put_fields(self.0.iter(), close, close)
    }

    /// The text of the file. `schemaVersion` leads.
    fn written(&self) -> String {
        let version = json(SCHEMA_VERSION);
        let mut fields: Vec<_> = self.0.iter().collect();
        fields.sort_by_key(|(key, _)| key.as_ref() != version);
        put_fields(fields.into_iter(), ["{\n ", ",\n ", "\n}\n"], ["{\n  ", ",\n  ", "\n }"])
    }
}

/// Fields one after the other, with what is before, between and after them, and before, between and after rows.
fn put_fields<'f, S: AsRef<str> + 'f>(
    fields: impl Iterator<Item = (&'f S, &'f FieldText<S>)>,
    [before, between, after]: [&str; 3],
    around_rows: [&str; 3],
) -> String {
    let mut out = String::from(before);
    for (i, (key, field)) in fields.enumerate() {
        out.push_str(if i > 0 { between } else { "" });
        out.push_str(key.as_ref());
        out.push(':');
        match field {
            FieldText::Whole(value) => out.push_str(value.as_ref()),
            FieldText::Rows(rows) => put_rows(&mut out, rows, around_rows),
        }
    }
    out.push_str(after);
    out
}

fn put_rows(out: &mut String, rows: &[impl AsRef<str>], [before, between, after]: [&str; 3]) {
    out.push_str(before);
    for (i, row) in rows.iter().enumerate() {
        out.push_str(if i > 0 { between } else { "" });
        out.push_str(row.as_ref());
    }
    out.push_str(after);
}

/// A text as JSON.
fn json(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        IndexRow, Name, PENDING_SCHEMA, PendingLock, PendingRow, ReasonCode, Resources,
    };

    fn pending() -> PendingLock {
        let row = PendingRow {
            seen: 1,
            facts: Digest::of(b"x"),
            reasons: [ReasonCode::Capacity].into(),
            record: None,
            demand: Resources::new(),
            row: IndexRow {
                labels: [].into(),
                tenant: "shop".into(),
                location: "westeurope".into(),
                version: "v1.34.2".into(),
                flavor: "kamaji-capz".into(),
                priority: 0,
                class: None,
                deletion_policy: None,
                spread: Vec::new(),
                anti_affinity: Vec::new(),
            },
        };
        let names = ["a", "b"].map(|n| Name::parse(n).unwrap());
        PendingLock {
            clusters: names.into_iter().map(|n| (n, row.clone())).collect(),
            ..PendingLock::default()
        }
    }

    #[test]
    fn a_lock_has_one_line_for_each_row_and_reads_back() {
        let bytes = lock_to_bytes(&pending());
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert_eq!(text.lines().filter(|l| l.contains("\"seen\":1")).count(), 2);
        assert!(text.starts_with("{\n \"schemaVersion\":2,\n"), "{text}");
        assert_eq!(lock_from_bytes::<PendingLock>(&bytes, PENDING_SCHEMA), Ok(pending()));
    }

    #[test]
    fn what_a_lock_says_is_the_same_as_it_is_written_and_otherwise() {
        let bytes = lock_to_bytes(&pending());
        let text = std::str::from_utf8(&bytes).unwrap();
        assert!(as_written::<PendingLock>(&bytes, PENDING_SCHEMA).is_some());
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        for other in [
            value.to_string(),
            text.replacen(",\n", "\n", 1),
            text.replacen("\n }", ",\n }", 1),
            text.replace("\n}", ",\n}"),
            text.replacen("\"clusters\":", "\"clusters\": ", 1),
            text.replacen('{', "{\n \"digest\":\"\",", 1),
        ] {
            assert_ne!(other, text);
            assert!(
                as_written::<PendingLock>(other.as_bytes(), PENDING_SCHEMA).is_none(),
                "{other}"
            );
        }
        for (say, lock) in [("empty", PendingLock::default()), ("two", pending())] {
            let bytes = lock_to_bytes(&lock);
            assert_eq!(as_written(&bytes, PENDING_SCHEMA), Some(lock.clone()), "{say}");
            let value: Value = serde_json::from_slice(&bytes).unwrap();
            let pretty = serde_json::to_vec_pretty(&value).unwrap();
            assert_eq!(lock_from_bytes(&pretty, PENDING_SCHEMA), Ok(lock), "{say}");
        }
    }

    #[test]
    fn what_is_taken_as_it_is_written_says_the_same_as_json() {
        let bytes = lock_to_bytes(&pending());
        let cut = |at: usize, by: usize| [&bytes[..at], &bytes[at + by..]].concat();
        let put = |at: usize, what: &u8| [&bytes[..at], &[*what], &bytes[at..]].concat();
        let (mut taken, mut others) = (0, 0);
        let mut check = |text: &[u8]| match as_written::<PendingLock>(text, PENDING_SCHEMA) {
            Some(lock) => {
                assert_eq!(as_json(text, PENDING_SCHEMA), Ok(lock));
                taken += 1;
            }
            None => others += 1,
        };
        check(&bytes);
        for at in 0..bytes.len() {
            check(&cut(at, 1));
            b" ,\n{}\":0x".iter().for_each(|what| check(&put(at, what)));
        }
        let lines: Vec<&str> = std::str::from_utf8(&bytes).unwrap().split_inclusive('\n').collect();
        for (from, to) in (0..lines.len()).flat_map(|a| (0..lines.len()).map(move |b| (a, b))) {
            let mut moved = lines.clone();
            moved.swap(from, to);
            check(moved.concat().as_bytes());
            moved.insert(to, lines[from]);
            check(moved.concat().as_bytes());
        }
        assert!(taken > 1 && others > 1_000, "{taken} {others}");
    }

    #[test]
    fn a_newer_format_is_refused() {
        let error = lock_from_bytes::<PendingLock>(br#"{"schemaVersion":9}"#, 2).unwrap_err();
        assert_eq!(error, LockFault::Newer(9));
    }

    #[test]
    fn a_lock_that_somebody_changed_is_known() {
        let text = String::from_utf8(lock_to_bytes(&pending())).unwrap();
        let read = |text: &str| lock_from_bytes::<PendingLock>(text.as_bytes(), PENDING_SCHEMA);
        assert_eq!(read(&text), Ok(pending()));
        let reformatted = text.replace('\n', "\n\n");
        assert_eq!(read(&reformatted), Ok(pending()), "it says the same");
        let merged = format!("<<<<<<< ours\n{text}=======\n{text}>>>>>>> theirs\n");
        for changed in [
            text.replace("shop", "pay"),
            text.lines().filter(|l| !l.contains("\"a\":{")).collect::<Vec<_>>().join("\n"),
            text.lines().filter(|l| !l.contains("digest")).collect::<Vec<_>>().join("\n"),
            text[..text.len() / 2].to_owned(),
            merged,
            String::new(),
        ] {
            assert!(matches!(read(&changed), Err(LockFault::Damaged(_))), "{changed}");
        }
    }

    #[test]
    fn a_lock_of_format_1_is_read_and_keeps_its_number() {
        let text = String::from_utf8(lock_to_bytes(&pending())).unwrap();
        let mut value: Value = serde_json::from_str(&text).unwrap();
        value.as_object_mut().unwrap().remove(DIGEST);
        value["schemaVersion"] = 1.into();
        let old = value.to_string();
        let read: PendingLock = lock_from_bytes(old.as_bytes(), PENDING_SCHEMA).unwrap();
        assert_eq!(read, PendingLock { schema_version: 1, ..pending() });
        assert_ne!(lock_to_bytes(&read), lock_to_bytes(&pending()), "so it is written anew");
    }
}
