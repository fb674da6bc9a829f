//! One tenant attacks: whatever it writes below its own folder, nothing of the platform's and of another tenant
//! changes. The proof is a comparison: the same fleet, with the same edits of everybody else, with and
//! without the attack, comes to the same bytes.

mod attacker;
mod attacks;
mod grants;
mod owners;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use carp::diag::{Code, Diagnostic};
use carp::model::{Decision, Proposal};

use crate::support::small::{self, FLEET, worker};
use crate::support::world::World;

/// Two tenants with a folder each, and what is granted to them.
const TENANTS: &str = "  tenants:
    - name: red
      paths: [fleet/red]
    - name: blue
      paths: [fleet/blue]
";

/// A cluster's document of a tenant.
fn cluster(name: &str, tenant: &str, location: &str) -> String {
    let text = small::cluster(name, location);
    text.replace("namespace: shop", &format!("namespace: {tenant}"))
}

/// One that a policy keeps apart from its like, and spreads.
fn labelled(name: &str, tenant: &str) -> String {
    let text = cluster(name, tenant, "westeurope");
    text.replace("metadata:\n", "metadata:\n  labels: {app: x}\n")
}

/// One that goes to `w-eus` only, and is of the class `small`.
fn waiting(name: &str, tenant: &str) -> String {
    let wishes = "class: small\n  placement: {affinity: {required: [{locations: [eastus]}]}}";
    let text = cluster(name, tenant, "eastus");
    text.replace("  deletionPolicy", &format!("  {wishes}\n  deletionPolicy"))
}

fn class(name: &str) -> String {
    format!(
        "apiVersion: carp.dev/v1alpha1\nkind: ManagedClusterClass\nmetadata:\n  name: {name}\nspec:\n  \
         demand: {{clusters: 1}}\n"
    )
}

/// What the platform and both tenants have written: blue waits for a place with `b-wait`, for `w-eus` is full,
/// and the platform's pool makes workers in `northeurope`.
fn files() -> BTreeMap<String, String> {
    let pool = "apiVersion: carp.dev/v1alpha1
kind: WorkerPool
metadata:
  name: eu
spec:
  max: 3
  min: 1
  locations: [northeurope]
  template:
    spec:
      version: v1.34.2
      location: northeurope
      replicas: 3
      capacity: 1
      taints: [{key: pool, effect: NoSchedule}]
";
    let policy = "apiVersion: carp.dev/v1alpha1
kind: PlacementPolicy
metadata:
  name: apart
spec:
  clusterSelector:
    matchLabels: {app: x}
  antiAffinity:
  - topologyKey: carp.dev/worker
  spread:
  - {topologyKey: carp.dev/location, maxSkew: 1}
";
    let texts = [
        ("policies/apart.yaml", policy.to_owned()),
        ("carp.yaml", format!("{FLEET}{TENANTS}")),
        ("fleet/classes.yaml", class("small")),
        ("fleet/workers/w-weu.yaml", worker("w-weu", "westeurope", 3)),
        ("fleet/workers/w-eus.yaml", worker("w-eus", "eastus", 2)),
        ("fleet/workers/w-old.yaml", worker("w-old", "uksouth", 0)),
        ("fleet/pool.yaml", pool.to_owned()),
        ("fleet/red/r-1.yaml", cluster("r-1", "red", "westeurope")),
        ("fleet/blue/b-1.yaml", cluster("b-1", "blue", "westeurope")),
        ("fleet/blue/b-2.yaml", cluster("b-2", "blue", "eastus")),
        ("fleet/blue/b-3.yaml", cluster("b-3", "blue", "eastus")),
        ("fleet/blue/b-wait.yaml", waiting("b-wait", "blue")),
    ];
    texts.into_iter().map(|(path, text)| (path.to_owned(), text)).collect()
}

/// The fleet of two tenants after its first runs. They are the same for every attack, so they are run once.
fn fleet() -> World {
    static FLEET: OnceLock<World> = OnceLock::new();
    FLEET.get_or_init(first_runs).clone()
}

fn first_runs() -> World {
    let mut world = World::new(files());
    let first = world.run();
    assert!(!first.diagnostics.has_errors(), "{:#?}", first.diagnostics);
    assert_eq!(world.worker_of("r-1").as_deref(), Some("w-weu"));
    assert_eq!(world.worker_of("b-1").as_deref(), Some("w-weu"));
    assert!(matches!(first.plan.clusters["b-wait"].decision, Decision::Wait { .. }));
    assert!(!world.run().has_changes());
    world
}

/// What everybody but red goes on to do: blue removes one cluster and wants another, and the platform retires
/// a worker, adds one and gives one more room.
fn others_go_on(world: &mut World) {
    world.remove("fleet/blue/b-1.yaml");
    world.write("fleet/blue/b-new.yaml", &labelled("b-new", "blue"));
    world.remove("fleet/workers/w-old.yaml");
    world.write("fleet/workers/w-swe.yaml", &worker("w-swe", "swedencentral", 2));
    world.edit("fleet/workers/w-eus.yaml", "capacity: 2", "capacity: 3");
}

/// What the fleet comes to, run after run, when the others go on and nobody attacks.
fn free() -> &'static [(Proposal, World); 2] {
    static FREE: OnceLock<[(Proposal, World); 2]> = OnceLock::new();
    FREE.get_or_init(|| {
        let mut world = fleet();
        others_go_on(&mut world);
        [(); 2].map(|()| (world.run(), world.clone()))
    })
}

/// Runs what the others do with and without red's files, and shows that it comes to the same bytes.
#[track_caller]
fn changes_nothing(what: &str, attack: &[(&str, &str)]) -> Proposal {
    let mut with = fleet();
    for (path, text) in attack {
        assert!(path.starts_with("fleet/red/"), "red writes in its own folder");
        with.write(path, text);
    }
    let quiet = with.run();
    assert!(!quiet.has_changes(), "{what}: {:#?}", quiet.changes);
    assert!(quiet.plan.holds.is_empty() || !quiet.stopped, "{what}");
    let told = || quiet.diagnostics.iter().filter(|d| is_reds(d));
    assert!(told().any(|d| d.severity == carp::diag::Severity::Error), "{what} is told to nobody");
    assert!(quiet.diagnostics.iter().all(is_reds), "{what}: {:#?}", quiet.diagnostics);
    others_go_on(&mut with);
    for (free, without) in free() {
        let attacked = with.run();
        assert_eq!(attacked.plan.holds, free.plan.holds, "{what}");
        if attacked.tree != free.tree {
            let (ours, theirs) = (with.output_files(), without.output_files());
            let differs = |path: &&String| ours.get(*path) != theirs.get(*path);
            let all = ours.keys().chain(theirs.keys()).filter(differs).collect::<Vec<_>>();
            panic!("{what} changes {all:#?}");
        }
    }
    assert_eq!(with.worker_of("b-new").as_deref(), Some("w-weu"), "{what}");
    assert_eq!(with.worker_of("b-wait").as_deref(), Some("w-eus"), "{what}");
    quiet
}

/// Whether a finding is about red's own files.
fn is_reds(found: &Diagnostic) -> bool {
    found.place.as_ref().is_some_and(|place| place.file.starts_with("fleet/red/"))
}

/// The codes of the errors of a run.
fn errors(proposal: &Proposal) -> Vec<Code> {
    let errors = proposal.diagnostics.iter().filter(|d| d.severity == carp::diag::Severity::Error);
    errors.map(|d| d.code).collect()
}
