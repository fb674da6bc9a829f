//! What Git must not hold, and the commands that make it.

use super::agent::Agent;
use super::external;
use super::federation;
use super::flux::{FLUX_SYSTEM, FleetRepository, ROOT, SOURCE};
use super::preparation::{Once, Preparation, Where};
use super::roles;
use super::wanted::{NeededSecret, SecretWanted};
use super::worker_secrets::{
    agent_secret, data_store_secrets, git_credential, is_bootstrapped, issuer_secret,
    provider_secrets,
};
use crate::model::{FlavorKind, Fleet, Nodes, Worker, paths};

/// The Secrets that a worker wants of people: its Flux's, those of its providers and data stores, and its agent's. Where
/// an operator makes them these are the entries of its store.
#[must_use]
pub fn secrets_wanted(fleet: &Fleet, worker: &Worker) -> Vec<SecretWanted> {
    let external = external::of_worker(fleet, worker);
    if !external.is_empty() {
        return external.iter().map(external::ExternalSecret::entry).collect();
    }
    let mut all = flux_secrets(fleet, worker);
    let in_containers = worker.nodes() == Nodes::Containers;
    let there = provider_secrets(fleet, FlavorKind::ManagedCluster, in_containers);
    // Cluster API copies none of those of data stores: what they open is the state of all hosted clusters, so they
    // stay on the one cluster that uses them.
    let there = there.into_iter().chain(data_store_secrets(fleet, worker));
    all.extend(there.map(|secret| secret.by_hand(Where::Worker, Once::Worker)));
    let issuer = issuer_secret(fleet, worker).into_iter();
    all.extend(issuer.map(|secret| secret.by_hand(Where::ControlPlane, Once::Worker)));
    all.extend(Agent::of_worker(fleet, worker).into_iter().flat_map(|agent| {
        if is_bootstrapped(fleet, worker) {
            agent_secrets_through(&agent, &worker.name)
        } else {
            agent_secrets(&agent, &Where::Worker, Once::Worker)
        }
    }));
    all
}

fn flux_secrets(fleet: &Fleet, worker: &Worker) -> Vec<SecretWanted> {
    let delivered = fleet.spec.delivery.as_ref().and_then(|d| d.secret_ref.as_deref());
    let Some(name) = delivered else { return Vec::new() };
    let Some(bootstrap) = fleet.spec.bootstrap.as_ref().filter(|_| is_bootstrapped(fleet, worker))
    else {
        return vec![git_credential(fleet, name).by_hand(Where::Worker, Once::Worker)];
    };
    let (namespace, source) = (worker.name.as_str(), bootstrap.credential_ref.as_str());
    let manifest = format!(
        "{{apiVersion, kind, type, data, metadata: {{name: \"{name}\", namespace: \"{FLUX_SYSTEM}\"}}}}"
    );
    let command = format!(
        "kubectl -n {FLUX_SYSTEM} get secret {source} -o json | jq '{manifest}' | \
         kubectl -n {namespace} create secret generic {source} \
         --type=addons.cluster.x-k8s.io/resource-set --from-file=secret.json=/dev/stdin"
    );
    let why = format!("Cluster API copies it to {namespace}, whose Flux reads the output with it");
    vec![through(&worker.name, source, why, command)]
}

/// A Secret in a worker's namespace on the control-plane cluster, from where Cluster API copies it.
fn through(worker: &str, name: &str, why: String, command: String) -> SecretWanted {
    SecretWanted {
        name: name.to_owned(),
        namespace: worker.to_owned(),
        cluster: Where::ControlPlane,
        store: None,
        once: Once::Worker,
        why,
        command,
    }
}

/// The Secrets that the control-plane cluster wants: its Flux's, those that are copied to workers, those of its
/// providers, and its agent's.
#[must_use]
pub fn control_plane_secrets_wanted(fleet: &Fleet) -> Vec<SecretWanted> {
    let delivered = fleet.spec.delivery.as_ref().and_then(|d| d.secret_ref.as_deref());
    // Where an operator makes the copies, nobody copies it from here.
    let people = fleet.spec.external_secrets().is_none();
    let bootstrap = fleet.spec.bootstrap.as_ref().filter(|_| people);
    let bootstrap = bootstrap.map(|b| b.credential_ref.as_str());
    let mut names: Vec<_> = delivered.into_iter().chain(bootstrap).collect();
    names.sort_unstable();
    names.dedup();
    let flux = names.into_iter().map(|name| git_credential(fleet, name));
    let providers = provider_secrets(fleet, FlavorKind::Worker, false);
    let own = flux.chain(providers);
    let agent = Agent::of_control_plane(fleet).into_iter();
    own.map(|secret| secret.by_hand(Where::ControlPlane, Once::Fleet))
        .chain(agent.flat_map(|agent| agent_secrets(&agent, &Where::ControlPlane, Once::Fleet)))
        .collect()
}

