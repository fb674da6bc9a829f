//! What Git must not hold, and the commands that make it.

use std::collections::BTreeMap;

use super::agent::{Agent, NAMESPACE, SIGNING_SECRET};
use super::context::ProviderSite;
use super::federation;
use super::flux::{FLUX_SYSTEM, FleetRepository, ROOT, SOURCE, is_ssh};
use super::preparation::{Preparation, Where};
use super::roles;
use crate::model::{CapiProvider, FlavorKind, Fleet, Nodes, Worker, paths};

/// A Secret that a person makes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SecretWanted {
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// The cluster that it is on.
    pub cluster: Where,
    /// What it is for.
    pub why: String,
    /// The command that makes it.
    pub command: String,
}

/// The Secrets that a worker wants: its Flux's, those of its providers and data stores, and its agent's.
#[must_use]
pub fn secrets_wanted(fleet: &Fleet, worker: &Worker) -> Vec<SecretWanted> {
    let mut all = flux_secrets(fleet, worker);
    let in_containers = worker.nodes() == Nodes::Containers;
    all.extend(provider_secrets(fleet, FlavorKind::ManagedCluster, in_containers, &Where::Worker));
    all.extend(data_store_secrets(fleet, worker));
    all.extend(Agent::of_worker(fleet, worker).into_iter().flat_map(|agent| {
        if is_bootstrapped(fleet, worker) {
            agent_secrets_through(&agent, &worker.name)
        } else {
            agent_secrets(&agent, &Where::Worker)
        }
    }));
    all
}

/// Whether the control-plane cluster makes the worker and brings it what it needs. A worker of kind may do
/// without one: then people begin with a cluster that is there.
#[must_use]
pub fn is_bootstrapped(fleet: &Fleet, worker: &Worker) -> bool {
    let alone = worker.nodes() == Nodes::Containers && fleet.spec.control_plane.is_none();
    worker.nodes() != Nodes::Existing && !alone && fleet.spec.delivery.is_some()
}

fn flux_secrets(fleet: &Fleet, worker: &Worker) -> Vec<SecretWanted> {
    let delivered = fleet.spec.delivery.as_ref().and_then(|d| d.secret_ref.as_deref());
    let Some(name) = delivered else { return Vec::new() };
    let Some(bootstrap) = fleet.spec.bootstrap.as_ref().filter(|_| is_bootstrapped(fleet, worker))
    else {
        return vec![git_credential(fleet, name, Where::Worker)];
    };
    let (namespace, source) = (worker.name.as_str(), bootstrap.credential_ref.as_str());
    let manifest = format!(
        "{{apiVersion, kind, type, data, metadata: {{name: \"{name}\", namespace: \"{FLUX_SYSTEM}\"}}}}"
    );
    vec![SecretWanted {
        name: source.to_owned(),
        namespace: namespace.to_owned(),
        cluster: Where::ControlPlane,
        why: format!("Cluster API copies it to {namespace}, whose Flux reads the output with it"),
        command: format!(
            "kubectl -n {FLUX_SYSTEM} get secret {source} -o json | jq '{manifest}' | \
             kubectl -n {namespace} create secret generic {source} \
             --type=addons.cluster.x-k8s.io/resource-set --from-file=secret.json=/dev/stdin"
        ),
    }]
}

/// The Secrets that the providers of a cluster are installed with.
fn provider_secrets(
    fleet: &Fleet,
    makes: FlavorKind,
    in_containers: bool,
    cluster: &Where,
) -> Vec<SecretWanted> {
    let site =
        ProviderSite { catalogue: &fleet.catalogue, makes, in_containers, fleet: &fleet.spec };
    let wanted = |provider: &CapiProvider| {
        let secret = provider.config_secret.as_ref()?;
        let files = secret.variables.iter().map(|name| format!(" --from-file={name}=VALUE_FILE"));
        let (namespace, name) = (&provider.namespace, &secret.name);
        Some(SecretWanted {
            name: name.clone(),
            namespace: namespace.clone(),
            cluster: cluster.clone(),
            why: format!("the provider {} is installed with it", provider.name),
            command: format!(
                "kubectl -n {namespace} create secret generic {name}{}",
                files.collect::<String>()
            ),
        })
    };
    site.providers().into_iter().filter_map(wanted).collect()
}

/// The Secrets with which snapshots of a worker's data stores are kept elsewhere, each once. Where the
/// control-plane cluster makes the worker, Cluster API copies none of them there: what they open is the state of
/// all hosted clusters, so they stay on the one cluster that uses them.
fn data_store_secrets(fleet: &Fleet, worker: &Worker) -> Vec<SecretWanted> {
    let mut stores_of = BTreeMap::<&str, Vec<&str>>::new();
    for store in &worker.spec.data_stores {
        let Some(snapshots) = &store.snapshots else { continue };
        stores_of.entry(&snapshots.secret_ref).or_default().push(&store.name);
    }
    let on_worker = fleet.catalogue.flavors().find_map(|(_, flavor)| flavor.data_stores.as_ref());
    let Some(namespace) = on_worker.map(|stores| stores.namespace.as_str()) else {
        return Vec::new();
    };
    let wanted = |(name, stores): (&str, Vec<&str>)| SecretWanted {
        name: name.to_owned(),
        namespace: namespace.to_owned(),
        cluster: Where::Worker,
        why: format!("snapshots of the data stores {} go elsewhere with it", stores.join(", ")),
        command: format!(
            "kubectl -n {namespace} create secret generic {name} --from-file=rclone.conf=CONFIG_FILE"
        ),
    };
    stores_of.into_iter().map(wanted).collect()
}

