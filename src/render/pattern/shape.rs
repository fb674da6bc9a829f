//! The shape of documents that differ in some words: what is true of all of them is found out once.

use std::cell::Cell;
use std::rc::Rc;

use serde_json::Value;

use super::ReadDocument;
use super::form::Form;
use super::split::OPEN;

/// How many values of one shape are kept to be made into others: as many as documents of one shape stand in a folder.
const MAX_VALUES: usize = 8;

/// What the documents of a pattern have in common.
#[derive(Debug)]
pub(in crate::render) struct DocumentShape {
    form: Form,
    /// Whether one of them was looked through and had no secret, so that what is the same in all of them is none; `None` as
    /// long as nobody looked.
    no_secret: Cell<Option<bool>>,
}

impl DocumentShape {
    /// Whether nothing that is the same in all documents of this shape is a secret: `none_in_one` looks one of them through,
    /// comments included, and is asked once.
    pub(in crate::render) fn has_no_secret(&self, none_in_one: impl FnOnce() -> bool) -> bool {
        let known = self.no_secret.get().unwrap_or_else(none_in_one);
        self.no_secret.set(Some(known));
        known
    }

    /// Whether `may` says so of any text in a document that is another one in other documents of this shape, with the name
    /// that says what the text is for. Also where nobody can tell.
    pub(in crate::render) fn any_differing_text(
        &self,
        value: &Value,
        mut may: impl FnMut(Option<&str>, &str) -> bool,
    ) -> bool {
        self.form.any_text(value, None, &mut may)
    }
}

/// What the documents of a pattern say, and values of some that were read.
#[derive(Debug)]
pub(super) struct KnownShape {
    shape: Rc<DocumentShape>,
    values: Vec<Rc<Value>>,
}

impl KnownShape {
    /// What documents of a pattern say.
    pub(super) fn new(form: Form, pattern: &str) -> Self {
        let mut lines = pattern.lines();
        // Of comments nobody knows which word is for what.
        let comments_differ = lines.any(|line| line.contains(OPEN) && line.contains('#'));
        let shape = DocumentShape { form, no_secret: Cell::new(comments_differ.then_some(false)) };
        Self { shape: shape.into(), values: Vec::new() }
    }

    /// What the document with these words says: a value that nobody has any more, with these words in it, or a new one.
    pub(super) fn with(&mut self, words: &[&str]) -> ReadDocument {
        let value = self.value(words);
        ReadDocument { value, shape: Some(Rc::clone(&self.shape)) }
    }

    fn value(&mut self, words: &[&str]) -> Rc<Value> {
        let Self { shape, values } = self;
        for known in values.iter_mut() {
            if let Some(value) = Rc::get_mut(known) {
                shape.form.put(words, value);
                return Rc::clone(known);
            }
        }
        let value = Rc::new(shape.form.with(words));
        if values.len() < MAX_VALUES {
            values.push(Rc::clone(&value));
        }
        value
    }
}
