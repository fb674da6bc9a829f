//! Secrets of workers that the External Secrets Operator makes, on the control-plane cluster, of entries of a store: Git
//! has the names of the entries, and nobody makes a Secret for a worker.
//!
//! What the worker itself needs is made as a Secret of Cluster API's that holds it, and Cluster API applies that there
//! as soon as it is there (external-secrets v2.9.0, `apis/externalsecrets/v1` and `runtime/template/v2`; Cluster API,
//! `clusterresourceset_controller.go`). What stands in an entry is JSON, whose keys are those of the Secret.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::agent::Agent;
use super::flux::object;
use super::named_secrets;
use super::preparation::{Once, Preparation, Where};
use super::wanted::{NeededSecret, SecretWanted};
use super::worker_secrets::{
    agent_secret, data_store_secrets, git_secret, is_bootstrapped, issuer_secret, provider_secrets,
    shared_agent_why,
};
use crate::model::api::{ExternalSecretSettings, WORKER_IN_KEY};
use crate::model::{FlavorKind, Fleet, Nodes, Worker};

/// The API of the objects.
pub(super) const EXTERNAL_SECRETS: &str = "external-secrets.io";
/// The chart of the operator.
const CHARTS: &str = "https://charts.external-secrets.io";
/// The type of Secrets whose content Cluster API applies.
const RESOURCE_SET: &str = "addons.cluster.x-k8s.io/resource-set";

/// One Secret of a worker that an operator makes.
#[derive(Clone, Debug)]
pub(super) struct ExternalSecret<'a> {
    settings: &'a ExternalSecretSettings,
    worker: &'a str,
    /// Its name on the control-plane cluster.
    pub(super) name: String,
    /// The name by which `keys` may say otherwise what the entry is called.
    called: String,
    /// The Secret as what uses it wants it.
    wanted: NeededSecret,
    /// What it is for where the entry is for all workers, if that is something else.
    shared_why: Option<String>,
    /// Which of the worker's `ClusterResourceSets` carries it there; `None`: it stays on the control-plane cluster.
    pub(super) carried: Option<Carried>,
}

/// What carries a Secret to the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carried {
    /// What carries the credential of Flux, with or without an operator.
    Credential,
    /// What carries those of the agent, with or without an operator.
    Agent,
    /// What carries the others, which nothing carries where people make them.
    Others,
}

/// Those of a worker; none where people make them, or where nothing brings the worker what it needs.
pub(super) fn of_worker<'a>(fleet: &'a Fleet, worker: &'a Worker) -> Vec<ExternalSecret<'a>> {
    let Some(settings) = fleet.spec.external_secrets().filter(|_| is_bootstrapped(fleet, worker))
    else {
        return Vec::new();
    };
    let one = |name: String, called: &str, wanted: NeededSecret, carried| ExternalSecret {
        settings,
        worker: &worker.name,
        name,
        called: called.to_owned(),
        wanted,
        shared_why: None,
        carried,
    };
    let own = |wanted: NeededSecret, carried| {
        let called = wanted.name.clone();
        one(called.clone(), &called, wanted, carried)
    };
    let mut all = Vec::new();
    // Two of one name may be in two namespaces there, and here all are in the worker's.
    let other = |wanted: NeededSecret| {
        let (name, called) = (format!("{}-{}", wanted.namespace, wanted.name), wanted.name.clone());
        one(name, &called, wanted, Some(Carried::Others))
    };
    all.extend(git_secret(fleet).map(|wanted| match &fleet.spec.bootstrap {
        Some(bootstrap) => {
            let name = &bootstrap.credential_ref;
            one(name.clone(), name, wanted, Some(Carried::Credential))
        }
        None => other(wanted),
    }));
    all.extend(Agent::of_worker(fleet, worker).into_iter().flat_map(|agent| {
        let secrets = agent.secrets().into_iter();
        secrets
            .map(|name| ExternalSecret {
                shared_why: Some(shared_agent_why(&agent, name)),
                ..own(agent_secret(&agent, name), Some(Carried::Agent))
            })
            .collect::<Vec<_>>()
    }));
    let in_containers = worker.nodes() == Nodes::Containers;
    let providers = provider_secrets(fleet, FlavorKind::ManagedCluster, in_containers);
    let others = providers.into_iter().chain(data_store_secrets(fleet, worker));
    all.extend(others.map(other));
    let here = issuer_secret(fleet, worker).into_iter().chain(named_secrets::of_worker(worker));
    all.extend(here.map(|wanted| own(wanted, None)));
    all
}

