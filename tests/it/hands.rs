//! What people do for a fleet: once for all of it, and nothing for a worker.

use carp::model::api::{ExternalSecretSettings, SecretSettings};
use carp::model::{Fleet, Worker};
use carp::render::{self, Once};

use crate::federation;
use crate::support::fleet;
use crate::support::people::{Person, printed};
use crate::support::{Remote, small};

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

#[test]
fn a_name_in_the_keys_of_a_store_that_no_secret_has_is_told() {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    let mut files = small::files();
    let keys = "  secrets:\n    externalSecrets:\n      clusterSecretStore: vault\n      keys:\n        flux-gti: a\n";
    let delivery = "    url: https://git.example.com/fleet.git\n";
    let with_secret = format!("{delivery}    secretRef: flux-git\n");
    let fleet = small::FLEET.replace(delivery, &with_secret);
    files.insert("carp.yaml".to_owned(), format!("{fleet}{keys}"));
    person.push(&files);
    let output = person.carp(&["validate"]);
    let said = printed(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let told = "warning[matches-nothing]: no worker has a Secret `flux-gti`, so nobody reads the entry `a`";
    assert!(said.contains(told), "{said}");
    let line = fleet.lines().count() + 5;
    assert!(said.contains(&format!("carp.yaml:{line}:9")), "{line}: {said}");
    assert!(said.contains("did you mean `flux-git`?"), "{said}");
    assert!(said.contains("the Secrets that are made of the store: flux-git"), "{said}");
    person.write("carp.yaml", &format!("{fleet}{}", keys.replace("gti", "git")));
    let said = printed(&person.carp(&["validate"]));
    assert!(!said.contains("matches-nothing"), "{said}");
}
