//! Moves in the words of the tests: what may move, what names it, what is on the move, and the time.

use std::fmt::Write as _;

use jiff::{SignedDuration, Timestamp};

use super::{World, deleting, name, transfer};
use crate::model::api::{
    Drain, Failover, OnViolation, OnWorkerLoss, PlacementPolicySpec, Rebalance, WorkerSpec,
};
use crate::model::{
    Cluster, ClusterRow, ClusterState, Decision, DeletionStep, MoveCause, MoveProgress, MoveRow,
    Name, Plan, TransferRow,
};
use crate::plan::moments;

/// The time of the reports in a world, in seconds.
pub(super) const REPORTED: i64 = 1_700_000_000;

fn moment(text: &str) -> Timestamp {
    let zero = Timestamp::from_second(REPORTED).unwrap();
    zero + SignedDuration::from_secs(text.parse().unwrap_or_else(|_| panic!("no time: {text}")))
}

/// A word of a worker; whether it is one of these.
pub(super) fn of_worker(spec: &mut WorkerSpec, key: &str, value: &str) -> bool {
    match (key, value) {
        ("drain", "") => spec.drain = Some(Drain::default()),
        ("drain", most) => {
            spec.drain = Some(Drain { max_unavailable: most.parse().ok(), ..Drain::default() });
        }
        ("since", time) => {
            let taint = spec.taints.last_mut().expect("a taint comes first");
            taint.time_added = Some(moment(time).to_string());
        }
        _ => return false,
    }
    true
}

/// A word of a policy; whether it is one of these.
pub(super) fn of_policy(spec: &mut PlacementPolicySpec, key: &str, value: &str) -> bool {
    match key {
        "violations" if value == "move" => spec.on_violation = OnViolation::Move,
        "failover" => {
            let failover = spec.failover.get_or_insert_with(Failover::default);
            failover.grace = format!("{value}s");
        }
        "rate" => {
            let failover = spec.failover.get_or_insert_with(Failover::default);
            failover.rate = value.parse().ok();
        }
        "seconds" => {
            let toleration = spec.tolerations.last_mut().expect("a toleration comes first");
            toleration.toleration_seconds = value.parse().ok();
        }
        _ => return false,
    }
    true
}

/// What is said of the move of a cluster.
#[derive(Default)]
pub(super) struct Moving {
    to: Option<Name>,
    from: Option<Name>,
    cause: Option<MoveCause>,
    transfer: Option<TransferRow>,
}

impl Moving {
    /// A word of a cluster; whether it is one of these.
    pub(super) fn word(&mut self, cluster: &mut Cluster, key: &str, value: &str) -> bool {
        match (key, value) {
            ("rebuild", "") => cluster.spec.on_worker_loss = OnWorkerLoss::Rebuild,
            ("paused", "") => cluster.spec.paused = true,
            ("moving", to) => self.to = Some(name(to)),
            ("transfer", step) => self.transfer = Some(transfer::row(step)),
            ("from", from) => self.from = Some(name(from)),
            ("cause", cause) => {
                self.cause = Some(match cause {
                    "Drain" => MoveCause::Drain,
                    "NoExecute" => MoveCause::NoExecute,
                    "Failover" => MoveCause::Failover,
                    "Violation" => MoveCause::Violation,
                    "Rebalance" => MoveCause::Rebalance,
                    other => panic!("no such cause: {other}"),
                });
            }
            _ => return false,
        }
        true
    }

    /// What the locks keep: its row, the place on the worker that it goes to, or where it came from.
    pub(super) fn keep(
        &self,
        world: &mut World,
        cluster: &Cluster,
        on: &Name,
        mut row: ClusterRow,
    ) {
        row.suspended = self.transfer.as_ref().is_some_and(TransferRow::suspends);
        world.lock(on).clusters.insert(cluster.name.clone(), row.clone());
        let cause = self.cause.unwrap_or(MoveCause::Drain);
        if let Some(to) = &self.to {
            let demand = row.demand.clone();
            let row = ClusterRow { demand, ..reserved(ClusterRow::imagined(cluster), on, cause) };
            let row = transfer::reserved(row, self.transfer.clone());
            world.lock(to).clusters.insert(cluster.name.clone(), row);
        }
        if let Some(from) = &self.from {
            let row = world.lock(on).clusters.get_mut(&cluster.name).expect("it is there");
            row.moves = Some(MoveRow { from: from.clone(), cause, transfer: None });
        }
    }
}

fn reserved(row: ClusterRow, from: &Name, cause: MoveCause) -> ClusterRow {
    let moves = Some(MoveRow { from: from.clone(), cause, transfer: None });
    ClusterRow { state: ClusterState::Reserved, folder: None, moves, ..row }
}

