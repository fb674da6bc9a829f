//! The policies in `policies/`, built into carp. They come after all of a fleet's own, and one of the
//! fleet's own takes the place of a built-in one of its name.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::yaml;
use crate::model::{Name, Policy};

/// The files, by name.
const FILES: [(&str, &str); 2] = [
    ("canary.yaml", include_str!("../../policies/canary.yaml")),
    ("default.yaml", include_str!("../../policies/default.yaml")),
];

static POLICIES: LazyLock<BTreeMap<Name, Policy>> =
    LazyLock::new(|| FILES.iter().filter_map(|(_, text)| policy(text)).collect());

/// The built-in policies.
pub(super) fn policies() -> BTreeMap<Name, Policy> {
    POLICIES.clone()
}

/// What such a file says. A test holds it to be without a mistake, so no rule looks at it, and no schema is made for one.
fn policy(text: &str) -> Option<(Name, Policy)> {
    let written = yaml::parse_value(text).ok()?;
    let name = Name::parse(written.pointer("/metadata/name")?.as_str()?).ok()?;
    let spec = serde_json::from_value(written.get("spec")?.clone()).ok()?;
    Some((name.clone(), Policy { name, file: None, document: 0, spec, by_tenant: false }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{POLICY, files_find, load_fleet};
    use super::*;
    use crate::diag::Code;

    #[test]
    fn every_file_is_a_policy_of_its_name() {
        let named: Vec<_> = policies().into_keys().map(|n| format!("{n}.yaml")).collect();
        assert_eq!(named, FILES.map(|(file, _)| file));
        for (file, text) in FILES {
            // As a fleet's own they would pass every rule.
            let loaded = load_fleet(&[(&format!("policies/{file}"), text)]);
            assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
            let (name, built_in) = policy(text).unwrap();
            assert_eq!(loaded.fleet.policies[&name].spec, built_in.spec);
        }
    }

    #[test]
    fn a_policy_of_the_fleet_takes_the_place_of_one_of_its_name() {
        let own = POLICY.replace("name: all", "name: default");
        let loaded = load_fleet(&[("policies/p.yaml", &own)]);
        assert_eq!(loaded.fleet.policies.len(), FILES.len());
        assert_eq!(loaded.fleet.policies["default"].file.as_deref(), Some("policies/p.yaml"));
        assert_eq!(loaded.fleet.policies["canary"].file, None);
    }

    #[test]
    fn only_policies_of_the_fleet_can_be_as_strong_as_each_other() {
        let same = POLICY.replace("name: all", "name: other");
        let both = format!("{POLICY}---\n{same}");
        let found = files_find(&[("policies/p.yaml", &both)], Code::PolicyTie, "metadata.name");
        assert!(found.message.contains("`all`"), "not the built-in one: {}", found.message);
        assert!(load_fleet(&[("policies/p.yaml", POLICY)]).diagnostics.is_empty());
    }
}
