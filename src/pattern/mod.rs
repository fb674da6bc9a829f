//! Documents that one template makes, or that people copy, are alike but for some words. From the fourth on only those words are read.
//!
//! A word is what stands last in a line, behind `key: ` or `- `, where it is of a sort that every YAML reader takes
//! alike: a plain name or path, a number without a sign, a quoted text without blanks. The rest of the text is the *pattern*. The third
//! document of a pattern is read twice: as it is, and with a mark in the place of each word; where a mark is found again is where the
//! word of any other document of that pattern stands. A document that has no such pattern is read as ever.

mod first;
mod form;
mod known_pattern;
mod part;
mod places;
mod shape;
mod shared;
mod split;

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value;

use self::first::{FirstDocument, FromFirst};
use self::form::Form;
use self::known_pattern::KnownPattern;
pub use self::part::DocumentPart;
pub use self::shape::KnownDocument;
use self::shape::KnownShape;
pub use self::shared::SharedWords;
use self::split::split;
pub use self::split::{WordSort, is_of_words, is_special_word, words};

/// How many bytes of patterns are kept. Those of the built-in templates are a small part of it.
const MAX_KEPT: usize = 2 * 1024 * 1024;
/// How many bytes of patterns there are at most while first documents are kept: few are read again where many are read.
const MAX_FIRST: usize = MAX_KEPT / 8;

/// A document that was read.
#[derive(Debug)]
pub struct ReadDocument {
    /// What it says. The next document of its shape is made of it, once nobody has it any more.
    pub value: Rc<Value>,
    /// What it has in common with others, where that is known.
    pub known: Option<KnownDocument>,
}

impl From<Value> for ReadDocument {
    fn from(value: Value) -> Self {
        Self { value: value.into(), known: None }
    }
}

/// The patterns of documents that were read before, all with the same reader.
#[derive(Debug, Default)]
pub struct Patterns {
    known: Vec<KnownPattern>,
    /// Which of them it is, by length and text: few have the same length, and most begin alike.
    numbers: BTreeMap<usize, BTreeMap<String, usize>>,
    /// How many bytes they have.
    bytes: usize,
    /// The pattern of the document that was read last, and room for the next one.
    pattern: String,
}

impl Patterns {
    /// Reads one document as `read` does, of which others may be made.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn parse<E>(
        &mut self,
        text: &str,
        read: impl Fn(&str) -> Result<Value, E>,
    ) -> Result<ReadDocument, E> {
        self.read(text, read, |shape, words| shape.with(words, None))
    }

    /// Reads one document as `read` does, whose words are known, and what others share with it. All of these are read here.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn parse_words<E>(
        &mut self,
        text: &str,
        words: &[&str],
        shared: &SharedWords,
        read: impl Fn(&str) -> Result<Value, E>,
    ) -> Result<ReadDocument, E> {
        let number = shared.pattern.get().or_else(|| self.number(&shared.rest));
        shared.pattern.set(number);
        let known = (number, shared.rest.as_str());
        self.read_words(text, words, known, read, |shape, words| shape.with(words, Some(shared)))
    }

    /// What one document says that nothing is made of: as `read` reads it.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn value<E>(
        &mut self,
        text: &str,
        read: impl Fn(&str) -> Result<Value, E>,
    ) -> Result<Value, E> {
        self.read(text, read, |shape, words| shape.value(words))
    }

    fn read<T: FromFirst, E>(
        &mut self,
        text: &str,
        read: impl Fn(&str) -> Result<Value, E>,
        with: impl Fn(&mut KnownShape, &[&str]) -> T,
    ) -> Result<T, E> {
        let mut pattern = std::mem::take(&mut self.pattern);
        let read = match split(text, &mut pattern) {
            Some(words) => {
                let known = (self.number(&pattern), pattern.as_str());
                self.read_words(text, &words, known, read, with)
            }
            None => read(text).map(T::from),
        };
        self.pattern = pattern;
        read
    }

    fn number(&self, pattern: &str) -> Option<usize> {
        self.numbers.get(&pattern.len())?.get(pattern).copied()
    }

    fn read_words<T: FromFirst, E>(
        &mut self,
        text: &str,
        words: &[&str],
        (number, pattern): (Option<usize>, &str),
        read: impl Fn(&str) -> Result<Value, E>,
        with: impl Fn(&mut KnownShape, &[&str]) -> T,
    ) -> Result<T, E> {
        match number.map(|number| &mut self.known[number]) {
            Some(KnownPattern::Says(said)) => return Ok(with(said, words)),
            Some(KnownPattern::Closed) => {}
            Some(seen @ KnownPattern::Once(_)) => {
                if let Some(said) = seen.met_again(words) {
                    return Ok(said);
                }
            }
            Some(seen @ KnownPattern::Twice) => {
                let value = read(text)?;
                let form = Form::of(text, pattern, |text| read(text).ok());
                let form = form.filter(|form| form.with(words) == value);
                let said = form.map(|form| KnownPattern::Says(KnownShape::new(form, pattern)));
                *seen = said.unwrap_or(KnownPattern::Closed);
                return Ok(value.into());
            }
            None => return read(text).map(|value| self.keep(pattern, words, value)),
        }
        read(text).map(T::from)
    }

    /// Keeps a pattern in mind, where there is room, and what its first document says.
    fn keep<T: FromFirst>(&mut self, pattern: &str, words: &[&str], value: Value) -> T {
        let length = pattern.len();
        if self.bytes + length > MAX_KEPT {
            return value.into();
        }
        self.bytes += length;
        self.numbers.entry(length).or_default().insert(pattern.to_owned(), self.known.len());
        if self.bytes > MAX_FIRST {
            self.known.push(KnownPattern::Once(None));
            return value.into();
        }
        let (first, said) = FirstDocument::new(words, value);
        self.known.push(KnownPattern::Once(Some(first)));
        said
    }
}

