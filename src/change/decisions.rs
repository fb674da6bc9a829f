//! The digest of what a run decides anew: what a commit's `Carp-Plan` names.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{
    ClusterPlan, ClusterRow, ClusterState, Decision, DeletionStep, Digest, Gate, Name, Plan,
    Previous, Resources,
};

/// The digest of the decisions that the locks do not have already: clusters that are given a worker or wait for
/// one, take another amount, step to another version, move, or go. It follows from what changes, and a
/// commit that decides nothing anew has the digest of nothing. A cluster that stays, and of which one of the `gates` keeps the
/// last good folder, keeps all that its lock says.
#[must_use]
pub fn plan_digest(plan: &Plan, previous: &Previous, gates: &[Gate]) -> Digest {
    let kept: BTreeSet<&Name> = gates.iter().map(|gate| &gate.name).collect();
    let stays = |name: &Name, planned: &ClusterPlan| {
        matches!(planned.decision, Decision::Keep { .. }) && kept.contains(name)
    };
    let decided = plan.clusters.iter().filter_map(|(name, planned)| {
        let (before, after) = (before(previous, name, planned), row(planned));
        let is_decided = before.as_ref() != Some(&after) && !stays(name, planned);
        is_decided.then_some((name, after))
    });
    Digest::of_value(&decided.collect::<BTreeMap<_, _>>())
}

/// A decision in one line.
fn row(planned: &ClusterPlan) -> String {
    let state = match &planned.decision {
        Decision::Keep { .. } | Decision::Bind(_) => BOUND,
        Decision::Wait { .. } => PENDING,
        Decision::Delete { step, .. } => deleting(*step),
        Decision::Move { .. } => "Moving",
        Decision::Forget => "Gone",
    };
    let to = planned.decision.reserved().map(|to| format!(">{to}")).unwrap_or_default();
    let worker = planned.decision.worker().map_or("", Name::as_str).to_owned() + &to;
    // What is deleted steps to no other version, though its lock still says between which it was.
    let steps = !matches!(planned.decision, Decision::Delete { .. });
    let versions = planned.version.as_ref().filter(|_| steps).map(|step| step.versions.to_string());
    line(state, &worker, &planned.demand, versions)
}

const BOUND: &str = "Bound";
const PENDING: &str = "Pending";

fn deleting(step: DeletionStep) -> &'static str {
    match step {
        DeletionStep::D1 => "Deleting",
        DeletionStep::D2 => "DeletingAddOns",
        DeletionStep::Orphan => "LettingGo",
    }
}

fn line(state: &str, worker: &str, demand: &Resources, versions: Option<String>) -> String {
    let demand: Vec<_> = demand.iter().map(|(k, v)| format!("{k}={v}")).collect();
    let versions = versions.map(|versions| format!(" {versions}")).unwrap_or_default();
    format!("{state} {worker} {}{versions}", demand.join(","))
}

/// What the locks say of a cluster, in the same words; `None` for one that is new, or on the move.
fn before(previous: &Previous, name: &Name, planned: &ClusterPlan) -> Option<String> {
    let Some(worker) = planned.decision.worker() else {
        let row = previous.pending.clusters.get(name)?;
        return Some(line(PENDING, "", &row.demand, None));
    };
    let row = previous.workers.get(worker)?.clusters.get(name)?;
    let (state, versions) = match row.state {
        ClusterState::Bound => (BOUND, stepped(row)),
        ClusterState::Deleting => (deleting(row.deletion.as_ref()?.step), None),
        ClusterState::Reserved => return None,
    };
    Some(line(state, worker, &row.demand, versions))
}

