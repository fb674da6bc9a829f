//! A what-if as JSON (`docs/formats.md`, "Simulate JSON").

use serde_json::{Value, json};

use super::super::findings::findings_value;
use super::super::plan::{hold_value, stays_value};
use super::{ClusterStanding, Left, SimulateView, rebalance};
use crate::model::{Hold, Quantity};

/// The version of the format.
pub const SIMULATE_SCHEMA: u32 = 1;

/// What would be otherwise, with a final newline.
#[must_use]
pub fn json(view: &SimulateView<'_>) -> String {
    format!("{:#}\n", value(view))
}

fn value(view: &SimulateView<'_>) -> Value {
    let holds = |holds: Vec<Hold>| holds.iter().map(hold_value).collect::<Value>();
    let waiting = |(name, summary): &(_, String)| json!({"name": name, "summary": summary});
    json!({
        "schemaVersion": SIMULATE_SCHEMA,
        "fleet": view.before.fleet.name,
        "changes": view.changes,
        "later": view.later,
        "same": view.is_the_same(),
        "stopped": view.after.stopped,
        "tree": view.after.tree,
        "treeBefore": view.before.tree,
        "added": view.added.iter().map(|(what, names)| json!({"what": what, "names": names})).collect::<Value>(),
        "clusters": clusters(view),
        "workers": workers(view),
        "waiting": view.summaries.iter().map(waiting).collect::<Value>(),
        "stays": stays_value(view.stays().iter()),
        "left": view.left.iter().map(left).collect::<Value>(),
        "holds": holds(view.holds()),
        "noLongerHeld": holds(view.let_through()),
        "gates": view.gates().iter()
            .map(|gate| json!({"name": gate.name, "reason": gate.reason.name()}))
            .collect::<Value>(),
        "findings": findings_value(view.findings),
        "runway": view.runway,
        "rebalance": view.request.map(rebalance::value),
    })
}

fn left(left: &Left) -> Value {
    let failover = left.failover.as_ref();
    let failover = failover.map(|(policy, from)| json!({"policy": policy, "from": from}));
    json!({"worker": left.worker, "clusters": left.clusters, "failover": failover})
}

fn clusters(view: &SimulateView<'_>) -> Value {
    let rows = view.clusters().into_iter().map(|cluster| {
        json!({
            "name": cluster.name,
            "before": standing(&cluster.before),
            "after": standing(&cluster.after),
            "why": cluster.why,
        })
    });
    rows.collect()
}

fn standing(standing: &ClusterStanding) -> Value {
    let mut value = json!({"state": standing.name(), "worker": standing.worker()});
    if let ClusterStanding::Waits(reasons) = standing {
        value["reasons"] = json!(reasons);
    }
    if let ClusterStanding::Moving { to, .. } = standing {
        value["to"] = json!(to);
    }
    value
}

fn workers(view: &SimulateView<'_>) -> Value {
    let amounts = |of: Option<(u64, Option<Quantity>)>| {
        of.map(|(clusters, capacity)| json!({"clusters": clusters, "capacity": capacity}))
    };
    let rows = view.workers().into_iter().map(
        |worker| json!({"name": worker.name, "before": amounts(worker.before), "after": amounts(worker.after)}),
    );
    rows.collect()
}