/// The Secrets of an agent on a cluster that a person reaches.
fn agent_secrets(agent: &Agent, cluster: &Where, once: Once) -> Vec<SecretWanted> {
    let names = agent.secrets().into_iter();
    names.map(|name| agent_secret(agent, name).by_hand(cluster.clone(), once)).collect()
}

/// The Secrets of a worker's agent that Cluster API copies there from the control-plane cluster.
fn agent_secrets_through(agent: &Agent, worker: &str) -> Vec<SecretWanted> {
    let wanted = |name: &str| {
        let NeededSecret { fields, namespace, why, .. } = agent_secret(agent, name);
        let why = format!("Cluster API copies it to {worker}: {why}");
        let command = format!(
            "{} --dry-run=client -o json | kubectl -n {worker} create secret generic {name} \
             --type=addons.cluster.x-k8s.io/resource-set --from-file=secret.json=/dev/stdin",
            fields.create(&namespace, name)
        );
        through(worker, name, why, command)
    };
    agent.secrets().into_iter().map(wanted).collect()
}

/// What else a worker wants once: Flux itself where carp does not bring it, what identities must be allowed
/// in Azure, and for workload identity the keys of its service accounts where Azure can read them.
#[must_use]
pub fn preparations(fleet: &Fleet, worker: &Worker, prefix: &str) -> Vec<Preparation> {
    let mut all = Vec::new();
    if worker.nodes() == Nodes::Existing
        || worker.nodes() == Nodes::Containers && !is_bootstrapped(fleet, worker)
    {
        let repository = FleetRepository { spec: &fleet.spec, prefix };
        let on = (Where::Worker, Once::Worker);
        all.extend(flux_commands(repository, &on, ROOT, &paths::worker(&worker.name)));
    }
    if worker.nodes() == Nodes::Containers {
        return all;
    }
    all.extend(roles::assignments(fleet));
    all.extend(federation::assignments(fleet, worker));
    all.extend(federation::preparations(fleet, worker));
    all
}

/// What the control-plane cluster wants once: Flux, and the way to its folder.
#[must_use]
pub fn control_plane_preparations(fleet: &Fleet, prefix: &str) -> Vec<Preparation> {
    let repository = FleetRepository { spec: &fleet.spec, prefix };
    let on = (Where::ControlPlane, Once::Fleet);
    let mut all = flux_commands(repository, &on, "carp-control-plane", paths::CONTROL_PLANE);
    all.extend(external::preparations(fleet));
    all
}

