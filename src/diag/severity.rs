//! How bad a finding is.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How bad a finding is. The order is the order of display: errors first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Severity {
    /// What the finding speaks of has no effect; its last good output stays.
    Error,
    /// It has effect, and probably not the one that was meant.
    Warning,
    /// Worth knowing.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        })
    }
}
