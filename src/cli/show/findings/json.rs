//! Findings as JSON (`docs/formats.md`, "findings JSON").

use serde_json::{Value, json};

use super::{Finding, SeverityTally, Spot, help_uri};

/// The version of the format.
pub const FINDINGS_SCHEMA: u32 = 1;

/// The document that `validate --output json` prints, with a final newline.
#[must_use]
pub fn json(findings: &[Finding]) -> String {
    let tally = SeverityTally::of(findings.iter().map(|f| f.severity));
    let document = json!({
        "schemaVersion": FINDINGS_SCHEMA,
        "findings": findings_value(findings),
        "summary": {"errors": tally.errors, "warnings": tally.warnings, "notes": tally.notes},
    });
    format!("{document:#}\n")
}

/// The findings as a JSON list; a part of the plan's JSON too.
#[must_use]
pub fn findings_value(findings: &[Finding]) -> Value {
    findings.iter().map(finding).collect()
}

fn finding(finding: &Finding) -> Value {
    let related = finding.related.iter().map(|(spot, message)| {
        let mut value = place(spot);
        value["message"] = json!(message);
        value
    });
    json!({
        "severity": finding.severity.to_string(),
        "code": finding.code.name(),
        "message": finding.message,
        "place": finding.spot.as_ref().map(place),
        "related": related.collect::<Value>(),
        "help": finding.help,
        "consequence": finding.consequence,
        "page": help_uri(finding.code),
    })
}

fn place(spot: &Spot) -> Value {
    json!({
        "file": spot.file,
        "document": spot.place.document,
        "field": spot.place.field.as_ref().map(ToString::to_string),
        "line": spot.position.map(|p| p.line),
        "column": spot.position.map(|p| p.column),
        "length": spot.position.map(|_| spot.length),
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::findings;
    use super::*;

    #[test]
    fn the_json_has_every_part_of_a_finding() {
        insta::assert_snapshot!(json(&findings()[1..4]));
    }
}
