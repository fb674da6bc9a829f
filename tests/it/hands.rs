//! What people do for a fleet: once for all of it, and nothing for a worker.

use carp::model::api::{ExternalSecretSettings, SecretSettings};
use carp::model::{Fleet, Worker};
use carp::render::{self, Once};

use crate::federation;
use crate::support::fleet;

/// The whole fleet of the tests, with a store of Secrets.
fn stored() -> Fleet {
    let mut fleet = fleet::full();
    fleet.spec.secrets = Some(SecretSettings {
        external_secrets: Some(ExternalSecretSettings {
            cluster_secret_store: "fleet".into(),
            ..ExternalSecretSettings::default()
        }),
    });
    fleet
}

/// The Secrets that people make for a worker, by name.
fn own_secrets(fleet: &Fleet, worker: &Worker) -> Vec<String> {
    let wanted = render::secrets_wanted(fleet, worker).into_iter();
    let all = wanted.chain(render::secrets_named_by_worker(fleet, worker));
    all.filter(|secret| secret.once == Once::Worker).map(|secret| secret.name).collect()
}

#[test]
fn nobody_makes_a_secret_for_a_worker_that_carp_makes() {
    let (fleet, without) = (stored(), fleet::full());
    for flavor in ["capz", "aks", "kind"] {
        for worker in fleet.workers.values() {
            let mut worker = worker.clone();
            worker.spec.flavor = Some(flavor.to_owned());
            let before = own_secrets(&without, &worker);
            assert!(!before.is_empty(), "{flavor}: people made some");
            assert_eq!(own_secrets(&fleet, &worker), [""; 0], "{flavor}");
            let entries = render::secrets_wanted(&fleet, &worker);
            assert!(entries.len() >= before.len(), "{flavor}: each is an entry of the store");
        }
    }
}

/// Everything that people do for a worker itself.
fn hands(fleet: &Fleet, worker: &Worker) -> Vec<String> {
    let commands = render::preparations(fleet, worker, "").into_iter();
    let commands = commands.filter(|all| all.once == Once::Worker).map(|all| all.command);
    own_secrets(fleet, worker).into_iter().chain(commands).collect()
}

#[test]
fn nobody_does_anything_for_a_worker_that_carp_makes() {
    let mut fleet = stored();
    let without = fleet::full();
    federation::federated(&mut fleet);
    for flavor in ["capz", "aks", "kind"] {
        for worker in fleet.workers.values() {
            let mut worker = worker.clone();
            worker.spec.flavor = Some(flavor.to_owned());
            let before = hands(&without, &worker).len();
            assert!(before >= if flavor == "kind" { 1 } else { 3 }, "{flavor}: {before}");
            assert_eq!(hands(&fleet, &worker), [""; 0], "{flavor}");
        }
    }
}
