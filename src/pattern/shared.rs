//! What documents share that one template made, as far as it is known without reading them.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// What documents have in common whose words are the same but for some.
#[derive(Debug)]
pub struct SharedWords {
    /// The text of each of them, without its words.
    pub(super) rest: String,
    /// The words that differ, by their numbers.
    pub(super) others: Vec<usize>,
    /// The number of their pattern, once one of them was read.
    pub(super) pattern: Cell<Option<usize>>,
    /// It tells these documents from all others.
    pub(super) number: u64,
}

impl SharedWords {
    /// Of documents with this text around their words, of which the `others` are not the same in all.
    #[must_use]
    pub fn new(rest: String, others: Vec<usize>) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        Self { rest, others, pattern: Cell::default(), number }
    }

    /// The words that differ, by their numbers, counted from 0 in the order of the text.
    #[must_use]
    pub fn others(&self) -> &[usize] {
        &self.others
    }

    /// About how many bytes they take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.rest.len() + self.others.len() * size_of::<usize>()
    }
}
