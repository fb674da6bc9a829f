//! Documents that one template makes are alike but for some words. From the third on only those words are read.
//!
//! A word is what stands last in a line, behind `key: ` or `- `, where it is of a sort that every YAML reader takes
//! alike: a plain name, a number without a sign, a quoted text without blanks. The rest of the text is the *pattern*. The second
//! document of a pattern is read twice: as it is, and with a mark in the place of each word; where a mark is found again is where the
//! word of any other document of that pattern stands. A document that has no such pattern is read as ever.

mod split;

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use self::split::{MARKS, MAX_WORDS, Marks, Split, marked};
use super::reader::{self, YamlError};

/// How many digits end a mark.
const DIGITS: usize = 4;
/// How many bytes of patterns are kept. Those of the built-in templates are a small part of it.
const MAX_KEPT: usize = 2 * 1024 * 1024;

thread_local! {
    static KNOWN: RefCell<Patterns> = RefCell::default();
}

/// Reads one document as [`reader::read`] does.
pub(super) fn parse(text: &str) -> Result<Value, YamlError> {
    KNOWN.with_borrow_mut(|known| known.parse(text))
}

/// The patterns of documents that were read before.
#[derive(Debug, Default)]
struct Patterns {
    /// By length and text: few have the same length, and most begin alike.
    known: BTreeMap<(usize, String), KnownPattern>,
    bytes: usize,
}

/// What is known of a pattern.
#[derive(Debug)]
enum KnownPattern {
    /// One document had it.
    Once,
    /// What a document of it says, whatever its words are.
    Says(Form),
    /// Its words do not stand where they could be put in.
    Closed,
}

impl Patterns {
    fn parse(&mut self, text: &str) -> Result<Value, YamlError> {
        let Some(document) = Split::of(text) else { return reader::read(text) };
        let Split { pattern, words } = document;
        let pattern = (pattern.len(), pattern);
        match self.known.get(&pattern) {
            Some(KnownPattern::Says(form)) => return Ok(form.with(&words)),
            Some(KnownPattern::Closed) => return reader::read(text),
            Some(KnownPattern::Once) => {}
            None => {
                let value = reader::read(text)?;
                if self.bytes + pattern.0 <= MAX_KEPT {
                    self.bytes += pattern.0;
                    self.known.insert(pattern, KnownPattern::Once);
                }
                return Ok(value);
            }
        }
        let value = reader::read(text)?;
        let form = Form::of(text, &pattern.1).filter(|form| form.with(&words) == value);
        self.known.insert(pattern, form.map_or(KnownPattern::Closed, KnownPattern::Says));
        Ok(value)
    }
}

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
enum Form {
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
enum Piece {
    Same(String),
    Word(usize),
}

impl Form {
    /// What documents like this one say; `None` where a word stands in the place of a key, or where nobody could tell a mark:
    /// one that the text spells out, and one that is found with the one marks and not with the others.
    fn of(text: &str, pattern: &str) -> Option<Self> {
        let read = |marks: Marks| {
            let value =
                (!marks.are_in(text)).then(|| reader::read(&marked(pattern, marks)))?.ok()?;
            Self::marked(value, marks)
        };
        let [one, other] = MARKS.map(read);
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
        let same = |form: &Self| matches!(form, Self::Same(_));
        match &self {
            Self::Map(entries) if entries.iter().all(|(_, form)| same(form)) => {}
            Self::List(items) if items.iter().all(same) => {}
            _ => return self,
        }
        Self::Same(self.with(&[]))
    }

