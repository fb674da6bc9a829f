//! Findings in the forms that people and machines read.
//!
//! A [`Diagnostic`](crate::diag::Diagnostic) names a field path. [`resolve`] finds line and column by reading each file once,
//! and the four forms are made from what it returns.

mod consequence;
mod fold;
mod github;
mod json;
mod sarif;
mod text;

pub use consequence::{tells_hold, tells_kept, with_what_follows};
pub use fold::{folded, folded_into_help};
pub use github::github;
pub use json::{FINDINGS_SCHEMA, findings_value, json};
pub use sarif::sarif;
pub use text::{summary, text};

use crate::diag::{Code, Diagnostics, Place, Position, Severity};

/// How to find the text behind a place.
pub struct TextSources<'a> {
    /// The text of a file, by its path relative to the fleet's root.
    pub text: &'a dyn Fn(&str) -> Option<String>,
    /// What finds the places of a file.
    pub locate: &'a dyn Fn() -> LocateInFile,
    /// What stands before a file's path when it is shown; empty, or a path without a final `/`.
    pub prefix: &'a str,
}

/// Finds where a place is in the text of one file, and how many characters it covers.
pub type LocateInFile = Box<dyn FnMut(&str, &Place) -> Option<(Position, usize)>>;

/// A diagnostic with its places found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The rule.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub spot: Option<Spot>,
    /// Other places, each with a word on it.
    pub related: Vec<(Spot, String)>,
    /// What to do.
    pub help: Option<String>,
    /// What follows from it, in a line.
    pub consequence: Option<String>,
}

impl Finding {
    /// What is wrong, what to do and what follows, a line each, for forms that have one text.
    fn in_lines(&self) -> String {
        let help = self.help.as_ref().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
        let follows = self.consequence.as_ref().map(|line| format!("\nnote: {line}"));
        format!("{}{help}{}", self.message, follows.unwrap_or_default())
    }
}

/// A place with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The file as it is shown.
    pub file: String,
    /// The place it was found from.
    pub place: Place,
    /// Line and column, where they could be found.
    pub position: Option<Position>,
    /// How many characters are meant, from the position on.
    pub length: usize,
    /// The line, without its end; `None` where it is not known, or too long to be shown.
    pub line: Option<String>,
}

/// Finds the positions of all findings, in the order of display.
#[must_use]
pub fn resolve(diagnostics: &Diagnostics, sources: &TextSources<'_>) -> Vec<Finding> {
    let [mut files, mut beside] = [(); 2].map(|()| LastFile { sources, last: None });
    let mut findings: Vec<_> = diagnostics
        .sorted()
        .into_iter()
        .map(|d| Finding {
            severity: d.severity,
            code: d.code,
            message: d.message,
            spot: d.place.map(|place| files.spot(place)),
            related: d.related.into_iter().map(|(p, label)| (beside.spot(p), label)).collect(),
            help: d.help,
            consequence: None,
        })
        .collect();
    // By line within a file: field paths sort by name, and people read from the top.
    findings.sort_by(|a, b| order(a).cmp(&order(b)));
    consequence::told_once(findings)
}

fn order(finding: &Finding) -> (Option<&str>, Option<usize>, Option<Position>) {
    let spot = finding.spot.as_ref();
    (spot.map(|s| s.file.as_str()), spot.map(|s| s.place.document), spot.and_then(|s| s.position))
}

/// The file that was read last: findings come sorted by file.
struct LastFile<'a> {
    sources: &'a TextSources<'a>,
    last: Option<SourceFile>,
}

/// The longest line that is shown, in bytes. It is kept and laid out for each mistake in it, of which a longer one may have
/// thousands.
const LONGEST_LINE: usize = 4096;

/// A file in which places are found.
struct SourceFile {
    name: String,
    /// `None` where it is not there.
    text: Option<String>,
    /// Where each line begins.
    lines: Vec<usize>,
    locate: LocateInFile,
}

impl SourceFile {
    fn read(name: &str, sources: &TextSources<'_>) -> Self {
        let text = (sources.text)(name);
        let bytes = text.as_deref().unwrap_or_default().as_bytes();
        let lines = std::iter::once(0).chain(memchr::memchr_iter(b'\n', bytes).map(|at| at + 1));
        let lines = lines.collect();
        Self { name: name.to_owned(), text, lines, locate: (sources.locate)() }
    }

