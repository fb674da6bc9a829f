//! Explanations, as commands show them.

use std::fmt::Write as _;

use super::super::show::plan::{gate_words, hold_words};
use super::super::show::{
    ExplainRow, ExplainView, LostView, PoolRow, ReasonView, RemedyView, progress_words,
    waiting_words,
};
use super::super::{Error, ObjectKind, ObjectRef};
use super::data_stores;
use super::open::FleetLook;
use super::overrides;
use super::policy::{self, origin};
use super::pool;
use super::unknown::unknown;
use super::{wanted, zones};
use crate::model::api::{AffinityGroup, Failback, Strategy};
use crate::model::{
    Decision, Deletion, DeletionStep, Fleet, Name, Pending, Progress, Quantity, Rank, Resources,
    Worker, WorkerState, amount,
};
use crate::plan::{self, Explanation, PlanInput, PoolVerdict, WorkerExplanation, WorkerVerdict};
use crate::render;

/// Explains a cluster, a worker, a pool or a policy, with what people should know of the look; `None` where that takes a
/// look at everything, and this is none.
pub(super) fn explain(look: &FleetLook, object: &ObjectRef) -> Result<Option<ExplainView>, Error> {
    let warnings = look.opened.source.notes.clone();
    Ok(of(look, object)?.map(|view| ExplainView { warnings, ..view }))
}

fn of(look: &FleetLook, object: &ObjectRef) -> Result<Option<ExplainView>, Error> {
    let proposal = &look.opened.proposal;
    let input = PlanInput::of(proposal);
    let name = &object.name;
    let asked = |kind| object.kind.is_none_or(|k| k == kind);
    if asked(ObjectKind::Cluster)
        && let Some((explanation, remedies)) =
            plan::explain_with_remedies(&input, &proposal.ahead, name)
    {
        let Some(remedies) = remedies else { return Ok(None) };
        let remedies = remedies.list.iter().map(remedy).collect();
        let overrides = match explanation.planned.decision.worker() {
            Some(worker) => overrides::of(look, name, worker)?,
            None => Vec::new(),
        };
        return Ok(Some(ExplainView { overrides, remedies, ..cluster(look, &explanation) }));
    }
    if asked(ObjectKind::Worker)
        && let Some(explanation) = plan::explain_worker(&input, name)
    {
        let overrides = overrides::of_worker(look, name)?;
        return Ok(Some(ExplainView { overrides, ..worker(look, &explanation) }));
    }
    if asked(ObjectKind::Policy)
        && let Some(explanation) = plan::explain_policy(&input, name)
        && let Some(policy) = proposal.fleet.policies.get(name)
    {
        return Ok(Some(policy::view(policy, &explanation)));
    }
    if asked(ObjectKind::Pool)
        && let Some(explanation) = plan::explain_pool(&input, name)
        && let Some(desired) = proposal.fleet.pools.get(name)
    {
        return Ok(Some(pool::view(desired, &explanation)));
    }
    Err(unknown(&look.opened.proposal, object.kind, name))
}

fn cluster(look: &FleetLook, explanation: &Explanation) -> ExplainView {
    let groups = groups(look, explanation);
    let rows = explanation.workers.iter().map(|(worker, verdict)| match verdict {
        WorkerVerdict::Fits(rank) => {
            (Some(rank), ExplainRow { terms: terms(rank, groups), ..row(worker, &[]) })
        }
        WorkerVerdict::Refused(reasons) => (None, row(worker, reasons)),
    });
    let mut rows: Vec<(Option<&Rank>, ExplainRow)> = rows.collect();
    rows.sort_by(|(a, x), (b, y)| match (a, b) {
        (Some(a), Some(b)) => a.compare(b).0,
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (None, None) => x.worker.cmp(&y.worker),
    });
    let waits = matches!(explanation.planned.decision, Decision::Wait { .. });
    ExplainView {
        object: format!("cluster/{}", explanation.cluster),
        state: cluster_state(look, explanation),
        summary: explanation.summary.clone().filter(|_| waits),
        policy: explanation
            .policy
            .as_ref()
            .and_then(|name| look.opened.proposal.fleet.policies.get(name))
            .map(origin),
        data_store: data_stores::of_cluster(look, explanation),
        lost_policies: explanation
            .lost
            .iter()
            .map(|loss| LostView { policy: loss.policy.to_string(), because: loss.to.to_string() })
            .collect(),
        rows: rows.into_iter().map(|(_, row)| row).collect(),
        pools: explanation.pools.iter().map(makes_none).collect(),
        on: match &explanation.planned.decision {
            Decision::Keep { worker } => Some(worker.to_string()),
            _ => None,
        },
        winner: explanation.winner.as_ref().map(ToString::to_string),
        runner_up: explanation.runner_up.as_ref().map(ToString::to_string),
        decided_by: explanation.decided_by.map(|term| term.to_string()),
        margin: explanation.margin.clone(),
        notes: cluster_notes(look, explanation),
        ..ExplainView::default()
    }
}