impl World {
    /// Workers that are drained, whatever else is said of them.
    pub(super) fn drains(&mut self, workers: &[&str]) {
        self.draining.extend(workers.iter().map(|worker| name(worker)));
    }

    /// `2:20`: a rebalance of two moves at most that gain 20 percent points at least.
    pub(super) fn rebalance(&mut self, terms: &str) {
        let (most, gain) = terms.split_once(':').expect("MOST:GAIN");
        self.rebalance =
            Some(Rebalance { most: most.parse().unwrap(), gain: gain.parse().unwrap() });
    }

    /// The moves that the rebalance chooses, each with its gain, in their order.
    pub(in crate::plan) fn rebalanced(&self) -> String {
        let moves = self.plan().rebalanced;
        let told = moves.iter().map(|m| format!("{} {} => {} {}", m.cluster, m.from, m.to, m.gain));
        told.collect::<Vec<_>>().join("; ")
    }

    /// The time, after that of the reports.
    pub(super) fn set_time(&mut self, text: &str) {
        self.now = Some(moment(text));
    }

    /// The time of the run.
    pub(in crate::plan) fn now(&self) -> Timestamp {
        self.now.unwrap_or_else(|| moment("0"))
    }

    /// The world at another time.
    pub(in crate::plan) fn at(&self, time: Timestamp) -> Self {
        let mut world = Self { now: Some(time), ..self.clone() };
        world.pass();
        world
    }

    /// What depends on all that was said: the drains, and the moments that have come.
    pub(super) fn pass(&mut self) {
        for name in &self.draining {
            if let Some(worker) = self.fleet.workers.get_mut(name) {
                worker.spec.drain = Some(Drain { max_unavailable: Some(3), ..Drain::default() });
            }
        }
        self.observed.passed = moments(&self.fleet, &self.observed, self.now()).0;
    }

    /// What a commit of a plan leaves of its moves.
    pub(super) fn commit_moves(&self, plan: &Plan, after: &mut World) {
        for (cluster, moved) in plan.moves() {
            match &plan.clusters[cluster].decision {
                Decision::Move { binding, .. } => {
                    let lock = self.previous.workers.get(&binding.worker);
                    let before = lock.and_then(|lock| lock.clusters.get(cluster));
                    let desired = self.fleet.clusters.get(cluster).map(ClusterRow::imagined);
                    let row = before.cloned().or(desired).expect("it is desired or recorded");
                    let row = reserved(row, &moved.from, moved.cause);
                    let row = transfer::reserved(row, transfer::committed(moved));
                    after.lock(&binding.worker).clusters.insert(cluster.clone(), row);
                }
                Decision::Keep { worker } => {
                    let row = after.lock(worker).clusters.get_mut(cluster);
                    row.expect("it is there").moves = moved.row();
                }
                _ => {}
            }
        }
    }
}

/// `w1 => w2 D1 Drain`; without a step while the old worker is not heard of.
pub(super) fn told(cluster: &Name, from: &Name, step: Option<DeletionStep>, plan: &Plan) -> String {
    let moved = plan.moved(cluster).expect("it moves");
    if let Some(words) = transfer::told(moved) {
        return words;
    }
    let step = step.map_or_else(|| "unheard".to_owned(), |step| format!("{step:?}"));
    format!("{from} => {} {step} {}", moved.to, moved.cause.name())
}

/// What else is said of a cluster that stays: where it comes from, why it does not move, what its policy
/// says; the last two only where the expectation speaks of them.
pub(super) fn more(cluster: &Name, plan: &Plan, expected: &str) -> String {
    let mut words = String::new();
    let planned = &plan.clusters[cluster];
    if let Some(moved) = &planned.moved {
        let from = &moved.from;
        let _ = match moved.progress {
            MoveProgress::Arrives if planned.is_adopted() => {
                write!(words, " handed over from {from}")
            }
            MoveProgress::Arrives => write!(words, " new from {from}"),
            MoveProgress::Starts => write!(words, " from {from}"),
            MoveProgress::CalledOff => write!(words, " again"),
            MoveProgress::Begins | MoveProgress::Leaves => Ok(()),
        };
    }
    if let Some(stay) = planned.stay.as_ref().filter(|_| expected.contains('[')) {
        let _ = write!(words, " [{} {}]", stay.cause.name(), stay.blocker.name());
    }
    if !planned.violations.is_empty() && expected.contains("violates") {
        let codes: Vec<_> = planned.violations.iter().map(|r| format!("{:?}", r.code())).collect();
        let _ = write!(words, " violates {}", codes.join(" "));
    }
    words
}

/// The step of a move, as a deletion's row keeps it.
pub(super) fn row_of(step: Option<DeletionStep>, row: ClusterRow) -> ClusterRow {
    ClusterRow { state: deleting::state(step), deletion: step.map(deleting::row), ..row }
}
