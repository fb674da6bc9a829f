//! Why a change could not be made.

use crate::diag::FieldPath;

/// What is wrong with a change of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChangeTrouble {
    /// The part of the change, from the change on.
    pub(super) at: FieldPath,
    /// What is wrong, as the end of a sentence.
    pub(super) why: String,
    /// What to do.
    pub(super) help: String,
}

impl ChangeTrouble {
    pub(super) fn new(at: &'static str, why: impl Into<String>, help: impl Into<String>) -> Self {
        Self { at: FieldPath::keys(at), why: why.into(), help: help.into() }
    }

    /// This trouble where its object is a part of something.
    pub(super) fn below(self, above: &FieldPath) -> Self {
        let at = above.0.iter().cloned().chain(self.at.0).collect();
        Self { at: FieldPath(at), ..self }
    }
}
