//! `invalid-selector` on times of taints: only a `NoExecute` taint of a worker drives out what is there, so
//! only that has a time, and only tolerations of that run out.

use jiff::Timestamp;

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::api::{Taint, TaintEffect};

pub(super) fn check(subject: &Subject<'_>, _: &CheckContext<'_>, out: &mut Findings) {
    let spec = FieldPath::keys("spec");
    match &subject.body.spec {
        DocumentSpec::Worker(worker) => of_worker(&worker.taints, &spec, out),
        DocumentSpec::WorkerOverlay(overlay) => of_worker(&overlay.taints, &spec, out),
        DocumentSpec::PlacementPolicy(policy) => {
            for (i, toleration) in policy.tolerations.iter().enumerate() {
                let timed = toleration.toleration_seconds.is_some();
                if timed && toleration.effect != Some(TaintEffect::NoExecute) {
                    let path = spec.key("tolerations").index(i).key("tolerationSeconds");
                    let message = "`tolerationSeconds` is for `NoExecute` taints only";
                    let help =
                        "add `effect: NoExecute`, or remove it: other taints drive out nothing";
                    out.add(Code::InvalidSelector, path, message, help);
                }
            }
        }
        _ => {}
    }
    for (path, pool) in subject.node_pools() {
        for (i, _) in pool.taints.iter().enumerate().filter(|(_, t)| t.time_added.is_some()) {
            let path = path.key("taints").index(i).key("timeAdded");
            let message = "`timeAdded` is for taints of workers, not of nodes";
            let help = "remove it: Kubernetes dates the taints of nodes itself";
            out.add(Code::InvalidSelector, path, message, help);
        }
    }
}

fn of_worker(taints: &[Taint], spec: &FieldPath, out: &mut Findings) {
    for (i, taint) in taints.iter().enumerate() {
        let Some(time) = &taint.time_added else { continue };
        let path = spec.key("taints").index(i).key("timeAdded");
        if taint.effect != TaintEffect::NoExecute {
            let message = "`timeAdded` is for `NoExecute` taints only";
            out.add(
                Code::InvalidSelector,
                path,
                message,
                "remove it: this taint drives out nothing",
            );
        } else if time.parse::<Timestamp>().is_err() {
            let message = format!("`{time}` is not a time");
            let help = "write it in UTC and in quotes, such as \"2026-11-01T09:00:00Z\"";
            out.add(Code::InvalidSelector, path, message, help);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{
        cluster, files_find, finds, finds_nothing, load_fleet, worker,
    };
    use super::*;

    fn tainted(effect: &str, time: &str) -> String {
        worker(&format!("taints: [{{key: k, effect: {effect}, timeAdded: \"{time}\"}}]\n  "))
    }

    #[test]
    fn a_taint_that_drives_out_may_have_a_time() {
        let path = "spec.taints[0].timeAdded";
        finds_nothing(tainted("NoExecute", "2026-11-01T09:00:00Z"));
        finds(tainted("NoExecute", "yesterday"), Code::InvalidSelector, path);
        finds(tainted("NoSchedule", "2026-11-01T09:00:00Z"), Code::InvalidSelector, path);
    }

    #[test]
    fn nodes_date_their_own_taints() {
        let taint = "{key: k, effect: NoExecute, timeAdded: \"2026-11-01T09:00:00Z\"}";
        let pools = format!("nodePools: [{{name: a, replicas: 1, taints: [{taint}]}}]\n  ");
        let path = "spec.nodePools[0].taints[0].timeAdded";
        finds(cluster(&pools), Code::InvalidSelector, path);
    }

    #[test]
    fn only_a_toleration_of_what_drives_out_runs_out() {
        let tolerates = |effect: &str| {
            format!(
                "apiVersion: carp.dev/v1alpha1\nkind: PlacementPolicy\nmetadata: {{name: p}}\nspec:\n  \
                 tolerations: [{{key: k, operator: Exists, {effect}tolerationSeconds: 300}}]\n"
            )
        };
        let path = "spec.tolerations[0].tolerationSeconds";
        let good = load_fleet(&[("policies/p.yaml", &tolerates("effect: NoExecute, "))]);
        assert_eq!(good.fleet.policies["p"].spec.tolerations[0].toleration_seconds, Some(300));
        for effect in ["effect: NoSchedule, ", ""] {
            let text = tolerates(effect);
            files_find(&[("policies/p.yaml", &text)], Code::InvalidSelector, path);
        }
    }
}
