//! The certificate: what people wrote that forced each deletion and each move to begin.
//!
//! Which document that is follows from the plan and the fleet. Which line it is, and which commit wrote it, stands in
//! the history, and whoever has that finds it.

use std::collections::BTreeMap;
use std::fmt;

use crate::diag::{FieldPath, Place};
use crate::model::api::AcknowledgementKind;
use crate::model::{Ending, Fleet, Id, Move, MoveCause, MoveProgress, Name, Plan, Progress};

/// What forced a deletion or a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forced {
    /// A document that is there, or a field of it.
    Written(Place),
    /// A document that is not there any more.
    Removed {
        /// Its kind.
        kind: &'static str,
    },
}

/// What forced a deletion or a move, with where that stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certified {
    /// The cluster or worker.
    pub name: Name,
    /// The file, in the repository.
    pub file: String,
    /// The line in it, from 1: where it stands, or stood.
    pub line: u32,
    /// Whether it was removed.
    pub removed: bool,
    /// The commit that wrote or removed it; `None`: it is not committed yet, or too long ago.
    pub commit: Option<Id>,
    /// What the file is called since it was removed, where it was renamed to what carp does not read.
    pub renamed: Option<String>,
}

impl fmt::Display for Certified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}:{}{}", self.name, self.file, self.line, self.change_words())
    }
}

impl Certified {
    /// What was done there and by which commit: `, removed in 19a47543`.
    #[must_use]
    pub fn change_words(&self) -> String {
        let done = match (&self.renamed, self.removed, self.commit) {
            (Some(to), ..) => format!(", renamed to {to}, which is not read"),
            (None, true, _) => ", removed".to_owned(),
            (None, false, Some(_)) => ", written".to_owned(),
            (None, false, None) => String::new(),
        };
        let by = self.commit.map(|commit| format!(" in {}", commit.short()));
        done + &by.unwrap_or_default()
    }
}

/// What forced each deletion and each move that begins in this plan. What only reports and time forced has nothing
/// here but its policy.
#[must_use]
pub fn forced(plan: &Plan, fleet: &Fleet) -> BTreeMap<Name, Forced> {
    let mut all = BTreeMap::new();
    for (name, deletion) in plan.deletions() {
        let forced = match deletion.progress {
            Progress::Begins if plan.clusters.contains_key(name) => {
                // What is left behind of a cluster that was handed over nobody removed.
                let moved = plan.moved(name).is_some_and(|moved| moved.transfer.is_some());
                let is_there = fleet.clusters.contains_key(name);
                (!is_there && !moved).then_some(Forced::Removed { kind: "ManagedCluster" })
            }
            Progress::Begins => Some(retired(plan, fleet, name)),
            Progress::Ends(Ending::Abandoned) => {
                acknowledged(fleet, AcknowledgementKind::Abandon).map(Forced::Written)
            }
            _ => None,
        };
        all.extend(forced.map(|forced| (name.clone(), forced)));
    }
    for (name, moved) in plan.moves().filter(|(_, m)| m.progress == MoveProgress::Begins) {
        all.remove(name);
        all.extend(
            moved_by(plan, fleet, name, moved).map(|at| (name.clone(), Forced::Written(at))),
        );
    }
    all
}

/// A worker goes because its pool gives it up, or because its document is gone.
fn retired(plan: &Plan, fleet: &Fleet, worker: &Name) -> Forced {
    let gives_up = plan.pools.iter().find(|(_, pool)| pool.spare.contains(worker));
    let pool = gives_up.and_then(|(pool, _)| fleet.pools.get(pool));
    match pool {
        Some(pool) => Forced::Written(document(&pool.file, pool.document)),
        None => Forced::Removed { kind: "Worker" },
    }
}

fn moved_by(plan: &Plan, fleet: &Fleet, name: &Name, moved: &Move) -> Option<Place> {
    let overlay = fleet.overlays.get(&moved.from);
    let worker = fleet.workers.get(&moved.from);
    let of_worker =
        |field: &str| worker.map(|worker| Place::field(&worker.file, worker.document, spec(field)));
    let of_overlay = |field: &str| {
        overlay.map(|overlay| Place::field(&overlay.file, overlay.document, spec(field)))
    };
    match moved.cause {
        MoveCause::Drain if overlay.is_some_and(|o| o.value.drain.is_some_and(|d| d.enabled)) => {
            of_overlay("drain")
        }
        MoveCause::Drain => of_worker("drain"),
        MoveCause::NoExecute if overlay.is_some_and(|o| !o.value.taints.is_empty()) => {
            of_overlay("taints")
        }
        MoveCause::NoExecute => of_worker("taints"),
        MoveCause::Failover => policy_of(plan, fleet, name, "failover"),
        MoveCause::Violation => policy_of(plan, fleet, name, "onViolation"),
        MoveCause::Rebalance => acknowledged(fleet, AcknowledgementKind::Rebalance),
    }
}

