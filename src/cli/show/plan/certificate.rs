//! What people wrote that forced each deletion and each move, with its line and its commit.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::super::{Palette, Tone};
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
    for line in view.certificate {
        let _ = writeln!(out, "  {}", visible::line(&line.to_string()));
    }
    out
}

/// For a comment on a pull request.
pub(super) fn markdown(view: &PlanView<'_>, most: usize) -> String {
    if view.certificate.is_empty() {
        return String::new();
    }
    let mut out = "\n**Forced by**\n\n".to_owned();
    for line in view.certificate.iter().take(most) {
        // A file may be called as it likes.
        let line = visible::line(&line.to_string()).replace('`', "'");
        let _ = writeln!(out, "- `{line}`");
    }
    if view.certificate.len() > most {
        let _ = writeln!(out, "- {most} of {} shown", view.certificate.len());
    }
    out
}

/// For a program.
pub(super) fn json(view: &PlanView<'_>) -> Value {
    let one = |certified: &Certified| {
        let Certified { name, file, line, removed, commit } = certified;
        json!({"name": name, "file": file, "line": line, "removed": removed, "commit": commit})
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
        assert_eq!(text(&view, Palette::plain()) + &markdown(&view, 30), "");
        let certified = Certified {
            name: Name::parse("a").unwrap(),
            file: "fleet/`a\n`.yaml".to_owned(),
            line: 7,
            removed: true,
            commit: Some(Id::from_bytes([0xab; 20])),
        };
        let all = [certified];
        view.certificate = &all;
        let line = "a: fleet/`a␊`.yaml:7, removed in abababab";
        assert!(text(&view, Palette::plain()).ends_with(&format!("\n  {line}\n")));
        let quoted = line.replace('`', "'");
        assert_eq!(markdown(&view, 30), format!("\n**Forced by**\n\n- `{quoted}`\n"));
        assert_eq!(json(&view)[0]["line"], 7);
    }
}
