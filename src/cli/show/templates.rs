//! Templates and their tests, as text.

use std::fmt::Write as _;

use super::tables::{Cell, table};
use super::wrap::wrap;
use super::{Palette, Tone, count, len};
use crate::model::parameters::ListedParameter;

/// A template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateRow {
    /// Its path below the templates' root.
    pub path: String,
    /// Whose it is.
    pub whose: String,
}

/// A flavor, and what it may be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlavorRow {
    /// Its name.
    pub name: String,
    /// The kinds that it makes.
    pub makes: Vec<String>,
    /// Its parameters.
    pub parameters: Vec<ListedParameter>,
}

/// A file of template tests that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateTestRow {
    /// Its path below the templates' root.
    pub path: String,
    /// What was not as expected; empty where all was.
    pub wrong: Vec<String>,
}

/// The list.
pub(in crate::cli) fn list(rows: &[TemplateRow], palette: Palette) -> String {
    let row = |row: &TemplateRow| [&row.path, &row.whose].map(|text| text.as_str().into()).into();
    let rows: Vec<Vec<Cell>> = rows.iter().map(row).collect();
    table(&["template", "whose"], &rows, palette)
}

/// What a flavor may be told, in the form of `kubectl explain`.
pub(in crate::cli) fn flavor(row: &FlavorRow, palette: Palette) -> String {
    let strong = |text: &str| palette.paint(Tone::Strong, text);
    let mut out = format!(
        "{} {}\n{}  {}\n",
        strong("FLAVOR:"),
        row.name,
        strong("MAKES:"),
        row.makes.join(", ")
    );
    if row.parameters.is_empty() {
        let _ = writeln!(out, "\nIt has no parameters.");
        return out;
    }
    let _ = writeln!(out, "\n{}", strong("PARAMETERS:"));
    for ListedParameter { name, kind, description, facts } in &row.parameters {
        let _ = writeln!(out, "  {name}  <{kind}>");
        for text in std::iter::once(description).chain(facts).filter(|text| !text.is_empty()) {
            out.push_str(&wrap(text, "      ", 6));
        }
    }
    out
}

/// What became of the tests.
pub(in crate::cli) fn tests(ran: &[TemplateTestRow], palette: Palette) -> String {
    let mut out = String::new();
    for TemplateTestRow { path, wrong } in ran {
        let (word, tone) =
            if wrong.is_empty() { ("ok", Tone::Good) } else { ("failed", Tone::Bad) };
        let _ = writeln!(out, "{path}: {}", palette.paint(tone, word));
        for line in wrong {
            let _ = writeln!(out, "  {line}");
        }
    }
    let failed = ran.iter().filter(|test| !test.wrong.is_empty()).count();
    let of = count(len(ran), "template test");
    let _ = writeln!(out, "{of}, {failed} failed");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_fails_says_what_came_instead() {
        let row = |path: &str, wrong: &[&str]| TemplateTestRow {
            path: path.into(),
            wrong: wrong.iter().map(|&line| line.into()).collect(),
        };
        let ran = [row("capz/tests/a.yaml", &[]), row("capz/tests/b.yaml", &["there is no Pod"])];
        assert_eq!(
            tests(&ran, Palette::plain()),
            "capz/tests/a.yaml: ok\ncapz/tests/b.yaml: failed\n  there is no Pod\n2 template tests, 1 failed\n"
        );
    }
}
