//! The Secrets that what runs on a worker needs, whoever makes them.

use std::collections::BTreeMap;

use super::agent::{Agent, NAMESPACE, SIGNING_SECRET};
use super::context::ProviderSite;
use super::federation;
use super::flux::{FLUX_SYSTEM, is_ssh};
use super::wanted::{NeededSecret, SecretFields};
use crate::model::{CapiProvider, FlavorKind, Fleet, Nodes, Worker};

/// Whether the control-plane cluster makes the worker and brings it what it needs. A worker of kind may do
/// without one: then people begin with a cluster that is there.
#[must_use]
pub fn is_bootstrapped(fleet: &Fleet, worker: &Worker) -> bool {
    let alone = worker.nodes() == Nodes::Containers && fleet.spec.control_plane.is_none();
    worker.nodes() != Nodes::Existing && !alone && fleet.spec.delivery.is_some()
}

/// The credential with which Flux reads the output; `None` where everybody may.
pub(super) fn git_secret(fleet: &Fleet) -> Option<NeededSecret> {
    let name = fleet.spec.delivery.as_ref()?.secret_ref.as_deref()?;
    Some(git_credential(fleet, name))
}

/// The credential for the output by another name, in the form that Flux wants for its address (source-controller, "GitRepository", secret
/// reference).
pub(super) fn git_credential(fleet: &Fleet, name: &str) -> NeededSecret {
    let fields = SecretFields::default();
    let fields = match &fleet.spec.delivery {
        Some(delivery) if !is_ssh(&delivery.url) => {
            fields.word("username", "USER").file("password", "TOKEN_FILE")
        }
        _ => fields.file("identity", "KEY_FILE").file("known_hosts", "KNOWN_HOSTS_FILE"),
    };
    NeededSecret {
        name: name.to_owned(),
        namespace: FLUX_SYSTEM.to_owned(),
        fields,
        why: "Flux reads the output with it; read access is enough".to_owned(),
    }
}

/// One of the Secrets of an agent.
pub(super) fn agent_secret(agent: &Agent, secret: &str) -> NeededSecret {
    let fields = SecretFields::default();
    let fields = match secret {
        SIGNING_SECRET => fields.file("key", "KEY_FILE"),
        _ if agent.is_ssh() => {
            fields.file("identity", "KEY_FILE").file("known_hosts", "KNOWN_HOSTS_FILE")
        }
        _ => fields.file(".git-credentials", "CREDENTIALS_FILE"),
    };
    NeededSecret {
        name: secret.to_owned(),
        namespace: NAMESPACE.to_owned(),
        fields,
        why: agent_why(agent, secret),
    }
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

/// What a Secret is for that the agents of all workers have.
pub(super) fn shared_agent_why(agent: &Agent, secret: &str) -> String {
    if secret == SIGNING_SECRET {
        "the agents of all workers sign their reports with this SSH key, which observed.allowedSigners has for the name of each"
            .to_owned()
    } else {
        format!(
            "the agents of all workers push their reports with it, each to its own branch below {}/, and to no others",
            agent.branches()
        )
    }
}

/// The Secrets that the providers of a cluster are installed with.
pub(super) fn provider_secrets(
    fleet: &Fleet,
    makes: FlavorKind,
    in_containers: bool,
) -> Vec<NeededSecret> {
    let site =
        ProviderSite { catalogue: &fleet.catalogue, makes, in_containers, fleet: &fleet.spec };
    let needed = |provider: &CapiProvider| {
        let secret = provider.config_secret.as_ref()?;
        let variables = secret.variables.iter();
        Some(NeededSecret {
            name: secret.name.clone(),
            namespace: provider.namespace.clone(),
            fields: variables.fold(SecretFields::default(), |all, v| all.file(v, "VALUE_FILE")),
            why: format!("the provider {} is installed with it", provider.name),
        })
    };
    site.providers().into_iter().filter_map(needed).collect()
}

/// The Secrets with which snapshots of a worker's data stores are kept elsewhere, each once.
pub(super) fn data_store_secrets(fleet: &Fleet, worker: &Worker) -> Vec<NeededSecret> {
    let mut stores_of = BTreeMap::<&str, Vec<&str>>::new();
    for store in &worker.spec.data_stores {
        let Some(snapshots) = &store.snapshots else { continue };
        stores_of.entry(&snapshots.secret_ref).or_default().push(&store.name);
    }
    let on_worker = fleet.catalogue.flavors().find_map(|(_, flavor)| flavor.data_stores.as_ref());
    let Some(namespace) = on_worker.map(|stores| stores.namespace.as_str()) else {
        return Vec::new();
    };
    let needed = |(name, stores): (&str, Vec<&str>)| NeededSecret {
        name: name.to_owned(),
        namespace: namespace.to_owned(),
        fields: SecretFields::default().file("rclone.conf", "CONFIG_FILE"),
        why: format!("snapshots of the data stores {} go elsewhere with it", stores.join(", ")),
    };
    stores_of.into_iter().map(needed).collect()
}

/// The Secret with which the keys of a worker's service accounts are published; `None` where that wants none.
pub(super) fn issuer_secret(fleet: &Fleet, worker: &Worker) -> Option<NeededSecret> {
    Some(NeededSecret {
        name: federation::storage(fleet, worker)?.secret_ref.clone()?,
        namespace: worker.name.to_string(),
        fields: SecretFields::default().file("rclone.conf", "CONFIG_FILE"),
        why: "the keys of service accounts are published with it, for Azure to read".to_owned(),
    })
}
