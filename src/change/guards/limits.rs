//! How much of what guards count one run may do: the input's numbers and those in force, of which the
//! stricter hold, and what runs of the last hour and day have done of it.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::groups::Groups;
use crate::model::api::{GuardWindow, Guards, Tenant};
use crate::model::{FleetLock, GuardCounts, GuardedRun};

/// What of the counts is by tenant.
type CountsByTenant = fn(&GuardCounts) -> &BTreeMap<String, u64>;

/// How long what was done counts after the hour in which it was done.
const HOUR: SignedDuration = SignedDuration::from_hours(1);
const DAY: SignedDuration = SignedDuration::from_hours(24);
/// The least that any fleet may delete in a run.
const LEAST_DELETIONS: u64 = 3;
/// The machines that anything but a cluster's own document may replace in a run.
const REPLACED_MACHINES: u64 = 10;
/// The least clusters whose own documents may replace machines in a run.
const LEAST_REPLACING: u64 = 10;

/// How much of one thing may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// How much one run may do.
    pub run: u64,
    /// How much is left of that, after what was done in the last hour and day.
    pub left: u64,
}

impl Limit {
    /// Whether so much is too much now.
    #[must_use]
    pub const fn is_exceeded(self, by: u64) -> bool {
        by > self.left
    }

    /// Whether so much would be too much at any time.
    #[must_use]
    pub const fn is_never_met(self, by: u64) -> bool {
        by > self.run
    }
}

/// What may become of objects or machines: by how much is lost where the fleet has a number, and by whom it is asked
/// for where it has none. Where only one of the input and the lock has a number both hold, so that taking a number out
/// is no way around it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LossLimit {
    /// Objects or machines that each tenant's own documents ask for. The platform's are those that nobody's document
    /// asks for, too.
    pub each: Option<TenantLimit>,
    /// What of it may be lost by who asks for it.
    pub apart: Option<ApartLimit>,
    /// Who has such a number for itself.
    pub groups: Groups,
}

/// What may be lost by who asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApartLimit {
    /// Objects or machines that nobody's own document asks for.
    pub others: Limit,
    /// Clusters whose own documents ask for it.
    pub owners: TenantLimit,
}

/// How much each tenant may do, and the platform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TenantLimit {
    /// How much in one run.
    pub run: u64,
    /// What is left of that for each that did any lately.
    pub lately: BTreeMap<String, u64>,
}

impl TenantLimit {
    /// How much this tenant may do.
    #[must_use]
    pub fn of(&self, tenant: &str) -> Limit {
        let left = self.lately.get(tenant).copied().unwrap_or(self.run);
        Limit { run: self.run, left }
    }
}

/// The numbers that a run is held to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardLimits {
    /// Clusters whose deletion may start, of each tenant and of the platform.
    pub deletions: TenantLimit,
    /// Clusters that may change their worker.
    pub moves: Limit,
    /// Objects that may be left out or scaled to zero.
    pub removed: LossLimit,
    /// Machines that may be replaced.
    pub replaced: LossLimit,
    /// Who is counted by itself.
    pub groups: Groups,
}

/// What is counted of one kind of loss.
struct CountedLoss {
    /// The fleet's numbers for it, in the input and in force.
    numbers: [Option<u32>; 2],
    /// What nobody may ask for without a number, and what was done of it.
    others: (u64, fn(&GuardCounts) -> u64),
    /// How many clusters may ask for it without a number, and how many did.
    owners: (u64, CountsByTenant),
    /// How much they asked for.
    asked: CountsByTenant,
}

/// What runs of the last hour and day did, and how often one may do what it may do at most.
struct Lately<'a> {
    recent: &'a [GuardedRun],
    /// What these runs did, by group where it is by tenant.
    gathered: Vec<GuardedRun>,
    groups: Groups,
    now: Timestamp,
    window: GuardWindow,
}

