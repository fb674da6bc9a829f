//! The first document of a pattern. Where one cluster was edited, its folder is read as it was and as it is, and most of its
//! documents are the same; so what the first one says is kept, for whoever reads the same text again.

use std::rc::Rc;

use serde_json::Value;

use super::ReadDocument;

/// The words of a document, and what it says.
#[derive(Debug)]
pub(super) struct FirstDocument {
    words: Vec<String>,
    value: Rc<Value>,
}

impl FirstDocument {
    /// The document that was read, and what is made of it.
    pub(super) fn new<T: FromFirst>(words: &[&str], value: Value) -> (Self, T) {
        let (words, value) = (words.iter().map(ToString::to_string).collect(), Rc::new(value));
        let made = T::from_first(Rc::clone(&value));
        (Self { words, value }, made)
    }

    /// What the document of the same pattern with these words says, if it is this one.
    pub(super) fn says<T: FromFirst>(self, words: &[&str]) -> Option<T> {
        (self.words == words).then(|| T::from_first(self.value))
    }
}

/// What is made of the value of a document that may be the first of its pattern.
pub(super) trait FromFirst: From<Value> {
    /// Makes it of a value that others may have, too.
    fn from_first(value: Rc<Value>) -> Self;
}

impl FromFirst for Value {
    fn from_first(value: Rc<Value>) -> Self {
        Rc::unwrap_or_clone(value)
    }
}

impl FromFirst for ReadDocument {
    fn from_first(value: Rc<Value>) -> Self {
        Self { value, known: None }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::Patterns;
    use super::*;

    /// Reads texts one after another, and counts how often one had to be read.
    fn read_of(texts: &[&str]) -> usize {
        let (read, mut patterns) = (Cell::new(0), Patterns::default());
        let value = |text: &str| -> Result<Value, ()> {
            read.set(read.get() + 1);
            Ok(Value::from(text.trim_end()))
        };
        for text in texts {
            assert_eq!(*patterns.parse(text, value).unwrap().value, *text.trim_end());
        }
        read.get()
    }

    #[test]
    fn a_second_document_that_is_the_same_is_not_read() {
        assert_eq!(read_of(&["a: b\n", "a: b\n"]), 1);
        assert_eq!(read_of(&["a: b\n", "b: c\n", "a: b\n", "b: c\n"]), 2);
        assert_eq!(read_of(&["a: b\n", "a: c\n"]), 2, "another word");
    }

    #[test]
    fn one_with_other_words_is_another_one() {
        for (words, is_same) in [
            (&["a", "b"][..], true),
            (&["a", "c"], false),
            (&["a"], false),
            (&["a", "b", "c"], false),
            (&["ab"], false),
            (&[], false),
        ] {
            let (first, made) = FirstDocument::new::<Value>(&["a", "b"], Value::from(1));
            assert_eq!(made, 1);
            assert_eq!(first.says::<ReadDocument>(words).is_some(), is_same, "{words:?}");
        }
    }
}
