//! Many findings of one rule, as the first of them and a number.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::model::thousands;

/// Up to so many findings of one rule are shown each; of more the first.
const EACH: usize = 3;

/// The findings to show, and a line for each rule of which there are more. `carp validate` shows all.
#[must_use]
pub fn folded(findings: &[Finding]) -> (Vec<Finding>, Vec<String>) {
    let line = |(finding, more): &(Finding, usize)| {
        let (severity, code) = (finding.severity, finding.code.name());
        (*more > 0).then(|| format!("{severity}[{code}]: {}", more_words(*more)))
    };
    let all = first(findings);
    let lines = all.iter().filter_map(line).collect();
    (all.into_iter().map(|(finding, _)| finding).collect(), lines)
}

/// The findings where each is shown with its help: how many more there are stands behind that.
#[must_use]
pub fn folded_into_help(findings: &[Finding]) -> Vec<Finding> {
    let told = |(mut finding, more): (Finding, usize)| {
        if more > 0 {
            let help = finding.help.take().map(|help| format!("{help}; "));
            finding.help = Some(help.unwrap_or_default() + &more_words(more));
        }
        finding
    };
    first(findings).into_iter().map(told).collect()
}

fn more_words(more: usize) -> String {
    format!("{} more of these; `carp validate` shows each", thousands(more as u64))
}

/// The findings to show, each with how many more of its rule are not shown.
fn first(findings: &[Finding]) -> Vec<(Finding, usize)> {
    let rule = |finding: &Finding| (finding.severity, finding.code.name());
    let mut all: BTreeMap<_, usize> = BTreeMap::new();
    for finding in findings {
        *all.entry(rule(finding)).or_default() += 1;
    }
    all.retain(|_, number| *number > EACH);
    let mut seen = BTreeSet::new();
    let shown = |finding: &Finding| {
        let rule = rule(finding);
        match all.get(&rule) {
            None => Some((finding.clone(), 0)),
            Some(number) => seen.insert(rule).then(|| (finding.clone(), number - 1)),
        }
    };
    findings.iter().filter_map(shown).collect()
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
        assert_eq!(folded_into_help(&findings()), findings());
        let mut one = findings().remove(0);
        one.help = None;
        let told = folded_into_help(&vec![one.clone(); 300]);
        assert_eq!(told[0].help.as_deref(), Some("299 more of these; `carp validate` shows each"));
        one.help = Some("mend it".into());
        let told = folded_into_help(&vec![one; 300]);
        let wanted = "mend it; 299 more of these; `carp validate` shows each";
        assert_eq!((told.len(), told[0].help.as_deref()), (1, Some(wanted)));
    }
}
