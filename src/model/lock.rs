//! The locks: `carp.lock` of a worker, `decisions/pending.lock`, and the form of all, `control-plane/fleet.lock` too.
//!
//! They are derived from the records and are enough to rebuild every index without parsing one desired
//! file. They are JSON with one entry a line, which reads as a diff and parses twenty times faster than
//! YAML.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::api::{AntiAffinity, DeletionPolicy, SpreadConstraint};
use super::{
    DeletionRow, Digest, Id, MoveRow, Name, ReasonCode, Resources, SharedMap, SteppedVersions,
};

/// The format of [`WorkerLock`].
pub const WORKER_LOCK_SCHEMA: u32 = 2;
/// The format of [`PendingLock`].
pub const PENDING_SCHEMA: u32 = 2;
/// `workers/<worker>/carp.lock`: what carp owns below that folder, and who is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkerLock {
    /// [`WORKER_LOCK_SCHEMA`]; 1 where an earlier carp wrote it.
    pub schema_version: u32,
    /// The worker.
    pub worker: Name,
    /// The digest of the worker's own document, its overlay included.
    pub facts: Digest,
    /// The digest of exactly what the templates of the worker's own files got.
    pub render_key: Digest,
    /// The clusters here.
    pub clusters: BTreeMap<Name, ClusterRow>,
    /// The files that carp owns, below the worker's folder, those of the clusters' folders apart (their
    /// rows name the folder). carp deletes only what stands here.
    pub files: BTreeMap<String, Id>,
}

/// What a lock knows of one cluster on a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterRow {
    /// Whether the cluster is being deleted.
    pub state: ClusterState,
    /// How far that is; absent for a cluster that stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion: Option<DeletionRow>,
    /// Where it comes from, until it is reported running here; absent for a cluster that did not move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moves: Option<MoveRow>,
    /// Whether Flux is told to leave its folder alone, because the cluster is handed over to another worker.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspended: bool,
    /// The digest of the cluster's document.
    pub facts: Digest,
    /// The digest of exactly what the templates got when the folder was made.
    pub render_key: Digest,
    /// The cluster's folder; absent until it rendered for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<Id>,
    /// The folder's files, by path, while others' files lie beside them: no commit has a tree of these alone, and a
    /// clone makes it of this. Empty where the folder has its place to itself.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, Id>,
    /// The cluster's decision record; absent in the locks of format 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Id>,
    /// The versions that the folder has, while they are others than the document's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<SteppedVersions>,
    /// The group of its policy's affinity that the cluster was placed in, as its record says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The data store that its folder names; absent for `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_store: Option<String>,
    /// What the cluster takes, as its record says.
    pub demand: Resources,
    /// What else an index needs.
    #[serde(flatten)]
    pub row: IndexRow,
}

/// What every index needs of a cluster, placed or waiting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexRow {
    /// The cluster's labels.
    #[serde(default, skip_serializing_if = "SharedMap::is_empty")]
    pub labels: SharedMap<String>,
    /// The tenant.
    pub tenant: String,
    /// The location that the cluster asked for.
    pub location: String,
    /// The Kubernetes version.
    pub version: String,
    /// The flavor.
    pub flavor: String,
    /// The priority.
    #[serde(default)]
    pub priority: i32,
    /// The class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// What the removal of the document would do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_policy: Option<DeletionPolicy>,
    /// The cluster's own spread constraints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spread: Vec<SpreadConstraint>,
    /// The cluster's own rules of anti-affinity. They keep newcomers away as long as it is there,
    /// also while its document is not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anti_affinity: Vec<AntiAffinity>,
}

/// Whether a cluster on a worker stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClusterState {
    /// It stays.
    Bound,
    /// Its deletion has begun.
    Deleting,
    /// It is on another worker, which it leaves: its place here is kept. Nothing of it is here yet, unless it is handed
    /// over.
    Reserved,
}

/// `decisions/pending.lock`: the same for the clusters that wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PendingLock {
    /// [`PENDING_SCHEMA`]; 1 where an earlier carp wrote it.
    pub schema_version: u32,
    /// The clusters that wait.
    pub clusters: BTreeMap<Name, PendingRow>,
}

impl Default for PendingLock {
    fn default() -> Self {
        Self { schema_version: PENDING_SCHEMA, clusters: BTreeMap::new() }
    }
}

/// What a lock knows of one cluster that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingRow {
    /// The place in the queue.
    pub seen: u64,
    /// The digest of the cluster's document.
    pub facts: Digest,
    /// Why no worker took it, as the record says.
    pub reasons: BTreeSet<ReasonCode>,
    /// The cluster's decision record; absent in the locks of format 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Id>,
    /// What the cluster will take.
    pub demand: Resources,
    /// What else an index needs.
    #[serde(flatten)]
    pub row: IndexRow,
}

/// The field that holds the digest of all others, from format 2 on: a lock that was edited by hand, or
/// merged out of two, does not agree with it.
const DIGEST: &str = "digest";

/// Writes a lock: JSON, one line for each field, and in a map of rows one line for each row.
///
/// # Panics
/// Never: locks serialise to JSON.
#[must_use]
pub fn lock_to_bytes(lock: &impl Serialize) -> Vec<u8> {
    let mut value = serde_json::to_value(lock).expect("locks serialise to JSON");
    let digest = Digest::of_json(&value);
    if let Some(fields) = value.as_object_mut() {
        fields.insert(DIGEST.to_owned(), Value::String(digest.to_string()));
    }
    let mut out = String::from("{\n");
    let fields = value.as_object().into_iter().flatten();
    let count = value.as_object().map_or(0, serde_json::Map::len);
    // `schemaVersion` leads, whatever the order of the map is.
    let mut fields: Vec<_> = fields.collect();
    fields.sort_by_key(|(k, _)| (*k != "schemaVersion", (*k).clone()));
    for (i, (key, field)) in fields.into_iter().enumerate() {
        let comma = if i + 1 < count { "," } else { "" };
        let _ = write!(out, " {}:", Value::String(key.clone()));
        write_field(&mut out, field);
        let _ = writeln!(out, "{comma}");
    }
    out.push_str("}\n");
    out.into_bytes()
}

fn write_field(out: &mut String, field: &Value) {
    match field {
        Value::Object(rows) if rows.len() > 1 || rows.values().any(Value::is_object) => {
            out.push_str("{\n");
            for (i, (key, row)) in rows.iter().enumerate() {
                let comma = if i + 1 < rows.len() { "," } else { "" };
                let key = Value::String(key.clone());
                let _ = writeln!(out, "  {key}:{}{comma}", super::canonical_json(row));
            }
            out.push_str(" }");
        }
        other => out.push_str(&super::canonical_json(other)),
    }
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
    let damaged = |why: &dyn ToString| LockFault::Damaged(why.to_string());
    if bytes.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"<<<<<<< ")) {
        return Err(damaged(&"it has the marks of a merge conflict"));
    }
    let mut value: Value = serde_json::from_slice(bytes).map_err(|e| damaged(&e))?;
    let version = value.get("schemaVersion").and_then(Value::as_u64);
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
    let is = Digest::of_value(value).to_string();
    match said.as_ref().and_then(Value::as_str) {
        Some(said) if said == is => Ok(()),
        Some(_) => Err("it was changed since carp wrote it: its digest is another"),
        None => Err("it has no digest"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
