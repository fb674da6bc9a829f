//! What holds of clusters that stay, and of those that leave.

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::{Seen, every_step, todays_steps};
use crate::model::api::{Observation, OnWorkerLoss};
use crate::model::{Decision, Freshness, MoveProgress, Name};
use crate::plan::moments;
use crate::plan::world::World;

#[test]
fn a_placed_cluster_stays() {
    let stayed = Seen::default();
    every_step(|world, planning| {
        for (cluster, worker) in world.previous.placements() {
            let planned = &planning.plan.clusters[cluster];
            prop_assert_eq!(planned.decision.worker(), Some(worker), "{:?}", cluster);
            if let Some(moved) = &planned.moved
                && moved.progress == MoveProgress::Begins
            {
                let document = &world.fleet.clusters[cluster];
                let may = document.spec.on_worker_loss == OnWorkerLoss::Rebuild;
                let transfers = world.fleet.transfers.contains(document.flavor());
                prop_assert!(may || transfers, "{:?}", cluster);
                prop_assert!(moved.transfer.is_none() || transfers, "{:?}", cluster);
                prop_assert_ne!(&moved.to, worker);
                continue;
            }
            stayed.note(1);
        }
        Ok(())
    });
    stayed.at_least(500);
}

/// The world when a worker has been silent for longer than any grace; `None` where nobody looks at it.
fn without_reports(world: &World, worker: &Name) -> Option<World> {
    let mut lost = world.clone();
    let report = lost.observed.workers.get_mut(worker)?;
    let observed = world.fleet.workers.get(worker)?.spec.observation == Observation::Agent;
    if !observed || report.freshness == Freshness::Silent {
        return None;
    }
    report.freshness = Freshness::Silent;
    report.freshness_since = world.now();
    Some(lost.at(world.now() + SignedDuration::from_hours(24)))
}

#[test]
fn a_lost_worker_moves_only_its_own_clusters() {
    let (stayed, left) = <(Seen, Seen)>::default();
    todays_steps(|world, planning| {
        let committed = world.after(planning);
        for worker in world.fleet.workers.keys() {
            let Some(lost) = without_reports(&committed, worker) else { continue };
            // What other workers' graces and tolerations bring in that time is not this one's doing.
            let now = committed.at(lost.now());
            let (before, after) = (now.plan().plan, lost.plan().plan);
            for (name, on) in committed.previous.placements() {
                let (was, is) = (&before.clusters[name].decision, &after.clusters[name].decision);
                let concerned = [was, is].iter().any(|d| d.reserved() == Some(worker));
                if on == worker || concerned {
                    left.note(usize::from(matches!(is, Decision::Move { .. })));
                    continue;
                }
                prop_assert_eq!(was.worker(), is.worker(), "{} is on {}", name, on);
                let stays = |d: &Decision| !matches!(d, Decision::Move { .. });
                // A guard or a place that is taken may stop a move that would begin. None begins for it.
                prop_assert!(stays(is) || !stays(was), "{} leaves {}", name, on);
                stayed.note(1);
            }
        }
        Ok(())
    });
    stayed.at_least_of(500);
    left.at_least_of(30);
}

#[test]
fn for_every_time_before_the_deadline_the_plan_is_the_same() {
    let (same, others) = <(Seen, Seen)>::default();
    every_step(|world, planning| {
        let now = world.now();
        let (_, deadline) = moments(&world.fleet, &world.observed, now);
        let at = |time| world.at(time).plan().plan;
        let Some(deadline) = deadline else {
            prop_assert_eq!(&at(Timestamp::MAX), &planning.plan);
            return Ok(());
        };
        let moment = SignedDuration::from_nanos(1);
        prop_assert_eq!(&at(deadline - moment), &planning.plan);
        prop_assert_eq!(&at(now + now.duration_until(deadline) / 2), &planning.plan);
        same.note(1);
        others.note(usize::from(at(deadline) != planning.plan));
        Ok(())
    });
    same.at_least(100);
    others.at_least(8);
}
