//! Many findings of one rule, as the first of them and a number.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::model::thousands;

/// Up to so many findings of one rule are shown each; of more the first.
const EACH: usize = 3;

/// The findings to show, and a line for each rule of which there are more. `carp validate` shows all.
#[must_use]
pub fn folded(findings: &[Finding]) -> (Vec<Finding>, Vec<String>) {
    let rule = |finding: &Finding| (finding.severity, finding.code.name());
    let mut all: BTreeMap<_, usize> = BTreeMap::new();
    for finding in findings {
        *all.entry(rule(finding)).or_default() += 1;
    }
    all.retain(|_, number| *number > EACH);
    let mut seen = BTreeSet::new();
    let first = |finding: &&Finding| {
        let rule = rule(finding);
        !all.contains_key(&rule) || seen.insert(rule)
    };
    let shown: Vec<_> = findings.iter().filter(first).cloned().collect();
    let line = |((severity, code), number): (&(_, &str), &usize)| {
        let more = thousands(*number as u64 - 1);
        format!("{severity}[{code}]: {more} more of these; `carp validate` shows each")
    };
    (shown, all.iter().map(line).collect())
}

#[cfg(test)]
mod tests {
    use super::super::tests::findings;
    use super::*;

    #[test]
    fn three_hundred_of_one_rule_are_one_and_a_number() {
        let one = findings().remove(0);
        let code = one.code.name();
        let (shown, more) = folded(&vec![one; 300]);
        assert_eq!(shown.len(), 1);
        let line = format!("error[{code}]: 299 more of these; `carp validate` shows each");
        assert_eq!(more, [line]);
        assert_eq!(folded(&findings()), (findings(), Vec::new()));
    }
}
