//! A plan as JSON (`docs/formats.md`, "plan JSON").

use serde_json::{Value, json};

use super::super::findings::{SeverityTally, findings_value};
use super::{Action, ChangeGroup, ClusterChange, FileCount, PlanView, certificate, form};
use crate::change::with_lines;
use crate::model::{
    ClusterPlan, Decision, Drifted, Gate, Hold, Move, Name, PoolPlan, Reason, Stay, Transfer,
    TransferStep, TransferWait, WorkerPlan, WorkerState,
};
use crate::pipeline::update_lines;

/// The version of the format.
pub const PLAN_SCHEMA: u32 = 1;

/// The document that `plan --output json` prints, with a final newline.
#[must_use]
pub fn json(view: &PlanView<'_>) -> String {
    format!("{:#}\n", value(view))
}

fn value(view: &PlanView<'_>) -> Value {
    let proposal = view.proposal;
    let (deletions, stuck) = super::deletions::json(&proposal.plan);
    let (overcommitted, quotas) = super::limits::json(view);
    let lines = update_lines(&view.updates());
    let tally = SeverityTally::of(view.findings.iter().map(|f| f.severity));
    json!({
        "schemaVersion": PLAN_SCHEMA,
        "fleet": view.fleet(),
        "source": view.label,
        "prefix": view.prefix,
        "tree": proposal.tree,
        "base": proposal.base,
        "statusTree": proposal.status_tree,
        "hasChanges": proposal.has_changes(),
        "stopped": proposal.stopped,
        "validUntil": proposal.valid_until,
        "counts": counts(view),
        "clusters": proposal.plan.clusters.iter().map(|(n, p)| cluster(n, p, view)).collect::<Value>(),
        "workers": proposal.plan.workers.iter().map(|(n, p)| worker(n, p, view)).collect::<Value>(),
        "workerPools": proposal.plan.pools.iter().map(|(n, p)| pool(n, p)).collect::<Value>(),
        "deletions": deletions,
        "stuck": stuck,
        "moves": moves(view),
        "certificate": certificate::json(view),
        "spent": super::spent::json(view),
        "stays": stays(view.proposal.plan.stays()),
        "violations": violations(view),
        "overcommitted": overcommitted,
        "quotas": quotas,
        "groups": view.groups.iter().map(group).collect::<Value>(),
        "holds": proposal.plan.holds.iter().map(hold).collect::<Value>(),
        "gates": proposal.gates.iter().map(gate).collect::<Value>(),
        "changes": changes(view),
        "formatOnly": form::value(view),
        "drift": proposal.survey.drifted.iter().map(|d| drifted(d, view)).collect::<Value>(),
        "foreign": proposal.survey.foreign,
        "findings": findings_value(view.findings),
        "summary": {"errors": tally.errors, "warnings": tally.warnings, "notes": tally.notes},
        "work": {
            "blobsParsed": proposal.work.blobs_parsed,
            "clustersPlanned": proposal.work.clusters_planned,
            "workersCounted": proposal.work.workers_counted,
            "clustersRendered": proposal.work.clusters_rendered,
            "objectsWritten": proposal.work.objects_written,
        },
        "message": with_lines(&proposal.message, &lines, 0),
        "against": super::against::value(view.against),
        "warnings": view.warnings,
    })
}

fn group(group: &ChangeGroup) -> Value {
    json!({
        "action": group.action.name(),
        "count": group.clusters.len(),
        "from": group.from,
        "to": group.to,
        "why": group.why,
    })
}

fn pool(name: &Name, plan: &PoolPlan) -> Value {
    json!({"name": name, "made": plan.made, "spare": plan.spare})
}

fn counts(view: &PlanView<'_>) -> Value {
    let mut counts: serde_json::Map<String, Value> =
        Action::ALL.iter().map(|a| (a.name().to_owned(), json!(view.count(*a)))).collect();
    counts.insert("waiting".to_owned(), json!(view.waiting));
    counts.insert("held".to_owned(), json!(view.held()));
    counts.insert("nodes".to_owned(), json!(view.nodes()));
    counts.insert("files".to_owned(), json!(view.files.total()));
    Value::Object(counts)
}

fn drifted(drifted: &Drifted, view: &PlanView<'_>) -> Value {
    json!({
        "path": drifted.path,
        "edit": drifted.edit.to_string(),
        "of": drifted.of.name(),
        "setBack": view.sets_back(),
    })
}

fn cluster(name: &Name, planned: &ClusterPlan, view: &PlanView<'_>) -> Value {
    let change: Option<&ClusterChange> = view.clusters.iter().find(|c| c.name == *name);
    json!({
        "name": name,
        "action": change.map(|c| c.action.name()),
        "from": change.and_then(|c| c.from.as_ref()),
        "why": change.map(|c| &c.why),
        "update": change.and_then(|c| c.update.as_ref()).map(|update| json!({
            "fields": update.fields,
            "replaced": update.replaced.iter()
                .map(|(pool, machines)| json!({"pool": pool, "machines": machines}))
                .collect::<Value>(),
            "controlPlaneRestarts": update.control_plane,
            "nodes": update.nodes,
            "objects": update.objects,
        })),
        "decision": decision(&planned.decision),
        "demand": planned.demand,
        "resizeBlocked": planned.resize_blocked,
        "versionStep": planned.version.as_ref().map(|step| json!({
            "controlPlane": step.versions.control_plane,
            "pools": step.versions.pools,
            "desired": step.desired,
            "waits": step.waits.name(),
        })),
    })
}

