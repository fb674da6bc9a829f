//! What is wrong with a text that is not YAML, in plain words and where the mistake is: a parser says
//! where it stumbles, which is often the line after.

mod scan;

use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{Error, MessageFormatter, UserMessageFormatter};

use super::habits::{TEMPLATED, is_templated};
use crate::diag::Code;
use scan::{Open, TextSpot, open_before};

/// How large a document may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// The deepest nesting.
    pub(super) depth: usize,
    /// The most keys, values and lists, aliases followed.
    pub(super) nodes: usize,
}

/// Why a text is not YAML that carp reads.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) code: Code,
    /// From 1, in the text that was given.
    pub(super) line: u32,
    /// From 1, in characters.
    pub(super) column: u32,
    pub(super) message: String,
    pub(super) help: String,
}

impl Fault {
    /// What a parser's error says about a text.
    pub(super) fn of(error: &Error, text: &str, bounds: Bounds) -> Self {
        let inner = innermost(error);
        let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX).max(1);
        let place = inner.location().or_else(|| error.location());
        let at = place.map_or(TextSpot { line: 1, column: 1 }, |l| TextSpot {
            line: number(l.line()),
            column: number(l.column()),
        });
        let said = UserMessageFormatter.format_message(inner).into_owned();
        let found = ParserFinding { error: inner, said: &said, text, at, bounds };
        let own = found.conflict().or_else(|| found.templated());
        own.or_else(|| found.policy()).or_else(|| found.syntax()).unwrap_or_else(|| {
            let help =
                "mend the line, or the one above it: an indentation, a quote, a colon or a bracket";
            ParserFinding::syntax_at(at, format!("the text is not YAML: {said}"), help)
        })
    }
}

fn innermost(mut error: &Error) -> &Error {
    while let Error::AliasError { error: inner, .. } | Error::WithSnippet { error: inner, .. } =
        error
    {
        error = inner;
    }
    error
}

/// What the parser found.
struct ParserFinding<'a> {
    error: &'a Error,
    said: &'a str,
    text: &'a str,
    at: TextSpot,
    bounds: Bounds,
}

