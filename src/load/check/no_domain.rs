//! `no-domain`: clusters must be spread over a label that no worker has, so they fit nowhere.

use crate::diag::{Code, Diagnostic, Diagnostics, FieldPath, Place};
use crate::model::api::SpreadConstraint;
use crate::model::{Fleet, topology};

/// Looks at the fleet as it loaded. Where a worker may not have loaded nothing is said: the label may be
/// that worker's.
pub(in crate::load) fn check(fleet: &Fleet, out: &mut Diagnostics) {
    let may_be_a_worker = |kind: &Option<String>| kind.as_deref().is_none_or(|k| k == "Worker");
    let unknown = fleet.unloaded.iter().any(|u| may_be_a_worker(&u.kind));
    // What a pool makes may have the label, and where there is no worker yet nothing tells anything.
    if unknown || fleet.workers.is_empty() || !fleet.pools.is_empty() {
        return;
    }
    for policy in fleet.policies.values() {
        let Some(file) = &policy.file else { continue };
        let path = FieldPath::keys("spec.spread");
        rules(fleet, &policy.spec.spread, file, policy.document, &path, out);
    }
    for cluster in fleet.clusters.values() {
        let path = FieldPath::keys("spec.placement.spread");
        let spread = cluster.spec.own_spread();
        rules(fleet, spread, &cluster.file, cluster.document, &path, out);
    }
}

fn rules(
    fleet: &Fleet,
    spread: &[SpreadConstraint],
    file: &str,
    document: usize,
    path: &FieldPath,
    out: &mut Diagnostics,
) {
    for (i, rule) in spread.iter().enumerate().filter(|(_, r)| r.when_unsatisfiable.refuses()) {
        let key = &rule.topology_key;
        if fleet.workers.values().any(|worker| topology::domain(key, worker).is_some()) {
            continue;
        }
        let message = format!("no worker has the {}, so nothing fits", topology::spoken(key));
        let place = Place::field(file.to_owned(), document, path.index(i).key("topologyKey"));
        let help = "label the workers, or write another key";
        out.push(Diagnostic::new(Code::NoDomain, message).at(place).help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{POLICY, files_find, load_fleet, worker};
    use super::*;

    #[test]
    fn a_label_that_no_worker_has_is_told_of() {
        let policy =
            POLICY.replace("spec:\n", "spec:\n  spread: [{topologyKey: rack, maxSkew: 1}]\n");
        let plain = worker("");
        let files = [("policies/p.yaml", &*policy), ("fleet/w.yaml", &*plain)];
        let found = files_find(&files, Code::NoDomain, "spec.spread[0].topologyKey");
        assert_eq!(found.severity, crate::diag::Severity::Warning);
        let labelled = plain.replace("name: w1\n", "name: w1\n  labels: {rack: a}\n");
        let files = [("policies/p.yaml", &*policy), ("fleet/w.yaml", &*labelled)];
        assert!(load_fleet(&files).diagnostics.is_empty());
        let broken = format!("{plain}  colour: red\n");
        let files = [("policies/p.yaml", &*policy), ("fleet/w.yaml", &*broken)];
        assert!(load_fleet(&files).diagnostics.iter().all(|d| d.code != Code::NoDomain));
    }
}
