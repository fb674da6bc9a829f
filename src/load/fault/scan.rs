//! What is open at a place of a text: a bracket, a quote. A parser only says where it stumbled.

/// A character of a text; lines and columns count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextSpot {
    pub(super) line: u32,
    pub(super) column: u32,
}

/// A bracket or quote with its place.
pub(super) type Open = (char, TextSpot);

/// The innermost bracket, and the quote, that are open just before a place. The scan knows quotes,
/// brackets, comments and block scalars, and no more of YAML.
pub(super) fn open_before(text: &str, end: TextSpot) -> (Option<Open>, Option<Open>) {
    let mut scan = TextScan::default();
    for (number, line) in (1..=end.line).zip(text.lines()) {
        let upto = if number == end.line { end.column as usize - 1 } else { usize::MAX };
        scan.line(number, line, upto);
    }
    (scan.brackets.last().copied(), scan.quote)
}

#[derive(Default)]
struct TextScan {
    brackets: Vec<Open>,
    quote: Option<Open>,
    /// The indentation of the line that began a block scalar, while it goes on.
    block: Option<usize>,
}

impl TextScan {
    fn line(&mut self, number: u32, line: &str, upto: usize) {
        let indent = line.len() - line.trim_start().len();
        if self.block.is_some_and(|of| line.trim().is_empty() || indent > of) {
            return;
        }
        self.block = None;
        let mut before = ' ';
        let mut escaped = false;
        for (column, c) in (1_u32..).zip(line.chars()).take(upto) {
            let begins = before.is_whitespace() || "[{,(:".contains(before);
            let at = (c, TextSpot { line: number, column });
            match self.quote {
                Some(_) if escaped => escaped = false,
                Some(('"', _)) if c == '\\' => escaped = true,
                Some((quote, _)) => self.quote = self.quote.filter(|_| c != quote),
                None if c == '#' && before.is_whitespace() => break,
                None if matches!(c, '"' | '\'') && begins => self.quote = Some(at),
                None if matches!(c, '{' | '[') && begins => self.brackets.push(at),
                None if matches!(c, '}' | ']') => drop(self.brackets.pop()),
                None => {}
            }
            before = c;
        }
        let last = line.split(" #").next().unwrap_or_default().split_whitespace().next_back();
        let is_head = |word: &str| {
            let head = word.trim_end_matches(['+', '-']).trim_end_matches(char::is_numeric);
            matches!(head, "|" | ">")
        };
        if self.quote.is_none() && self.brackets.is_empty() && last.is_some_and(is_head) {
            self.block = Some(indent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &str) -> String {
        let line = u32::try_from(text.lines().count()).unwrap();
        let column = u32::try_from(text.lines().last().unwrap().chars().count()).unwrap() + 1;
        let shown = |o: Option<Open>| {
            o.map_or("-".to_owned(), |(c, at)| format!("{c}{}:{}", at.line, at.column))
        };
        let (bracket, quote) = open_before(text, TextSpot { line, column });
        format!("{} {}", shown(bracket), shown(quote))
    }

    #[test]
    fn the_innermost_bracket_that_is_open_is_found() {
        assert_eq!(open("a: {b: [1, 2]\nc: d"), "{1:4 -");
        assert_eq!(open("a: {b: [1, 2\nc: d"), "[1:8 -");
        assert_eq!(open("a: {b: [1, 2]}\nc: d"), "- -");
    }

    #[test]
    fn a_quote_that_is_open_is_found() {
        assert_eq!(open("é: \"x\nc: d"), "- \"1:4");
        assert_eq!(open("a: \"x \\\" y\"\nb: 'it''s'\nc: it's\n"), "- -");
    }

    #[test]
    fn comments_and_blocks_open_nothing() {
        assert_eq!(open("a: 1 # {\n# \"\nb: x#{\nc: d"), "- -");
        assert_eq!(open("a: |-\n  { [ \"\n\n  '\nb: c"), "- -");
    }
}