    fn found(&mut self, place: &Place) -> Option<(Position, usize)> {
        let found = self.text.as_deref().and_then(|text| (self.locate)(text, place));
        found.or(place.position.map(|position| (position, 1)))
    }

    /// The line of a position, as it may be shown; `None` for one that nobody would read.
    fn line(&self, position: Position) -> Option<String> {
        let at = usize::try_from(position.line).ok()?.checked_sub(1)?;
        let line = self.text.as_deref()?.get(*self.lines.get(at)?..)?.lines().next()?;
        (line.len() <= LONGEST_LINE).then(|| masked(line))
    }
}

impl LastFile<'_> {
    fn spot(&mut self, place: Place) -> Spot {
        let sources = self.sources;
        let last = self.last.take().filter(|last| last.name == place.file);
        let last = self.last.insert(last.unwrap_or_else(|| SourceFile::read(&place.file, sources)));
        let found = last.found(&place);
        // Of a whole file no line says more than another.
        let is_whole = place.field.is_none() && place.position.is_none();
        let line = found.filter(|_| !is_whole).and_then(|(position, _)| last.line(position));
        let file = crate::model::paths::in_repository(sources.prefix, &place.file);
        let length = found.map_or(1, |(_, length)| length.max(1));
        Spot { file, place, position: found.map(|(p, _)| p), length, line }
    }
}

/// A line as it may be shown: the user and the password in an address become as many `*`.
fn masked(line: &str) -> String {
    let Some((before, url)) = line.split_once("://") else { return line.to_owned() };
    let end = url.find(|c: char| c.is_whitespace() || "'\"<>`".contains(c)).unwrap_or(url.len());
    // Over ssh a user alone is the name of an account.
    let secret = |at: &usize| !before.ends_with("ssh") || url[..*at].contains(':');
    let Some(at) = url[..end].rfind('@').filter(secret) else { return line.to_owned() };
    format!("{before}://{}{}", "*".repeat(url[..at].chars().count()), masked(&url[at..]))
}

/// How many findings there are of each severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeverityTally {
    /// Errors.
    pub errors: u64,
    /// Warnings.
    pub warnings: u64,
    /// Notes.
    pub notes: u64,
}

impl SeverityTally {
    /// Counts findings.
    pub fn of(severities: impl IntoIterator<Item = Severity>) -> Self {
        let mut tally = Self::default();
        for severity in severities {
            *match severity {
                Severity::Error => &mut tally.errors,
                Severity::Warning => &mut tally.warnings,
                Severity::Note => &mut tally.notes,
            } += 1;
        }
        tally
    }
}

/// The page of a code, relative to the root of carp's own repository.
#[must_use]
pub fn help_uri(code: Code) -> String {
    format!("docs/errors.md#{code}")
}

