//! `invalid-value` on `failover.grace`: a duration longer than nothing.

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::load::resolve::seconds;

pub(super) fn check(subject: &Subject<'_>, _: &CheckContext<'_>, out: &mut Findings) {
    let DocumentSpec::PlacementPolicy(policy) = &subject.body.spec else { return };
    let grace = policy.failover.as_ref().map(|failover| failover.grace.as_str());
    if let Some(text) = grace.filter(|text| seconds(text).is_none()) {
        let message = format!("`{text}` is not a duration");
        let help = "write hours, minutes and seconds, such as 30m or 1h30m";
        out.add(Code::InvalidValue, FieldPath::keys("spec.failover.grace"), message, help);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{files_find, load_fleet};
    use super::*;

    fn policy(failover: &str) -> String {
        format!(
            "apiVersion: carp.dev/v1alpha1\nkind: PlacementPolicy\nmetadata: {{name: p}}\nspec:\n  \
             failover: {failover}\n"
        )
    }

    #[test]
    fn a_grace_is_a_duration() {
        for bad in ["\"\"", "1d", "0s", "soon"] {
            let text = policy(&format!("{{grace: {bad}}}"));
            let path = "spec.failover.grace";
            files_find(&[("policies/p.yaml", &text)], Code::InvalidValue, path);
        }
        let loaded = load_fleet(&[("policies/p.yaml", &policy("{grace: 1h, rate: 2}"))]);
        assert!(loaded.fleet.policies["p"].spec.failover.is_some());
        let text = policy("{rate: 2}");
        files_find(&[("policies/p.yaml", &text)], Code::MissingField, "spec.failover.grace");
        let text = policy("{grace: 1h, rate: 0}");
        files_find(&[("policies/p.yaml", &text)], Code::InvalidValue, "spec.failover.rate");
    }
}
