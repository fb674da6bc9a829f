//! What documents share that one template made, as far as it is known without reading them.

use std::cell::Cell;
use std::rc::Rc;

/// What documents have in common whose words are the same but for some.
#[derive(Debug)]
pub struct SharedWords {
    /// The text of each of them, without its words.
    pub(super) rest: String,
    /// The words that differ, by their numbers. No other documents have this very list.
    pub(super) differing: Rc<[usize]>,
    /// The number of their pattern, once it has one.
    pub(super) pattern: Cell<Option<usize>>,
}

impl SharedWords {
    /// Of documents with this text around their words, of which those in `differing` are not the same in all.
    #[must_use]
    pub fn new(rest: String, differing: Vec<usize>) -> Self {
        Self { rest, differing: differing.into(), pattern: Cell::default() }
    }

    /// The words that differ, by their numbers, counted from 0 in the order of the text.
    #[must_use]
    pub fn differing(&self) -> &[usize] {
        &self.differing
    }

    /// About how many bytes they take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.rest.len() + size_of_val(&*self.differing)
    }
}
