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

/// What begins a line that people copy: it stands whole, however long it is.
const COMMANDS: [&str; 3] = ["carp ", "git ", "kubectl "];

/// A text whose lines are broken between words where they are wider than a terminal, two columns further in than they
/// begin. Colours take no room, and commands stay whole. Without a width it is the text.
#[must_use]
pub(crate) fn to_width(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    let mut out = String::new();
    for line in text.lines() {
        let begins = line.chars().take_while(|c| *c == ' ').count();
        let is_command =
            COMMANDS.iter().any(|command| bare(line).trim_start().starts_with(command));
        if is_command || columns(line) <= width {
            out.push_str(line);
        } else {
            broken(&mut out, line, begins, width);
        }
        out.push('\n');
    }
    out
}

fn broken(out: &mut String, line: &str, begins: usize, width: usize) {
    let mut column = begins;
    out.push_str(&" ".repeat(begins));
    for (at, word) in line.split_whitespace().enumerate() {
        let length = columns(word);
        if at > 0 && column + 1 + length > width {
            out.push('\n');
            out.push_str(&" ".repeat(begins + 2));
            column = begins + 2;
        } else if at > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
}

/// How many columns a text takes.
fn columns(text: &str) -> usize {
    bare(text).chars().count()
}

/// A text without its colours.
fn bare(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, part| out + part.split_once('m').map_or("", |(_, rest)| rest))
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

    #[test]
    fn lines_are_broken_for_a_terminal_as_they_begin() {
        assert_eq!(to_width("a line\n  and more\n", None), "a line\n  and more\n");
        let text = "HELD: one two three\n  four five six seven\n\nend\n";
        let wanted = "HELD: one two\n  three\n  four five six\n    seven\n\nend\n";
        assert_eq!(to_width(text, Some(15)), wanted);
        let painted = "\u{1b}[1mHELD\u{1b}[0m: one two three\n";
        let wanted = "\u{1b}[1mHELD\u{1b}[0m: one two\n  three\n";
        assert_eq!(to_width(painted, Some(15)), wanted, "colours take no room");
        let command = "    carp ack deletions --count 3 --digest sha256:0\n";
        assert_eq!(to_width(command, Some(15)), command);
    }
}