impl Lately<'_> {
    /// What is left of so much a run, where runs did this.
    fn left(&self, recent: &[GuardedRun], run: u64, done: &dyn Fn(&GuardCounts) -> u64) -> u64 {
        let of = |span| since(recent, self.now, span, done);
        let times = |times: u32| run.saturating_mul(u64::from(times));
        let hour = times(self.window.hour).saturating_sub(of(HOUR));
        let day = times(self.window.day).saturating_sub(of(DAY));
        run.min(hour).min(day)
    }

    fn limit(&self, run: u64, done: fn(&GuardCounts) -> u64) -> Limit {
        Limit { run, left: self.left(self.recent, run, &done) }
    }

    /// What is left of so much a run for each tenant by itself.
    fn of_tenants(&self, run: u64, done: CountsByTenant) -> TenantLimit {
        self.by_name(self.recent, run, done)
    }

    /// What is left of so much a run for each tenant that is counted by itself, and for the platform.
    fn of_groups(&self, run: u64, done: CountsByTenant) -> TenantLimit {
        self.by_name(&self.gathered, run, done)
    }

    fn by_name(&self, recent: &[GuardedRun], run: u64, done: CountsByTenant) -> TenantLimit {
        let names = recent.iter().flat_map(|run| done(&run.did).keys());
        let left = names.map(|name| {
            let of = |did: &GuardCounts| done(did).get(name).copied().unwrap_or_default();
            (name.clone(), self.left(recent, run, &of))
        });
        TenantLimit { run, lately: left.collect() }
    }

    fn losses(&self, counted: &CountedLoss) -> LossLimit {
        let CountedLoss { numbers, others, owners, asked } = counted;
        let most = numbers.iter().flatten().min();
        let apart = || ApartLimit {
            others: self.limit(others.0, others.1),
            owners: self.of_tenants(owners.0, owners.1),
        };
        LossLimit {
            each: most.map(|most| self.of_groups(u64::from(*most), *asked)),
            apart: numbers.contains(&None).then(apart),
            groups: self.groups.clone(),
        }
    }
}

impl GuardLimits {
    /// Of the input's guards and the lock's the stricter, number by number, where `bound` clusters are
    /// placed, less what was done lately. `tenants` are the input's.
    #[must_use]
    pub fn new(
        input: Guards,
        tenants: &[Tenant],
        lock: Option<&FleetLock>,
        bound: u64,
        now: Timestamp,
    ) -> Self {
        let in_force = lock.map_or(input, |lock| lock.guards);
        let recent = lock.map(|lock| lock.recent.as_slice()).unwrap_or_default();
        let windows = [input, in_force].map(|guards| guards.window.unwrap_or_default());
        let window = GuardWindow {
            hour: windows[0].hour.min(windows[1].hour),
            day: windows[0].day.min(windows[1].day),
        };
        let groups = Groups::new(tenants, lock);
        let gathered = recent.iter().map(|run| groups.gathered(run)).collect();
        let lately = Lately { recent, gathered, groups, now, window };
        let number = |of: fn(&Guards) -> Option<u32>, default: u64| {
            let [input, in_force] =
                [input, in_force].map(|guards| of(&guards).map_or(default, u64::from));
            input.min(in_force)
        };
        let share = |percent: u64, least: u64| (bound * percent).div_ceil(100).max(least);
        let deletions = share(5, LEAST_DELETIONS);
        let removed = lately.losses(&CountedLoss {
            numbers: [input, in_force].map(|guards| guards.max_removed_objects),
            others: (0, |did| did.removed_objects),
            owners: (deletions, |did| &did.removing),
            asked: |did| &did.asked_objects,
        });
        let replaced = lately.losses(&CountedLoss {
            numbers: [input, in_force].map(|guards| guards.max_replaced_machines),
            others: (REPLACED_MACHINES, |did| did.replaced_machines),
            owners: (share(10, LEAST_REPLACING), |did| &did.replacing),
            asked: |did| &did.asked_machines,
        });
        let deletions = number(|g| g.max_deletions, deletions);
        Self {
            deletions: lately.of_groups(deletions, |did| &did.deletions),
            moves: lately.limit(number(|g| g.max_moves, 0), |did| did.moves),
            removed,
            replaced,
            groups: lately.groups,
        }
    }
}

