//! One cause, one error: what is wrong only because something else is wrong is a note.

use std::collections::BTreeMap;

use super::Finding;
use crate::diag::{Code, Severity};
use crate::model::count;

/// The findings with those that follow from others as notes: what many say alike once, with how many they are.
pub(super) fn told_once(findings: Vec<Finding>) -> Vec<Finding> {
    let follows = |finding: &Finding| finding.code == Code::ClassNotLoaded;
    let mut alike: BTreeMap<String, u64> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| follows(finding)) {
        *alike.entry(finding.message.clone()).or_default() += 1;
    }
    let told = |mut finding: Finding| {
        if !follows(&finding) {
            return Some(finding);
        }
        finding.severity = Severity::Note;
        // The first of them stands for all; the others were counted with it.
        match alike.remove(&finding.message)? {
            1 => {}
            many => {
                finding.message =
                    format!("{}, and {} have it", finding.message, count(many, "cluster"));
                (finding.spot, finding.help) = (None, None);
            }
        }
        Some(finding)
    };
    findings.into_iter().filter_map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::findings;
    use super::*;

    #[test]
    fn a_broken_class_is_one_error_whatever_has_it() {
        let of = |class: &str| Finding {
            code: Code::ClassNotLoaded,
            message: format!("the class `{class}` did not load"),
            ..findings().remove(1)
        };
        let cause = findings().remove(0);
        let mut all = vec![cause.clone(), of("small")];
        let told = told_once(all.clone());
        assert_eq!(told[0], cause);
        assert_eq!((told[1].severity, told[1].spot.is_some()), (Severity::Note, true));
        all.extend([of("large"), of("small"), of("small")]);
        let told = told_once(all);
        let messages: Vec<_> = told[1..].iter().map(|finding| finding.message.as_str()).collect();
        let wanted = "the class `small` did not load, and 3 clusters have it";
        assert_eq!(messages, [wanted, "the class `large` did not load"]);
    }
}
