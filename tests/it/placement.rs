//! The index decides as the plain scan does, and for nearly every cluster of a large fleet.

#[path = "../../benches/placement/fleet.rs"]
mod fleet;

use carp::model::Decision;
use carp::plan::{Planning, Queue, Way, plan};

use self::fleet::{Generated, Together};

fn by(fleet: &Generated, way: Way) -> Planning {
    Queue::new(&fleet.input(), way).serve()
}

#[test]
fn a_large_fleet_is_planned_alike_by_the_index_and_by_the_plain_scan() {
    for rules in [Together::Free, Together::Ruled] {
        planned_alike(&Generated::new(1_500, 30, rules));
    }
}

fn planned_alike(fleet: &Generated) {
    let (scan, index) = (by(fleet, Way::Scan), by(fleet, Way::Index));
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