    /// What the document with these words says.
    fn with(&self, words: &[&str]) -> Value {
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

#[cfg(test)]
mod tests {
    use super::split::{OPEN, Sort, last_word};
    use super::*;
    use proptest::prelude::*;

    const DEPLOYMENT: &str = "kind: MachineDeployment\nmetadata:\n  name: NAME\nspec:\n  replicas: 3\n  args:\n  \
                              - NAME\n  - --host=NAME.example\n  files:\n  - content: |\n      name: NAME\n      \
                              count: 3\n    path: \"NAME\"\n# of: NAME\n";

    fn read(patterns: &mut Patterns, text: &str) {
        assert_eq!(patterns.parse(text), reader::read(text), "{text}");
    }

    fn says(patterns: &Patterns) -> usize {
        patterns.known.values().filter(|known| matches!(known, KnownPattern::Says(_))).count()
    }

    #[test]
    fn the_words_of_a_document_are_put_where_they_stand() {
        let mut patterns = Patterns::default();
        for (name, count) in [("a", "1"), ("b-1", "20"), ("shop/x", "0"), ("x:1", "7")] {
            let text = DEPLOYMENT.replace("NAME", name).replace(": 3", &format!(": {count}"));
            read(&mut patterns, &text);
        }
        assert_eq!((patterns.known.len(), says(&patterns)), (1, 1));
    }

    #[test]
    fn what_would_be_another_kind_of_value_is_another_pattern() {
        let mut patterns = Patterns::default();
        for word in WORDS.split_whitespace().map(|word| word.trim_matches('"')) {
            read(&mut patterns, &format!("kind: A\nvalue: {word}\n"));
            read(&mut patterns, &format!("kind: A\nvalue: \"{word}\"\n"));
        }
    }

    #[test]
    fn a_document_with_the_text_of_a_mark_is_read_as_it_is() {
        let mut patterns = Patterns::default();
        let spelt_out = MARKS.map(|marks| {
            let [text, number] = [marks.text, marks.number].map(|stem| format!("a: {stem}0000\n"));
            // As an escape, over two lines, to another base, and with a number of a word that there is not.
            let escape = format!("a: \"\\x{:02x}{}", marks.text.as_bytes()[0], &marks.text[1..]);
            let folded = format!("a: {}\\\n  {}", &marks.text[..3], &marks.text[3..]);
            let folded = folded.replace("a: ", "a: \"");
            let hex = format!("{:x}", format!("{}0000", marks.number).parse::<u64>().unwrap());
            let others = [&escape, &folded]
                .map(|text| [format!("{text}0000\"\n"), format!("{text}0009\"\n")]);
            let hex = [format!("a: 0x{hex}\n"), format!("a: 0x{}9\n", &hex[..hex.len() - 1])];
            [[text, number], hex].into_iter().chain(others).flatten().collect::<Vec<_>>()
        });
        for text in spelt_out.iter().flatten().chain([&format!("a: b{OPEN}n\n")]) {
            for word in ["b", "c", "d", "e"] {
                read(&mut patterns, text);
                read(&mut patterns, &format!("{text}b: {word}\n"));
            }
        }
        assert_eq!(says(&patterns), 0);
    }

    #[test]
    fn patterns_do_not_fill_the_memory() {
        let mut patterns = Patterns::default();
        let line = format!("{}: a\n", "k".repeat(500));
        for nth in 0..40 {
            read(&mut patterns, &format!("k{nth}: a\n{line}"));
            patterns.bytes += MAX_KEPT / 20;
        }
        assert!(patterns.known.len() <= 20);
    }

    /// Lines with a word in them, in all the ways that YAML has for a text.
    const LINES: &str = r#"a: W
b: W
  c: W
  - W
- W
d:
e: |
e: >-
e: |2
    f: W
    - g: W
  h: "x
  - W y"
i: {a: 1,
  b: W}
  b: W
  , c: W
j: [
]
# k: W
l: &m W
n: *m
o: 'p
  q: W'
? r: W
: W
<<: W
s: !!str W
t: x: W
u: x - W
--- W
- - W
  v: W # x
  w:  W
"x": W
W: W
  x\\
...
y: - W"#;

    /// Words as people write them, plain and not.
    const WORDS: &str = r#"a --a=b --- - a-1 1 0 01 042 on n yes null NaN Null0 yes1 1.5 "a" "1" a:b x.y:z x/y "a#b" a=b 123456789012345 1e3 1_0 0x1 a,b
        "" '' a#b #a a: a] [a a} &a *a !a | > %a @a -1 /a "a:" zq = 7 999999999999999 ~ .inf"#;

    fn line() -> impl Strategy<Value = String> {
        let around = prop::sample::select(LINES.lines().collect::<Vec<_>>());
        (around, word()).prop_map(|(around, word)| around.replace('W', word))
    }

    fn word() -> impl Strategy<Value = &'static str> {
        prop::sample::select(WORDS.split_whitespace().collect::<Vec<_>>())
    }

    /// The same lines with other words of the same sort in some of them.
    fn other(lines: &[String], words: &[(usize, &str)]) -> String {
        let mut lines = lines.to_vec();
        for (at, word) in words {
            let at = at % lines.len();
            let Some((sort, place)) = last_word(&lines[at]) else { continue };
            let word = if sort == Sort::Quoted { word.trim_matches('"') } else { word };
            let mut line = lines[at].clone();
            line.replace_range(place, word);
            if last_word(&line).is_some_and(|(other, _)| other == sort) {
                lines[at] = line;
            }
        }
        lines.join("\n") + "\n"
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]
        #[test]
        fn a_document_says_the_same_whatever_was_read_before(
            lines in prop::collection::vec(line(), 1..8),
            words in prop::collection::vec(prop::collection::vec((any::<usize>(), word()), 0..6), 4),
        ) {
            let mut patterns = Patterns::default();
            for words in &words {
                let text = other(&lines, words);
                prop_assert_eq!(patterns.parse(&text), reader::read(&text), "{}", text);
            }
        }
    }
}