impl ExternalSecret<'_> {
    /// The object.
    pub(super) fn object(&self) -> Value {
        let mut target = json!({"name": self.name, "creationPolicy": "Owner"});
        if self.carried.is_some() {
            target["template"] = json!({
                "engineVersion": "v2",
                "type": RESOURCE_SET,
                "data": {"secret.json": self.content()},
            });
        }
        let spec = json!({
            "refreshInterval": self.settings.interval(),
            "secretStoreRef": {
                "kind": "ClusterSecretStore",
                "name": self.settings.cluster_secret_store,
            },
            "target": target,
            "dataFrom": [{"extract": {"key": self.key()}}],
        });
        object(&format!("{EXTERNAL_SECRETS}/v1"), "ExternalSecret", &self.name, self.worker, spec)
    }

    /// The Secret of the worker, with all that the entry has where the operator puts it in.
    fn content(&self) -> String {
        let metadata = json!({"name": self.wanted.name, "namespace": self.wanted.namespace});
        format!(
            "{{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{metadata},\"stringData\":{{{{ . | toJson }}}}}}"
        )
    }

    fn key(&self) -> String {
        self.settings.key(&self.called).replace(WORKER_IN_KEY, self.worker)
    }

    /// The entry, which a person makes: for all workers where it does not name one.
    pub(super) fn entry(&self) -> SecretWanted {
        let is_own = self.settings.key(&self.called).contains(WORKER_IN_KEY);
        let why = self.shared_why.as_ref().filter(|_| !is_own).unwrap_or(&self.wanted.why);
        SecretWanted {
            name: self.key(),
            namespace: String::new(),
            cluster: Where::ControlPlane,
            store: Some(self.settings.cluster_secret_store.clone()),
            once: if is_own { Once::Worker } else { Once::Fleet },
            why: why.clone(),
            command: self.wanted.fields.entry(),
        }
    }
}

/// The names by which `keys` of the store may name the Secrets of a fleet's workers.
#[must_use]
pub fn names_of_stored_secrets(fleet: &Fleet) -> BTreeSet<String> {
    let of = |worker| of_worker(fleet, worker).into_iter().map(|secret| secret.called);
    fleet.workers.values().flat_map(of).collect()
}

