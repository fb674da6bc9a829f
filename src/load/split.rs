//! A file's documents, told apart by their text: one that is broken does not lose the others.

use std::collections::BTreeSet;

/// One document of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk<'a> {
    /// Its text, the line with `---` included.
    pub(super) text: &'a str,
    /// How many lines of the file stand before it.
    pub(super) lines_before: u32,
}

/// The documents that hold something, in the order of the file.
///
/// A line that begins with `---` or `...` is a marker wherever it stands: YAML forbids both at the
/// first column of a scalar of several lines, and neither can begin a line of a flow collection.
pub(super) fn split(text: &str) -> Vec<Chunk<'_>> {
    let mut chunks = Vec::new();
    let (mut start, mut start_line) = (0, 0);
    let mut offset = 0;
    let mut close = |from: usize, to: usize, line: u32| {
        let chunk = Chunk { text: &text[from..to], lines_before: line };
        if holds_something(chunk.text) {
            chunks.push(chunk);
        }
    };
    for (line, content) in (0_u32..).zip(text.split_inclusive('\n')) {
        if is_marker(content, "---") && offset > start {
            close(start, offset, start_line);
            (start, start_line) = (offset, line);
        }
        offset += content.len();
        if is_marker(content, "...") {
            close(start, offset, start_line);
            (start, start_line) = (offset, line + 1);
        }
    }
    close(start, text.len(), start_line);
    chunks
}

/// A file's text without some of its documents, which are counted as findings count them; `None` where no
/// other is left.
#[must_use]
pub fn without_documents(text: &str, gone: &BTreeSet<usize>) -> Option<String> {
    let mut left = String::new();
    for (_, chunk) in split(text).into_iter().enumerate().filter(|(at, _)| !gone.contains(at)) {
        let apart = chunk.text.lines().next().is_some_and(|line| is_marker(line, "---"));
        if !left.is_empty() && !apart {
            left.push_str("---\n");
        }
        left.push_str(chunk.text);
        if !left.ends_with('\n') {
            left.push('\n');
        }
    }
    (!left.is_empty()).then_some(left)
}

fn is_marker(line: &str, marker: &str) -> bool {
    line.strip_prefix(marker)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
}

fn holds_something(chunk: &str) -> bool {
    chunk.lines().any(|line| {
        let marker = is_marker(line, "---") || is_marker(line, "...");
        let content = if marker { line[3..].trim() } else { line.trim() };
        !content.is_empty() && !content.starts_with('#') && !line.starts_with('%')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<(&str, u32)> {
        split(text).into_iter().map(|c| (c.text, c.lines_before)).collect()
    }

    #[test]
    fn documents_are_told_apart_by_their_markers() {
        assert_eq!(texts("a: 1\n---\nb: 2\n"), [("a: 1\n", 0), ("---\nb: 2\n", 1)]);
        assert_eq!(texts("a: 1\r\n---\r\nb: 2"), [("a: 1\r\n", 0), ("---\r\nb: 2", 1)]);
        assert_eq!(texts("--- {a: 1}\n...\nb: 2\n"), [("--- {a: 1}\n...\n", 0), ("b: 2\n", 2)]);
    }

    #[test]
    fn what_holds_nothing_is_no_document() {
        assert_eq!(texts(""), []);
        assert_eq!(texts("# a comment\n---\n\n--- # another\n...\n"), []);
        assert_eq!(texts("%YAML 1.2\n---\na: 1\n"), [("---\na: 1\n", 1)]);
    }

    #[test]
    fn a_file_without_a_document_has_the_others() {
        let without =
            |text, gone: &[usize]| without_documents(text, &gone.iter().copied().collect());
        let file = "# all\na: 1\n---\nb: 2\n...\nc: 3";
        assert_eq!(without(file, &[0]).as_deref(), Some("---\nb: 2\n...\n---\nc: 3\n"));
        assert_eq!(without(file, &[1]).as_deref(), Some("# all\na: 1\n---\nc: 3\n"));
        assert_eq!(without(file, &[1, 2]).as_deref(), Some("# all\na: 1\n"));
        assert_eq!(without(file, &[0, 1, 2]), None);
        for gone in 0..3 {
            assert_eq!(split(&without(file, &[gone]).unwrap()).len(), 2);
        }
    }

    #[test]
    fn what_only_looks_like_a_marker_is_none() {
        assert_eq!(texts("a: |\n  ---\n  ...\nb: ---x\n").len(), 1);
        assert_eq!(texts("---x: 1\n").len(), 1);
    }
}