#[cfg(test)]
mod tests {
    use super::split::{MARKS, OPEN, last_word};
    use super::*;
    use proptest::prelude::*;

    const DEPLOYMENT: &str = "kind: MachineDeployment\nmetadata:\n  name: NAME\nspec:\n  replicas: 3\n  args:\n  \
                              - NAME\n  - --host=NAME.example\n  files:\n  - content: |\n      name: NAME\n      \
                              count: 3\n    path: \"NAME\"\n# of: NAME\n";

    /// As what templates make is read.
    fn reader(text: &str) -> Result<Value, String> {
        let options = serde_saphyr::options! { legacy_octal_numbers: true, with_snippet: false };
        serde_saphyr::from_str_with_options(text, options).map_err(|error| error.to_string())
    }

    /// As what people write is read.
    fn stricter(text: &str) -> Result<Value, String> {
        let merge_keys = serde_saphyr::options::MergeKeyPolicy::Error;
        let options = serde_saphyr::options! {
            reject_unsupported_tags: true, merge_keys: merge_keys, with_snippet: false,
        };
        serde_saphyr::from_str_with_options(text, options).map_err(|error| error.to_string())
    }

    fn value(patterns: &mut Patterns, text: &str) -> Result<Value, String> {
        patterns.parse(text, reader).map(|read| (*read.value).clone())
    }

    fn read(patterns: &mut Patterns, text: &str) {
        assert_eq!(value(patterns, text), reader(text), "{text}");
    }

    fn all(patterns: &Patterns) -> impl Iterator<Item = &KnownPattern> {
        patterns.known.iter()
    }

    fn says(patterns: &Patterns) -> usize {
        all(patterns).filter(|known| matches!(known, KnownPattern::Says(_))).count()
    }

    #[test]
    fn the_words_of_a_document_are_put_where_they_stand() {
        let mut patterns = Patterns::default();
        for (name, count) in [("a", "1"), ("b-1", "20"), ("shop/x", "0"), ("x:1", "7")] {
            let text = DEPLOYMENT.replace("NAME", name).replace(": 3", &format!(": {count}"));
            read(&mut patterns, &text);
        }
        assert_eq!((all(&patterns).count(), says(&patterns)), (1, 1));
    }

    #[test]
    fn a_value_that_somebody_has_is_not_made_into_another() {
        let mut patterns = Patterns::default();
        let texts = ["a", "b", "c", "d", "e"].map(|name| DEPLOYMENT.replace("NAME", name));
        let values = texts.clone().map(|text| patterns.parse(&text, reader).unwrap().value);
        for (text, value) in texts.iter().zip(values) {
            assert_eq!(*value, reader(text).unwrap());
        }
        let same = |one: &Rc<Value>, other: &Rc<Value>| Rc::as_ptr(one) == Rc::as_ptr(other);
        let first = patterns.parse(&texts[0], reader).unwrap().value;
        let second = patterns.parse(&texts[1], reader).unwrap().value;
        assert!(!same(&first, &second));
        let before = Rc::as_ptr(&first);
        drop(first);
        assert_eq!(Rc::as_ptr(&patterns.parse(&texts[2], reader).unwrap().value), before);
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
        assert!(all(&patterns).count() <= 20);
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
        "" '' a#b #a a: a] [a a} &a *a !a | > %a @a -1 /a ./a ./a/b- ./ ./.inf ./1 .5 ./a: "a:" zq = 7 999999999999999 ~ .inf"#;

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
            let word = if sort == WordSort::Quoted { word.trim_matches('"') } else { word };
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
            words in prop::collection::vec(prop::collection::vec((any::<usize>(), word()), 0..6), 5),
            keeps in any::<bool>(),
        ) {
            let mut kept = Vec::new();
            let mut patterns = Patterns::default();
            let mut strictly = Patterns::default();
            let mut by_words = Patterns::default();
            let mut shared = BTreeMap::new();
            for words in &words {
                let text = other(&lines, words);
                prop_assert_eq!(strictly.value(&text, stricter), stricter(&text), "{}", text);
                if let Some((found, rest)) = super::words(&text) {
                    let found: Vec<_> = found.into_iter().map(|(_, word)| word).collect();
                    let same: Vec<_> = found.iter().step_by(2).map(ToString::to_string).collect();
                    let differing = (1..found.len()).step_by(2).collect();
                    let shared = shared
                        .entry((rest.clone(), same))
                        .or_insert_with(|| SharedWords::new(rest, differing));
                    let read = by_words.parse_words(&text, &found, shared, reader);
                    let value = read.map(|read| (*read.value).clone());
                    prop_assert_eq!(value, reader(&text), "{}", text);
                }
                let read = patterns.parse(&text, reader);
                let value = read.as_ref().map(|read| (*read.value).clone()).map_err(Clone::clone);
                prop_assert_eq!(value, reader(&text), "{}", text);
                kept.extend(read.ok().filter(|_| keeps));
            }
        }
    }
}
