//! A part of a document that keeps in mind which of the document's words somebody saw.

use std::cell::Cell;

use memchr::memchr;
use serde_json::Value;

use super::form::{Form, Piece};

/// Words of a document, by their numbers. From the last bit on they are told together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WordSet(u64);

impl WordSet {
    /// All words that there may be.
    pub(super) const ALL: Self = Self(u64::MAX);

    pub(super) fn insert(&mut self, word: usize) {
        self.0 |= 1 << word.min(u64::BITS as usize - 1);
    }

    /// Whether they have one in common, for all that is known.
    pub(super) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// A part of a document, or all of it. Who looks at a value sees all that is below it.
#[derive(Clone, Copy, Debug)]
pub struct DocumentPart<'a> {
    value: &'a Value,
    /// What documents of its shape have in this part, and the words that were seen in any part; `None` where nobody wants to know.
    watched: Option<(&'a Form, &'a Cell<WordSet>)>,
}

impl<'a> DocumentPart<'a> {
    /// The whole of a value of which nobody wants to know what is seen.
    #[must_use]
    pub const fn of(value: &'a Value) -> Self {
        Self { value, watched: None }
    }

    /// The whole of a document; the words that are seen come to `seen`.
    pub(super) const fn watched(value: &'a Value, form: &'a Form, seen: &'a Cell<WordSet>) -> Self {
        Self { value, watched: Some((form, seen)) }
    }

    /// The part at a path; `None` where nothing stands there, which is so in all documents of its shape. The path is one as of
    /// `serde_json`'s `Value::pointer`, its keys without a `~`.
    #[must_use]
    pub fn below(self, path: &str) -> Option<Self> {
        let Some(first) = memchr(b'/', path.as_bytes()) else { return Some(self) };
        let (mut part, mut rest) = (self, &path[first + 1..]);
        while let Some(end) = memchr(b'/', rest.as_bytes()) {
            part = part.step(&rest[..end])?;
            rest = &rest[end + 1..];
        }
        part.step(rest)
    }

    /// Whether it says nothing: a word never is nothing, so all documents of its shape have something there, or none has.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.value.is_null()
    }

    /// Whether it is a mapping with something in it. No word is a field, so it is one in all documents of its shape, or in none.
    #[must_use]
    pub fn has_fields(self) -> bool {
        self.value.as_object().is_some_and(|fields| !fields.is_empty())
    }

    /// What stands there.
    #[must_use]
    pub fn value(self) -> &'a Value {
        if let Some((form, seen)) = self.watched {
            let mut words = seen.get();
            see(form, &mut words);
            seen.set(words);
        }
        self.value
    }

    fn step(self, key: &str) -> Option<Self> {
        let (value, nth) = match self.value {
            Value::Object(fields) => (fields.get(key)?, None),
            Value::Array(items) => {
                let nth = key.parse::<usize>().ok()?;
                (items.get(nth)?, Some(nth))
            }
            _ => return None,
        };
        let watched = self.watched.and_then(|(form, seen)| {
            let below = match (form, nth) {
                // What is the same in all documents is so in each of its parts.
                (Form::Same(_), _) => Some(form),
                (Form::Map(entries), None) => {
                    entries.iter().find(|(field, _)| field == key).map(|(_, form)| form)
                }
                (Form::List(items), Some(nth)) => items.get(nth),
                _ => None,
            };
            if below.is_none() {
                seen.set(WordSet::ALL);
            }
            Some((below?, seen))
        });
        Some(Self { value, watched })
    }
}

impl<'a> From<&'a Value> for DocumentPart<'a> {
    fn from(value: &'a Value) -> Self {
        Self::of(value)
    }
}

/// The words in these fields of a document.
pub(super) fn words_of(form: &Form, fields: &[&str]) -> WordSet {
    let mut words = WordSet::default();
    if let Form::Map(entries) = form {
        let of = entries.iter().filter(|(field, _)| fields.contains(&field.as_str()));
        of.for_each(|(_, form)| see(form, &mut words));
    }
    words
}

