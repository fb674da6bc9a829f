//! What `carp crds pull` remembers of what it wrote.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Digest;

/// The format of [`PulledLock`]. Locks of format 1 had no digest of themselves, and there was none of this kind.
pub const PULLED_SCHEMA: u32 = 2;

/// `pulled.lock`: which files of releases the definitions beside it come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PulledLock {
    /// The format: [`PULLED_SCHEMA`].
    pub schema_version: u32,
    /// The files that were read, by the address where they are published.
    pub releases: BTreeMap<String, PulledRelease>,
    /// The definitions, by their path from the lock.
    pub definitions: BTreeMap<String, PulledFile>,
}

impl Default for PulledLock {
    fn default() -> Self {
        let (releases, definitions) = (BTreeMap::new(), BTreeMap::new());
        Self { schema_version: PULLED_SCHEMA, releases, definitions }
    }
}

/// A file of a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PulledRelease {
    /// The component that it is of.
    pub component: String,
    /// In which version.
    pub version: String,
    /// The digest of its bytes.
    pub sha256: Digest,
    /// The names of the definitions that were wanted of it; all where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// Those that were left out, for the fleet has its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<String>,
    /// Those that were left to another file, which has them too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<String>,
}

/// A definition that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PulledFile {
    /// The address of the file that it comes from.
    pub of: String,
    /// The digest of the definition as it was written.
    pub sha256: Digest,
}
