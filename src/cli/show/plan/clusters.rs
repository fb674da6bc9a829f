//! What a plan does to one cluster, in the words of people.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::FileCounts;
use super::deletions::progress_words;
use crate::cli::show;
use crate::model::words::words;
use crate::model::{
    Binding, ClusterPlan, ClusterState, Decision, DeletionStep, Fleet, Move, MoveProgress, Name,
    Owned, Previous, Progress, Proposal, ReasonCode, WorkerLock,
};
use crate::pipeline::Update;

/// What happens to one cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterChange {
    /// The cluster.
    pub name: Name,
    /// What happens.
    pub action: Action,
    /// Its worker before.
    pub from: Option<Name>,
    /// Its worker after.
    pub to: Option<Name>,
    /// Why, or what changes in it.
    pub why: String,
    /// What an update of its manifests does, where that is known.
    pub update: Option<Update>,
}

words! {
    /// What happens to a cluster. The order is the order of display: what cannot be undone comes first.
    pub Action:
    /// Its deletion begins.
    Delete = "delete",
    /// It goes to another worker.
    Move = "move",
    /// It gets its first worker.
    Create = "create",
    /// Its files change.
    Update = "update",
    /// No worker takes it, which is new, or for new reasons.
    Wait = "wait",
    /// Nothing is left of it, and its document is gone.
    Forget = "forget",
}

/// What happens to a cluster; `None` where nothing does.
pub(super) fn change_of(
    name: &Name,
    planned: &ClusterPlan,
    proposal: &Proposal,
    workers: &WorkersBefore<'_>,
    files: &FileCounts,
    updates: &BTreeMap<Name, Update>,
) -> Option<ClusterChange> {
    let update = updates.get(name);
    let deletion = planned.deletion.as_deref();
    let done = deletion.and_then(progress_words);
    let over = deletion.is_some_and(|d| matches!(d.progress, Progress::Ends(_)));
    let before = workers.of_cluster(name, planned);
    let moved = planned.moved.as_deref();
    // What was deleted is made anew, and moves from nowhere.
    let wanted = planned.decision != Decision::Forget;
    let from = match moved {
        Some(moved) => Some(moved.from.clone()),
        None => before.filter(|_| !(over && wanted)),
    };
    let (action, why) = match &planned.decision {
        Decision::Bind(binding) => {
            (placed(from.as_ref(), &binding.worker), why_here(binding, &proposal.fleet))
        }
        Decision::Keep { worker } if from.as_ref().is_some_and(|f| f != worker) => {
            (Action::Move, String::new())
        }
        Decision::Keep { .. } if ended(name, moved).is_some() => ended(name, moved)?,
        Decision::Move { step, .. } => match moved?.progress {
            MoveProgress::Begins => (Action::Move, moved?.words(name, *step)),
            _ if advances(moved) => (Action::Update, moved?.words(name, *step)),
            _ => (Action::Update, done?.to_owned()),
        },
        Decision::Keep { .. } if done.is_some() => {
            (Action::Update, done.unwrap_or_default().to_owned())
        }
        Decision::Keep { .. } => (Action::Update, what_is_updated(name, proposal, files, update)?),
        Decision::Wait { reasons, .. } => {
            let before = proposal.previous.pending.clusters.get(name);
            if before.is_some_and(|row| row.reasons == *reasons) {
                return None;
            }
            (Action::Wait, ReasonCode::sentence(reasons))
        }
        Decision::Delete { worker, step } => {
            if is_deleting(name, worker, proposal) {
                (Action::Update, done?.to_owned())
            } else if *step == DeletionStep::Orphan {
                (Action::Update, "its document is gone; Flux is told to leave it alone".to_owned())
            } else {
                (
                    Action::Delete,
                    format!("its document is gone; its machines go first (step {step:?})"),
                )
            }
        }
        Decision::Forget => (Action::Forget, done.unwrap_or("its document is gone").to_owned()),
    };
    let to = match action {
        Action::Delete => None,
        Action::Move if moved.is_some() => moved.map(|moved| moved.to.clone()),
        _ => planned.decision.worker().cloned(),
    };
    let update = update.filter(|_| action == Action::Update).cloned();
    Some(ClusterChange { name: name.clone(), action, from, to, why, update })
}

/// What is another in a cluster that stays where it is; `None` where nothing is.
fn what_is_updated(
    name: &Name,
    proposal: &Proposal,
    files: &FileCounts,
    update: Option<&Update>,
) -> Option<String> {
    let count = show::count(files.clusters.get(name.as_str())?.total(), "file");
    let form = files.in_form.contains(name.as_str());
    let told = update.map(Update::words).filter(|words| !words.is_empty() && !form);
    let what = if form { format!("{count}, format only") } else { told.unwrap_or(count) };
    let what = if is_set_back(name, proposal) {
        format!("it was edited by hand and is set back: {what}")
    } else {
        what
    };
    let step = proposal.plan.version(name);
    Some(step.map_or_else(|| what.clone(), |step| format!("{}; {what}", step.words())))
}

