//! What is wrong with a value, and where.

use crate::diag::FieldPath;

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterFault {
    /// Where.
    pub field: FieldPath,
    /// Whether there is no such parameter: the key is wrong, and not its value.
    pub is_unknown: bool,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

/// Adds that a value is wrong.
pub(super) fn fault(
    found: &mut Vec<ParameterFault>,
    at: &FieldPath,
    message: String,
    help: impl Into<String>,
) {
    let field = at.clone();
    found.push(ParameterFault { field, is_unknown: false, message, help: help.into() });
}
