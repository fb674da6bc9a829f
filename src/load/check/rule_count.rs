//! `too-much` on one document: each rule of a policy or a cluster is asked about every worker, and those of spread
//! and anti-affinity about other clusters, too. Nobody writes a hundred by hand.

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::api::{OverrideChange, PlacementTerm, PreferredTerm};

/// The most rules of one document. The largest policy of which we know has some thirty; 120 clusters of 1,000 each took
/// 12 seconds and 677 MB.
const MAX_RULES: usize = 100;

pub(super) fn check(subject: &Subject<'_>, _: &CheckContext<'_>, out: &mut Findings) {
    let count = rules(&subject.body.spec);
    if count <= MAX_RULES {
        return;
    }
    let path = match subject.body.spec {
        DocumentSpec::ManagedCluster(_) => FieldPath::keys("spec.placement"),
        _ => FieldPath::keys("spec"),
    };
    if matches!(subject.body.spec, DocumentSpec::OverridePolicy(_)) {
        let message = format!("{count} steps of changes stand here; carp reads up to {MAX_RULES}");
        let help = "write one `mergePatch` instead of many operations, or split the policy";
        out.add(Code::TooMuch, path, message, help);
        return;
    }
    let message = format!("{count} rules of placement stand here; carp reads up to {MAX_RULES}");
    let help = "write one expression with several values instead of many, or split the policy";
    out.add(Code::TooMuch, path, message, help);
}

/// How many rules a document has: of placement, terms on workers and their expressions, spread, anti-affinity and
/// tolerations; of overrides, selectors of objects and steps of changes.
pub(in crate::load) fn rules(spec: &DocumentSpec) -> usize {
    match spec {
        DocumentSpec::ManagedCluster(cluster) => {
            let affinity = cluster.placement.as_ref().and_then(|p| p.affinity.as_ref());
            let terms = affinity.map_or(0, |a| required(&a.required) + preferred(&a.preferred));
            terms + cluster.own_spread().len() + cluster.own_anti_affinity().len()
        }
        DocumentSpec::PlacementPolicy(policy) => {
            let terms = policy.affinity.as_ref().map_or(0, |affinity| {
                let groups = affinity.groups.iter().map(|group| 1 + required(&group.required));
                required(&affinity.required)
                    + preferred(&affinity.preferred)
                    + groups.sum::<usize>()
            });
            let together = policy.spread.len() + policy.anti_affinity.len();
            terms + together + policy.tolerations.len()
        }
        DocumentSpec::OverridePolicy(policy) => {
            let steps = policy.changes.iter().map(OverrideChange::steps);
            policy.objects.len() + steps.sum::<usize>()
        }
        _ => 0,
    }
}

fn required(terms: &[PlacementTerm]) -> usize {
    terms.iter().map(|term| 1 + term.match_fields.len() + term.match_expressions.len()).sum()
}

fn preferred(terms: &[PreferredTerm]) -> usize {
    terms.iter().map(|preferred| required(std::slice::from_ref(&preferred.term))).sum()
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{POLICY, cluster, files_find, load_fleet};
    use super::*;

    fn placement(count: usize) -> String {
        let rules: Vec<_> = (0..count)
            .map(|i| {
                format!("{{topologyKey: location, labelSelector: {{matchLabels: {{a: v{i}}}}}}}")
            })
            .collect();
        cluster(&format!("placement: {{antiAffinity: [{}]}}\n  ", rules.join(", ")))
    }

    fn policy(count: usize) -> String {
        let spec = POLICY.split_once("  affinity:").unwrap().0;
        let terms: Vec<_> = (0..count).map(|i| format!("{{names: [w{i}]}}")).collect();
        format!("{spec}  affinity: {{required: [{}]}}\n", terms.join(", "))
    }

    #[test]
    fn a_document_has_a_hundred_rules_and_no_more() {
        let loaded = load_fleet(&[("fleet/a.yaml", &placement(MAX_RULES))]);
        assert!(loaded.diagnostics.iter().all(|d| d.code != Code::TooMuch));
        let many = placement(MAX_RULES + 1);
        files_find(&[("fleet/a.yaml", &many)], Code::TooMuch, "spec.placement");
        let many = policy(MAX_RULES + 1);
        files_find(&[("policies/a.yaml", &many)], Code::TooMuch, "spec");
    }
}
