//! A field that makes carp sign or verify, and is there without a value: somebody meant to be safe and is
//! not. Elsewhere an empty field is an absent one, as for Kubernetes.

use serde_json::Value;

use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;

/// The fields, as dotted paths below `spec` of a Fleet, and what each is to hold.
const FIELDS: &[(&str, &str)] = &[
    ("git.signing", "write `format: ssh` or `format: openpgp` below it"),
    ("git.verify", "list who may sign below it, in `allowedSigners` or `openpgpKeys`"),
    ("git.verify.allowedSigners", "list who may sign"),
    ("git.verify.openpgpKeys", "list whose keys may sign"),
    ("observed.allowedSigners", "list the workers with their keys"),
    ("observed.openpgpKeys", "list the workers with their keys"),
];

/// Checks a Fleet's `spec` as it is written, before empty values are taken for absent ones.
pub(in crate::load) fn check(spec: &Value, out: &mut Findings) {
    for (field, what) in FIELDS {
        let at = field.split('.').try_fold(spec, |value, key| value.get(key));
        let path = FieldPath::keys(&format!("spec.{field}"));
        let fields = out.list.iter().filter_map(|d| d.place.as_ref()?.field.as_ref());
        let told = fields.into_iter().any(|f| f.0.starts_with(&path.0));
        if at.is_some_and(is_empty) && !told {
            let message = format!("`{path}` is empty, which would switch it off");
            let help = format!("{what}; or remove it, if it is meant to be off");
            out.add_on_key(Code::EmptySafeguard, path, message, help);
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{CARP, files_find, load_files};
    use crate::diag::Code;

    #[test]
    fn what_is_meant_to_protect_is_not_switched_off_by_being_empty() {
        for (yaml, path) in [
            ("git: {signing: }", "spec.git.signing"),
            ("git: {verify: {}}", "spec.git.verify"),
            ("git: {verify: }", "spec.git.verify"),
            ("git: {verify: {allowedSigners: []}}", "spec.git.verify.allowedSigners"),
            ("git: {verify: {openpgpKeys: }}", "spec.git.verify.openpgpKeys"),
            ("observed: {allowedSigners: []}", "spec.observed.allowedSigners"),
            ("observed: {openpgpKeys: []}", "spec.observed.openpgpKeys"),
        ] {
            let carp = format!("{CARP}  {yaml}\n");
            files_find(&[("carp.yaml", &carp)], Code::EmptySafeguard, path);
        }
        let carp = format!("{CARP}  git: {{signing: {{}}}}\n");
        files_find(&[("carp.yaml", &carp)], Code::MissingField, "spec.git.signing.format");
        let found = load_files(&[("carp.yaml", &carp)]).diagnostics;
        assert!(found.iter().all(|f| f.code != Code::EmptySafeguard), "told once");
        let plain = format!("{CARP}  git: {{author: carp}}\n  observed: {{}}\n");
        assert!(!load_files(&[("carp.yaml", &plain)]).fleet_broken);
    }
}
