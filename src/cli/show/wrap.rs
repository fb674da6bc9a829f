//! Lines that a terminal of 80 columns shows whole.

/// How wide text is at most, where its words allow it.
pub(crate) const WIDTH: usize = 80;

/// Breaks a line between words: the first begins with `first`, the others with as many blanks as
/// `indent` says. A word that is longer than a line stands whole on one of its own. It ends with a line
/// break.
#[must_use]
pub(crate) fn wrap(text: &str, first: &str, indent: usize) -> String {
    let mut out = first.to_owned();
    let mut column = first.chars().count();
    let mut begun = false;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if begun && column + 1 + length > WIDTH {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if begun {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
        begun = true;
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_broken_between_words() {
        let word = "a".repeat(30);
        let text = format!("{word} {word} {word}");
        assert_eq!(wrap(&text, "- ", 2), format!("- {word} {word}\n  {word}\n"));
        let long = "b".repeat(100);
        assert_eq!(wrap(&format!("x {long} y"), "", 4), format!("x\n    {long}\n    y\n"));
        assert_eq!(wrap("", "", 2), "\n");
        assert!(wrap(&"word ".repeat(50), "", 0).lines().all(|l| l.chars().count() <= WIDTH));
    }
}