fn makes_none((pool, because): (&Name, &PoolVerdict)) -> PoolRow {
    PoolRow { pool: pool.to_string(), because: because.to_string() }
}

fn row(worker: &Name, reasons: &[crate::model::Reason]) -> ExplainRow {
    ExplainRow {
        worker: worker.to_string(),
        refused: reasons
            .iter()
            .map(|reason| ReasonView {
                reason: format!("{:?}", reason.code()),
                message: reason.to_string(),
            })
            .collect(),
        terms: Vec::new(),
    }
}

/// The groups of the policy that applies, in the order in which they are tried.
fn groups<'a>(look: &'a FleetLook, explanation: &Explanation) -> &'a [AffinityGroup] {
    let policies = &look.opened.proposal.fleet.policies;
    let policy = explanation.policy.as_ref().and_then(|name| policies.get(name));
    policy.and_then(|policy| policy.spec.affinity.as_ref()).map_or(&[], |all| &all.groups)
}

/// That a placed cluster is not placed by groups before its own: the table says nothing of them.
fn later_group(look: &FleetLook, explanation: &Explanation) -> Option<String> {
    let Decision::Keep { worker } = &explanation.planned.decision else { return None };
    let policies = &look.opened.proposal.fleet.policies;
    let policy = policies.get(explanation.policy.as_ref()?)?;
    let affinity = policy.spec.affinity.as_ref()?;
    let row =
        look.opened.proposal.previous.workers.get(worker)?.clusters.get(&explanation.cluster)?;
    let own = row.group.as_ref()?;
    let later = affinity.groups.iter().position(|group| group.name == *own).filter(|at| *at > 0);
    (later.is_some() && affinity.failback == Failback::Never).then(|| {
        format!(
            "it is in the group {own}; groups before that are not tried again (`failback: Never`)"
        )
    })
}

fn terms(rank: &Rank, groups: &[AffinityGroup]) -> Vec<(String, String)> {
    let named = |at: usize| match groups.get(at) {
        Some(group) => format!("{} ({})", at + 1, group.name),
        None => (at + 1).to_string(),
    };
    let group = rank.group.map(|at| ("group".to_owned(), named(at)));
    let used = match rank.strategy {
        Strategy::Spread => "share used",
        Strategy::BinPack => "share used (packs)",
    };
    group.into_iter().chain(terms_of_all(rank, used)).collect()
}