/// What the operator itself wants, once. The store is kept to the namespaces of workers, for whoever may make an
/// `ExternalSecret` in a namespace that it is open to reads what is in it: that of a tenant's cluster, which the
/// control-plane cluster may host too, is none of them.
pub(super) fn preparations(fleet: &Fleet) -> Vec<Preparation> {
    let Some(settings) = fleet.spec.external_secrets() else { return Vec::new() };
    let store = &settings.cluster_secret_store;
    let step = |why: String, command: String| Preparation {
        cluster: Where::ControlPlane,
        once: Once::Fleet,
        why,
        command,
    };
    let selector = json!({"matchExpressions": [
        {"key": "carp.dev/cluster", "operator": "Exists"},
        {"key": "carp.dev/tenant", "operator": "DoesNotExist"},
    ]});
    let kept = json!({"spec": {"conditions": [{"namespaceSelector": selector}]}});
    vec![
        step(
            "the External Secrets Operator makes the Secrets of workers".to_owned(),
            format!(
                "helm install external-secrets external-secrets --repo {CHARTS} \
                 --namespace external-secrets --create-namespace"
            ),
        ),
        step(
            format!("the store {store} is open to the namespaces of workers and no others"),
            format!("kubectl patch clustersecretstore {store} --type merge --patch '{kept}'"),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::fixture::{fleet, objects_of, observed};
    use super::super::{Files, Templates, control_plane_worker_job, secrets_wanted};
    use super::*;
    use crate::model::api::{
        DataStore, DataStoreSnapshots, ObservedSettings, Parameters, SecretSettings,
    };

    /// A fleet with everything that wants a Secret, and a store.
    fn stored(keys: &[(&str, &str)]) -> Fleet {
        let mut fleet = observed();
        let keys = keys.iter().map(|(name, key)| ((*name).into(), (*key).into()));
        fleet.spec.secrets = Some(SecretSettings {
            external_secrets: Some(ExternalSecretSettings {
                cluster_secret_store: "vault".into(),
                keys: keys.collect::<BTreeMap<_, _>>(),
                ..ExternalSecretSettings::default()
            }),
        });
        fleet.spec.observed = Some(ObservedSettings {
            allowed_signers: vec!["wk-1 ssh-ed25519 AAAA".to_owned()],
            ..ObservedSettings::default()
        });
        let worker = fleet.workers.values_mut().next().unwrap();
        worker.spec.data_stores = vec![DataStore {
            name: "default".into(),
            snapshots: Some(DataStoreSnapshots {
                schedule: "0 * * * *".into(),
                to: "backup:etcd".into(),
                secret_ref: "etcd-backup".into(),
            }),
            ..DataStore::default()
        }];
        let named = json!({"encryptionConfigSecret": "keys"});
        worker.spec.parameters = serde_json::from_value::<Parameters>(named).unwrap();
        fleet
    }

    fn files(fleet: &Fleet) -> Files {
        let worker = fleet.workers.values().next().unwrap();
        let job = control_plane_worker_job(fleet, worker, &Templates::built_in(), "").unwrap();
        job.render().unwrap()
    }

    fn names(objects: &[Value]) -> Vec<&str> {
        objects.iter().map(|o| o["metadata"]["name"].as_str().unwrap()).collect()
    }

    #[test]
    fn all_secrets_of_a_worker_are_made_of_the_store() {
        let files = files(&stored(&[]));
        let all = objects_of(&files, "ExternalSecret");
        let expected =
            ["boot", "carp-agent-git", "carp-agent-signing", "kamaji-system-etcd-backup", "keys"];
        assert_eq!(names(&all), expected);
        for object in &all {
            let spec = &object["spec"];
            assert_eq!(object["metadata"]["namespace"], "wk-1");
            assert_eq!(spec["target"]["name"], object["metadata"]["name"]);
            assert_eq!(
                spec["secretStoreRef"],
                json!({"kind": "ClusterSecretStore", "name": "vault"})
            );
            let is_carried = object["metadata"]["name"] != "keys";
            assert_eq!(spec["target"].get("template").is_some(), is_carried);
        }
        assert_eq!(all[3]["spec"]["dataFrom"][0]["extract"]["key"], "etcd-backup");
    }

    #[test]
    fn what_the_worker_needs_is_a_secret_that_cluster_api_applies() {
        let files = files(&stored(&[]));
        let all = objects_of(&files, "ExternalSecret");
        let template = &all[0]["spec"]["target"]["template"];
        assert_eq!(template["type"], RESOURCE_SET);
        // As the operator's template engine would make it, of an entry `{"identity": "k"}`.
        let made = template["data"]["secret.json"].as_str().unwrap();
        let made = made.replace("{{ . | toJson }}", "{\"identity\":\"k\"}");
        let made: Value = serde_json::from_str(&made).unwrap();
        assert_eq!(
            made,
            json!({
                "apiVersion": "v1", "kind": "Secret",
                "metadata": {"name": "git", "namespace": "flux-system"},
                "stringData": {"identity": "k"},
            })
        );
        let carried = objects_of(&files, "ClusterResourceSet").into_iter().flat_map(|set| {
            let resources = set["spec"]["resources"].as_array().unwrap().clone();
            resources.into_iter().map(|r| r["name"].as_str().unwrap().to_owned())
        });
        let mut carried: Vec<_> = carried.collect();
        carried.sort_unstable();
        assert_eq!(carried, names(&all)[..4]);
    }

    #[test]
    fn one_entry_is_for_all_workers_unless_it_names_them() {
        let hands = |keys: &[(&str, &str)]| {
            let fleet = stored(keys);
            let wanted = secrets_wanted(&fleet, fleet.workers.values().next().unwrap());
            let own = wanted.into_iter().filter(|secret| secret.once == Once::Worker);
            own.map(|secret| secret.name).collect::<Vec<_>>()
        };
        assert_eq!(hands(&[]), [""; 0]);
        assert_eq!(hands(&[("carp-agent-git", "agents-git")]), [""; 0]);
        let own = [("carp-agent-signing", "signing-{worker}")];
        assert_eq!(hands(&own), ["signing-wk-1"]);
    }

    #[test]
    fn an_entry_for_all_workers_says_what_is_true_of_all() {
        let why = |keys: &[(&str, &str)]| {
            let fleet = stored(keys);
            let wanted = secrets_wanted(&fleet, fleet.workers.values().next().unwrap());
            let of_agent = wanted.into_iter().filter(|secret| secret.why.contains("agent"));
            of_agent.map(|secret| secret.why).collect::<Vec<_>>().join("\n")
        };
        let shared = why(&[]);
        assert!(!shared.contains("wk-1"), "{shared}");
        assert!(shared.contains("each to its own branch below carp/observed/"), "{shared}");
        let of_names = "sign their reports with this SSH key, which observed.allowedSigners has for the name of each";
        assert!(shared.contains(of_names), "{shared}");
        let own = why(&[("carp-agent-git", "{worker}-git"), ("carp-agent-signing", "{worker}")]);
        assert!(own.contains("to carp/observed/wk-1 and no other branch"), "{own}");
        assert!(own.contains("has for wk-1"), "{own}");
    }

    #[test]
    fn a_store_is_open_to_no_namespace_of_a_tenants_cluster() {
        let steps = preparations(&stored(&[]));
        let (_, patch) = steps[1].command.split_once("--patch '").unwrap();
        let patch: Value = serde_json::from_str(patch.trim_end_matches('\'')).unwrap();
        let terms = &patch["spec"]["conditions"][0]["namespaceSelector"]["matchExpressions"];
        let worker = files(&fleet());
        let labels = &objects_of(&worker, "Namespace")[0]["metadata"]["labels"];
        for term in terms.as_array().unwrap() {
            let has = labels.get(term["key"].as_str().unwrap()).is_some();
            assert_eq!(has, term["operator"] == "Exists", "{term}");
        }
        assert!(terms.to_string().contains("carp.dev/tenant"), "{terms}");
        assert_eq!(preparations(&fleet()), []);
    }

    #[test]
    fn a_credential_without_a_bootstrap_is_carried_with_the_others() {
        let mut fleet = stored(&[]);
        fleet.spec.bootstrap = None;
        let files = files(&fleet);
        assert!(names(&objects_of(&files, "ExternalSecret")).contains(&"flux-system-git"));
        let sets = objects_of(&files, "ClusterResourceSet");
        let others = sets.iter().find(|set| set["metadata"]["name"] == "carp-secrets").unwrap();
        assert!(others.to_string().contains("flux-system-git"), "{others}");
    }

    #[test]
    fn without_a_store_and_on_an_attached_worker_people_make_them() {
        let without = files(&fleet());
        assert_eq!(objects_of(&without, "ExternalSecret"), Vec::<Value>::new());
        let mut fleet = stored(&[]);
        for worker in fleet.workers.values_mut() {
            worker.spec.flavor = Some("attached".to_owned());
        }
        let wanted = secrets_wanted(&fleet, fleet.workers.values().next().unwrap());
        assert!(wanted.iter().all(|secret| secret.once == Once::Worker), "{wanted:?}");
    }
}