fn since(
    recent: &[GuardedRun],
    now: Timestamp,
    span: SignedDuration,
    done: &dyn Fn(&GuardCounts) -> u64,
) -> u64 {
    let counts = |run: &&GuardedRun| now.duration_since(run.at) < HOUR + span;
    recent.iter().filter(counts).map(|run| done(&run.did)).sum()
}

/// When the first of what was done lately counts no more; `None` where nothing counts.
#[must_use]
pub fn next_room(lock: Option<&FleetLock>, now: Timestamp) -> Option<Timestamp> {
    let recent = lock.map(|lock| lock.recent.as_slice()).unwrap_or_default().iter();
    let ends = recent.flat_map(|run| [HOUR, DAY].map(|span| run.at.checked_add(HOUR + span).ok()));
    ends.flatten().filter(|end| *end > now).min()
}

/// What is remembered of the runs of the last day, with what this one did: hour by hour, so that a run comes to
/// the same bytes as its plan did some minutes ago. Where it did nothing that counts nothing is forgotten either,
/// so that no commit is made for that alone.
#[must_use]
pub fn remember_run(recent: &[GuardedRun], did: &GuardCounts, now: Timestamp) -> Vec<GuardedRun> {
    let mut runs = recent.to_vec();
    if *did == GuardCounts::default() {
        return runs;
    }
    let at = hour_of(now);
    runs.retain(|run| now.duration_since(run.at) < HOUR + DAY);
    match runs.iter_mut().find(|run| run.at == at) {
        Some(run) => run.did.add(did),
        None => runs.push(GuardedRun { at, did: did.clone() }),
    }
    runs
}

/// Until when what is remembered of a run is the same; `None` where nothing is.
#[must_use]
pub fn remembered_until(did: &GuardCounts, now: Timestamp) -> Option<Timestamp> {
    let counts = *did != GuardCounts::default();
    counts.then(|| hour_of(now).checked_add(HOUR).ok()).flatten()
}

