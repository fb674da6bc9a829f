//! What Git does not hold and a worker needs of people.

use super::super::show::SecretView;
use super::open::FleetLook;
use crate::model::{Name, Proposal, Worker, count};
use crate::render::{self, Once, Preparation, SecretWanted, Where};

/// What people do for a worker, each with how often.
pub(super) struct Hands {
    /// The Secrets.
    pub(super) secrets: Vec<SecretView>,
    /// How much of it is the worker's own, and the commands that are no Secrets.
    pub(super) notes: Vec<String>,
}

/// All that people do for a worker, and for the fleet before that.
pub(super) fn hands(look: &FleetLook, worker: &Worker) -> Hands {
    let proposal = &look.opened.proposal;
    let secrets = secrets(proposal, worker);
    let commands = preparations(look, worker);
    let all = secrets.iter().map(|s| s.once).chain(commands.iter().map(|c| c.once));
    let all: Vec<Once> = all.collect();
    let of = |once| all.iter().filter(|&&other| other == once).map(|_| 1).sum::<u64>();
    let own = match of(Once::Worker) {
        0 => "nothing".to_owned(),
        n => count(n, "thing"),
    };
    let fleet = count(of(Once::Fleet), "thing");
    let line = |command: Preparation| {
        let (on, once) = (place(look, &worker.name, command.cluster), once_words(command.once));
        format!("on {on}{once}: {}\n  {}", command.why, command.command)
    };
    let summary = format!("by hand: {own} for this worker, and {fleet} once per fleet");
    let notes = std::iter::once(summary).chain(commands.into_iter().map(line)).collect();
    let view = |secret: SecretWanted| SecretView {
        name: match &secret.store {
            Some(store) => format!("entry {} of ClusterSecretStore {store}", secret.name),
            None => format!("{}/{}", secret.namespace, secret.name),
        },
        cluster: place(look, &worker.name, secret.cluster),
        once: once_name(secret.once).to_owned(),
        why: secret.why,
        command: secret.command,
    };
    Hands { secrets: secrets.into_iter().map(view).collect(), notes }
}

/// For what something is done once, as programs read it.
const fn once_name(once: Once) -> &'static str {
    match once {
        Once::Fleet => "fleet",
        Once::Worker => "worker",
        Once::Cluster => "cluster",
    }
}

/// For what something is done once, as people read it, who expect it to be for the worker that they asked about.
const fn once_words(once: Once) -> &'static str {
    match once {
        Once::Fleet => ", once per fleet",
        Once::Worker | Once::Cluster => "",
    }
}

/// The Secrets that a worker wants, those first that the cluster which makes it wants, and last those that its clusters
/// name.
fn secrets(proposal: &Proposal, worker: &Worker) -> Vec<SecretWanted> {
    let fleet = &proposal.fleet;
    let mut all = Vec::new();
    if render::is_bootstrapped(fleet, worker) {
        all = render::control_plane_secrets_wanted(fleet);
    }
    all.extend(render::secrets_wanted(fleet, worker));
    all.extend(render::secrets_named_by_worker(fleet, worker));
    let planned = proposal.plan.clusters.iter();
    let here = planned.filter(|(_, planned)| planned.decision.worker() == Some(&worker.name));
    let clusters = here.filter_map(|(name, _)| fleet.clusters.get(name));
    all.extend(clusters.flat_map(render::secrets_named_by_cluster));
    all
}

/// The commands besides, those first that are for the cluster which makes it.
fn preparations(look: &FleetLook, worker: &Worker) -> Vec<Preparation> {
    let (fleet, prefix) = (&look.opened.proposal.fleet, &look.opened.source.prefix);
    let mut all = Vec::new();
    if render::is_bootstrapped(fleet, worker) {
        all = render::control_plane_preparations(fleet, prefix);
    }
    all.extend(render::preparations(fleet, worker, prefix));
    all
}

/// The cluster on which something is done, by its name.
pub(super) fn place(look: &FleetLook, worker: &Name, place: Where) -> String {
    match place {
        Where::ControlPlane => {
            let hub = look.opened.proposal.fleet.spec.control_plane.as_ref();
            hub.map_or("the control-plane cluster".to_owned(), |hub| hub.name.clone())
        }
        Where::Worker => worker.to_string(),
        Where::Azure => "Azure".to_owned(),
    }
}
