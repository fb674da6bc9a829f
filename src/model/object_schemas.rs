//! What API servers accept, by the definitions of their kinds. Who renders asks it of each object and knows nothing of
//! definitions; who reads definitions knows nothing of folders: both know this.

use std::fmt;

use serde_json::Value;

use super::Digest;

/// The definitions that objects are held against before they are committed.
pub trait ObjectSchemas: fmt::Debug + Send + Sync {
    /// The digest of all that an answer follows from. It is part of each folder's render key: other definitions look at
    /// every folder again.
    fn digest(&self) -> Digest;

    /// What of an object an API server with these definitions would refuse or drop. Nothing is said of a kind that they
    /// do not define, unless the definition may be one that cannot be read.
    fn faults(&self, object: &Value) -> Vec<SchemaFault>;
}

/// Why an API server would not take an object as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaFault {
    /// What is wrong, in words that go on behind the object's name: "`spec.replicas` is a text".
    pub problem: String,
    /// What to do about it.
    pub help: String,
}

/// The files of a set of definitions, by path from the set's folder: the text of each, or why it is none.
pub type CrdFiles = std::collections::BTreeMap<String, Result<std::sync::Arc<str>, String>>;
