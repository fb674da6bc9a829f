//! Findings as workflow commands of GitHub Actions.
//!
//! GitHub shows at most ten errors and ten warnings a step, so that is what is written, and one line
//! that counts the rest. Paths must be relative to the repository.

use std::fmt::Write as _;

use super::super::{Palette, count};
use super::{Finding, SeverityTally, summary};
use crate::diag::Severity;

/// How many of each severity GitHub shows.
const SHOWN: usize = 10;

/// The workflow commands, one a line, and the summary as a plain line.
#[must_use]
pub fn github(findings: &[Finding]) -> String {
    let of = |severity| findings.iter().filter(move |f| f.severity == severity);
    let mut out: String = of(Severity::Error)
        .take(SHOWN)
        .chain(of(Severity::Warning).take(SHOWN))
        .map(command)
        .collect();
    let tally = SeverityTally::of(findings.iter().map(|f| f.severity));
    let beyond = |number: u64| number.saturating_sub(SHOWN as u64);
    let hidden = beyond(tally.errors) + beyond(tally.warnings);
    let Some(summary) = summary(tally, Palette::plain()) else { return out };
    if hidden > 0 {
        let rest = format!("carp: {summary}; {} not shown here", count(hidden, "finding"));
        let _ = writeln!(out, "::notice title=carp::{}", escape_message(&rest));
    } else {
        let _ = writeln!(out, "carp: {summary}");
    }
    out
}

fn command(finding: &Finding) -> String {
    let name = if finding.severity == Severity::Error { "error" } else { "warning" };
    let mut properties = Vec::new();
    if let Some(spot) = &finding.spot {
        properties.push(format!("file={}", escape_property(&spot.file)));
        if let Some(position) = spot.position {
            properties.push(format!("line={}", position.line));
            properties.push(format!("col={}", position.column));
        }
    }
    properties.push(format!("title={}", escape_property(finding.code.name())));
    let message = finding.in_lines();
    format!("::{name} {}::{}\n", properties.join(","), escape_message(&message))
}

/// As `@actions/core` escapes data.
fn escape_message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// As `@actions/core` escapes properties.
fn escape_property(text: &str) -> String {
    escape_message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::tests::findings;
    use super::*;

    #[test]
    fn a_finding_is_a_workflow_command() {
        insta::assert_snapshot!(github(&findings()), @r"
        ::error title=fleet-missing::there is no carp.yaml
        ::error file=eu/fleet/a.yaml,line=4,col=3,title=unknown-field::unknown field `lables`%0Ahelp: did you mean `labels`?
        ::error file=eu/fleet/a.yaml,line=6,col=12,title=invalid-version::`1.34` is not a version like v1.34.2%0Ahelp: write `version: v1.34.2`
        ::error file=eu/fleet/b.yaml,title=duplicate-name::a second object is called `pay-eu`
        ::warning file=eu/fleet/c%2C d.yaml,title=report-refused::no document in it, 100%25 of 0 lines%0Aand nothing: more
        carp: 4 errors, 1 warning
        ");
    }

    #[test]
    fn no_more_than_github_shows_is_written() {
        let many: Vec<_> = (0..12).map(|_| findings().remove(0)).collect();
        let out = github(&many);
        assert_eq!(out.lines().filter(|l| l.starts_with("::error")).count(), 10);
        assert!(out.ends_with("::notice title=carp::carp: 12 errors; 2 findings not shown here\n"));
    }

    #[test]
    fn nothing_found_is_nothing_said() {
        assert_eq!(github(&[]), "");
    }
}
