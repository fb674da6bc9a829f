//! What a code means, as `rustc --explain` says it: the sections and rows of `docs/errors.md`.

use std::fmt::Write as _;

use super::wrap::wrap;
use super::{Palette, Tone};

const PAGE: &str = include_str!("../../../docs/errors.md");

/// What the page says of one code, in one of its parts: `NotLoaded` is a word of three.
struct CodeEntry<'a> {
    /// The heading of the part: `Findings`, `Holds`.
    part: &'a str,
    code: &'a str,
    /// The section's lines, or what the row says.
    body: Vec<&'a str>,
    /// The other columns of a row, by their headers; a section has none.
    cells: Vec<(&'a str, &'a str)>,
}

/// Every code there is something to say of, each once.
#[must_use]
pub fn codes() -> Vec<&'static str> {
    let mut all: Vec<_> = entries().iter().map(|entry| entry.code).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// What a code means, and what to do; `None` for what is no code.
#[must_use]
pub fn text(code: &str, palette: Palette) -> Option<String> {
    let entries: Vec<_> = entries().into_iter().filter(|entry| entry.code == code).collect();
    if entries.is_empty() {
        return None;
    }
    let texts: Vec<_> = entries.iter().map(|entry| shown(entry, palette)).collect();
    Some(texts.join("\n"))
}

fn entries() -> Vec<CodeEntry<'static>> {
    let (mut found, mut part, mut fenced) = (Vec::new(), "", false);
    let mut header: Vec<&str> = Vec::new();
    for line in PAGE.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        }
        let heading = (!fenced).then(|| line.split_once(' ')).flatten();
        match heading {
            Some(("#", title)) => part = title,
            Some(("##" | "###", code)) => {
                found.push(CodeEntry { part, code, body: Vec::new(), cells: Vec::new() });
                continue;
            }
            _ => {}
        }
        if let Some(row) = line.strip_prefix('|').filter(|_| !fenced) {
            let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
            match cells[0].strip_prefix('`').and_then(|code| code.strip_suffix('`')) {
                Some(code) => {
                    let cells = header.iter().copied().zip(cells).skip(1).collect();
                    found.push(CodeEntry { part, code, body: Vec::new(), cells });
                }
                None if !cells[0].starts_with('-') => header = cells,
                None => {}
            }
        } else if !line.starts_with("# ")
            && let Some(entry) = found.last_mut().filter(|e| e.part == part && e.cells.is_empty())
        {
            entry.body.push(line);
        }
    }
    found
}

fn shown(entry: &CodeEntry<'_>, palette: Palette) -> String {
    let part = entry.part.to_lowercase();
    let mut out = format!("{} ({part})\n", palette.paint(Tone::Strong, entry.code));
    for (header, cell) in &entry.cells {
        let _ = write!(out, "\n{}", wrap(&plain(cell), &format!("{header}: "), 2));
    }
    let (mut paragraph, mut fenced) = (String::new(), false);
    for line in &entry.body {
        let fence = line.starts_with("```");
        if fence || fenced || line.is_empty() {
            flush(&mut paragraph, &mut out);
        }
        match (fence, fenced) {
            (true, false) => out.push('\n'),
            (false, true) => {
                let _ = writeln!(out, "    {line}");
            }
            (false, false) => {
                // A new item of a list begins a line of its own.
                if line.starts_with("- ") {
                    flush(&mut paragraph, &mut out);
                }
                paragraph.push_str(line);
                paragraph.push(' ');
            }
            (true, true) => {}
        }
        fenced ^= fence;
    }
    flush(&mut paragraph, &mut out);
    out
}

fn flush(paragraph: &mut String, out: &mut String) {
    let text = plain(paragraph);
    if !text.trim().is_empty() {
        let _ = write!(out, "\n{}", wrap(&text, "", 0));
    }
    paragraph.clear();
}

/// Markdown without its marks: `[words](link)` is the words, `**To do**` is `To do`.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        let link = after.split_once("](").and_then(|(words, tail)| {
            let (_, tail) = tail.split_once(')')?;
            (!words.contains('[')).then_some((words, tail))
        });
        out.push_str(before);
        if let Some((words, tail)) = link {
            out.push_str(words);
            rest = tail;
        } else {
            out.push('[');
            rest = after;
        }
    }
    out.push_str(rest);
    out.replace("**", "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Code;

    #[test]
    fn every_code_is_explained() {
        for code in Code::ALL {
            let text = text(code.name(), Palette::plain());
            assert!(text.is_some_and(|text| text.contains("\nTo do: ")), "{}", code.name());
        }
        for word in
            ["MassDeletion", "Capacity", "PlacementViolated", "Late", "QuotaExceeded", "NotMovable"]
        {
            assert!(text(word, Palette::plain()).is_some(), "{word}");
        }
        assert_eq!(text("no-such-code", Palette::plain()), None);
        assert_eq!(text("Findings", Palette::plain()), None, "a part is no code");
    }

    #[test]
    fn a_code_reads_as_in_rustc() {
        insta::assert_snapshot!(text("unknown-tenant", Palette::plain()).unwrap(), @r"
        unknown-tenant (findings)

        `carp.yaml` lists tenants, and the cluster's `metadata.namespace` is none of
        them.

            metadata:
              name: pay-eu
              namespace: paiments

        To do: Mend the namespace, or add the tenant to `spec.tenants`.
        ");
        insta::assert_snapshot!(text("NotLoaded", Palette::plain()).unwrap(), @r"
        NotLoaded (missing evidence)

        A document of that name is there and does not load. carp lets go of nothing that
        somebody may want back.

        To do: Mend its findings, or remove it.

        NotLoaded (kept folders)

        The document is there and did not load.

        To do: Mend its findings.

        NotLoaded (refusing reasons)

        The worker's document did not load.

        To do: Mend its findings.
        ");
    }

    #[test]
    fn marks_are_taken_out() {
        assert_eq!(
            plain("see [the page](x.md#y) or a[0]; **To do**: it"),
            "see the page or a[0]; To do: it"
        );
    }
}
