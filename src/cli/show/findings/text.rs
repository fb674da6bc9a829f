//! Findings as rustc shows its own: the line, what is meant of it, and what to do.

use annotate_snippets::{
    Annotation, AnnotationKind, Element, Level, Origin, Renderer, Report, Snippet,
};

use std::borrow::Cow;

use super::super::{Palette, Tone, count};
use super::{Finding, SeverityTally, Spot};
use crate::diag::{Severity, visible};

/// All findings, with a blank line after each.
#[must_use]
pub fn text(findings: &[Finding], palette: Palette) -> String {
    let renderer = if palette.paints() { Renderer::styled() } else { Renderer::plain() };
    findings.iter().flat_map(|finding| [one(finding, &renderer), "\n\n".to_owned()]).collect()
}

fn one(finding: &Finding, renderer: &Renderer) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut group = level
        .primary_title(unobeyed(&finding.message))
        .id(finding.code.name())
        .elements(finding.spot.iter().map(|spot| match finding.severity {
            // Nothing is wrong there: where it stands says enough.
            Severity::Note => origin(spot),
            _ => element(spot, AnnotationKind::Primary, None),
        }));
    group = group.elements(
        finding.related.iter().map(|(s, label)| element(s, AnnotationKind::Context, Some(label))),
    );
    if let Some(help) = &finding.help {
        group = group.element(Level::HELP.message(unobeyed(help)));
    }
    if let Some(consequence) = &finding.consequence {
        group = group.element(Level::NOTE.message(unobeyed(consequence)));
    }
    let report: Report<'_> = &[group];
    let shown = renderer.render(report);
    if finding.spot.is_none() && finding.related.is_empty() { without_rail(&shown) } else { shown }
}

/// Without the lines of which only the rail beside a source is left: where there is no source, it leads nowhere.
fn without_rail(shown: &str) -> String {
    let is_rail = |line: &&str| {
        let mut rest = *line;
        let mut bare = String::new();
        while let Some((before, code)) = rest.split_once('\u{1b}') {
            bare.push_str(before);
            rest = code.split_once('m').map_or("", |(_, after)| after);
        }
        bare.push_str(rest);
        bare.trim() == "|"
    };
    shown.lines().filter(|line| !is_rail(line)).collect::<Vec<_>>().join("\n")
}

/// A text of which no line begins with `::`. GitHub's runner obeys such a line of a log, also after blanks; a line break
/// that would make one is shown as a mark.
fn unobeyed(text: &str) -> Cow<'_, str> {
    let is_obeyed = |line: &str| line.trim_start().starts_with("::");
    if !text.lines().skip(1).any(is_obeyed) {
        return text.into();
    }
    let mut out = String::new();
    for (number, line) in text.lines().enumerate() {
        match number {
            0 => {}
            _ if is_obeyed(line) => out.push(visible::picture('\n')),
            _ => out.push('\n'),
        }
        out.push_str(line);
    }
    out.into()
}

/// The line of a spot with a mark under it, or only its file where no line is known.
fn element<'a>(spot: &'a Spot, kind: AnnotationKind, label: Option<&'a str>) -> Element<'a> {
    let (Some(line), Some(position)) = (&spot.line, spot.position) else { return origin(spot) };
    let start = byte_of(line, position.column as usize - 1);
    let end = byte_of(line, position.column as usize - 1 + spot.length).max(start);
    let annotation: Annotation<'a> = kind.span(start..end).label(label);
    Snippet::source(line.as_str())
        .path(visible::line(&spot.file))
        .line_start(position.line as usize)
        .annotation(annotation)
        .into()
}

/// The file of a spot, with line and column where they are known.
fn origin(spot: &Spot) -> Element<'_> {
    // A line break in a file's name begins no line of the log.
    let origin = Origin::path(visible::line(&spot.file));
    match spot.position {
        Some(p) => origin.line(p.line as usize).char_column(p.column as usize).into(),
        None => origin.into(),
    }
}

fn byte_of(line: &str, characters: usize) -> usize {
    line.char_indices().nth(characters).map_or(line.len(), |(at, _)| at)
}

/// `2 errors, 1 warning`; `None` where there is neither.
#[must_use]
pub fn summary(tally: SeverityTally, palette: Palette) -> Option<String> {
    let parts: Vec<_> =
        [(tally.errors, "error", Tone::Bad), (tally.warnings, "warning", Tone::Warn)]
            .into_iter()
            .filter(|(number, ..)| *number > 0)
            .map(|(number, noun, tone)| palette.paint(tone, &count(number, noun)))
            .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::tests::findings;
    use super::*;

    #[test]
    fn findings_read_like_a_compilers() {
        insta::assert_snapshot!(text(&findings(), Palette::plain()));
    }

    #[test]
    fn what_a_tenant_calls_a_file_or_a_field_begins_no_line() {
        let mut findings = findings();
        for finding in &mut findings {
            let spots = finding.spot.iter_mut().chain(finding.related.iter_mut().map(|r| &mut r.0));
            spots.for_each(|spot| spot.file = "fleet/a\n::stop-commands::tok\n.yaml".to_owned());
        }
        let field = &mut findings[1];
        field.message = "unknown field `a\n::error::x\n  ::add-mask::y\nz`".to_owned();
        field.help = Some("write\n  ::warning::it\nlike this".to_owned());
        let shown = text(&findings, Palette::plain());
        // A runner of GitHub's obeys what comes after blanks, too.
        let obeyed = |line: &&str| line.trim_start().starts_with("::") && !line.contains(":::");
        assert_eq!(shown.lines().find(obeyed), None, "{shown}");
        insta::assert_snapshot!(shown);
    }

    #[test]
    fn the_summary_counts_errors_and_warnings() {
        let tally = SeverityTally::of(findings().iter().map(|f| f.severity));
        assert_eq!(summary(tally, Palette::plain()).unwrap(), "4 errors, 1 warning");
        assert_eq!(summary(SeverityTally::default(), Palette::plain()), None);
    }

    #[test]
    fn of_a_note_no_source_is_shown() {
        let note = Finding { severity: Severity::Note, ..findings().remove(1) };
        let shown = text(&[note], Palette::plain());
        assert!(shown.contains("--> eu/fleet/a.yaml:4:3\n"), "{shown}");
        assert!(!shown.contains("lables: {}") && shown.contains("= help: did you"), "{shown}");
    }

    #[test]
    fn without_a_place_no_rail_is_drawn() {
        let mut finding = findings().remove(1);
        (finding.spot, finding.related) = (None, Vec::new());
        finding.help = Some("mend it".into());
        for palette in [Palette::plain(), Palette::new(super::super::super::Colour::On)] {
            let shown = text(&[finding.clone()], palette);
            assert_eq!(shown.trim_end().lines().count(), 2, "{shown}");
            assert!(shown.contains("mend it"), "{shown}");
        }
    }

    #[test]
    fn a_mark_beyond_the_line_does_no_harm() {
        let mut finding = findings().remove(1);
        let spot = finding.spot.as_mut().unwrap();
        spot.length = 999;
        spot.line = Some("  é: 1".into());
        let shown = text(&[finding], Palette::plain());
        assert!(shown.contains("é: 1"), "{shown}");
    }
}
