//! What applies the workers of a fleet that takes a setting away: it may touch what stands as long as that stands, and
//! delete it for good.

use carp::model::HoldKind;
use serde_json::Value;

use crate::support::world::World;
use crate::support::{documents_of, small};

const PLATFORM: &str = "control-plane/platform/platform.yaml";
const PROVIDERS: &str = "control-plane/providers/providers.yaml";
/// The settings of a fleet whose identities and issuers nobody cares for by hand.
const SETTINGS: &str = "        identity: /subscriptions/6a4e8c1d-3b7f-4c2a-9e1d-1f5b7d3c9a8e/resourceGroups/fleet/providers/Microsoft.ManagedIdentity/userAssignedIdentities/capz
        oidcIssuerStorage: {to: \"oidc:web\", secretRef: oidc}
";
const STORE: &str = "  secrets:
    externalSecrets: {clusterSecretStore: vault}
";

/// The small fleet after its first run, with settings.
fn world() -> World {
    let mut files = small::files();
    let fleet = files.get_mut("carp.yaml").unwrap();
    fleet.push_str(SETTINGS);
    fleet.push_str("        oidcIssuerPrefix: https://oidc.example.com/fleet\n");
    fleet.push_str(STORE);
    let mut world = World::new(files);
    let first = world.settle_at(0);
    assert!(first.plan.holds.is_empty() && first.diagnostics.is_empty(), "{first:#?}");
    world
}

/// What the account that applies workers may do with each kind that a setting renders.
fn rights(world: &World) -> Vec<Vec<String>> {
    let role = documents_of(&world.output_text(PLATFORM).unwrap())
        .into_iter()
        .find(|object| object["kind"] == "ClusterRole")
        .unwrap();
    let rules = role["rules"].as_array().unwrap();
    let verbs = |resource: &str| {
        let about = |rule: &&Value| rule["resources"].to_string().contains(resource);
        let all = rules.iter().filter(about).flat_map(|rule| rule["verbs"].as_array().unwrap());
        let mut verbs: Vec<_> = all.map(|verb| verb.as_str().unwrap().to_owned()).collect();
        verbs.sort_unstable();
        verbs
    };
    ["federatedidentitycredentials", "cronjobs", "externalsecrets"].map(verbs).into()
}

const ALL: [&str; 4] = ["create", "delete", "get", "patch"];
const LEFT: [&str; 2] = ["delete", "get"];

fn take_away(world: &mut World) {
    world.edit("carp.yaml", SETTINGS, "").edit("carp.yaml", STORE, "");
}

fn installs_credentials(world: &World) -> bool {
    world.output_text(PROVIDERS).unwrap().contains("FederatedIdentityCredential")
}

#[test]
fn rights_stay_while_a_removal_is_held_and_to_delete_for_good() {
    let mut world = world();
    assert_eq!(rights(&world), [ALL, ALL, ALL]);
    assert!(installs_credentials(&world));

    take_away(&mut world);
    let run = world.settle_at(1);
    let hold = run.plan.holds.iter().find(|hold| hold.kind == HoldKind::ObjectsRemoved).unwrap();
    assert!(hold.names.iter().any(|name| name.contains("FederatedIdentityCredential")));
    let folder = world.output_text("control-plane/w-weu/cluster.yaml").unwrap();
    assert!(folder.contains("kind: FederatedIdentityCredential"), "it stands");
    assert_eq!(rights(&world), [ALL, ALL, ALL], "and what applies it may touch it");
    assert!(installs_credentials(&world));

    let text = format!(
        "apiVersion: carp.dev/v1alpha1\nkind: Acknowledgement\nmetadata: {{name: trust}}\nspec:\n  of: objects\n  \
         count: {}\n  digest: sha256:{}\n",
        hold.names.len(),
        hold.digest()
    );
    world.write("fleet/acknowledgements/trust.yaml", &text);
    let gone = world.settle_at(2);
    assert!(gone.plan.holds.is_empty(), "{:?}", gone.plan.holds);
    let folder = world.output_text("control-plane/w-weu/cluster.yaml").unwrap();
    assert!(!folder.contains("FederatedIdentityCredential"));
    assert_eq!(rights(&world), [LEFT, LEFT, LEFT], "Flux has yet to take it away");
    assert!(!installs_credentials(&world));
}

#[test]
fn rights_stay_for_a_worker_that_keeps_its_last_good_folder() {
    let mut world = world();
    take_away(&mut world);
    for name in ["w-weu", "w-eus"] {
        world.edit(
            &format!("fleet/workers/{name}.yaml"),
            "  replicas: 3\n",
            "  replicas: 3\n  nonsense: 1\n",
        );
    }
    world.settle_at(1);
    assert_eq!(rights(&world), [ALL, ALL, ALL]);
}

#[test]
fn a_lost_lock_is_worked_out_with_the_rights_that_stand() {
    let mut world = world();
    take_away(&mut world);
    world.settle_at(1);
    let before = world.output_text(PLATFORM);
    world.remove_by_hand("control-plane/fleet.lock");
    let rebuilt = world.settle_at(2);
    assert!(!rebuilt.stopped);
    assert_eq!(world.output_text(PLATFORM), before);
    assert_eq!(rights(&world), [ALL, ALL, ALL]);
}

#[test]
fn a_fleet_without_settings_may_make_nothing_of_them() {
    assert_eq!(rights(&World::small()), [LEFT, LEFT, LEFT]);
}
