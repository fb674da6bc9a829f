//! Explaining one worker.

use super::WorkerExplanation;
use crate::model::{Name, Resources};
use crate::plan::assign::PlanRun;
use crate::plan::candidate::Candidate;
use crate::plan::{PlanInput, filter, scale};

/// Explains a worker as it is after the run; `None` where it is neither desired nor recorded.
#[must_use]
pub fn explain_worker(input: &PlanInput<'_>, name: &Name) -> Option<WorkerExplanation> {
    scale::settle(input, |_, run, _| told(&run, name))
}

fn told(run: &PlanRun<'_>, name: &Name) -> Option<WorkerExplanation> {
    let candidate = run.states.get(name)?;
    let here = |(_, planned): &(&Name, &crate::model::ClusterPlan)| {
        planned.decision.worker() == Some(name)
    };
    Some(WorkerExplanation {
        worker: name.clone(),
        plan: candidate.plan.clone(),
        free: free(candidate),
        clusters: run.clusters.iter().filter(here).map(|(cluster, _)| cluster.clone()).collect(),
        closed: filter::closed(candidate),
        taints: candidate.worker.map(|w| w.spec.taints.clone()).unwrap_or_default(),
    })
}

fn free(candidate: &Candidate<'_>) -> Resources {
    let plan = &candidate.plan;
    let resources = plan.capacity.keys();
    resources.filter_map(|r| plan.free(r).map(|free| (r.clone(), free))).collect()
}

#[cfg(test)]
mod tests {
    use crate::model::{Quantity, WorkerState};
    use crate::plan::world::{World, name};

    #[test]
    fn a_worker_tells_what_it_has_and_who_is_there() {
        let world = World::read(
            "worker w1 0/5 cap:mem=8 reserved=1 taint:k=v:PreferNoSchedule;
             cluster a on=w1 needs=2 needs:mem=3; cluster b",
        );
        let told = world.explain_worker("w1").expect("it is desired");
        assert_eq!(told.plan.state, WorkerState::Desired);
        assert_eq!(told.clusters, [name("a"), name("b")]);
        let free = [("clusters", 1), ("mem", 5)];
        assert_eq!(told.free, free.map(|(r, n)| (r.to_owned(), Quantity::units(n))).into());
        assert_eq!(told.closed, []);
        assert_eq!(told.taints.len(), 1);
        assert_eq!(world.explain_worker("w9"), None);
    }

    #[test]
    fn a_worker_tells_why_it_takes_nothing_new() {
        for (worker, closed) in [
            ("worker w1 cordoned", vec!["cordoned"]),
            ("worker w1 2/2", vec!["needs 1 cluster, 0 free"]),
            ("worker w1 2/2 ceiling=3", vec![]),
            ("worker w1 3/2 ceiling=3", vec!["needs 1 cluster, 0 left below the ceiling"]),
            ("worker w1 ?", vec!["capacity for clusters is not known"]),
            (
                "worker w1 2/2 cordoned agent",
                vec!["has never reported", "cordoned", "needs 1 cluster, 0 free"],
            ),
            ("worker w1 gone; cluster a on=w1", vec!["being removed"]),
        ] {
            let told = World::read(worker).explain_worker("w1").expect("it is known");
            let told: Vec<_> = told.closed.iter().map(ToString::to_string).collect();
            assert_eq!(told, closed, "{worker}");
        }
    }
}
