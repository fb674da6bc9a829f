//! Taking back what a run would do about a cluster or a worker. Whoever asks for it, a guard that holds it or a
//! folder that could not be made, the plan ends the same: what would begin does not, and what had begun is where
//! it was.

use super::{Decision, Deletion, DeletionStep, Missing, MoveProgress, Name, Plan, Progress};

impl Plan {
    /// Holds a cluster on the worker that it is on. `begun` is the step of its deletion there that an earlier run
    /// committed; `None` where none did.
    ///
    /// A move that would begin does not, and gives back the place that it had kept. One that began earlier goes
    /// on, and so does a deletion: it waits at its step.
    pub fn hold(&mut self, cluster: &Name, on: &Name, begun: Option<DeletionStep>) {
        let Some(planned) = self.clusters.get_mut(cluster) else { return };
        planned.deletion = planned.deletion.take().and_then(|mut deletion| {
            deletion.waits_at(begun?);
            Some(deletion)
        });
        let progress = planned.moved.as_ref().map(|moved| moved.progress);
        if let (Decision::Move { step, .. }, Some(MoveProgress::Leaves)) =
            (&mut planned.decision, progress)
        {
            *step = begun;
            let transfer = planned.moved.as_mut().and_then(|moved| moved.transfer.as_mut());
            if let Some(transfer) = transfer.filter(|_| begun.is_none()) {
                transfer.waits_for_folder();
            }
            return;
        }
        let worker = on.clone();
        planned.decision = match begun {
            Some(step) => Decision::Delete { worker, step },
            None => Decision::Keep { worker },
        };
        if let Some(moved) = planned.moved.take()
            && moved.progress == MoveProgress::Begins
            && let Some(to) = self.workers.get_mut(&moved.to)
        {
            to.give_back(&moved.demand);
        }
    }

    /// Holds the deletion of a worker's own cluster at the step that an earlier run committed; where none did it does
    /// not begin.
    pub fn hold_retirement(&mut self, worker: &Name, begun: Option<DeletionStep>) {
        match (begun, self.retirements.get_mut(worker)) {
            (Some(step), Some(deletion)) => deletion.waits_at(step),
            (Some(_), None) => {}
            (None, _) => drop(self.retirements.remove(worker)),
        }
    }
}

impl Deletion {
    /// It goes no further than the step that an earlier run committed.
    fn waits_at(&mut self, step: DeletionStep) {
        self.step = Some(step);
        self.progress = Progress::Waits;
        self.missing = Some(Missing::NotRendered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        Binding, ClusterPlan, Move, MoveCause, Quantity, Resources, WorkerPlan, WorkerState,
    };

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    fn clusters(count: i64) -> Resources {
        [("clusters".to_owned(), Quantity::units(count))].into()
    }

    fn keep() -> Decision {
        Decision::Keep { worker: name("w1") }
    }

    fn delete(step: DeletionStep) -> Decision {
        Decision::Delete { worker: name("w1"), step }
    }

    fn leave(step: Option<DeletionStep>) -> Decision {
        let binding = Binding {
            worker: name("w2"),
            policy: None,
            decided_by: None,
            runner_up: None,
            group: None,
        };
        Decision::Move { from: name("w1"), step, binding: binding.into() }
    }

    /// A plan about a cluster `a`, with a deletion that makes a step, and a move to w2 where `moves` says how far
    /// that is.
    fn plan(decision: Decision, moves: Option<MoveProgress>) -> Plan {
        let demand = clusters(1);
        let deletion = Deletion {
            reporter: Some(name("w1")),
            step: Some(DeletionStep::D2),
            progress: Progress::Steps,
            missing: Some(Missing::NotApplied),
        };
        let to = WorkerPlan {
            state: WorkerState::Desired,
            capacity: clusters(9),
            reserved: Resources::new(),
            ceiling: Resources::new(),
            allocated: clusters(5),
            clusters: 2,
            pending: None,
        };
        let a_move = |progress| Move {
            from: name("w1"),
            to: name("w2"),
            cause: MoveCause::Drain,
            progress,
            demand: clusters(4),
            awaited: true,
            transfer: None,
        };
        let planned = ClusterPlan {
            deletion: Some(Box::new(deletion)),
            moved: moves.map(|progress| Box::new(a_move(progress))),
            ..ClusterPlan::new(decision, demand)
        };
        Plan {
            clusters: [(name("a"), planned)].into(),
            workers: [(name("w2"), to)].into(),
            ..Plan::default()
        }
    }

    /// The decision, the move and the deletion of `a` once it is held, and what w2 has given.
    fn held(
        mut plan: Plan,
        begun: Option<DeletionStep>,
    ) -> (Decision, bool, Option<Deletion>, u64) {
        plan.hold(&name("a"), &name("w1"), begun);
        let given = plan.workers["w2"].clusters;
        let ClusterPlan { decision, moved, deletion, .. } = plan.clusters.remove("a").unwrap();
        (decision, moved.is_some(), deletion.map(|deletion| *deletion), given)
    }

    #[test]
    fn what_would_begin_does_not() {
        let after = held(plan(delete(DeletionStep::D1), None), None);
        assert_eq!(after, (keep(), false, None, 2));
        let after = held(plan(leave(Some(DeletionStep::D1)), Some(MoveProgress::Begins)), None);
        assert_eq!(after, (keep(), false, None, 1));
    }

    #[test]
    fn the_place_of_a_move_gives_back_what_it_takes() {
        let mut plan = plan(leave(None), Some(MoveProgress::Begins));
        plan.hold(&name("a"), &name("w1"), None);
        assert_eq!(
            plan.workers["w2"].allocated,
            clusters(1),
            "what it was to take, not what it takes"
        );
    }

    #[test]
    fn what_had_begun_is_where_it_was() {
        let step = Some(DeletionStep::D1);
        let waits = |deletion: Option<Deletion>| {
            deletion.map(|d| (d.step, d.progress, d.missing))
                == Some((step, Progress::Waits, Some(Missing::NotRendered)))
        };
        let (decision, moves, deletion, given) = held(plan(delete(DeletionStep::D2), None), step);
        assert_eq!((decision, moves, given), (delete(DeletionStep::D1), false, 2));
        assert!(waits(deletion));
        let leaves = || plan(leave(Some(DeletionStep::D2)), Some(MoveProgress::Leaves));
        let (decision, moves, deletion, given) = held(leaves(), step);
        assert_eq!((decision, moves, given), (leave(step), true, 2));
        assert!(waits(deletion));
        let (decision, moves, deletion, _) = held(leaves(), None);
        assert_eq!((decision, moves, deletion), (leave(None), true, None));
    }

    #[test]
    fn what_was_called_off_and_could_not_be_is_being_deleted() {
        let step = Some(DeletionStep::D1);
        let (decision, moves, deletion, given) =
            held(plan(keep(), Some(MoveProgress::CalledOff)), step);
        assert_eq!((decision, moves, given), (delete(DeletionStep::D1), false, 2));
        assert_eq!(deletion.map(|d| d.progress), Some(Progress::Waits));
    }
}
