//! A document whose structure is wrong somewhere, as far as it is right: so that the rules can look at
//! the rest of it in the same run. It never loads.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::envelope::Envelope;
use super::finding::Findings;
use crate::diag::{FieldPath, Severity, Step};

/// Text that a document must have; without it nothing could be looked at.
const REQUIRED_TEXT: [&str; 3] = ["name", "version", "location"];

/// Lists that a document must have.
const REQUIRED_LISTS: [&str; 2] = ["objects", "changes"];

/// Takes out of `metadata` and `spec` each field in which something is wrong. A number or boolean where
/// a required text is wanted becomes that text.
pub(super) fn mended(mut opened: Envelope, out: &Findings) -> Envelope {
    let wrong: BTreeSet<_> = out
        .list
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .filter_map(|d| d.place.as_ref()?.field.as_ref())
        .filter_map(field)
        .collect();
    for (part, key) in wrong {
        let part = match part {
            "metadata" => &mut opened.metadata,
            "spec" => &mut opened.spec,
            _ => continue,
        };
        if let Value::Object(fields) = part {
            drop_or_convert(fields, key);
        }
    }
    opened
}

/// Leaves out what the rules found at places where the structure is wrong already.
pub(super) fn without_echoes(findings: &mut Findings, structural: usize) {
    let wrong: BTreeSet<FieldPath> = findings.list[..structural]
        .iter()
        .filter_map(|d| d.place.as_ref()?.field.clone())
        .collect();
    let mut at = 0;
    findings.list.retain(|d| {
        at += 1;
        let field = d.place.as_ref().and_then(|p| p.field.as_ref());
        at <= structural || field.is_none_or(|f| !wrong.contains(f))
    });
}

fn field(path: &FieldPath) -> Option<(&str, &str)> {
    match &path.0[..] {
        [Step::Key(part), Step::Key(key), ..] => Some((part, key)),
        _ => None,
    }
}

fn drop_or_convert(fields: &mut Map<String, Value>, key: &str) {
    match fields.get_mut(key) {
        Some(value @ (Value::Number(_) | Value::Bool(_))) if REQUIRED_TEXT.contains(&key) => {
            *value = Value::String(value.to_string());
        }
        // What an override policy selects is looked at whatever it changes.
        _ if REQUIRED_LISTS.contains(&key) => drop(fields.insert(key.to_owned(), json!([]))),
        _ => {
            fields.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{cluster, finds, load_fleet};
    use crate::diag::Code;

    #[test]
    fn what_is_right_is_still_looked_at() {
        let text = cluster("nope: 1\n  class: none\n  ").replace("pay-eu", "Pay");
        finds(&text, Code::UnknownField, "spec.nope");
        finds(&text, Code::UnknownClass, "spec.class");
        finds(&text, Code::InvalidName, "metadata.name");
        assert!(load_fleet(&[("fleet/x.yaml", &text)]).fleet.clusters.is_empty());
    }

    #[test]
    fn one_place_has_one_finding() {
        let text = cluster("").replace("v1.34.2", "1.34").replace("westeurope", "mars");
        let loaded = load_fleet(&[("fleet/x.yaml", &text)]);
        let codes: Vec<_> = loaded.diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, [Code::WrongType, Code::UnknownLocation]);
    }
}
