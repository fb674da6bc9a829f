//! What the documents of a pattern say: the same but for some words.

use serde_json::{Map, Value};

use super::split::{MARKS, MAX_WORDS, Marks, marked};

/// How many digits end a mark.
const DIGITS: usize = 4;

/// What stands before the first mark of a text, its number, and what stands behind it.
fn first_mark(text: &str, marks: Marks) -> Option<(&str, usize, &str)> {
    let mark = |stem: &str| Some((text.find(stem)?, stem.len()));
    let (at, stem) = mark(marks.text).into_iter().chain(mark(marks.number)).min()?;
    let number = at + stem..at + stem + DIGITS;
    let nth = text.get(number.clone())?.parse().ok()?;
    Some((&text[..at], nth, &text[number.end..]))
}

/// What the documents of a pattern say.
#[derive(Debug, PartialEq)]
pub(super) enum Form {
    /// All the same.
    Same(Value),
    /// A number: a word.
    Number(usize),
    /// A text with words in it.
    Text(Vec<Piece>),
    /// Entries of which some differ.
    Map(Vec<(String, Self)>),
    /// Items of which some differ.
    List(Vec<Self>),
}

#[derive(Debug, PartialEq)]
pub(super) enum Piece {
    Same(String),
    Word(usize),
}

impl Form {
    /// What documents like this one say; `None` where a word stands in the place of a key, or where nobody could tell a mark:
    /// one that the text spells out, and one that is found with the one marks and not with the others.
    pub(super) fn of(
        text: &str,
        pattern: &str,
        read: impl Fn(&str) -> Option<Value>,
    ) -> Option<Self> {
        let of = |marks: Marks| {
            let value = (!marks.are_in(text)).then(|| read(&marked(pattern, marks)))??;
            Self::marked(value, marks)
        };
        let [one, other] = MARKS.map(of);
        one.filter(|one| other.is_some_and(|other| other == *one))
    }

    fn marked(value: Value, marks: Marks) -> Option<Self> {
        Some(match value {
            Value::Object(map) => {
                let entries = map.into_iter().map(|(key, value)| {
                    (!marks.are_in(&key))
                        .then(|| Some((key, Self::marked(value, marks)?)))
                        .flatten()
                });
                Self::Map(entries.collect::<Option<_>>()?).closed()
            }
            Value::Array(items) => {
                let items = items.into_iter().map(|item| Self::marked(item, marks));
                Self::List(items.collect::<Option<_>>()?).closed()
            }
            Value::String(text) => Self::text(text, marks),
            Value::Number(number) => {
                let first = format!("{}{:04}", marks.number, 0).parse::<u64>().ok()?;
                match number.as_u64().and_then(|n| n.checked_sub(first)) {
                    Some(nth) if nth <= MAX_WORDS as u64 => {
                        Self::Number(usize::try_from(nth).ok()?)
                    }
                    _ => Self::Same(Value::Number(number)),
                }
            }
            other => Self::Same(other),
        })
    }

    fn text(text: String, marks: Marks) -> Self {
        let mut pieces = Vec::new();
        let mut rest = text.as_str();
        while let Some((before, nth, after)) = first_mark(rest, marks) {
            pieces.extend((!before.is_empty()).then(|| Piece::Same(before.to_owned())));
            pieces.push(Piece::Word(nth));
            rest = after;
        }
        if pieces.is_empty() {
            return Self::Same(Value::String(text));
        }
        pieces.extend((!rest.is_empty()).then(|| Piece::Same(rest.to_owned())));
        Self::Text(pieces)
    }

    /// One value, where nothing in it differs.
    fn closed(self) -> Self {
        match &self {
            Self::Map(entries) if !entries.iter().any(|(_, form)| form.differs()) => {}
            Self::List(items) if !items.iter().any(Self::differs) => {}
            _ => return self,
        }
        Self::Same(self.with(&[]))
    }

    /// Makes what one document of the pattern says into what the one with these words does.
    pub(super) fn put(&self, words: &[&str], value: &mut Value) {
        match (self, value) {
            (Self::Same(_), _) => {}
            (Self::Text(pieces), Value::String(text)) => {
                text.clear();
                text.extend(pieces.iter().map(|piece| piece.with(words)));
            }
            (Self::Map(entries), Value::Object(map)) => {
                for (key, form) in entries.iter().filter(|(_, form)| form.differs()) {
                    if let Some(value) = map.get_mut(key) {
                        form.put(words, value);
                    }
                }
            }
            (Self::List(forms), Value::Array(items)) => {
                forms.iter().zip(items).for_each(|(form, item)| form.put(words, item));
            }
            (form, value) => *value = form.with(words),
        }
    }

    /// Whether documents of the pattern differ in it.
    pub(super) const fn differs(&self) -> bool {
        !matches!(self, Self::Same(_))
    }

    /// Whether `may` says so of any text that is another one in other documents, with the name that says what the text is for:
    /// that of its field, or, for the value of a variable of a container, the variable's. Also where nobody can tell.
    pub(super) fn any_text(
        &self,
        value: &Value,
        name: Option<&str>,
        may: &mut dyn FnMut(Option<&str>, &str) -> bool,
    ) -> bool {
        match (self, value) {
            (Self::Same(_) | Self::Number(_), _) => false,
            (Self::Text(_), Value::String(text)) => may(name, text),
            (Self::List(forms), Value::Array(items)) => {
                forms.iter().zip(items).any(|(form, item)| form.any_text(item, name, may))
            }
            (Self::Map(entries), Value::Object(map)) => {
                let variable = map.get("name").and_then(Value::as_str);
                entries.iter().any(|(key, form)| match map.get(key) {
                    // What has another name is for something else, even where it is the same.
                    Some(value) if key == "value" && variable.is_some() => match form {
                        Self::Text(_) => form.any_text(value, variable, may),
                        Self::Number(_) => false,
                        Self::Same(_) => entries.iter().any(|(k, f)| k == "name" && f.differs()),
                        _ => true,
                    },
                    Some(value) => form.any_text(value, Some(key), may),
                    None => true,
                })
            }
            _ => true,
        }
    }

    /// What the document with these words says.
    pub(super) fn with(&self, words: &[&str]) -> Value {
        match self {
            Self::Same(value) => value.clone(),
            Self::Number(nth) => words[*nth].parse::<u64>().map_or(Value::Null, Value::from),
            Self::Text(pieces) => Value::String(pieces.iter().map(|p| p.with(words)).collect()),
            Self::Map(entries) => Value::Object(
                entries
                    .iter()
                    .map(|(key, form)| (key.clone(), form.with(words)))
                    .collect::<Map<_, _>>(),
            ),
            Self::List(items) => items.iter().map(|form| form.with(words)).collect(),
        }
    }
}

impl Piece {
    fn with<'a>(&'a self, words: &[&'a str]) -> &'a str {
        match self {
            Self::Same(text) => text,
            Self::Word(nth) => words[*nth],
        }
    }
}
