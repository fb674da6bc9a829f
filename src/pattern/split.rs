//! The words of a document, and the rest of it.

use std::fmt::Write as _;
use std::ops::Range;

use memchr::{memchr, memrchr};

/// What stands in a pattern in the place of a word. No YAML text has it.
pub(super) const OPEN: char = '\u{1}';
/// Two readings of a pattern, each with marks of its own: what only looks like a mark in one of them, because an escape or a
/// number to another base spells it, is none in the other.
pub(super) const MARKS: [Marks; 2] = [
    Marks { text: "zq-9._/:@+=", number: "90071992547" },
    Marks { text: "kw-7._/:@+=", number: "80061882436" },
];
/// How many words a document may have, so that four digits tell them apart.
pub(super) const MAX_WORDS: usize = 9_999;
/// How long a document may be, in bytes; longer ones come once in a fleet.
const MAX_TEXT: usize = 64 * 1024;

/// What stands in the places of words while a pattern is read, four digits behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    /// How the mark of a text begins; it has a character of every kind that words have.
    pub(super) text: &'static str,
    /// How the mark of a number begins.
    pub(super) number: &'static str,
}

impl Marks {
    /// Whether a text spells one out.
    pub(super) fn are_in(self, text: &str) -> bool {
        text.contains(self.text) || text.contains(self.number)
    }
}

/// The words of a document; the rest of it goes to `pattern`, with [`OPEN`] and its sort in the place of each word. `None` for a
/// document of which nobody could tell.
pub(super) fn split<'a>(text: &'a str, pattern: &mut String) -> Option<Vec<&'a str>> {
    pattern.clear();
    if text.len() > MAX_TEXT || text.contains(OPEN) {
        return None;
    }
    let mut words = Vec::with_capacity(64);
    // What is not yet in the pattern begins here.
    let mut from = 0;
    let mut start = 0;
    while start < text.len() {
        let rest = &text.as_bytes()[start..];
        let end = memchr(b'\n', rest).map_or(text.len(), |length| start + length);
        if let Some((sort, at)) = last_word(&text[start..end]) {
            let at = start + at.start..start + at.end;
            pattern.push_str(&text[from..at.start]);
            pattern.extend([OPEN, sort.letter()]);
            from = at.end;
            words.push(&text[at]);
        }
        start = end + 1;
    }
    pattern.push_str(&text[from..]);
    (words.len() <= MAX_WORDS).then_some(words)
}

/// The words of a document with their sorts, and the rest of it; `None` for a document of which nobody could tell.
#[must_use]
pub fn words(text: &str) -> Option<(Vec<(WordSort, &str)>, String)> {
    let mut pattern = String::with_capacity(text.len());
    let words = split(text, &mut pattern)?;
    let sorts = pattern.split(OPEN).skip(1).map(WordSort::of);
    let words = sorts.zip(words).collect();
    Some((words, pattern))
}

/// The text of a pattern with a mark in the place of each word.
pub(super) fn marked(pattern: &str, marks: Marks) -> String {
    let mut parts = pattern.split(OPEN);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for (nth, part) in parts.enumerate() {
        let number = part.starts_with(WordSort::Number.letter());
        let stem = if number { marks.number } else { marks.text };
        let _ = write!(text, "{stem}{nth:04}");
        text.push_str(&part[1..]);
    }
    text
}

/// What readers take alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordSort {
    /// A plain text.
    Name,
    /// A number.
    Number,
    /// What stands between quotation marks.
    Quoted,
}

impl WordSort {
    const fn letter(self) -> char {
        match self {
            Self::Name => 'n',
            Self::Number => '0',
            Self::Quoted => 'q',
        }
    }

    /// Of what stands in a pattern behind [`OPEN`].
    fn of(part: &str) -> Self {
        let sorts = [Self::Number, Self::Quoted];
        sorts.into_iter().find(|sort| part.starts_with(sort.letter())).unwrap_or(Self::Name)
    }
}

/// The word that ends a line behind `key: ` or `- `, without its quotes.
pub(super) fn last_word(line: &str) -> Option<(WordSort, Range<usize>)> {
    let blank = memrchr(b' ', line.as_bytes())?;
    if !line[..blank].ends_with([':', '-']) {
        return None;
    }
    let (start, word) = (blank + 1, &line[blank + 1..]);
    if let Some(inner) = word.strip_prefix('"').and_then(|w| w.strip_suffix('"')) {
        let plain = !inner.is_empty() && inner.bytes().all(is_of_words);
        return plain.then_some((WordSort::Quoted, start + 1..line.len() - 1));
    }
    let sort = if is_number(word) {
        WordSort::Number
    } else if is_name(word) {
        WordSort::Name
    } else {
        return None;
    };
    Some((sort, start..line.len()))
}

/// Whether a byte may stand in a word.
#[must_use]
pub fn is_of_words(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._/:@+=".contains(&byte)
}

/// Whether it is a whole number whatever the version of YAML is.
fn is_number(word: &str) -> bool {
    let digits = !word.is_empty() && word.len() <= 15 && word.bytes().all(|b| b.is_ascii_digit());
    digits && (word == "0" || !word.starts_with('0'))
}

/// Whether it is a text whatever the version of YAML is.
fn is_name(word: &str) -> bool {
    let first = ["--", "./"].iter().find_map(|begin| word.strip_prefix(begin)).unwrap_or(word);
    let begins = first.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    begins && word.bytes().all(is_of_words) && !word.ends_with(':') && !is_special_word(word)
}

/// Whether some version of YAML takes a word for a truth, for nothing, or for a number.
#[must_use]
pub fn is_special_word(word: &str) -> bool {
    const SPECIAL: [&str; 12] =
        ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity"];
    SPECIAL.iter().any(|special| word.eq_ignore_ascii_case(special))
}