/// The Secrets that the control-plane cluster wants: its Flux's, those that are copied to workers, those of its
/// providers, and its agent's.
#[must_use]
pub fn control_plane_secrets_wanted(fleet: &Fleet) -> Vec<SecretWanted> {
    let delivered = fleet.spec.delivery.as_ref().and_then(|d| d.secret_ref.as_deref());
    let bootstrap = fleet.spec.bootstrap.as_ref().map(|b| b.credential_ref.as_str());
    let mut names: Vec<_> = delivered.into_iter().chain(bootstrap).collect();
    names.sort_unstable();
    names.dedup();
    let flux = names.into_iter().map(|name| git_credential(fleet, name, Where::ControlPlane));
    let agent = Agent::of_control_plane(fleet).into_iter();
    let providers = provider_secrets(fleet, FlavorKind::Worker, false, &Where::ControlPlane);
    flux.chain(providers)
        .chain(agent.flat_map(|agent| agent_secrets(&agent, &Where::ControlPlane)))
        .collect()
}

/// The Secrets of an agent on a cluster that a person reaches.
fn agent_secrets(agent: &Agent, cluster: &Where) -> Vec<SecretWanted> {
    let wanted = |name: &str| SecretWanted {
        name: name.to_owned(),
        namespace: NAMESPACE.to_owned(),
        cluster: cluster.clone(),
        why: agent_why(agent, name),
        command: agent_command(agent, name),
    };
    agent.secrets().into_iter().map(wanted).collect()
}

/// The Secrets of a worker's agent that Cluster API copies there from the control-plane cluster.
fn agent_secrets_through(agent: &Agent, worker: &str) -> Vec<SecretWanted> {
    let wanted = |name: &str| SecretWanted {
        name: name.to_owned(),
        namespace: worker.to_owned(),
        cluster: Where::ControlPlane,
        why: format!("Cluster API copies it to {worker}: {}", agent_why(agent, name)),
        command: format!(
            "{} --dry-run=client -o json | kubectl -n {worker} create secret generic {name} \
             --type=addons.cluster.x-k8s.io/resource-set --from-file=secret.json=/dev/stdin",
            agent_command(agent, name)
        ),
    };
    agent.secrets().into_iter().map(wanted).collect()
}

fn agent_why(agent: &Agent, secret: &str) -> String {
    if secret == SIGNING_SECRET {
        let name = agent.name();
        format!(
            "the agent signs its reports with this SSH key, which observed.allowedSigners has for {name}"
        )
    } else {
        format!(
            "the agent pushes its reports with it, to {} and no other branch",
            agent.report_branch()
        )
    }
}

fn agent_command(agent: &Agent, secret: &str) -> String {
    let files = match secret {
        SIGNING_SECRET => "--from-file=key=KEY_FILE",
        _ if agent.is_ssh() => {
            "--from-file=identity=KEY_FILE --from-file=known_hosts=KNOWN_HOSTS_FILE"
        }
        _ => "--from-file=.git-credentials=CREDENTIALS_FILE",
    };
    format!("kubectl -n {NAMESPACE} create secret generic {secret} {files}")
}

/// The credential with which Flux reads the output, in the form that Flux wants for its address
/// (source-controller, "GitRepository", secret reference).
fn git_credential(fleet: &Fleet, name: &str, cluster: Where) -> SecretWanted {
    let files = match &fleet.spec.delivery {
        Some(delivery) if !is_ssh(&delivery.url) => {
            "--from-literal=username=USER --from-file=password=TOKEN_FILE"
        }
        _ => "--from-file=identity=KEY_FILE --from-file=known_hosts=KNOWN_HOSTS_FILE",
    };
    SecretWanted {
        name: name.to_owned(),
        namespace: FLUX_SYSTEM.to_owned(),
        cluster,
        why: "Flux reads the output with it; read access is enough".to_owned(),
        command: format!("kubectl -n {FLUX_SYSTEM} create secret generic {name} {files}"),
    }
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
        all.extend(flux_commands(repository, Where::Worker, ROOT, &paths::worker(&worker.name)));
    }
    if worker.nodes() == Nodes::Containers {
        return all;
    }
    all.extend(roles::assignments(fleet));
    all.extend(federation::preparations(fleet, worker));
    all
}

/// What the control-plane cluster wants once: Flux, and the way to its folder.
#[must_use]
pub fn control_plane_preparations(fleet: &Fleet, prefix: &str) -> Vec<Preparation> {
    let repository = FleetRepository { spec: &fleet.spec, prefix };
    flux_commands(repository, Where::ControlPlane, "carp-control-plane", paths::CONTROL_PLANE)
}

fn flux_commands(
    repository: FleetRepository<'_>,
    cluster: Where,
    root: &str,
    folder: &str,
) -> Vec<Preparation> {
    let mut all = vec![Preparation {
        cluster: cluster.clone(),
        why: "Flux applies what carp commits".to_owned(),
        command: "flux install".to_owned(),
    }];
    let Some(source) = repository.source(folder) else { return all };
    let text = |pointer: &str| source.pointer(pointer).and_then(|v| v.as_str()).unwrap_or_default();
    let secret = match text("/spec/secretRef/name") {
        "" => String::new(),
        name => format!(" --secret-ref={name}"),
    };
    all.push(Preparation {
        cluster: cluster.clone(),
        why: "Flux finds the output".to_owned(),
        command: format!(
            "flux create source git {SOURCE} --url={} --branch={} --interval={}{secret}",
            text("/spec/url"),
            text("/spec/ref/branch"),
            text("/spec/interval"),
        ),
    });
    all.push(Preparation {
        cluster,
        why: "Flux applies this cluster's folder".to_owned(),
        command: format!(
            "flux create kustomization {root} --source=GitRepository/{SOURCE} --path={} --prune=true \
             --interval=10m --retry-interval=1m",
            repository.path(folder),
        ),
    });
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
