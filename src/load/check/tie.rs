//! `policy-tie`: two policies of equal priority with the same selector. The smaller name wins, which
//! nobody should have to know.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::diag::{Code, Diagnostic, Diagnostics, FieldPath, Place};
use crate::model::{Fleet, Policy};

/// Looks at every two policies as they loaded.
pub(in crate::load) fn check(fleet: &Fleet, out: &mut Diagnostics) {
    let mut first = BTreeMap::new();
    // A fleet's own policy always comes before one that is built in.
    for policy in fleet.policies.values().filter(|policy| policy.file.is_some()) {
        match first.entry((policy.spec.priority, &policy.spec.cluster_selector)) {
            Entry::Vacant(entry) => drop(entry.insert(policy)),
            Entry::Occupied(other) => out.push(tie(policy, other.get())),
        }
    }
}

fn tie(policy: &Policy, other: &Policy) -> Diagnostic {
    let place = |p: &Policy| {
        let file = p.file.clone().unwrap_or_default();
        Place::field(file, p.document, FieldPath::keys("metadata.name"))
    };
    let (name, winner) = (&policy.name, &other.name);
    let message = format!("`{name}` never applies: `{winner}` selects the same clusters");
    Diagnostic::new(Code::PolicyTie, message)
        .at(place(policy))
        .related(place(other), "this one applies")
        .help("give one of the two another `priority`, or make them one")
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{POLICY, files_find, load_fleet};
    use super::*;

    #[test]
    fn two_policies_of_equal_weight_are_told_of() {
        let other = POLICY.replace("name: all", "name: every");
        let files = [("policies/a.yaml", POLICY), ("policies/b.yaml", &*other)];
        let found = files_find(&files, Code::PolicyTie, "metadata.name");
        assert!(found.message.starts_with("`every` never applies"));
        let own = |fleet: &Fleet| fleet.policies.values().filter(|p| p.file.is_some()).count();
        assert_eq!(own(&load_fleet(&files).fleet), 2);
        let higher = other.replace("spec:\n", "spec:\n  priority: 1\n");
        let files = [("policies/a.yaml", POLICY), ("policies/b.yaml", &*higher)];
        assert!(load_fleet(&files).diagnostics.is_empty());
    }
}