/// Adds the words of a form.
fn see(form: &Form, words: &mut WordSet) {
    match form {
        Form::Same(_) => {}
        Form::Number(word) => words.insert(*word),
        Form::Text(pieces) => pieces.iter().for_each(|piece| {
            if let Piece::Word(word) = piece {
                words.insert(*word);
            }
        }),
        Form::Map(entries) => entries.iter().for_each(|(_, form)| see(form, words)),
        Form::List(items) => items.iter().for_each(|form| see(form, words)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A document with four words, and what it says.
    fn document() -> (Form, Value) {
        let text = |word| Form::Text(vec![Piece::Same("a-".to_owned()), Piece::Word(word)]);
        let list = Form::List(vec![Form::Same(json!(1)), Form::Number(2)]);
        let inner = vec![("b".to_owned(), text(1)), ("c".to_owned(), list)];
        let fields = vec![
            ("a".to_owned(), text(0)),
            ("d".to_owned(), Form::Map(inner)),
            ("e".to_owned(), Form::Same(json!({"f": ["g"]}))),
            ("h".to_owned(), Form::Number(200)),
        ];
        let form = Form::Map(fields);
        let words: Vec<_> = (0..=200).map(|nth| nth.to_string()).collect();
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let value = form.with(&words);
        (form, value)
    }

    /// The words that somebody sees who looks at these paths.
    fn seen(paths: &[&str]) -> WordSet {
        let (form, value) = document();
        let seen = Cell::default();
        let whole = DocumentPart::watched(&value, &form, &seen);
        for path in paths {
            let found = whole.below(path).map(DocumentPart::value);
            assert_eq!(found, value.pointer(path), "{path}");
            assert_eq!(DocumentPart::of(&value).below(path).map(DocumentPart::value), found);
        }
        seen.get()
    }

    fn words(all: &[usize]) -> WordSet {
        let mut words = WordSet::default();
        for word in all {
            words.insert(*word);
        }
        words
    }

    #[test]
    fn words_are_seen_where_somebody_looks() {
        assert_eq!(seen(&["/a"]), words(&[0]));
        assert_eq!(seen(&["/d/b", "/a"]), words(&[0, 1]));
        assert_eq!(seen(&["/d"]), words(&[1, 2]), "all that is below");
        assert_eq!(seen(&["/d/c/1"]), words(&[2]));
        assert_eq!(seen(&["/d/c/0", "/e", "/e/f/0"]), words(&[]), "it is the same in all");
        assert_eq!(seen(&["/x", "/a/b", "/d/c/2", "/d/c/x"]), words(&[]), "nothing is there");
        assert_eq!(seen(&[""]), words(&[0, 1, 2, 200]));
    }

    #[test]
    fn whether_something_is_there_tells_of_no_word() {
        let (form, value) = document();
        let seen = Cell::default();
        let whole = DocumentPart::watched(&value, &form, &seen);
        let part = |path| whole.below(path).unwrap();
        assert!(whole.has_fields() && part("/d").has_fields() && !part("/a").has_fields());
        assert!(!whole.is_null() && !part("/a").is_null());
        assert_eq!(seen.get(), WordSet::default());
    }

    #[test]
    fn far_words_are_told_together() {
        let far = seen(&["/h"]);
        assert!(far.meets(words(&[200])) && far.meets(words(&[63])) && !far.meets(words(&[62])));
        assert!(far.meets(WordSet::ALL) && !WordSet::default().meets(WordSet::ALL));
    }

    #[test]
    fn what_has_another_form_is_seen_with_all_words() {
        let (_, value) = document();
        let (form, seen) = (Form::List(Vec::new()), Cell::default());
        let part = DocumentPart::watched(&value, &form, &seen).below("/a").unwrap();
        assert_eq!(part.value(), "a-0");
        assert_eq!(seen.get(), WordSet::ALL);
    }
}
