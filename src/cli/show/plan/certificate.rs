//! What people wrote that forced each deletion and each move, with its line and its commit.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::super::first as first_of;
use super::super::{Palette, Tone, count};
use super::PlanView;
use crate::change::Certified;
use crate::diag::visible;

/// For a terminal.
pub(super) fn text(view: &PlanView<'_>, palette: Palette) -> String {
    if view.certificate.is_empty() {
        return String::new();
    }
    let title = palette.paint(Tone::Strong, "FORCED BY");
    let mut out = format!("{title}: what was written for each deletion and move that begins\n");
    for line in lines(view.certificate) {
        let _ = writeln!(out, "  {}", visible::line(&line));
    }
    out
}

/// Up to so many stand each on a line of its own.
const EACH: usize = 5;

/// A line each; of many, one for those of a file and a commit, and where these are many too, one for a commit.
fn lines(all: &[Certified]) -> Vec<String> {
    if all.len() <= EACH {
        return all.iter().map(ToString::to_string).collect();
    }
    let by_file = alike(all, |certified| certified.file.clone());
    if by_file.len() <= EACH {
        return by_file.into_values().map(|of| together(&of)).collect();
    }
    let by_commit = alike(all, |_| String::new());
    let more = by_commit.len().saturating_sub(EACH);
    let mut out: Vec<_> = by_commit.into_values().take(EACH).map(|of| together(&of)).collect();
    if more > 0 {
        out.push(format!("and {}", count(more as u64, "more commit")));
    }
    out
}

/// Those of one commit, told apart by something more.
fn alike(
    all: &[Certified],
    by: impl Fn(&Certified) -> String,
) -> BTreeMap<(String, String), Vec<&Certified>> {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for certified in all {
        groups.entry((by(certified), certified.change_words())).or_default().push(certified);
    }
    groups
}

/// Those of one commit, in the order of their lines: their names, and where each of them stands.
fn together(of: &[&Certified]) -> String {
    let mut of = of.to_vec();
    of.sort_by_key(|certified| (&certified.file, certified.line));
    let names: Vec<_> = of.iter().map(|certified| &certified.name).collect();
    let Some(first) = of.first() else { return String::new() };
    let files: BTreeSet<_> = of.iter().map(|certified| certified.file.as_str()).collect();
    let lines: BTreeSet<_> = of.iter().map(|certified| certified.line).collect();
    let place = if files.len() == 1 {
        let lines: Vec<_> = lines.iter().map(|line| format!(":{line}")).collect();
        format!("{}{}", first.file, first_of(&lines, NAMES))
    } else {
        let places = of.iter().map(|certified| format!("{}:{}", certified.file, certified.line));
        let places: Vec<_> = places.collect();
        format!("{} ({})", count(files.len() as u64, "file"), first_of(&places, PLACES))
    };
    format!("{}: {place}{}", first_of(&names, NAMES), first.change_words())
}

/// How many names stand beside a file, and how many lines of it.
const NAMES: usize = 10;
/// How many files are named of a commit.
const PLACES: usize = 3;

/// For a comment on a pull request.
pub(super) fn markdown(view: &PlanView<'_>) -> String {
    if view.certificate.is_empty() {
        return String::new();
    }
    let mut out = "\n**Forced by**\n\n".to_owned();
    for line in lines(view.certificate) {
        // A file may be called as it likes.
        let line = visible::line(&line).replace('`', "'");
        let _ = writeln!(out, "- `{line}`");
    }
    out
}

/// For a program.
pub(super) fn json(view: &PlanView<'_>) -> Value {
    let one = |certified: &Certified| {
        let Certified { name, file, line, removed, commit, renamed } = certified;
        json!({
            "name": name, "file": file, "line": line, "removed": removed, "commit": commit, "renamed": renamed,
        })
    };
    view.certificate.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::model::{Id, Name};

    #[test]
    fn every_form_names_the_file_the_line_and_the_commit() {
        let proposal = sample::unchanged();
        let mut view = PlanView::of(&proposal, "fleet", "", &[]);
        assert_eq!(text(&view, Palette::plain()) + &markdown(&view), "");
        let certified = Certified {
            name: Name::parse("a").unwrap(),
            file: "fleet/`a\n`.yaml".to_owned(),
            line: 7,
            removed: true,
            renamed: None,
            commit: Some(Id::from_bytes([0xab; 20])),
        };
        let all = [certified];
        view.certificate = &all;
        let line = "a: fleet/`a␊`.yaml:7, removed in abababab";
        assert!(text(&view, Palette::plain()).ends_with(&format!("\n  {line}\n")));
        let quoted = line.replace('`', "'");
        assert_eq!(markdown(&view), format!("\n**Forced by**\n\n- `{quoted}`\n"));
        assert_eq!(json(&view)[0]["line"], 7);
    }

    #[test]
    fn many_are_told_by_file_and_by_commit() {
        let certified = |number: u8, file: &str, commit: u8| Certified {
            name: Name::parse(&format!("c{number:02}")).unwrap(),
            file: file.to_owned(),
            line: u32::from(number) + 1,
            removed: true,
            commit: Some(Id::from_bytes([commit; 20])),
            renamed: None,
        };
        let of_a_file: Vec<_> = (0..12).map(|n| certified(n, "fleet/a.yaml", 0xab)).collect();
        assert_eq!(lines(&of_a_file[..2]).len(), 2);
        let names = "c00, c01, c02, c03, c04, c05, c06, c07, c08, c09 and 2 more";
        let at = ":1, :2, :3, :4, :5, :6, :7, :8, :9, :10 and 2 more";
        assert_eq!(lines(&of_a_file), [format!("{names}: fleet/a.yaml{at}, removed in abababab")]);
        let of_a_line: Vec<_> =
            of_a_file.iter().map(|one| Certified { line: 2, ..one.clone() }).collect();
        assert_eq!(lines(&of_a_line), [format!("{names}: fleet/a.yaml:2, removed in abababab")]);
        let of_files: Vec<_> =
            (0..12).map(|n| certified(n, &format!("fleet/{n}.yaml"), 0xab + n / 6)).collect();
        let wanted = [
            "c00, c01, c02, c03, c04, c05: 6 files (fleet/0.yaml:1, fleet/1.yaml:2, fleet/2.yaml:3 and 3 more), removed \
             in abababab",
            "c10, c11, c06, c07, c08, c09: 6 files (fleet/10.yaml:11, fleet/11.yaml:12, fleet/6.yaml:7 and 3 more), \
             removed in acacacac",
        ];
        assert_eq!(lines(&of_files), wanted);
        let of_commits: Vec<_> =
            (0..12).map(|n| certified(n, &format!("fleet/{n}.yaml"), n)).collect();
        assert_eq!(lines(&of_commits).last().unwrap(), "and 7 more commits");
    }
}