/// Whether somebody edited a cluster's folder on the output branch. Where the edit stays nothing of it changes.
fn is_set_back(name: &Name, proposal: &Proposal) -> bool {
    let of = |of: &Owned| matches!(of, Owned::Cluster(edited) if edited == name);
    proposal.survey.drifted.iter().any(|drifted| of(&drifted.of))
}

/// What is said of a move that ends in this run.
fn ended(name: &Name, moved: Option<&Move>) -> Option<(Action, String)> {
    let action = match moved?.progress {
        MoveProgress::CalledOff => Action::Update,
        MoveProgress::Arrives => Action::Move,
        MoveProgress::Begins | MoveProgress::Leaves | MoveProgress::Starts => return None,
    };
    Some((action, moved?.words(name, None)))
}

/// Whether a hand-over takes its next step in this run.
fn advances(moved: Option<&Move>) -> bool {
    moved.is_some_and(Move::advances)
}

/// The workers whose locks list the clusters before this plan.
pub(super) struct WorkersBefore<'a> {
    locks: &'a BTreeMap<Name, WorkerLock>,
    /// The worker of every cluster, once it is asked for one that is not where it is going to be.
    all: OnceCell<BTreeMap<&'a Name, &'a Name>>,
}

impl<'a> WorkersBefore<'a> {
    pub(super) fn new(previous: &'a Previous) -> Self {
        Self { locks: &previous.workers, all: OnceCell::new() }
    }

    /// The worker whose lock lists a cluster. Most are where they were, so that one is asked first.
    fn of_cluster(&self, name: &Name, planned: &ClusterPlan) -> Option<Name> {
        let worker = planned.decision.worker();
        let lists = |worker: &&Name| {
            self.locks.get(*worker).is_some_and(|lock| lock.clusters.contains_key(name))
        };
        worker.filter(lists).or_else(|| self.all().get(name).copied()).cloned()
    }

    /// Where two locks list a cluster, which happens while it moves, the first one's worker.
    fn all(&self) -> &BTreeMap<&'a Name, &'a Name> {
        self.all.get_or_init(|| {
            let listed = self.locks.iter().rev().flat_map(|(worker, lock)| {
                lock.clusters.keys().map(move |cluster| (cluster, worker))
            });
            listed.collect()
        })
    }
}

fn is_deleting(name: &Name, worker: &Name, proposal: &Proposal) -> bool {
    let lock = proposal.previous.workers.get(worker);
    let row = lock.and_then(|l| l.clusters.get(name));
    row.is_some_and(|r| r.state == ClusterState::Deleting)
}

fn placed(from: Option<&Name>, to: &Name) -> Action {
    if from.is_some_and(|f| f != to) { Action::Move } else { Action::Create }
}

/// Why a cluster goes where it goes.
#[must_use]
pub fn why_here(binding: &Binding, fleet: &Fleet) -> String {
    let mut why = match (&binding.runner_up, binding.decided_by) {
        (Some(second), Some(term)) => format!("before {second} by {term}"),
        _ => "the only worker that fits".to_owned(),
    };
    // Where none of the fleet's own policies applies there is nothing to tell.
    let built_in = |name: &&Name| fleet.policies.get(*name).is_some_and(|p| p.file.is_none());
    if let Some(policy) = binding.policy.as_ref().filter(|name| !built_in(name)) {
        let _ = write!(why, "; policy {policy}");
    }
    why
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Resources;

    #[test]
    fn a_cluster_that_two_locks_list_was_where_it_stays_or_else_on_the_first() {
        let name = |text: &str| Name::parse(text).unwrap();
        let mut previous = super::super::sample::proposal().previous;
        let lock = previous.workers[&name("w1")].clone();
        previous.workers.insert(name("w0"), lock);
        let workers = WorkersBefore::new(&previous);
        let before = |cluster: &str, decision| {
            workers.of_cluster(&name(cluster), &ClusterPlan::new(decision, Resources::new()))
        };
        let waits = || Decision::Wait { seen: 1, reasons: [ReasonCode::Capacity].into() };
        assert_eq!(before("pay", Decision::Keep { worker: name("w1") }), Some(name("w1")));
        assert_eq!(before("pay", Decision::Keep { worker: name("w2") }), Some(name("w0")));
        assert_eq!(before("pay", waits()), Some(name("w0")));
        assert_eq!(before("shop", waits()), None);
    }
}