/// The terms that every policy has.
fn terms_of_all(rank: &Rank, share_used: &str) -> [(String, String); 5] {
    let (used, of) = rank.share;
    let share = if of > 0 { format!("{}%", used.saturating_mul(100) / of) } else { "-".to_owned() };
    [
        ("soft", rank.soft_violations.to_string()),
        ("preferred", rank.own_preferred().to_string()),
        ("distance", rank.distance.to_string()),
        (share_used, share),
        ("clusters", rank.clusters.to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
}

/// What became of a cluster, with what its deletion waits for where it is being deleted.
fn cluster_state(look: &FleetLook, explanation: &Explanation) -> String {
    let deletion = look.opened.proposal.plan.deletion(&explanation.cluster);
    match (&explanation.planned.decision, deletion) {
        (Decision::Delete { .. }, Some(deletion)) => {
            format!("being deleted: {}", waiting_words(deletion))
        }
        (Decision::Move { step, .. }, deletion) => move_words(look, explanation, *step, deletion),
        (_, Some(deletion)) => match progress_words(deletion) {
            Some(words) => words.to_owned(),
            None => state(look, explanation),
        },
        (_, None) => state(look, explanation),
    }
}

/// Where a cluster goes, and what the next step waits for.
fn move_words(
    look: &FleetLook,
    explanation: &Explanation,
    step: Option<DeletionStep>,
    deletion: Option<&Deletion>,
) -> String {
    let moved = look.opened.proposal.plan.moved(&explanation.cluster);
    let words = moved.map(|moved| moved.words(&explanation.cluster, step)).unwrap_or_default();
    let waits = deletion.filter(|d| d.progress == Progress::Waits).map(waiting_words);
    format!("{words}{}", waits.map(|waits| format!(" ({waits})")).unwrap_or_default())
}

fn state(look: &FleetLook, explanation: &Explanation) -> String {
    match &explanation.planned.decision {
        Decision::Keep { worker } => format!("bound to {worker}, and stays there"),
        Decision::Bind(binding) => format!("goes to {}", binding.worker),
        Decision::Wait { .. } => {
            let place = plan::place_in_queue(&look.opened.proposal, &explanation.cluster);
            let place = place.map(|(at, of)| format!(", number {at} of {of} in the queue"));
            format!("pending{}", place.unwrap_or_default())
        }
        Decision::Delete { worker, step } => {
            format!("being deleted on {worker} ({step:?}); the next step waits for evidence")
        }
        Decision::Move { from, binding, .. } => format!("leaves {from} for {}", binding.worker),
        Decision::Forget => "was pending, and its document is gone".to_owned(),
    }
}

fn remedy(remedy: &plan::Remedy) -> RemedyView {
    RemedyView {
        worker: remedy.worker.to_string(),
        changes: remedy.fixes.iter().map(ToString::to_string).collect(),
        after: remedy.after.iter().map(ToString::to_string).collect(),
    }
}

fn cluster_notes(look: &FleetLook, explanation: &Explanation) -> Vec<String> {
    let proposal = &look.opened.proposal;
    let mut notes = Vec::new();
    if let Some(wanted) = &explanation.planned.resize_blocked {
        let now = amounts(&explanation.planned.demand);
        notes.push(format!("it wants {} and keeps {now}: ResizeBlocked", amounts(wanted)));
    }
    let there = explanation.planned.decision.worker().and_then(|w| proposal.plan.workers.get(w));
    if there.is_some_and(|worker| worker.pending.is_some()) {
        notes.push("its worker is being made; it is rendered once that is running".to_owned());
    }
    let planned = proposal.plan.clusters.get(&explanation.cluster);
    if let Some(moved) = planned.and_then(|planned| planned.moved.as_ref())
        && !matches!(explanation.planned.decision, Decision::Move { .. })
    {
        notes.push(moved.words(&explanation.cluster, None));
    }
    if let Some(stay) = planned.and_then(|planned| planned.stay.as_ref()) {
        let (code, why) = (stay.blocker.name(), &stay.blocker);
        notes.push(format!("{} {}; it stays: {why} ({code})", stay.worker, stay.cause.words()));
    }
    if let Some(planned) = planned.filter(|planned| !planned.violations.is_empty()) {
        let reasons: Vec<_> = planned.violations.iter().map(ToString::to_string).collect();
        let why = reasons.join("; ");
        notes.push(format!("its policy would not place it there now: {why} (PlacementViolated)"));
    }
    notes.extend(later_group(look, explanation));
    notes.extend(data_stores::change(look, explanation));
    let step = planned.and_then(|planned| planned.version.as_ref());
    notes.extend(step.map(|step| format!("{}; {}", step.words(), step.waits_words())));
    let own = proposal.gates.iter().filter(|gate| gate.name == explanation.cluster);
    notes.extend(own.map(|gate| format!("{} ({})", gate_words(gate.reason), gate.reason.name())));
    let holds = proposal.plan.holds.iter();
    let held = holds.filter(|hold| hold.names.iter().any(|n| *n == *explanation.cluster));
    notes.extend(
        held.map(|hold| {
            format!("held by a guard: {} ({})", hold_words(hold).what, hold.kind.name())
        }),
    );
    notes
}

fn amounts(resources: &Resources) -> String {
    let each: Vec<_> = resources.iter().map(|(name, of)| amount(*of, name)).collect();
    each.join(", ")
}

fn worker(look: &FleetLook, explanation: &WorkerExplanation) -> ExplainView {
    let fleet = &look.opened.proposal.fleet;
    let desired = fleet.workers.get(&explanation.worker);
    let hands = desired.map(|worker| wanted::hands(look, worker));
    let worker_name = &explanation.worker;
    let mut notes = vec![capacity_line(explanation)];
    if !explanation.clusters.is_empty() {
        let names: Vec<_> = explanation.clusters.iter().map(Name::as_str).collect();
        notes.push(format!("clusters: {}", names.join(", ")));
    }
    if !explanation.closed.is_empty() {
        let why: Vec<_> = explanation.closed.iter().map(ToString::to_string).collect();
        notes.push(format!("takes nothing new: {}", why.join("; ")));
    }
    if !explanation.taints.is_empty() {
        let taints: Vec<_> = explanation.taints.iter().map(ToString::to_string).collect();
        notes.push(format!("takes only what tolerates {}", taints.join(", ")));
    }
    notes.extend(desired.and_then(|worker| worker.made_by.as_ref()).map(|made| {
        let pending = match explanation.plan.pending {
            None => "",
            Some(Pending::Awaited) => "; it is not running yet, and the clusters here wait for it",
            Some(Pending::Overdue) => {
                "; it is not running in time, and nothing waits for it any more"
            }
        };
        format!("made by the pool {}{pending}", made.pool)
    }));
    notes.extend(desired.and_then(|worker| no_agent(fleet, worker)));
    notes.extend(desired.and_then(zones::note));
    let deletion = look.opened.proposal.plan.retirements.get(&explanation.worker);
    notes.extend(deletion.map(|deletion| {
        let done = progress_words(deletion).map(str::to_owned);
        done.unwrap_or_else(|| format!("its own deletion: {}", waiting_words(deletion)))
    }));
    let (secrets, commands) = hands.map(|all| (all.secrets, all.notes)).unwrap_or_default();
    notes.extend(commands);
    ExplainView {
        object: format!("worker/{}", explanation.worker),
        state: worker_state(explanation.plan.state).to_owned(),
        data_stores: data_stores::of_worker(look, worker_name),
        secrets,
        notes,
        ..ExplainView::default()
    }
}

/// That people run the worker's agent, where carp cannot.
fn no_agent(fleet: &Fleet, worker: &Worker) -> Option<String> {
    let missing = render::agent_missing(fleet, worker)?;
    let name = &worker.name;
    Some(format!(
        "nobody reports of it: carp installs no agent there, for carp.yaml does not say {missing}; write \
         that, or run `carp agent --worker {name}` there yourself"
    ))
}

fn worker_state(state: WorkerState) -> &'static str {
    match state {
        WorkerState::Desired => "desired",
        WorkerState::NotLoaded => "its document did not load; what is on it stays",
        WorkerState::RemovedInUse => "its document is gone and clusters are on it",
        WorkerState::Kept => "its folder was edited by hand or is in the way of others, and stays",
        WorkerState::Retiring => "its document is gone; its own cluster is being deleted",
    }
}

fn capacity_line(explanation: &WorkerExplanation) -> String {
    let plan = &explanation.plan;
    let mut line = String::from("capacity:");
    let of = |map: &Resources, key: &str| map.get(key).copied().unwrap_or(Quantity::ZERO);
    for (resource, capacity) in &plan.capacity {
        let free = explanation.free.get(resource).copied().unwrap_or(Quantity::ZERO);
        let _ = write!(
            line,
            " {resource} {} of {capacity} used, {} reserved, {free} free",
            of(&plan.allocated, resource),
            of(&plan.reserved, resource)
        );
        if let Some(ceiling) = plan.ceiling.get(resource) {
            let _ = write!(line, ", grows to {ceiling}");
        }
        line.push(';');
    }
    line.trim_end_matches(';').to_owned()
}
