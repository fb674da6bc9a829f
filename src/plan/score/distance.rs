//! Location distance: from the location of the cluster's nodes to the worker's, by the table of
//! locations. Nearer is better.

use crate::model::Worker;
use crate::plan::candidate::Request;
use crate::plan::depends_on::DependsOn;

pub(super) const READS: &[DependsOn] = &[DependsOn::Site, DependsOn::Location];

pub(super) fn between(request: &Request<'_>, worker: &Worker) -> u32 {
    worker.catalogue.distance(&request.cluster.spec.location, &worker.spec.location)
}

#[cfg(test)]
mod tests {
    use crate::plan::world::check;

    #[test]
    fn the_nearest_worker_is_taken_and_a_far_one_is_no_refusal() {
        let far = "worker w1 at=eastus;";
        check(&format!("{far} worker w2 at=northeurope; cluster a at=westeurope"), "a -> w2");
        check(
            &format!(
                "{far} worker w2 at=northeurope; worker w3 at=westeurope; cluster a at=westeurope"
            ),
            "a -> w3",
        );
        check(&format!("{far} cluster a at=westeurope"), "a -> w1");
    }
}
