//! The guards: what counts too many is held, and the rest goes on.
//!
//! A guard never looks at how a decision was reached, so a defect in placement is held like a mistake
//! in a pull request. Of the input's and `fleet.lock`'s guards the stricter holds, so that a commit that
//! loosens a guard does not profit from it.

mod groups;
mod limits;
mod losses;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{Acknowledged, Lasting};
use crate::model::{
    ClusterPlan, ClusterState, ControlPlaneRow, Decision, Ending, Fleet, FleetLock, Hold, HoldKind,
    MoveCause, MoveProgress, Name, Pending, Plan, Previous, Progress, WorkerState,
};
pub use groups::{Groups, PLATFORM};
pub use limits::{
    ApartLimit, GuardLimits, Limit, LossLimit, TenantLimit, next_room, remember_run,
    remembered_until,
};
pub use losses::{HeldLosses, LetThrough, LossGuard, LossOwner, Lost};

/// How many times what one tenant may delete all those that have folders of their own may delete in one run. No few
/// of them come to that; one commit of the platform's over many folders does, and one cause that all of them follow.
const SEVERAL: u64 = 4;

/// What the guards look at.
#[derive(Clone, Copy, Debug)]
pub struct GuardInput<'a> {
    /// What people want.
    pub fleet: &'a Fleet,
    /// What the output branch says.
    pub previous: &'a Previous,
    /// The time of the run.
    pub now: Timestamp,
}

/// What the guards over decisions came to.
#[derive(Clone, Debug)]
pub struct Guarded {
    /// The acknowledgements that let something through and are thereby spent.
    pub spent: Vec<Name>,
    /// The deletions that go through without an acknowledgement, by tenant.
    pub deletions: BTreeMap<String, Vec<String>>,
    /// The moves that do.
    pub moves: Vec<String>,
    /// What is held until it is acknowledged or gone.
    pub lasting: Lasting,
    /// The numbers for what is counted once it is rendered.
    pub limits: GuardLimits,
}

/// Holds what is too much: the held decisions become "keep".
pub fn guard(plan: &mut Plan, input: GuardInput<'_>, acknowledged: &Acknowledged) -> Guarded {
    let bound = input.previous.bound() as u64;
    let lock = input.previous.fleet.as_ref();
    let spec = input.fleet.spec.guards.unwrap_or_default();
    let limits = GuardLimits::new(spec, &input.fleet.spec.tenants, lock, bound, input.now);
    another_root(plan, input);
    let (mut spent, mut lasting) = (Vec::new(), Lasting::new());

    let starting = Starting::of(starting_deletions(plan, input.previous), plan, input.previous);
    let before = was_held(lock, HoldKind::MassDeletion);
    let mut apart = Vec::new();
    for (over, stays) in starting.over(&limits, &before) {
        apart.extend(over.names.iter().cloned());
        match SetVerdict::of(over, stays, acknowledged) {
            SetVerdict::Through => {}
            SetVerdict::Acknowledged { name, .. } => spent.push(name),
            SetVerdict::Held { over, stays } => {
                add(&mut lasting, &over, stays);
                hold(plan, over);
            }
        }
    }
    let deletions = starting.without(&apart);

    let moves = moves(plan, input.previous);
    let mut through = Vec::new();
    match moving(&moves, limits.moves, &was_held(lock, HoldKind::MassMove), acknowledged) {
        SetVerdict::Through => through.extend(moves.keys().map(ToString::to_string)),
        SetVerdict::Acknowledged { name, .. } => spent.push(name),
        SetVerdict::Held { over, stays } => {
            add(&mut lasting, &over, stays);
            hold(plan, over);
            for (cluster, from) in moves {
                plan.hold(&cluster, &from, None);
            }
        }
    }
    if plan.holds.iter().any(|hold| hold.kind.acknowledged_by().is_some()) {
        let room = next_room(lock, input.now);
        plan.valid_until = [plan.valid_until, room].into_iter().flatten().min();
    }
    Guarded { spent, deletions, moves: through, lasting, limits }
}

/// Whose such things the last run held for being more than one run may do.
#[must_use]
pub fn was_held(lock: Option<&FleetLock>, kind: HoldKind) -> BTreeSet<String> {
    let of = kind.acknowledged_by();
    let sets = lock.iter().flat_map(|lock| &lock.held).filter(|set| Some(set.of) == of);
    sets.flat_map(|set| set.tenants.iter().cloned()).collect()
}

/// What becomes of a set.
enum SetVerdict {
    /// It goes through.
    Through,
    /// Somebody acknowledged exactly these.
    Acknowledged { name: Name },
    /// These are held, and perhaps until they are acknowledged or gone.
    Held { over: Hold, stays: BTreeSet<String> },
}

