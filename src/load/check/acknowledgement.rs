//! `missing-field` and `invalid-value` on an Acknowledgement's `rebalance`: the numbers of a rebalance, and of
//! nothing else.

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::api::AcknowledgementKind;

pub(super) fn check(subject: &Subject<'_>, _: &CheckContext<'_>, out: &mut Findings) {
    let DocumentSpec::Acknowledgement(spec) = &subject.body.spec else { return };
    let path = FieldPath::keys("spec.rebalance");
    let is_rebalance = spec.of == AcknowledgementKind::Rebalance;
    if is_rebalance && spec.rebalance.is_none() {
        let message = "a rebalance is acknowledged with the numbers that it was worked out with";
        let help = "add them, as `carp simulate --rebalance` prints them: `rebalance: {most: 3, gain: 20}`";
        out.add(Code::MissingField, path, message, help);
    } else if !is_rebalance && spec.rebalance.is_some() {
        let message = format!("an acknowledgement of {} has no such numbers", spec.of);
        out.add_on_key(Code::InvalidValue, path, message, "remove them, or write `of: rebalance`");
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{files_find, load_fleet};
    use crate::diag::Code;

    fn acknowledgement(of: &str, rest: &str) -> String {
        let digest = "0".repeat(64);
        format!(
            "apiVersion: carp.dev/v1alpha1\nkind: Acknowledgement\nmetadata: {{name: yes-1}}\nspec:\n  \
             of: {of}\n  count: 2\n  digest: \"{digest}\"\n  {rest}\n"
        )
    }

    #[test]
    fn the_numbers_of_a_rebalance_stand_with_it_and_with_nothing_else() {
        let file = "fleet/ack.yaml";
        let good = acknowledgement("rebalance", "rebalance: {most: 3, gain: 20}");
        let loaded = load_fleet(&[(file, &good)]);
        assert_eq!(loaded.fleet.acknowledgements["yes-1"].value.rebalance.unwrap().most, 3);
        let path = "spec.rebalance";
        let text = acknowledgement("rebalance", "");
        files_find(&[(file, &text)], Code::MissingField, path);
        let text = acknowledgement("deletions", "rebalance: {most: 3, gain: 20}");
        files_find(&[(file, &text)], Code::InvalidValue, path);
    }

    #[test]
    fn the_numbers_are_ones_that_can_be_meant() {
        for (numbers, code, path) in [
            ("{most: 0, gain: 20}", Code::InvalidValue, "spec.rebalance.most"),
            ("{most: 3, gain: 0}", Code::InvalidValue, "spec.rebalance.gain"),
            ("{most: 3, gain: 101}", Code::InvalidValue, "spec.rebalance.gain"),
            ("{most: 3}", Code::MissingField, "spec.rebalance.gain"),
        ] {
            let text = acknowledgement("rebalance", &format!("rebalance: {numbers}"));
            files_find(&[("fleet/ack.yaml", &text)], code, path);
        }
    }
}
