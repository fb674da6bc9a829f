//! The index decides as the plain scan does, and for nearly every cluster of a large fleet.

#[path = "../../benches/placement/fleet.rs"]
mod fleet;

use carp::model::Decision;
use carp::plan::{PlanInput, Planning, Queue, SearchMode, plan};

use self::fleet::{Generated, Together};

fn by(fleet: &Generated, way: SearchMode) -> Planning {
    Queue::new(&fleet.input(), way).serve()
}

#[test]
fn a_large_fleet_is_planned_alike_by_the_index_and_by_the_plain_scan() {
    for rules in [Together::Free, Together::Ruled] {
        planned_alike(&Generated::new(1_500, 30, rules));
    }
}

fn planned_alike(fleet: &Generated) {
    let (scan, index) = (by(fleet, SearchMode::Scan), by(fleet, SearchMode::Index));
    assert!(scan.plan == index.plan && scan.context == index.context);
    let waits = |planning: &Planning| {
        let waits = |d: &Decision| matches!(d, Decision::Wait { .. });
        planning.plan.clusters.values().filter(|p| waits(&p.decision)).count()
    };
    assert!((50..500).contains(&waits(&index)), "{} wait", waits(&index));
}

#[test]
fn nearly_every_decision_of_a_large_fleet_is_by_the_index() {
    for rules in [Together::Free, Together::Ruled] {
        let planning = plan(&Generated::new(1_500, 30, rules).input());
        let (searched, indexed) = (planning.searched, planning.indexed);
        assert!(searched >= 1_500);
        assert!(indexed * 100 >= searched * 99, "{indexed} of {searched} with rules {rules:?}");
    }
}

#[test]
fn what_is_placed_is_counted_once_and_counts_the_same_afterwards() {
    let fleet = Generated::new(1_500, 30, Together::Ruled);
    let first = by(&fleet, SearchMode::Index);
    assert_eq!(first.counted_anew, 0, "nothing is placed yet");
    let placed = fleet.after(&first.plan);
    let counted = plan(&placed.input());
    assert_eq!(counted.counted_anew, 30);
    let next = plan(&PlanInput { counted: Some(&counted.counted), ..placed.input() });
    assert_eq!(next.counted_anew, 0);
    assert!(next.plan == counted.plan && next.context == counted.context);
    assert!(next.counted == counted.counted);
}
