//! Marks in the place of what a template prints, and what they are found by in what it makes.

use serde_json::Value;

/// How a mark of a text begins: with all that a word may have beside letters and digits, so that what the words of slots
/// come out as is found out by it.
const TEXT: &str = "sl-0._/:@+=";
/// How a mark of a number begins.
const NUMBER: &str = "70079915437";
const DIGITS: usize = 4;
/// How long a mark is, in bytes.
pub(super) const LENGTH: usize = TEXT.len() + DIGITS;
/// How many slots there may be. The marks above are for hashes.
pub(super) const MOST_SLOTS: usize = 5_000;
/// How many hashes there may be.
pub(super) const MOST_HASHES: usize = 5_000;

/// The mark of a slot with a text.
pub(super) fn text(slot: usize) -> String {
    format!("{TEXT}{slot:04}")
}

/// The mark of a slot with a number.
pub(super) fn number(slot: usize) -> Value {
    format!("{NUMBER}{slot:04}").parse::<u64>().map_or(Value::Null, Value::from)
}

/// The mark of a hash.
pub(super) fn hash(nth: usize) -> String {
    text(MOST_SLOTS + nth)
}

/// Whether something in a text could be taken for a mark.
pub(super) fn are_in(text: &str) -> bool {
    // Most texts are shorter, for which no search need be prepared.
    let length = TEXT.len().min(NUMBER.len());
    text.len() >= length && (text.contains(TEXT) || text.contains(NUMBER))
}

/// What a mark stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marked {
    /// The value of a slot.
    Slot(usize),
    /// A hash.
    Hash(usize),
}

/// A mark in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) of: Marked,
    pub(super) is_number: bool,
}

/// The first mark in a text, what stands before it, and what stands behind it.
pub(super) fn first(text: &str) -> Option<(&str, Mark, &str)> {
    let stem = |stem: &str| text.find(stem).map(|at| (at, stem.len(), stem == NUMBER));
    let (at, length, is_number) = stem(TEXT).into_iter().chain(stem(NUMBER)).min()?;
    let digits = at + length..at + length + DIGITS;
    let nth: usize = text.get(digits.clone())?.parse().ok()?;
    let of = nth.checked_sub(MOST_SLOTS).map_or(Marked::Slot(nth), Marked::Hash);
    Some((&text[..at], Mark { of, is_number }, &text[digits.end..]))
}

/// All marks in a text.
pub(super) fn all(text: &str) -> impl Iterator<Item = Mark> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, mark, behind) = first(rest)?;
        rest = behind;
        Some(mark)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_in_what_was_made_of_them() {
        let made = format!("a: \"{}-{}\"\nb: {}5\n", text(3), hash(7), number(12));
        let found: Vec<_> = all(&made).map(|mark| (mark.of, mark.is_number)).collect();
        let wanted = [(Marked::Slot(3), false), (Marked::Hash(7), false), (Marked::Slot(12), true)];
        assert_eq!(found, wanted);
        assert!(are_in(&made) && !are_in("a: sl-0\nb: 70079\n"));
        assert_eq!(text(0).len(), LENGTH);
        assert_eq!(number(0).to_string().len(), LENGTH);
    }
}
