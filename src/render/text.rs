//! The form of committed text, and the documents in it.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;

/// What separates documents.
const SEPARATOR: &str = "---";

/// Bytes as the text that they nearly always are.
pub(super) fn of(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// The text of documents, without a leading separator.
pub(super) fn joined<'a>(documents: impl Iterator<Item = impl AsRef<str> + 'a>) -> String {
    let mut text = String::with_capacity(16 * 1024);
    for document in documents {
        if !text.is_empty() {
            text.push_str(SEPARATOR);
            text.push('\n');
        }
        text.push_str(document.as_ref());
    }
    text
}

/// The documents of a text, with LF line ends, without trailing blanks, without empty lines around them, and each with exactly
/// one final newline; empty ones are left out. One that stands in the text as it is wanted is not copied.
pub(super) fn documents(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            if let Some(document) = next_document(&mut rest) {
                return Some(document);
            }
        }
        None
    })
}

/// Takes lines up to the next separator, and that; `None` where nothing but comments stands there.
fn next_document<'a>(rest: &mut &'a str) -> Option<Cow<'a, str>> {
    let text = *rest;
    // From the first line that is not empty to the end of the last one, and whether all are as they are wanted.
    let (mut lines, mut tidy, mut has_content) = (None::<Range<usize>>, true, false);
    let mut at = 0;
    while at < text.len() {
        let end = memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |length| at + length);
        let line = &text[at..end];
        let next = text.len().min(end + 1);
        let trimmed = trim_end(line);
        if trimmed == SEPARATOR {
            at = next;
            break;
        }
        if !trimmed.is_empty() {
            has_content |= !trimmed.starts_with('#');
            lines = Some(lines.map_or(at, |lines| lines.start)..next);
        }
        tidy &= trimmed.len() == line.len() || lines.is_none();
        at = next;
    }
    *rest = &text[at..];
    let document = &text[lines.filter(|_| has_content)?];
    Some(if tidy && document.ends_with('\n') { document.into() } else { tidied(document).into() })
}

/// Lines without trailing blanks, each with an LF.
fn tidied(document: &str) -> String {
    let mut tidied = String::with_capacity(document.len() + 1);
    for line in document.lines() {
        tidied.push_str(line.trim_end());
        tidied.push('\n');
    }
    tidied
}

/// The line without trailing blanks; nearly all have none.
fn trim_end(line: &str) -> &str {
    match line.as_bytes().last() {
        Some(last) if !last.is_ascii_graphic() => line.trim_end(),
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalise(text: &str) -> String {
        joined(documents(text))
    }

    #[test]
    fn text_has_one_form() {
        let text = "\n---\r\na: 1  \r\n\n---\n# nothing\n---\n\nb: 2\n\n\n";
        assert_eq!(normalise(text), "a: 1\n---\nb: 2\n");
        assert_eq!(normalise(&normalise(text)), normalise(text));
        assert_eq!(normalise("\n\n"), "");
        assert_eq!(normalise("a: 1\n \t\n\u{a0}\nb: 2\u{a0}"), "a: 1\n\n\nb: 2\n");
    }

    #[test]
    fn a_document_that_is_as_it_is_wanted_is_not_copied() {
        let text = "\na: 1\n\nb: 2\n\n---\n# none\n---\nc: 3 \n---\nd: 4";
        let copied: Vec<_> = documents(text)
            .map(|document| (matches!(document, Cow::Owned(_)), document.into_owned()))
            .collect();
        let wanted = [(false, "a: 1\n\nb: 2\n"), (true, "c: 3\n"), (true, "d: 4\n")];
        assert_eq!(copied, wanted.map(|(copied, text)| (copied, text.to_owned())));
    }
}
