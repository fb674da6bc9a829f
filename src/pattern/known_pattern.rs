//! What is known of a pattern.

use super::first::{FirstDocument, FromFirst};
use super::shape::KnownShape;

/// What is known of a pattern.
#[derive(Debug)]
pub(super) enum KnownPattern {
    /// One document had it, this one if it is kept.
    Once(Option<FirstDocument>),
    /// Two had it: so it is where one cluster was edited, whose folder is read as it was and as it is.
    Twice,
    /// What a document of it says, whatever its words are.
    Says(KnownShape),
    /// Its words do not stand where they could be put in.
    Closed,
}

impl KnownPattern {
    /// A second document has it: what it says, where it is the first one once more.
    pub(super) fn met_again<T: FromFirst>(&mut self, words: &[&str]) -> Option<T> {
        match std::mem::replace(self, Self::Twice) {
            Self::Once(first) => first?.says(words),
            _ => None,
        }
    }
}