/// The address of the page of errors, as carp's own package says where it is published; `None` where it does not.
/// Forges show a file of a tag below `blob`.
#[must_use]
pub fn published_page(repository: &str, version: &str) -> Option<String> {
    let repository = repository.trim_end_matches('/').trim_end_matches(".git");
    let is_absolute = repository.starts_with("https://");
    is_absolute.then(|| format!("{repository}/blob/v{version}/docs/errors.md"))
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::Cell;

    use super::super::Palette;
    use super::*;
    use crate::diag::{Diagnostic, FieldPath};

    const FILE: &str =
        "kind: ManagedCluster\nmetadata:\n  name: pay-eu\n  lables: {}\nspec:\n  version: 1.34\n";

    /// Three findings in two files, found as a loader would.
    pub(in crate::cli::show) fn findings() -> Vec<Finding> {
        let field = |path: &'static str| Place::field("fleet/a.yaml", 0, FieldPath::keys(path));
        let all: Diagnostics = [
            Diagnostic::new(Code::InvalidVersion, "`1.34` is not a version like v1.34.2")
                .at(field("spec.version"))
                .help("write `version: v1.34.2`"),
            Diagnostic::new(Code::UnknownField, "unknown field `lables`")
                .at(field("metadata.lables").at_key())
                .help("did you mean `labels`?"),
            Diagnostic::new(Code::DuplicateName, "a second object is called `pay-eu`")
                .at(Place::file("fleet/b.yaml"))
                .related(field("metadata.name"), "the first one is here"),
            Diagnostic::new(
                Code::ReportRefused,
                "no document in it, 100% of 0 lines\nand nothing: more",
            )
            .at(Place::file("fleet/c, d.yaml")),
            Diagnostic::new(Code::FleetMissing, "there is no carp.yaml"),
        ]
        .into_iter()
        .collect();
        let text = |file: &str| (file == "fleet/a.yaml").then(|| FILE.to_owned());
        let locate = || -> LocateInFile {
            let at = |line, column, length| Some((Position { line, column }, length));
            Box::new(move |_, place| match place.field.as_ref()?.to_string().as_str() {
                "metadata.lables" => at(4, 3, 6),
                "metadata.name" => at(3, 9, 6),
                _ => at(6, 12, 4),
            })
        };
        resolve(&all, &TextSources { text: &text, locate: &locate, prefix: "eu" })
    }

    #[test]
    fn of_a_line_that_nobody_would_read_the_place_is_shown_alone() {
        let shown = |length: usize| {
            let place = Place::field("a.yaml", 0, FieldPath::keys("kind"));
            let finding = Diagnostic::new(Code::UnknownField, "unknown field `kind`").at(place);
            let text = |_: &str| Some(format!("kind: {}\n", "x".repeat(length - 6)));
            let locate =
                || -> LocateInFile { Box::new(|_, _| Some((Position { line: 1, column: 7 }, 3))) };
            let sources = TextSources { text: &text, locate: &locate, prefix: "" };
            super::text(&resolve(&[finding].into_iter().collect(), &sources), Palette::plain())
        };
        let place = "--> a.yaml:1:7\n";
        let (longest, longer) = (shown(LONGEST_LINE), shown(LONGEST_LINE + 1));
        assert!(longest.contains(place) && longest.contains("xxx"), "{longest}");
        assert!(longer.contains(place) && !longer.contains("xxx"), "{longer}");
    }

    #[test]
    fn a_file_is_read_once_for_all_that_is_found_in_it() {
        let finding = |i: usize| {
            let field = FieldPath::keys("spec").index(i);
            let place = |file: &str| Place::field(file, i % 3, field.clone());
            Diagnostic::new(Code::UnknownField, format!("{i}"))
                .at(place(if i < 50 { "a.yaml" } else { "b.yaml" }))
                .related(place("c.yaml"), "and here")
        };
        let (reads, locators) = (Cell::new(0), Cell::new(0));
        let text = |_: &str| {
            reads.set(reads.get() + 1);
            Some(FILE.to_owned())
        };
        let locate = || -> LocateInFile {
            locators.set(locators.get() + 1);
            Box::new(|_, _| None)
        };
        let all = (0..100).map(finding).collect();
        let found = resolve(&all, &TextSources { text: &text, locate: &locate, prefix: "" });
        assert_eq!((found.len(), reads.get(), locators.get()), (100, 3, 3));
    }

    #[test]
    fn the_page_is_absolute_or_not_known() {
        let page = "https://git.example.com/org/carp/blob/v1.2.3/docs/errors.md";
        for repository in
            ["https://git.example.com/org/carp", "https://git.example.com/org/carp.git"]
        {
            assert_eq!(published_page(repository, "1.2.3").as_deref(), Some(page));
        }
        assert_eq!(published_page("", "1.2.3"), None);
    }

    #[test]
    fn findings_come_by_file_and_line() {
        let order: Vec<_> = findings()
            .iter()
            .map(|f| {
                let spot = f.spot.as_ref();
                let line = spot.and_then(|s| s.position).map_or(0, |p| p.line);
                format!("{}:{line}", spot.map_or("", |s| s.file.as_str()))
            })
            .collect();
        let wanted = [
            ":0",
            "eu/fleet/a.yaml:4",
            "eu/fleet/a.yaml:6",
            "eu/fleet/b.yaml:0",
            "eu/fleet/c, d.yaml:0",
        ];
        assert_eq!(order, wanted);
    }
}
