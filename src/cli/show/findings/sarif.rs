//! Findings as SARIF 2.1.0, which code hosts show beside the lines of a pull request.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::Palette;
use super::{Finding, Spot};
use crate::diag::{Code, Severity};
use crate::model::Digest;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The SARIF log, with a final newline. Paths must be relative to the repository. Each rule has its section of
/// the page of errors in words and, with the address of that page, a link to it.
#[must_use]
pub fn sarif(findings: &[Finding], carp_version: &str, page: Option<&str>) -> String {
    let codes: Vec<_> = findings
        .iter()
        .map(|f| f.code)
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "carp",
                "version": carp_version,
                "rules": codes.iter().map(|code| rule(*code, page)).collect::<Value>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": results(findings, &codes),
        }],
    });
    format!("{log:#}\n")
}

fn rule(code: Code, page: Option<&str>) -> Value {
    let text = super::super::code::text(code.name(), Palette::plain()).unwrap_or_default();
    // The heading comes first, then what the rule is about.
    let about = text.split("\n\n").nth(1).unwrap_or_default().replace('\n', " ");
    let mut rule = json!({
        "id": code.name(),
        "shortDescription": {"text": about},
        "help": {"text": text},
        "defaultConfiguration": {"level": level(code.severity())},
    });
    // SARIF wants an absolute one (§3.49.12); a relative one leads nowhere.
    if let Some(page) = page {
        rule["helpUri"] = json!(format!("{page}#{code}"));
    }
    rule
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn results(findings: &[Finding], codes: &[Code]) -> Value {
    // A finding keeps its fingerprint when lines move above it; equal ones are told apart by number.
    let mut seen: BTreeMap<Digest, u32> = BTreeMap::new();
    findings
        .iter()
        .map(|finding| {
            let digest = fingerprint(finding);
            let number = seen.entry(digest).and_modify(|n| *n += 1).or_insert(1);
            result(finding, codes, &format!("{}:{number}", digest.short(32)))
        })
        .collect()
}

fn fingerprint(finding: &Finding) -> Digest {
    let place =
        finding.spot.as_ref().map(|s| (&s.file, s.place.field.as_ref().map(ToString::to_string)));
    Digest::of_value(&(finding.code.name(), place, &finding.message))
}

fn result(finding: &Finding, codes: &[Code], fingerprint: &str) -> Value {
    let message = finding.in_lines();
    let related = finding.related.iter().enumerate().map(|(id, (spot, text))| {
        let mut value = location(spot);
        value["id"] = json!(id);
        value["message"] = json!({"text": text});
        value
    });
    json!({
        "ruleId": finding.code.name(),
        "ruleIndex": codes.binary_search(&finding.code).ok(),
        "level": level(finding.severity),
        "message": {"text": message},
        "locations": finding.spot.iter().map(location).collect::<Value>(),
        "relatedLocations": related.collect::<Value>(),
        "partialFingerprints": {"carp/v1": fingerprint},
    })
}

fn location(spot: &Spot) -> Value {
    let mut physical = json!({"artifactLocation": {"uri": uri(&spot.file)}});
    if let Some(position) = spot.position {
        physical["region"] = json!({
            "startLine": position.line,
            "startColumn": position.column,
            "endColumn": position.column as usize + spot.length,
        });
    }
    json!({ "physicalLocation": physical })
}

/// A path as a relative URI: everything but unreserved characters and `/` is percent-encoded.
fn uri(path: &str) -> String {
    path.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::findings;
    use super::*;

    #[test]
    fn the_log_is_sarif() {
        insta::assert_snapshot!(sarif(&findings(), "1.2.3", None));
    }

    #[test]
    fn each_rule_says_what_it_is_and_with_the_page_where_that_stands() {
        let page = "https://docs.example.com/errors.md";
        let log: Value = serde_json::from_str(&sarif(&findings(), "1.2.3", Some(page))).unwrap();
        for rule in log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap() {
            let id = rule["id"].as_str().unwrap();
            assert_eq!(rule["helpUri"], format!("{page}#{id}"));
            let about = rule["shortDescription"]["text"].as_str().unwrap();
            assert!(about.len() > 20 && !about.contains('\n'), "{id}: {about}");
            assert!(rule["help"]["text"].as_str().unwrap().contains("To do: "), "{id}");
        }
        let alone: Value = serde_json::from_str(&sarif(&findings(), "1.2.3", None)).unwrap();
        for rule in alone["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap() {
            assert_eq!(rule.get("helpUri"), None, "no link is better than one that leads nowhere");
            assert!(rule["help"]["text"].as_str().unwrap().contains("To do: "));
        }
    }

    #[test]
    fn equal_findings_have_different_fingerprints() {
        let twice = [findings().remove(1), findings().remove(1)];
        let log: Value = serde_json::from_str(&sarif(&twice, "1.2.3", None)).unwrap();
        let print =
            |i: usize| log["runs"][0]["results"][i]["partialFingerprints"]["carp/v1"].clone();
        assert_ne!(print(0), print(1));
    }
}
