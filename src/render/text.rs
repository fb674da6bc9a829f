//! The form of committed text, and the documents in it.

/// What separates documents.
const SEPARATOR: &str = "---";

/// The text with LF line ends, without trailing blanks, without empty lines around documents, without a
/// leading separator, and with exactly one final newline.
pub(super) fn normalise(text: &str) -> String {
    documents(text).collect::<Vec<_>>().join("---\n")
}

/// The documents of a text, each with one final newline; empty ones are left out.
pub(super) fn documents(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut lines = text.lines().map(str::trim_end).peekable();
    std::iter::from_fn(move || {
        lines.peek()?;
        let mut document = String::new();
        let mut has_content = false;
        for line in lines.by_ref().take_while(|line| *line != SEPARATOR) {
            if document.is_empty() && line.is_empty() {
                continue;
            }
            has_content |= !line.is_empty() && !line.starts_with('#');
            document.push_str(line);
            document.push('\n');
        }
        while document.ends_with("\n\n") {
            document.pop();
        }
        Some(has_content.then_some(document))
    })
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_one_form() {
        let text = "\n---\r\na: 1  \r\n\n---\n# nothing\n---\n\nb: 2\n\n\n";
        assert_eq!(normalise(text), "a: 1\n---\nb: 2\n");
        assert_eq!(normalise(&normalise(text)), normalise(text));
        assert_eq!(normalise("\n\n"), "");
    }
}