impl ParserFinding<'_> {
    fn fault(code: Code, at: TextSpot, message: String, help: &str) -> Fault {
        let TextSpot { line, column } = at;
        Fault { code, line, column, message, help: help.to_owned() }
    }

    fn syntax_at(at: TextSpot, message: impl Into<String>, help: &str) -> Fault {
        Self::fault(Code::YamlSyntax, at, message.into(), help)
    }

    fn says(&self, any: &[&str]) -> bool {
        any.iter().any(|part| self.said.contains(part))
    }

    /// The line of a place, and where on it the text begins.
    fn line(&self, at: TextSpot) -> (&str, TextSpot) {
        let line = self.text.lines().nth(at.line as usize - 1).unwrap_or_default();
        let indent = line.chars().take_while(|c| c.is_whitespace()).count();
        (line, TextSpot { column: u32::try_from(indent).unwrap_or(0) + 1, ..at })
    }

    /// What Git leaves in a file whose merge is not resolved.
    fn conflict(&self) -> Option<Fault> {
        let is_marker = |line: &str| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ");
        let (line, _) = (1..).zip(self.text.lines()).find(|(_, line)| is_marker(line))?;
        let help =
            "keep one of the two sides, and remove the lines with <<<<<<<, ======= and >>>>>>>";
        Some(Self::syntax_at(
            TextSpot { line, column: 1 },
            "a merge conflict is not resolved",
            help,
        ))
    }

    /// The braces of a template, at the mistake or above it.
    fn templated(&self) -> Option<Fault> {
        let lines = (1..).zip(self.text.lines()).take(self.at.line as usize);
        let (line, text) = lines.filter(|(_, line)| is_templated(line)).last()?;
        let before = text.split("{{").next().unwrap_or_default().chars().count();
        let column = u32::try_from(before).unwrap_or(0) + 1;
        let message = "the braces of a template stand here, which is no YAML";
        Some(Self::syntax_at(TextSpot { line, column }, message, TEMPLATED))
    }

    /// What YAML allows and carp does not.
    fn policy(&self) -> Option<Fault> {
        Some(match self.error {
            Error::DuplicateMappingKey { key, .. } => self.duplicate(key.as_deref()),
            Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => self.too_deep(),
            // The scanner's own bound on flow collections, which the parser reports as plain text.
            _ if self.says(&["recursion limit"]) => self.too_deep(),
            Error::Budget { .. }
            | Error::AliasReplayLimitExceeded { .. }
            | Error::AliasReplayCounterOverflow { .. }
            | Error::AliasExpansionLimitExceeded { .. }
            | Error::AliasReplayStackDepthExceeded { .. } => self.too_much(),
            Error::MergeKeyNotAllowed { .. } => {
                let help = "carp does not read merge keys: write the fields out";
                Self::syntax_at(self.at, "a merge key `<<` stands here", help)
            }
            Error::MultipleDocuments { .. } => {
                let help = "put `---` on a line of its own between two documents";
                Self::syntax_at(self.at, "a second document begins inside this one", help)
            }
            Error::UnsupportedTag { .. } => Self::syntax_at(
                self.at,
                "a value has a tag, which carp does not read",
                "remove the tag",
            ),
            Error::UnknownAnchor { .. } => {
                let help = "write the value itself; a text that begins with `*` wants quotes";
                Self::syntax_at(self.at, "the alias refers to an anchor that is not there", help)
            }
            _ => return None,
        })
    }

    fn duplicate(&self, key: Option<&str>) -> Fault {
        let key = key.unwrap_or("?");
        let begins = matches!(key, "apiVersion" | "kind" | "metadata") && self.at.column == 1;
        let help = if begins {
            "if another document begins here, put `---` on a line of its own before it"
        } else {
            "keep one of the two and remove the other"
        };
        let message = format!("the key `{key}` stands twice in one mapping");
        Self::fault(Code::DuplicateKey, self.at, message, help)
    }

    fn too_deep(&self) -> Fault {
        let message = format!("the document is nested deeper than {} levels", self.bounds.depth);
        Self::fault(
            Code::YamlBudget,
            self.at,
            message,
            "write it flatter: no document of carp is so deep",
        )
    }

    fn too_much(&self) -> Fault {
        let aliased = (1..).zip(self.text.lines()).filter_map(|(line, text)| {
            let column = 1 + text.chars().position(|c| c == '*')?;
            Some(TextSpot { line, column: u32::try_from(column).ok()? })
        });
        let (at, what) = match aliased.last() {
            Some(at) => (at, ", its aliases followed"),
            None => (self.at, ""),
        };
        let message = format!("the document holds more than {} values{what}", self.bounds.nodes);
        let help = "split the document, and write values out instead of aliases";
        Self::fault(Code::YamlBudget, at, message, help)
    }

    /// What people get wrong in YAML, each with its remedy.
    fn syntax(&self) -> Option<Fault> {
        let (bracket, quote) = open_before(self.text, self.at);
        Some(match () {
            () if self.says(&["tab"]) => self.tab(),
            () if self.says(&["quoted scalar", "unclosed quote"]) && quote.is_some() => {
                Self::not_closed(quote?)
            }
            () if self.says(&["unclosed bracket"]) => {
                let (line, _) = self.line(self.at);
                let opener = line.chars().nth(self.at.column as usize - 1)?;
                Self::not_closed((opener, self.at))
            }
            () if self.says(&["flow", "placement of ':'", "mismatched bracket"])
                && bracket.is_some() =>
            {
                self.in_brackets(bracket?)
            }
            () if self.says(&["mapping values are not allowed"]) => self.colon(),
            () if self.says(&["expected key", "expected '-' indicator"]) => {
                let help = "begin it in the same column as the fields beside it";
                Self::syntax_at(
                    self.line(self.at).1,
                    "the line's indentation fits no line above it",
                    help,
                )
            }
            () if self.says(&["simple key expected ':'"]) => {
                let help = "write a `:` and a space after the key, or put the text above in quotes";
                Self::syntax_at(self.line(self.at).1, "the line is no `key: value`", help)
            }
            () if self.says(&["unexpected character"]) => {
                let message = "the text begins with a character that YAML keeps for itself";
                Self::syntax_at(self.at, message, "put the text in quotes")
            }
            () if self.says(&["trailing content after"]) => {
                let help = "put all of the value in one pair of quotes";
                Self::syntax_at(self.at, "text stands behind the closing quote", help)
            }
            () if self.says(&["escape character"]) => {
                let help = "write `\\\\` for a backslash, or use single quotes";
                Self::syntax_at(self.at, "the text in quotes has a `\\` that means nothing", help)
            }
            () if self.says(&["misplaced bracket"]) => {
                let help = "remove it, or put the text in quotes";
                Self::syntax_at(self.at, "a bracket is closed that was never opened", help)
            }
            () => return None,
        })
    }

    /// The parser reports some TABs at the end of the value before them.
    fn tab(&self) -> Fault {
        let indent = |line: &str| line[..line.len() - line.trim_start().len()].find('\t');
        let lines = (self.at.line..).zip(self.text.lines().skip(self.at.line as usize - 1));
        let found = lines.take(2).find_map(|(line, text)| {
            let column = u32::try_from(indent(text)?).ok()? + 1;
            Some(TextSpot { line, column })
        });
        let help = "indent with spaces, two for each level";
        Self::syntax_at(found.unwrap_or(self.at), "a TAB stands where YAML wants spaces", help)
    }

    fn not_closed((opener, at): Open) -> Fault {
        let closer = match opener {
            '{' => '}',
            '[' => ']',
            quote => quote,
        };
        Self::syntax_at(
            at,
            format!("the `{opener}` here is not closed"),
            &format!("close it with `{closer}`"),
        )
    }

    fn in_brackets(&self, open: Open) -> Fault {
        if open.1.line != self.at.line {
            return Self::not_closed(open);
        }
        let message = format!("a `,` is missing here, or the `{}` before is not closed", open.0);
        Self::syntax_at(self.at, message, "put a `,` between two items, and close every bracket")
    }

    /// A colon where none may be: in a text without quotes, or on a line that is indented too far.
    fn colon(&self) -> Fault {
        let (line, begin) = self.line(self.at);
        let before: String = line.chars().take(self.at.column as usize - 1).collect();
        let Some((_, value)) = before.split_once(": ") else {
            let help = "begin it in the same column as the fields beside it";
            return Self::syntax_at(
                begin,
                "the line is indented deeper than the one above allows",
                help,
            );
        };
        let at = line[..before.len() - value.len()].chars().count() + 1;
        let at = TextSpot { column: u32::try_from(at).unwrap_or(1), ..self.at };
        let value = line[before.len() - value.len()..].trim_end();
        let help = if value.contains(['"', '#']) {
            "put the text in quotes".to_owned()
        } else {
            format!("put the text in quotes: \"{value}\"")
        };
        Self::syntax_at(at, "a text with `: ` in it has no quotes", &help)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::yaml::parse;
    use super::*;

    fn fault(text: &str) -> String {
        let fault = parse::<Value>(text).unwrap_err();
        let Fault { code, line, column, message, help } = fault;
        assert!(matches!(code, Code::YamlSyntax | Code::DuplicateKey), "{code}");
        format!("{line}:{column} {message}; {help}")
    }

    #[test]
    fn what_is_not_closed_is_shown_where_it_begins() {
        let brace = "the `{` here is not closed; close it with `}`";
        assert_eq!(fault("a: {b: 1\n"), format!("1:4 {brace}"));
        assert_eq!(fault("a: {b: 1\nc:\n  d: 2\n"), format!("1:4 {brace}"));
        let bracket = "the `[` here is not closed; close it with `]`";
        assert_eq!(fault("a: [b, c\nd: 1\n"), format!("1:4 {bracket}"));
        let quote = "the `\"` here is not closed; close it with `\"`";
        assert_eq!(fault("a: \"b\nc: d\n"), format!("1:4 {quote}"));
        assert_eq!(fault("a: 'b\nc: d\n"), format!("1:4 {}", quote.replace('"', "'")));
        assert!(fault("a: {b: 1 c: 2}\n").starts_with("1:11 a `,` is missing here"));
    }

    #[test]
    fn a_colon_is_in_a_text_or_on_a_line_that_is_too_deep() {
        let quotes = "put the text in quotes: \"owned by: us\"";
        let text = "a text with `: ` in it has no quotes";
        assert_eq!(fault("a: 1\nb: owned by: us\n"), format!("2:4 {text}; {quotes}"));
        assert!(fault("a: b\n   c: d\n").starts_with("2:4 the line is indented deeper"));
        assert!(fault("a:\n    b: 1\n  c: 2\n").starts_with("3:3 the line's indentation fits"));
    }

    #[test]
    fn other_slips_have_their_remedies() {
        assert!(fault("a:\n\tb: 1\n").starts_with("2:1 a TAB"));
        assert!(fault("a:\n  b: c\n\td: 1\n").starts_with("3:1 a TAB"));
        assert!(fault("a:\n  b: 1\n  c\n  d: 1\n").starts_with("3:3 the line is no `key: value`"));
        assert!(fault("a: @b\n").starts_with("1:4 the text begins with a character"));
        assert!(fault("a: \"b\" c\n").contains("behind the closing quote"));
        assert!(fault("a: \"\\q\"\n").contains("`\\` that means nothing"));
        assert!(fault("a: b\nc: ]\n").starts_with("2:4 a bracket is closed"));
        assert!(fault("a: *b\n").contains("an anchor that is not there"));
        assert!(fault("a: !x b\n").contains("a tag"));
        let conflict = "<<<<<<< ours\na: 1\n=======\na: 2\n>>>>>>> theirs\n";
        assert!(fault(conflict).starts_with("1:1 a merge conflict"));
        assert!(fault("? [a]\n: b\n").contains("the text is not YAML: "));
    }

    #[test]
    fn a_second_document_without_its_marker_is_told_apart_from_a_double_key() {
        assert!(fault("kind: A\nb: 1\nkind: B\n").contains("put `---`"));
        assert!(fault("a: 1\nb: 1\na: 2\n").contains("keep one of the two"));
    }

    #[test]
    fn bounds_are_told_apart() {
        let told = |text: &str| parse::<Value>(text).unwrap_err();
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert!(told(&deep).message.contains("64 levels"));
        let many = format!("a: &a [{}]\nb: [{}]\n", "x,".repeat(500), "*a,".repeat(500));
        let found = told(&many);
        assert!(found.message.contains("aliases followed"), "{}", found.message);
        assert_eq!((found.code, found.line), (Code::YamlBudget, 2));
    }
}
