//! The shape of documents that differ in some words: what is true of all of them is found out once, and what is true of one
//! is true of the next one, where no word differs that it hangs on.

use std::cell::Cell;
use std::rc::Rc;

use serde_json::Value;

use super::ReadDocument;
use super::form::Form;
use super::places::WordPlaces;
use super::split::OPEN;

/// How many values of one shape are kept to be made into others: as many as documents of one shape stand in a folder.
const MAX_VALUES: usize = 8;

/// What the documents of a pattern have in common.
#[derive(Debug)]
struct DocumentShape {
    form: Form,
    places: WordPlaces,
    /// Whether one of them was looked through and had no secret, so that what is the same in all of them is none; `None` as
    /// long as nobody looked.
    no_secret: Cell<Option<bool>>,
    /// Whether one of them has nothing that is empty; `None` as long as nobody looked.
    no_empty: Cell<Option<bool>>,
}

/// What a document has in common with others of its shape, and with the one that its value was made of.
#[derive(Clone, Debug)]
pub struct KnownDocument {
    shape: Rc<DocumentShape>,
    /// The places of words that are other ones in the document before; `None` where there is none whose texts are no secrets.
    changed: Option<Rc<[usize]>>,
    /// Whether no text of this one is a secret.
    proven: Rc<Cell<bool>>,
}

impl KnownDocument {
    /// Whether nothing in the document is a secret, for all that is known. `none_in_one` looks one document of the shape
    /// through, comments included, and is asked once; `is_one` says so of a text, with the name that says what the text is for.
    /// `false` also where nobody can tell.
    #[must_use]
    pub fn has_no_secret(
        &self,
        value: &Value,
        none_in_one: impl FnOnce() -> bool,
        mut is_one: impl FnMut(Option<&str>, &str) -> bool,
    ) -> bool {
        let shape = &*self.shape;
        let same = shape.no_secret.get().unwrap_or_else(none_in_one);
        shape.no_secret.set(Some(same));
        let differ = |is_one: &mut dyn FnMut(Option<&str>, &str) -> bool| match &self.changed {
            Some(changed) => changed.iter().any(|place| shape.any_at(*place, value, is_one)),
            None => shape.form.any_text(value, None, is_one),
        };
        let none = same && !differ(&mut is_one);
        self.proven.set(none);
        none
    }

    /// Whether nothing in the document is empty. A word never is, so one document of the shape tells for all:
    /// `none_in_one` is asked once, and always asks the same.
    #[must_use]
    pub fn has_no_empty(&self, none_in_one: impl FnOnce() -> bool) -> bool {
        let none = self.shape.no_empty.get().unwrap_or_else(none_in_one);
        self.shape.no_empty.set(Some(none));
        none
    }
}

impl DocumentShape {
    fn any_at(
        &self,
        place: usize,
        value: &Value,
        is_one: &mut dyn FnMut(Option<&str>, &str) -> bool,
    ) -> bool {
        let found = self.places.find(place, &self.form, value);
        found.is_none_or(|(name, form, value)| form.any_text(value, name, is_one))
    }
}

/// What the documents of a pattern say, and values of some that were read.
#[derive(Debug)]
pub(super) struct KnownShape {
    shape: Rc<DocumentShape>,
    values: Vec<KnownValue>,
}

/// What a document says that was read.
#[derive(Debug)]
struct KnownValue {
    value: Rc<Value>,
    words: Vec<String>,
    /// Whether no text of it is a secret.
    proven: Rc<Cell<bool>>,
}

impl KnownShape {
    /// What documents of a pattern say.
    pub(super) fn new(form: Form, pattern: &str) -> Self {
        let mut lines = pattern.lines();
        // Of comments nobody knows which word is for what.
        let comments_differ = lines.any(|line| line.contains(OPEN) && line.contains('#'));
        let places = WordPlaces::of(&form, pattern.matches(OPEN).count());
        let no_secret = Cell::new(comments_differ.then_some(false));
        let shape = DocumentShape { form, places, no_secret, no_empty: Cell::default() };
        Self { shape: shape.into(), values: Vec::new() }
    }

    /// What the document with these words says.
    pub(super) fn value(&self, words: &[&str]) -> Value {
        self.shape.form.with(words)
    }

    /// What the document with these words says: a value that nobody has any more, with these words in it, or a new one.
    pub(super) fn with(&mut self, words: &[&str]) -> ReadDocument {
        let shape = &self.shape;
        let known = |changed, proven: &Rc<_>| {
            let (shape, proven) = (Rc::clone(shape), Rc::clone(proven));
            Some(KnownDocument { shape, changed, proven })
        };
        for before in &mut self.values {
            if let Some((changed, is_all)) = before.become_one(shape, words) {
                let changed = is_all.then(|| changed.into());
                let value = Rc::clone(&before.value);
                return ReadDocument { value, known: known(changed, &before.proven) };
            }
        }
        let value = Rc::new(shape.form.with(words));
        let proven = Rc::default();
        let known = known(None, &proven);
        if self.values.len() < MAX_VALUES {
            let words = words.iter().map(ToString::to_string).collect();
            self.values.push(KnownValue { value: Rc::clone(&value), words, proven });
        }
        ReadDocument { value, known }
    }
}

impl KnownValue {
    /// Puts other words in the place of those that differ, and returns where, and whether that is all that has to be looked at;
    /// `None` where somebody has the value.
    fn become_one(&mut self, shape: &DocumentShape, words: &[&str]) -> Option<(Vec<usize>, bool)> {
        let value = Rc::get_mut(&mut self.value)?;
        let mut changed = Vec::new();
        for (nth, (before, word)) in self.words.iter_mut().zip(words).enumerate() {
            if before == word {
                continue;
            }
            before.clear();
            before.push_str(word);
            for place in shape.places.of_word(nth) {
                if !changed.contains(place) {
                    changed.push(*place);
                }
            }
        }
        for place in &changed {
            shape.places.put(*place, &shape.form, words, value);
        }
        let alone = changed.iter().all(|place| shape.places.stands_alone(*place));
        // Somebody may still hold the word about the value before.
        let proven = std::mem::take(&mut self.proven).get();
        Some((changed, proven && alone))
    }
}