fn decision(decision: &Decision) -> Value {
    match decision {
        Decision::Keep { worker } => json!({"kind": "Keep", "worker": worker}),
        Decision::Bind(binding) => json!({
            "kind": "Bind",
            "worker": binding.worker,
            "policy": binding.policy,
            "decidedBy": binding.decided_by,
            "runnerUp": binding.runner_up,
        }),
        Decision::Wait { seen, reasons } => {
            json!({"kind": "Wait", "seen": seen, "reasons": reasons})
        }
        Decision::Delete { worker, step } => {
            json!({"kind": "Delete", "worker": worker, "step": step})
        }
        Decision::Move { from, step, binding } => {
            json!({"kind": "Move", "worker": from, "to": binding.worker, "step": step})
        }
        Decision::Forget => json!({"kind": "Forget"}),
    }
}

fn worker(name: &Name, plan: &WorkerPlan, view: &PlanView<'_>) -> Value {
    let change = view.workers.iter().find(|w| w.name == *name);
    let state = match plan.state {
        WorkerState::Desired => "Desired",
        WorkerState::NotLoaded => "NotLoaded",
        WorkerState::RemovedInUse => "RemovedInUse",
        WorkerState::Retiring => "Retiring",
        WorkerState::Kept => "Kept",
    };
    let FileCount { create, update, delete } = change.map(|w| w.files).unwrap_or_default();
    json!({
        "name": name,
        "state": state,
        "clustersBefore": change.map_or(plan.clusters, |w| w.before),
        "clusters": plan.clusters,
        "capacity": plan.capacity,
        "reserved": plan.reserved,
        "ceiling": plan.ceiling,
        "allocated": plan.allocated,
        "files": {"create": create, "update": update, "delete": delete},
    })
}

fn moves(view: &PlanView<'_>) -> Value {
    let moved = |(name, moved): (&Name, &Move)| {
        let mut value = json!({
            "name": name,
            "from": moved.from,
            "to": moved.to,
            "cause": moved.cause,
            "progress": moved.progress.name(),
        });
        if let Some(transfer) = &moved.transfer {
            let command = Transfer::command(name, &moved.from, &moved.to);
            let command = (transfer.row.step == TransferStep::HandOver).then_some(command);
            value["transfer"] = json!({
                "step": transfer.row.step.name(),
                "waits": transfer.waits.map(TransferWait::name),
                "command": command,
            });
        }
        value
    };
    view.proposal.plan.moves().map(moved).collect()
}

/// The clusters that something names and that do not move.
pub(in crate::cli::show) fn stays<'a>(all: impl Iterator<Item = (&'a Name, &'a Stay)>) -> Value {
    let stay = |(name, stay): (&Name, &Stay)| {
        json!({
            "name": name,
            "worker": stay.worker,
            "cause": stay.cause,
            "blocker": stay.blocker.name(),
            "why": stay.blocker.to_string(),
        })
    };
    all.map(stay).collect()
}

fn violations(view: &PlanView<'_>) -> Value {
    let violated = |(name, reasons): (&Name, &[Reason])| {
        let codes: Vec<_> = reasons.iter().map(Reason::code).collect();
        json!({"name": name, "reasons": codes})
    };
    view.proposal.plan.violations().map(violated).collect()
}

/// What a guard held.
pub(in crate::cli::show) fn hold(hold: &Hold) -> Value {
    json!({
        "kind": hold.kind.name(),
        "names": hold.names,
        "allowed": hold.allowed,
        "acknowledgedBy": hold.kind.acknowledged_by(),
        "digest": hold.digest(),
    })
}

fn gate(gate: &Gate) -> Value {
    let findings = gate.findings.iter();
    json!({
        "name": gate.name,
        "reason": gate.reason.name(),
        "findings": findings.map(|f| json!({"code": f.code.name(), "message": f.message})).collect::<Value>(),
    })
}

fn changes(view: &PlanView<'_>) -> Value {
    let changes = view.proposal.changes.iter();
    changes
        .map(|c| {
            let kind = match c.kind {
                crate::model::ChangeKind::Create => "create",
                crate::model::ChangeKind::Update => "update",
                crate::model::ChangeKind::Delete => "delete",
            };
            json!({"path": c.path, "kind": kind, "before": c.before, "after": c.after})
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::{PlanView, sample};
    use super::*;

    fn keys(value: &Value, into: &mut std::collections::BTreeSet<String>) {
        match value {
            Value::Object(map) => {
                into.extend(map.keys().cloned());
                // The keys of amounts are names of resources.
                let amounts =
                    ["demand", "capacity", "ceiling", "reserved", "allocated", "resizeBlocked"];
                map.iter()
                    .filter(|(key, _)| !amounts.contains(&key.as_str()))
                    .for_each(|(_, value)| keys(value, into));
            }
            Value::Array(items) => items.iter().for_each(|item| keys(item, into)),
            _ => {}
        }
    }

    #[test]
    fn every_field_has_its_rule_in_the_documentation() {
        let page = include_str!("../../../../docs/formats.md");
        let start = page.find("\n## Plan JSON").unwrap();
        let proposal = sample::proposal();
        let mut all = std::collections::BTreeSet::new();
        keys(&value(&PlanView::of(&proposal, "x", "", &[])), &mut all);
        for key in all {
            assert!(page[start..].contains(&format!("`{key}`")), "no rule for `{key}`");
        }
    }

    #[test]
    fn the_json_says_everything() {
        let proposal = sample::proposal();
        let view = PlanView::of(&proposal, "fleet-repo-example", "eu", &[]);
        insta::assert_snapshot!(json(&view));
    }
}