fn flux_commands(
    repository: FleetRepository<'_>,
    (cluster, once): &(Where, Once),
    root: &str,
    folder: &str,
) -> Vec<Preparation> {
    let step = |why: &str, command: String| Preparation {
        cluster: cluster.clone(),
        once: *once,
        why: why.to_owned(),
        command,
    };
    let mut all = vec![step("Flux applies what carp commits", "flux install".to_owned())];
    let Some(source) = repository.source(folder) else { return all };
    let text = |pointer: &str| source.pointer(pointer).and_then(|v| v.as_str()).unwrap_or_default();
    let secret = match text("/spec/secretRef/name") {
        "" => String::new(),
        name => format!(" --secret-ref={name}"),
    };
    all.push(step(
        "Flux finds the output",
        format!(
            "flux create source git {SOURCE} --url={} --branch={} --interval={}{secret}",
            text("/spec/url"),
            text("/spec/ref/branch"),
            text("/spec/interval"),
        ),
    ));
    all.push(step(
        "Flux applies this cluster's folder",
        format!(
            "flux create kustomization {root} --source=GitRepository/{SOURCE} --path={} --prune=true \
             --interval=10m --retry-interval=1m",
            repository.path(folder),
        ),
    ));
    all
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{fleet, observed};
    use super::*;
    use crate::model::api::{ControlPlaneCluster, ObservedSettings};

    fn wanted(fleet: &Fleet) -> Vec<SecretWanted> {
        secrets_wanted(fleet, fleet.workers.values().next().unwrap())
    }

    #[test]
    fn a_worker_that_carp_makes_wants_its_credential_on_the_control_plane() {
        let wanted = wanted(&fleet());
        assert_eq!(wanted.len(), 1);
        assert_eq!((wanted[0].name.as_str(), wanted[0].namespace.as_str()), ("boot", "wk-1"));
        assert_eq!(wanted[0].cluster, Where::ControlPlane);
        assert!(wanted[0].command.contains("--type=addons.cluster.x-k8s.io/resource-set"));
        let names: Vec<_> =
            control_plane_secrets_wanted(&fleet()).into_iter().map(|s| s.name).collect();
        assert_eq!(names, ["boot", "git"]);
    }

    #[test]
    fn an_agent_wants_its_credential_where_the_worker_gets_it_from() {
        let mut fleet = observed();
        let names = |all: &[SecretWanted]| {
            all.iter().map(|s| format!("{}/{}", s.namespace, s.name)).collect::<Vec<_>>()
        };
        let through = wanted(&fleet);
        assert_eq!(names(&through), ["wk-1/boot", "wk-1/carp-agent-git"]);
        assert!(through[1].command.contains("--dry-run=client"), "{}", through[1].command);
        assert!(through[1].why.contains("carp/observed/wk-1"), "{}", through[1].why);
        let hub = control_plane_secrets_wanted(&fleet);
        assert_eq!(names(&hub).last().unwrap(), "carp-system/carp-agent-git");
        for worker in fleet.workers.values_mut() {
            worker.spec.flavor = Some("attached".to_owned());
        }
        let direct = wanted(&fleet);
        assert_eq!(names(&direct), ["flux-system/git", "carp-system/carp-agent-git"]);
        assert_eq!(direct[1].cluster, Where::Worker);
        let signers = vec!["wk-1 ssh-ed25519 AAAA".to_owned()];
        fleet.spec.observed =
            Some(ObservedSettings { allowed_signers: signers, ..Default::default() });
        assert_eq!(names(&wanted(&fleet)).last().unwrap(), "carp-system/carp-agent-signing");
    }

    #[test]
    fn an_attached_worker_is_told_how_to_begin() {
        let mut fleet = fleet();
        for worker in fleet.workers.values_mut() {
            worker.spec.flavor = Some("attached".to_owned());
        }
        assert_eq!(wanted(&fleet)[0].cluster, Where::Worker);
        assert!(wanted(&fleet)[0].command.contains("--from-file=identity="), "for ssh");
        let steps = preparations(&fleet, fleet.workers.values().next().unwrap(), "p");
        assert!(steps.iter().any(|s| s.command.contains("--path=./p/workers/wk-1 ")), "{steps:?}");
        assert!(steps.iter().any(|s| s.command.contains("--secret-ref=git")), "{steps:?}");
        fleet.spec.delivery.as_mut().unwrap().url = "https://git.example.com/fleet.git".into();
        assert!(wanted(&fleet)[0].command.contains("--from-file=password="), "for https");
    }

    #[test]
    fn a_worker_of_kind_without_a_control_plane_is_begun_by_hand() {
        let mut fleet = fleet();
        fleet.spec.credentials[0].azure.as_mut().unwrap().oidc_issuer_prefix =
            Some("https://o".into());
        for worker in fleet.workers.values_mut() {
            worker.spec.flavor = Some("kind".to_owned());
        }
        let steps = |fleet: &Fleet| preparations(fleet, fleet.workers.values().next().unwrap(), "");
        assert_eq!(wanted(&fleet)[0].cluster, Where::Worker);
        assert_eq!(steps(&fleet)[0].command, "flux install");
        assert!(steps(&fleet).iter().all(|s| s.cluster == Where::Worker), "nothing of Azure");
        fleet.spec.control_plane =
            Some(ControlPlaneCluster { name: "hub".into(), ..Default::default() });
        assert_eq!(wanted(&fleet)[0].cluster, Where::ControlPlane);
        assert_eq!(steps(&fleet), []);
    }

    #[test]
    fn workload_identity_wants_its_keys_published() {
        let mut fleet = fleet();
        let steps = |f: &Fleet| preparations(f, f.workers.values().next().unwrap(), "").len();
        let roles = steps(&fleet);
        let azure = fleet.spec.credentials[0].azure.as_mut().unwrap();
        azure.oidc_issuer_prefix = Some("https://oidc.example.com".into());
        assert_eq!(steps(&fleet), roles + 3);
    }

    #[test]
    fn a_repository_that_all_may_read_wants_no_secret() {
        let mut fleet = fleet();
        fleet.spec.delivery.as_mut().unwrap().secret_ref = None;
        assert_eq!(wanted(&fleet), []);
    }
}