/// A field of the policy that applies; one that is built in stands in no file.
fn policy_of(plan: &Plan, fleet: &Fleet, name: &Name, field: &str) -> Option<Place> {
    let crate::model::Decision::Move { binding, .. } = &plan.clusters.get(name)?.decision else {
        return None;
    };
    let policy = fleet.policies.get(binding.policy.as_ref()?)?;
    Some(Place::field(policy.file.as_ref()?, policy.document, spec(field)))
}

/// The one acknowledgement of a kind; of several nobody knows here which it was.
fn acknowledged(fleet: &Fleet, of: AcknowledgementKind) -> Option<Place> {
    let mut all = fleet.acknowledgements.values().filter(|found| found.value.of == of);
    let found = all.next().filter(|_| all.next().is_none())?;
    Some(document(&found.file, found.document))
}

/// A document as a whole: where it says what it is.
fn document(file: &str, document: usize) -> Place {
    Place { on_key: true, ..Place::field(file, document, FieldPath::keys("kind")) }
}

fn spec(field: &str) -> FieldPath {
    FieldPath::keys("spec").key(field)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::{Drain, WorkerOverlaySpec};
    use crate::model::{ClusterPlan, Decision, Deletion, Resources, Sourced};

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    #[test]
    fn a_deletion_is_forced_by_a_document_that_is_gone() {
        let deletion = |progress| Deletion { reporter: None, step: None, progress, missing: None };
        let decision = Decision::Forget;
        let planned = ClusterPlan {
            deletion: Some(Box::new(deletion(Progress::Begins))),
            ..ClusterPlan::new(decision, Resources::new())
        };
        let plan = Plan {
            clusters: BTreeMap::from([(name("a"), planned)]),
            retirements: BTreeMap::from([
                (name("w"), deletion(Progress::Begins)),
                (name("old"), deletion(Progress::Waits)),
            ]),
            ..Plan::default()
        };
        let all = forced(&plan, &Fleet::default());
        let kinds: Vec<_> = all.values().cloned().collect();
        let removed = |kind| Forced::Removed { kind };
        assert_eq!(kinds, [removed("ManagedCluster"), removed("Worker")]);
    }

    #[test]
    fn a_move_is_forced_by_the_field_that_says_so() {
        let (from, to) = (name("w1"), name("w2"));
        let moved = Move {
            from: from.clone(),
            to,
            cause: MoveCause::Drain,
            progress: MoveProgress::Begins,
            demand: Resources::new(),
            awaited: true,
            transfer: None,
        };
        let decision = Decision::Keep { worker: from.clone() };
        let planned = ClusterPlan {
            moved: Some(Box::new(moved)),
            ..ClusterPlan::new(decision, Resources::new())
        };
        let plan = Plan { clusters: [(name("a"), planned)].into(), ..Plan::default() };
        let value = WorkerOverlaySpec {
            drain: Some(Drain { enabled: true, max_unavailable: None }),
            ..WorkerOverlaySpec::default()
        };
        let overlay = Sourced { file: "fleet/overlays/w1.yaml".to_owned(), document: 0, value };
        let fleet = Fleet { overlays: BTreeMap::from([(from, overlay)]), ..Fleet::default() };
        let all = forced(&plan, &fleet);
        let Forced::Written(place) = &all[&name("a")] else { panic!("{all:?}") };
        assert_eq!(place.file, "fleet/overlays/w1.yaml");
        assert_eq!(place.field.as_ref().unwrap().to_string(), "spec.drain");
    }

    #[test]
    fn a_line_of_the_certificate_says_where_and_in_which_commit() {
        let file = "fleet/a.yaml".to_owned();
        let commit = Some(Id::from_bytes([0xab; 20]));
        let renamed = None;
        let mut line = Certified { name: name("a"), file, line: 3, removed: true, commit, renamed };
        assert_eq!(line.to_string(), "a: fleet/a.yaml:3, removed in abababab");
        line.renamed = Some("fleet/a.yaml.disabled".to_owned());
        let renamed =
            "a: fleet/a.yaml:3, renamed to fleet/a.yaml.disabled, which is not read in abababab";
        assert_eq!(line.to_string(), renamed);
        (line.removed, line.renamed) = (false, None);
        assert_eq!(line.to_string(), "a: fleet/a.yaml:3, written in abababab");
        line.commit = None;
        assert_eq!(line.to_string(), "a: fleet/a.yaml:3");
    }
}
