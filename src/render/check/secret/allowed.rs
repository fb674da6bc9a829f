//! Fields that look like a secret and are none: an object's own word, with a reason.

use serde_json::Value;

use super::super::super::path::at;

/// Has a line `FIELD: REASON` for each such field, as the finding names the field.
pub(super) const ANNOTATION: &str = "carp.dev/not-secret";

/// The fields that an object names. Without a reason, a line says nothing.
pub(super) struct AllowedFields<'a>(&'a str);

impl<'a> AllowedFields<'a> {
    pub(super) fn of(object: &'a Value) -> Self {
        let annotations = at(object, "/metadata/annotations");
        Self(annotations.and_then(|a| a.get(ANNOTATION)?.as_str()).unwrap_or_default())
    }

    /// Whether a field is one of them.
    pub(super) fn has(&self, path: &str) -> bool {
        self.0.lines().any(|line| {
            let reason =
                line.trim_start().strip_prefix(path).and_then(|rest| rest.strip_prefix(": "));
            reason.is_some_and(|reason| reason.chars().any(char::is_alphabetic))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::messages;
    use super::super::check;
    use super::*;
    use crate::diag::Code;

    const DATA: &str = "data:\n  a: postgres://a:hunter2@db/x # postgres://a:hunter2@db/x\n  \
                        b.c: postgres://a:hunter2@db/x\n";

    fn found(annotation: &str) -> Vec<String> {
        let text = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n  namespace: a\n  annotations:\n    \
             {ANNOTATION}: {annotation}\n{DATA}"
        );
        messages(check, &text, Code::SecretInOutput)
    }

    #[test]
    fn a_field_that_is_named_with_a_reason_passes_and_no_other() {
        let first = "ConfigMap x holds a password in a URL in `data.a`";
        let second = "ConfigMap x holds a password in a URL in `data[\"b.c\"]`";
        assert_eq!(found("'data.a: of a database that every test makes'"), [second]);
        assert_eq!(found("'data[\"b.c\"]: of a database that every test makes'"), [first]);
        let both = "|\n      data.a: a demonstration\n      data[\"b.c\"]: a demonstration";
        assert_eq!(found(both), [""; 0]);
        for none in ["data.a", "'data.a: '", "'data.a: -'", "'data: all of it'", "'*: all'"] {
            assert_eq!(found(none), [first, second], "{none}");
        }
    }
}
