//! The keys of a mapping whose keys are data (`x-carp-keys`): their form, and those that are not for anybody to say.

use serde::{Deserialize, Serialize};

use super::fault::{ParameterFault, fault};
use crate::diag::FieldPath;

/// What the keys of an object may be whose keys are data. Kubernetes' structural schemas have no word for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterKeys {
    /// The form of each, as a regular expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Those that templates and controllers give themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reserved: Vec<String>,
}

impl ParameterKeys {
    /// What is wrong with a key at its place.
    pub(super) fn look(&self, key: &str, at: &FieldPath, found: &mut Vec<ParameterFault>) {
        if self.reserved.iter().any(|reserved| reserved == key) {
            let message = format!("`{key}` is not for `{at}` to say");
            fault(found, at, message, "leave it out: the flavor, or another parameter, gives it");
        }
        let fits = |pattern: &str| regex_lite::Regex::new(pattern).is_ok_and(|p| p.is_match(key));
        if let Some(pattern) = self.pattern.as_deref().filter(|pattern| !fits(pattern)) {
            let message = format!("`{key}` is not of the form that keys have here");
            fault(found, at, message, format!("write a key that matches {pattern}"));
        }
    }

    /// What in it can mean nothing.
    pub(super) fn wrong(&self, at: &FieldPath) -> Option<String> {
        let pattern = self.pattern.as_deref();
        let broken = pattern.filter(|pattern| regex_lite::Regex::new(pattern).is_err());
        broken.map(|pattern| format!("`{at}`: `{pattern}` is no regular expression"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_a_form_and_may_be_somebody_elses() {
        let keys: ParameterKeys =
            serde_json::from_str(r#"{"pattern": "^[a-z-]+$", "reserved": ["secure-port"]}"#)
                .unwrap();
        let told = |key: &str| {
            let mut found = Vec::new();
            keys.look(key, &FieldPath::keys("p.args").key(key), &mut found);
            found.into_iter().map(|fault| fault.message).collect::<Vec<_>>()
        };
        assert_eq!(told("profiling"), Vec::<String>::new());
        assert_eq!(told("--v"), Vec::<String>::new());
        assert_eq!(told("Profiling"), ["`Profiling` is not of the form that keys have here"]);
        assert_eq!(told("secure-port"), ["`secure-port` is not for `p.args.secure-port` to say"]);
    }
}