impl SetVerdict {
    fn of(over: Hold, stays: BTreeSet<String>, acknowledged: &Acknowledged) -> Self {
        let of = over.kind.acknowledged_by();
        match of.and_then(|of| acknowledged.covers(of, &over)) {
            Some(name) => Self::Acknowledged { name },
            None => Self::Held { over, stays },
        }
    }
}

/// Notes whose things of a set are held until they are acknowledged or gone.
fn add(lasting: &mut Lasting, over: &Hold, stays: BTreeSet<String>) {
    if let Some(of) = over.kind.acknowledged_by().filter(|_| !stays.is_empty()) {
        lasting.insert((of, over.digest()), stays);
    }
}

/// The deletions that begin, by whose they are. What one tenant does is no other's matter.
struct Starting(BTreeMap<String, Vec<String>>);

impl Starting {
    fn of(names: Vec<String>, plan: &Plan, previous: &Previous) -> Self {
        let row = |name: &str| {
            let worker = plan.clusters.get(name)?.decision.worker()?;
            previous.workers.get(worker)?.clusters.get(name)
        };
        let mut starting = BTreeMap::<_, Vec<_>>::new();
        for name in names {
            let tenant = row(&name).map_or(PLATFORM, |row| &row.row.tenant).to_owned();
            starting.entry(tenant).or_default().push(name);
        }
        Self(starting)
    }

    /// What is more than a run may begin, each group's as a set of its own, so that nobody's change makes another
    /// set of what somebody else acknowledged; and whose of it stays held, however small it becomes.
    fn over(
        &self,
        limits: &GuardLimits,
        before: &BTreeSet<String>,
    ) -> Vec<(Hold, BTreeSet<String>)> {
        let (run, groups) = (limits.deletions.run, &limits.groups);
        let before: BTreeSet<&str> = before.iter().map(|tenant| groups.of(tenant)).collect();
        let mut by_group = BTreeMap::<_, Vec<&String>>::new();
        for (tenant, starting) in &self.0 {
            by_group.entry(groups.of(tenant)).or_default().extend(starting);
        }
        let hold = |names: BTreeSet<&String>, allowed: u64| {
            // A set that shrank stays held whatever would be allowed, so no number says why.
            let allowed =
                u32::try_from(allowed).ok().filter(|most| names.len() as u64 > u64::from(*most));
            let names = names.into_iter().cloned().collect();
            Hold { kind: HoldKind::MassDeletion, names, allowed }
        };
        let (mut over, mut of_tenants) = (Vec::new(), Vec::new());
        for (group, starting) in by_group {
            let (count, left) = (starting.len() as u64, limits.deletions.of(group).left);
            if before.contains(group) || count > run {
                over.push((hold(starting.into_iter().collect(), run), [group.to_owned()].into()));
            } else if count > left {
                over.push((hold(starting.into_iter().collect(), left), BTreeSet::new()));
            } else if group != PLATFORM {
                of_tenants.push((group, starting));
            }
        }
        // Each of them is within its own number, and held by a set of its own, so that nobody's change makes another set
        // of what somebody else may have had acknowledged. Each stays held: what is acknowledged for one of them is no
        // reason that the others go.
        let most = run.saturating_mul(SEVERAL);
        if of_tenants.iter().map(|(_, starting)| starting.len()).sum::<usize>() as u64 > most {
            let sets = of_tenants.into_iter().map(|(group, starting)| {
                (hold(starting.into_iter().collect(), most), [group.to_owned()].into())
            });
            over.extend(sets);
        }
        over
    }

    /// What begins without those, by tenant.
    fn without(&self, without: &[String]) -> BTreeMap<String, Vec<String>> {
        let without: BTreeSet<&String> = without.iter().collect();
        let going = self.0.iter().map(|(tenant, names)| {
            let names = names.iter().filter(|name| !without.contains(name)).cloned();
            (tenant.clone(), names.collect::<Vec<_>>())
        });
        going.filter(|(_, names)| !names.is_empty()).collect()
    }
}

fn moving(
    moves: &BTreeMap<Name, Name>,
    limit: Limit,
    before: &BTreeSet<String>,
    good: &Acknowledged,
) -> SetVerdict {
    let count = moves.len() as u64;
    let again = !before.is_empty() && count > 0;
    if !again && !limit.is_exceeded(count) {
        return SetVerdict::Through;
    }
    let names = moves.keys().map(ToString::to_string).collect();
    let over = Hold { kind: HoldKind::MassMove, names, allowed: u32::try_from(limit.left).ok() };
    let stays = again || limit.is_never_met(count);
    let stays = stays.then(|| PLATFORM.to_owned()).into_iter().collect();
    SetVerdict::of(over, stays, good)
}

