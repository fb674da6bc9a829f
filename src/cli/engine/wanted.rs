//! What Git does not hold and a worker needs.

use crate::model::{Proposal, Worker};
use crate::render::{self, SecretWanted};

/// The Secrets that a worker wants, those first that the cluster which makes it wants, and last those that its clusters
/// name.
pub(super) fn secrets(proposal: &Proposal, worker: &Worker) -> Vec<SecretWanted> {
    let fleet = &proposal.fleet;
    let mut all = Vec::new();
    if render::is_bootstrapped(fleet, worker) {
        all = render::control_plane_secrets_wanted(fleet);
    }
    all.extend(render::secrets_wanted(fleet, worker));
    all.extend(render::secrets_named_by_worker(worker));
    let planned = proposal.plan.clusters.iter();
    let here = planned.filter(|(_, planned)| planned.decision.worker() == Some(&worker.name));
    let clusters = here.filter_map(|(name, _)| fleet.clusters.get(name));
    all.extend(clusters.flat_map(render::secrets_named_by_cluster));
    all
}
