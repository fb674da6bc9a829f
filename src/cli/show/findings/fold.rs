//! Many findings of one rule, as the first of them and a number.

use std::collections::BTreeMap;

use super::Finding;
use crate::model::thousands;

/// So many findings of one rule are shown each.
const EACH: usize = 20;

/// The findings to show, and a line for each rule of which there are more. `carp validate` shows all.
#[must_use]
pub fn folded(findings: &[Finding]) -> (Vec<Finding>, Vec<String>) {
    let mut seen = BTreeMap::new();
    let mut shown = Vec::new();
    for finding in findings {
        let number = seen.entry((finding.severity, finding.code.name())).or_insert(0_usize);
        *number += 1;
        if *number <= EACH {
            shown.push(finding.clone());
        }
    }
    let line = |((severity, code), number): ((_, &str), usize)| {
        let more = number.checked_sub(EACH).filter(|more| *more > 0)?;
        let more = thousands(more as u64);
        Some(format!("{severity}[{code}]: {more} more of these; `carp validate` shows each"))
    };
    let more = seen.into_iter().filter_map(line).collect();
    (shown, more)
}

#[cfg(test)]
mod tests {
    use super::super::tests::findings;
    use super::*;

    #[test]
    fn three_hundred_of_one_rule_are_twenty_and_a_number() {
        let one = findings().remove(0);
        let code = one.code.name();
        let (shown, more) = folded(&vec![one; 300]);
        assert_eq!(shown.len(), EACH);
        let line = format!("error[{code}]: 280 more of these; `carp validate` shows each");
        assert_eq!(more, [line]);
        assert_eq!(folded(&findings()), (findings(), Vec::new()));
    }
}