/// Where `roots.fleet` is another folder than in the last run, what is not below it was not removed: it
/// may lie in the old folder still. Nothing is taken for removed until all that is there is found again.
fn another_root(plan: &mut Plan, input: GuardInput<'_>) {
    let Some(lock) = &input.previous.fleet else { return };
    let root = &input.fleet.spec.roots.clone().unwrap_or_default().fleet;
    let names = starting_deletions(plan, input.previous);
    if lock.roots.fleet != *root && !names.is_empty() {
        hold(plan, Hold { kind: HoldKind::RootChanged, names, allowed: None });
    }
}

/// What a run would begin to delete: clusters, and the own clusters of workers that retire, or the folders
/// of those that carp did not make. The two share one set of names.
fn starting_deletions(plan: &Plan, previous: &Previous) -> Vec<String> {
    let made = |name: &Name| previous.fleet.as_ref().and_then(|lock| lock.workers.get(name));
    let retiring = plan.workers.iter().filter(|(name, worker)| {
        let stands =
            |row: &ControlPlaneRow| row.state == ClusterState::Bound && row.folder.is_some();
        let progress = plan.retirements.get(*name).map(|deletion| deletion.progress);
        let starts = match progress {
            Some(Progress::Ends(Ending::Detached)) => true,
            Some(Progress::Waits) => false,
            _ => made(name).is_some_and(stands),
        };
        worker.state == WorkerState::Retiring && starts
    });
    let clusters = starting_clusters(plan, previous);
    let all: BTreeSet<&Name> = retiring.map(|(name, _)| name).chain(clusters).collect();
    all.into_iter().map(ToString::to_string).collect()
}

/// The clusters whose deletion would start in this run.
fn starting_clusters<'a>(plan: &'a Plan, previous: &'a Previous) -> impl Iterator<Item = &'a Name> {
    let was_bound = |name: &Name, worker: &Name| {
        let row = previous.workers.get(worker).and_then(|lock| lock.clusters.get(name));
        row.is_some_and(|row| row.state == ClusterState::Bound)
    };
    let starting = plan.clusters.iter().filter(move |(name, planned)| match &planned.decision {
        Decision::Delete { worker, .. } => was_bound(name, worker),
        _ => false,
    });
    starting.map(|(name, _)| name)
}

/// The clusters that would change their worker, with the worker they are on. What a drain, a taint or
/// failover names has bounds of its own.
fn moves(plan: &Plan, previous: &Previous) -> BTreeMap<Name, Name> {
    let placements: BTreeMap<&Name, &Name> = previous.placements().collect();
    // What is forgotten goes nowhere, and what is made anew was deleted before.
    let over = |planned: &ClusterPlan| {
        planned.deletion.as_ref().is_some_and(|d| matches!(d.progress, Progress::Ends(_)))
    };
    // What was never rendered on a worker that is not running in time moves nowhere.
    let never_there = |name: &Name| {
        let Some(from) = placements.get(name).copied() else { return false };
        let overdue = plan.workers.get(from).is_some_and(|w| w.pending == Some(Pending::Overdue));
        let row = previous.workers.get(from).and_then(|lock| lock.clusters.get(name));
        overdue && row.is_some_and(|row| row.folder.is_none())
    };
    let there = plan
        .clusters
        .iter()
        .filter(|(name, p)| p.decision != Decision::Forget && !over(p) && !never_there(name));
    let moved = there.filter_map(|(name, planned)| {
        let from = *placements.get(name)?;
        let to = planned.decision.worker();
        let begins = planned.moved.as_ref().is_some_and(|moved| {
            moved.progress == MoveProgress::Begins && moved.cause == MoveCause::Violation
        });
        (to != Some(from) || begins).then(|| (name.clone(), from.clone()))
    });
    moved.collect()
}

/// Adds the hold. Deletions that it names become "keep", and workers that it names stay as they are.
fn hold(plan: &mut Plan, over: Hold) {
    for name in &over.names {
        if let Some((cluster, planned)) = plan.clusters.get_key_value(name.as_str())
            && let Decision::Delete { worker, .. } = &planned.decision
        {
            let (cluster, on) = (cluster.clone(), worker.clone());
            plan.hold(&cluster, &on, None);
        }
        if let Some(worker) = plan.workers.get_mut(name.as_str())
            && worker.state == WorkerState::Retiring
        {
            worker.state = WorkerState::NotLoaded;
            plan.retirements.remove(name.as_str());
        }
    }
    plan.holds.push(over);
    plan.holds.sort_by(|a, b| (a.kind, &a.names).cmp(&(b.kind, &b.names)));
}

#[cfg(test)]
mod over_time;
#[cfg(test)]
mod tests;