/// The beginning of an hour.
fn hour_of(now: Timestamp) -> Timestamp {
    let seconds = now.as_second();
    Timestamp::from_second(seconds - seconds.rem_euclid(HOUR.as_secs())).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::guards::groups::PLATFORM;
    use crate::change::guards::groups::tests::tenants;
    use crate::change::guards::tests::fleet_lock;

    const START: &str = "2026-03-01T12:00:00Z";

    fn at(minutes: i64) -> Timestamp {
        START.parse::<Timestamp>().unwrap() + SignedDuration::from_mins(minutes)
    }

    fn deletions(input: Guards, lock: Option<Guards>, bound: u64) -> u64 {
        let lock = lock.map(|guards| FleetLock { guards, ..fleet_lock() });
        GuardLimits::new(input, &[], lock.as_ref(), bound, at(0)).deletions.of(PLATFORM).left
    }

    #[test]
    fn five_percent_and_at_least_three_may_be_deleted() {
        for (bound, most) in [(0, 3), (60, 3), (61, 4), (100, 5), (101, 6)] {
            assert_eq!(deletions(Guards::default(), None, bound), most, "of {bound}");
        }
    }

    #[test]
    fn of_the_input_and_what_is_in_force_the_stricter_holds() {
        let wide = Guards { max_deletions: Some(100), ..Guards::default() };
        let tight = Guards { max_deletions: Some(1), ..Guards::default() };
        assert_eq!(deletions(wide, Some(Guards::default()), 10), 3);
        assert_eq!(deletions(tight, Some(wide), 10), 1, "tightening acts at once");
        assert_eq!(deletions(wide, Some(wide), 10), 100);
    }

    #[test]
    fn a_number_for_objects_counts_only_once_it_is_in_force() {
        let wide = Guards { max_removed_objects: Some(9), ..Guards::default() };
        let lock = FleetLock { guards: Guards::default(), ..fleet_lock() };
        let removed = |lock: &FleetLock| GuardLimits::new(wide, &[], Some(lock), 10, at(0)).removed;
        assert_eq!(removed(&lock).apart.unwrap().others.left, 0);
        let lock = FleetLock { guards: wide, ..lock };
        let nine = TenantLimit { run: 9, ..TenantLimit::default() };
        assert_eq!(removed(&lock), LossLimit { each: Some(nine), ..LossLimit::default() });
    }

    #[test]
    fn a_number_that_is_taken_out_holds_until_a_run_without_it_held_nothing() {
        let tight = Guards {
            max_removed_objects: Some(0),
            max_replaced_machines: Some(5),
            ..Guards::default()
        };
        let none = Guards::default();
        let lock = |guards| FleetLock { guards, ..fleet_lock() };
        let limits = |input, lock: &FleetLock| GuardLimits::new(input, &[], Some(lock), 10, at(0));
        for of in [limits(none, &lock(tight)), limits(tight, &lock(none))] {
            let run = |limit: &LossLimit| limit.each.as_ref().map(|each| each.run);
            assert_eq!([run(&of.removed), run(&of.replaced)], [Some(0), Some(5)]);
            let others = |limit: &LossLimit| limit.apart.as_ref().map(|apart| apart.others.run);
            assert_eq!([others(&of.removed), others(&of.replaced)], [Some(0), Some(10)]);
        }
        assert!(limits(none, &lock(none)).replaced.each.is_none());
        assert!(limits(tight, &lock(tight)).replaced.apart.is_none());
    }

    #[test]
    fn what_was_done_within_the_hour_and_the_day_is_taken_off() {
        let run = |minutes, deletions| GuardedRun {
            at: at(minutes),
            did: GuardCounts {
                deletions: [("shop".to_owned(), deletions)].into(),
                ..GuardCounts::default()
            },
        };
        let tenants = tenants(&["shop", "pay"]);
        let left = |lock: &FleetLock, tenant: &str, minutes| {
            let limits = GuardLimits::new(Guards::default(), &tenants, Some(lock), 0, at(minutes));
            limits.deletions.of(limits.groups.of(tenant)).left
        };
        let recent = vec![run(0, 2)];
        let lock = FleetLock { recent, tenants: tenants.clone(), ..fleet_lock() };
        assert_eq!(left(&lock, "pay", 31), 3, "no tenant takes anything of another's");
        assert_eq!([31, 119, 120].map(|minutes| left(&lock, "shop", minutes)), [1, 1, 3]);
        let platform = FleetLock { tenants: Vec::new(), ..lock.clone() };
        assert_eq!(left(&platform, "pay", 31), 1, "of those without folders all count");
        let recent = vec![run(0, 3), run(60, 3), run(180, 2)];
        let day = FleetLock { recent, ..lock.clone() };
        assert_eq!([300, 25 * 60].map(|minutes| left(&day, "shop", minutes)), [1, 3], "nine a day");
        assert_eq!(next_room(Some(&lock), at(31)), Some(at(120)));
        assert_eq!(next_room(None, at(0)), None);
    }

    #[test]
    fn runs_are_remembered_hour_by_hour() {
        let did = GuardCounts { moves: 1, ..GuardCounts::default() };
        let first = remember_run(&[], &did, at(20));
        assert_eq!(first[0].at, at(0));
        let again = remember_run(&first, &did, at(59));
        assert_eq!((again.len(), again[0].did.moves), (1, 2));
        assert_eq!(remember_run(&first, &did, at(60)).len(), 2);
        assert_eq!(remembered_until(&did, at(20)), Some(at(60)));
        assert_eq!(remembered_until(&GuardCounts::default(), at(20)), None);
    }

    #[test]
    fn nothing_is_forgotten_where_nothing_is_done() {
        let did = GuardCounts { moves: 1, ..GuardCounts::default() };
        let first = remember_run(&[], &did, at(0));
        let days = 3 * 24 * 60;
        assert_eq!(remember_run(&first, &GuardCounts::default(), at(days)), first);
        assert_eq!(remember_run(&first, &did, at(days)).len(), 1);
    }
}
