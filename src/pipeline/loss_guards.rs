//! The guards over objects and machines: what a run would leave out, scale to zero or replace is counted over
//! clusters, workers and layers, whatever the cause. Beyond what the fleet allows it is held, and its folders
//! keep their last good content.
//!
//! A deletion that was decided makes its folders by steps of its own and is no matter of these guards.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::change::{
    self, Acknowledged, GuardLimits, Guarded, HeldLosses, Lasting, LetThrough, LossGuard,
    LossLimit, LossOwner, Lost, was_held,
};
use crate::gate::{self, Objection};
use crate::model::{FleetLock, Gate, GuardCounts, HeldSet, Hold, HoldKind, Name, count};
use crate::render::{self, Loss};

/// What is held of the losses of a run, of each kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LossVerdicts {
    removed: HeldLosses,
    replaced: HeldLosses,
}

/// What a run would lose.
#[derive(Clone, Debug)]
pub(super) struct LossGuards {
    removed: LossGuard,
    replaced: LossGuard,
}

/// What `fleet.lock` remembers of a run.
#[derive(Default)]
pub(super) struct Remembered {
    /// What is held and can be acknowledged.
    pub(super) held: Vec<HeldSet>,
    /// What the run does that counts for the runs to come.
    pub(super) did: GuardCounts,
}

/// What was decided about the losses of a run, once they are known.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    /// What must be held.
    pub(super) verdicts: LossVerdicts,
    /// The acknowledgements that let something through.
    pub(super) spent: Vec<Name>,
}

impl Judged {
    /// Everything is held, and nothing acknowledged.
    pub(super) fn all_held() -> Self {
        let verdicts = LossVerdicts { removed: HeldLosses::all(), replaced: HeldLosses::all() };
        Self { verdicts, spent: Vec::new() }
    }
}

impl LossGuards {
    pub(super) fn new(limits: &GuardLimits, lock: Option<&FleetLock>) -> Self {
        let of =
            |kind, limit: &LossLimit| LossGuard::new(kind, limit.clone(), was_held(lock, kind));
        Self {
            removed: of(HoldKind::ObjectsRemoved, &limits.removed),
            replaced: of(HoldKind::MachinesReplaced, &limits.replaced),
        }
    }

    /// These guards with what is held said beforehand.
    pub(super) fn holding(self, verdicts: &LossVerdicts) -> Self {
        Self {
            removed: self.removed.holding(verdicts.removed.clone()),
            replaced: self.replaced.holding(verdicts.replaced.clone()),
        }
    }

    /// Whether the run is the one that such a verdict makes.
    pub(super) fn are_held_so(&self, verdicts: &LossVerdicts) -> bool {
        self.removed.is_held_so(&verdicts.removed) && self.replaced.is_held_so(&verdicts.replaced)
    }

    fn all(&self) -> [&LossGuard; 2] {
        [&self.removed, &self.replaced]
    }

    /// What must be held of what was counted, and what of it somebody acknowledged.
    pub(super) fn judge(&self, good: &Acknowledged) -> Judged {
        let mut spent = Vec::new();
        let mut verdict = |losses: &LossGuard| {
            let mut wanted = losses.verdict();
            for (group, hold) in losses.sets(&wanted) {
                let of = hold.kind.acknowledged_by();
                if let Some(name) = of.and_then(|of| good.covers(of, &hold)) {
                    spent.push(name);
                    wanted = wanted.without(losses.groups(), group);
                }
            }
            wanted
        };
        let (removed, replaced) = (verdict(&self.removed), verdict(&self.replaced));
        Judged { verdicts: LossVerdicts { removed, replaced }, spent }
    }

    /// What is held.
    pub(super) fn holds(&self) -> impl Iterator<Item = Hold> {
        self.all().into_iter().flat_map(LossGuard::holds).map(|(_, hold)| hold)
    }

    /// How long what the guards remember and hold is the same: until the hour is over, or until what other runs did
    /// counts no more.
    pub(super) fn until(
        &self,
        did: &GuardCounts,
        lock: Option<&FleetLock>,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let room = self.holds().next().and_then(|_| change::next_room(lock, now));
        [room, change::remembered_until(did, now)].into_iter().flatten().min()
    }

    /// Whether nothing is lost at all.
    pub(super) fn is_empty(&self) -> bool {
        self.all().into_iter().all(LossGuard::is_empty)
    }

    /// Whether nothing was left out, and nothing that is replaced is to be held.
    pub(super) fn is_plain(&self) -> bool {
        let held = || self.holds().next().is_some() || !self.replaced.verdict().is_nothing();
        self.removed.is_empty() && !held()
    }

    /// What goes through and counts for the runs to come. Of what was acknowledged nothing does.
    fn let_through(&self, kept: &BTreeSet<&str>) -> GuardCounts {
        let through = |losses: &LossGuard| {
            let unseen = losses.is_held_so(&losses.verdict());
            if unseen { losses.let_through(kept) } else { LetThrough::default() }
        };
        let (removed, replaced) = (through(&self.removed), through(&self.replaced));
        GuardCounts {
            removed_objects: removed.others,
            replaced_machines: replaced.others,
            asked_objects: removed.asked,
            asked_machines: replaced.asked,
            removing: removed.owners,
            replacing: replaced.owners,
            ..GuardCounts::default()
        }
    }

    /// Whose things are held until they are acknowledged or gone, decisions and losses.
    pub(super) fn lasting(&self, guarded: &Guarded) -> Lasting {
        let mut lasting = guarded.lasting.clone();
        lasting.extend(self.all().into_iter().flat_map(LossGuard::stays_held));
        lasting
    }

    /// What the run does that counts for the runs to come. What keeps its last good folder does nothing.
    pub(super) fn did(&self, guarded: &Guarded, gates: &[Gate]) -> GuardCounts {
        let kept: BTreeSet<&str> = gates.iter().map(|gate| gate.name.as_str()).collect();
        let going = |names: &[String]| {
            names.iter().filter(|name| !kept.contains(name.as_str())).count() as u64
        };
        let deletions = guarded.deletions.iter().map(|(of, names)| (of.clone(), going(names)));
        GuardCounts {
            deletions: deletions.filter(|(_, count)| *count > 0).collect(),
            moves: going(&guarded.moves),
            ..self.let_through(&kept)
        }
    }

    /// Counts what an owner loses.
    ///
    /// # Errors
    /// It is held.
    pub(super) fn count(
        &mut self,
        owner: LossOwner<'_>,
        losses: render::Losses,
    ) -> Result<(), Objection> {
        let of = |loss: Loss, amount: u64, name: String| Lost {
            name: named(owner.name, name),
            amount,
            asked: loss.asked,
        };
        let removed = losses.removed.into_iter().map(|loss| {
            let name = loss.object.clone();
            of(loss, 1, name)
        });
        let replaced = losses.replaced.into_iter().map(|loss| {
            let name = format!("{} ({})", loss.object, count(loss.machines, "machine"));
            let amount = loss.machines;
            of(loss, amount, name)
        });
        let removed = self.removed.count(owner, &removed.collect::<Vec<_>>());
        let replaced = self.replaced.count(owner, &replaced.collect::<Vec<_>>());
        gate::objects_removed(removed)?;
        gate::machines_replaced(replaced)
    }
}

/// An object as the hold names it: a cluster's own are in the namespace of its name.
fn named(owner: &str, object: String) -> String {
    let (_, place) = object.split_once(' ').unwrap_or_default();
    let namespace = place.split(['/', ' ']).next().unwrap_or(place);
    if namespace == owner { object } else { format!("{owner}: {object}") }
}