fn stepped(row: &ClusterRow) -> Option<String> {
    row.versions.as_ref().map(|stepped| stepped.versions.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::{Binding, GateReason, Id, PendingLock, PendingRow, ReasonCode, WorkerLock};

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    fn index_row() -> serde_json::Value {
        json!({"tenant": "shop", "location": "westeurope", "version": "v1.34.2", "flavor": "kamaji-capz"})
    }

    fn with(mut row: serde_json::Value, more: serde_json::Value) -> serde_json::Value {
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        row
    }

    /// `a` is on `w1`, and `p` waits.
    fn previous() -> Previous {
        let digest = Digest::of(b"");
        let row: ClusterRow = serde_json::from_value(with(
            index_row(),
            json!({"state": "Bound", "facts": digest, "renderKey": digest, "demand": {"clusters": "1"}}),
        ))
        .unwrap();
        let waiting: PendingRow = serde_json::from_value(with(
            index_row(),
            json!({"seen": 1, "facts": digest, "reasons": ["Capacity"], "demand": {"clusters": "1"}}),
        ))
        .unwrap();
        let lock = WorkerLock {
            schema_version: crate::model::WORKER_LOCK_SCHEMA,
            worker: name("w1"),
            facts: digest,
            render_key: digest,
            clusters: [(name("a"), row)].into(),
            files: [("x".to_owned(), Id::EMPTY_DIR)].into(),
        };
        let clusters = [(name("p"), waiting)].into();
        let pending = PendingLock { clusters, ..PendingLock::default() };
        Previous { workers: [(name("w1"), lock)].into(), pending, ..Previous::default() }
    }

    fn planned(decision: Decision, clusters: i64) -> ClusterPlan {
        let demand = [("clusters".to_owned(), crate::model::Quantity::units(clusters))].into();
        ClusterPlan::new(decision, demand)
    }

    fn digest(decisions: Vec<(&str, ClusterPlan)>) -> Digest {
        digest_beside(&[], decisions)
    }

    fn digest_beside(gates: &[Gate], decisions: Vec<(&str, ClusterPlan)>) -> Digest {
        let clusters = decisions.into_iter().map(|(n, planned)| (name(n), planned)).collect();
        plan_digest(&Plan { clusters, ..Plan::default() }, &previous(), gates)
    }

    fn keep(worker: &str, clusters: i64) -> ClusterPlan {
        planned(Decision::Keep { worker: name(worker) }, clusters)
    }

    fn wait(reason: ReasonCode) -> ClusterPlan {
        planned(Decision::Wait { seen: 1, reasons: [reason].into() }, 1)
    }

    #[test]
    fn what_stands_already_is_no_part_of_it() {
        let nothing = digest(Vec::new());
        let stays = vec![("a", keep("w1", 1)), ("p", wait(ReasonCode::Capacity))];
        assert_eq!(digest(stays), nothing);
        assert_eq!(digest(vec![("p", wait(ReasonCode::Cordoned))]), nothing, "it waits as before");
    }

    #[test]
    fn what_a_gate_keeps_is_no_part_of_it() {
        let reason = GateReason::ForbiddenChange;
        let of = |of: &str| [Gate { name: name(of), reason, findings: Vec::new() }];
        let another = || vec![("a", keep("w1", 2))];
        let goes = || {
            vec![("a", planned(Decision::Delete { worker: name("w1"), step: DeletionStep::D1 }, 1))]
        };
        let nothing = digest(Vec::new());
        assert_eq!(digest_beside(&of("a"), another()), nothing);
        assert_eq!(digest_beside(&of("b"), another()), digest(another()), "another is kept");
        assert_eq!(digest_beside(&of("a"), goes()), digest(goes()), "it does not stay");
    }

    #[test]
    fn every_decision_anew_is_a_part_of_it() {
        let binding = |worker: &str| Binding {
            worker: name(worker),
            policy: None,
            decided_by: None,
            runner_up: None,
            group: None,
        };
        let anew = [
            ("a", keep("w1", 2)),
            ("a", planned(Decision::Delete { worker: name("w1"), step: DeletionStep::D1 }, 1)),
            ("a", planned(Decision::Forget, 1)),
            ("p", planned(Decision::Bind(binding("w1")), 1)),
            ("p", planned(Decision::Bind(binding("w2")), 1)),
            ("n", wait(ReasonCode::Capacity)),
        ];
        let digests = anew.map(|decided| digest(vec![decided]));
        let different: BTreeSet<_> = digests.iter().collect();
        assert_eq!(different.len(), digests.len());
        assert!(!different.contains(&digest(Vec::new())));
    }
}
