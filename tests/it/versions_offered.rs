//! Versions that a fleet offers and ends: what is new is refused, what runs goes on running.

use carp::diag::Code;
use carp::model::{Decision, GateReason, Name, Proposal, ReasonCode};

use crate::support::small::{self, cluster};
use crate::support::world::World;

const ENDS: &str = "2027-01-31T00:00:00Z";
const ALPHA: &str = "fleet/clusters/alpha.yaml";

/// The small fleet, all of it at v1.34.2, which ends; v1.35 stays.
fn fleet() -> World {
    let mut files = small::files();
    let carp = files.get_mut("carp.yaml").unwrap();
    carp.push_str(
        "  supportedVersions:\n    - version: v1.35\n    - version: v1.34\n      expires: \"",
    );
    carp.push_str(ENDS);
    carp.push_str("\"\n");
    let mut world = World::new(files);
    world.run();
    assert!(!world.run().has_changes());
    world
}

fn at(world: &mut World, now: &str) {
    world.now = now.parse().unwrap();
}

fn told(proposal: &Proposal, code: Code) -> Vec<String> {
    proposal.diagnostics.iter().filter(|d| d.code == code).map(|d| d.message.clone()).collect()
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

#[test]
fn the_plan_says_until_when_it_stands() {
    let mut world = fleet();
    world.write("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    let until = |world: &mut World, now: &str| {
        at(world, now);
        let proposal = world.propose();
        assert_eq!(proposal.tree, world.propose_afresh().tree);
        (proposal.tree, proposal.valid_until.map(|until| until.to_string()))
    };
    let (tree, first) = until(&mut world, "2026-11-01T09:00:00Z");
    assert_eq!(first.as_deref(), Some("2027-01-01T00:00:00Z"), "then its clusters are told of");
    assert_eq!(until(&mut world, "2026-12-31T23:59:59Z"), (tree, first));
    assert_eq!(until(&mut world, "2027-01-01T00:00:00Z"), (tree, Some(ENDS.to_owned())));
    assert_eq!(until(&mut world, "2027-01-30T23:59:59Z"), (tree, Some(ENDS.to_owned())));
    let (after, last) = until(&mut world, ENDS);
    assert_ne!(after, tree, "golf is placed no more");
    assert_eq!(last, None);
}

#[test]
fn an_expired_version_is_refused_to_what_is_new_and_never_to_what_runs() {
    let mut world = fleet();
    at(&mut world, ENDS);
    world.write("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    world.write(
        "fleet/clusters/hotel.yaml",
        &cluster("hotel", "eastus").replace("v1.34.2", "v1.35.1"),
    );
    world.edit(ALPHA, "replicas: 2", "replicas: 3");
    world.edit("fleet/workers/w-eus.yaml", "capacity: 4", "capacity: 9");
    let proposal = world.run();
    let Decision::Wait { reasons, .. } = &proposal.plan.clusters["golf"].decision else {
        panic!("golf is placed")
    };
    assert_eq!(*reasons, [ReasonCode::VersionExpired].into());
    assert!(matches!(proposal.plan.clusters["hotel"].decision, Decision::Bind(_)));
    assert!(proposal.gates.is_empty(), "{:?}", proposal.gates);
    assert_eq!(told(&proposal, Code::VersionExpires).len(), 1);
    let folder = world.output_text("workers/w-weu/clusters/alpha/cluster.yaml").unwrap();
    assert!(folder.contains("replicas: 3"), "other changes are made");
    assert!(!world.run().has_changes());
}

#[test]
fn clusters_that_were_upgraded_are_named_no_more() {
    let mut world = fleet();
    at(&mut world, "2027-01-02T00:00:00Z");
    let named = |proposal: &Proposal| {
        let told = told(proposal, Code::VersionExpires);
        let names = told.iter().filter_map(|message| message.split(": ").last());
        names.collect::<Vec<_>>().join("; ")
    };
    let first = world.run();
    assert!(named(&first).contains("alpha"), "{}", named(&first));
    world.edit(ALPHA, "v1.34.2", "v1.35.1");
    let second = world.run();
    assert!(!named(&second).is_empty() && !named(&second).contains("alpha"), "{}", named(&second));
    let others: Vec<String> =
        first.plan.clusters.keys().map(|name| format!("fleet/clusters/{name}.yaml")).collect();
    for file in others.iter().filter(|file| *file != ALPHA) {
        world.edit(file, "v1.34.2", "v1.35.1");
    }
    assert_eq!(named(&world.run()), "");
}

#[test]
fn a_placed_cluster_changes_only_to_what_is_offered_and_supported() {
    for (now, wanted, refused) in [
        ("2026-11-01T09:00:00Z", "v1.34.5", None),
        (ENDS, "v1.34.5", Some("version v1.34.5 has expired on")),
        (ENDS, "v1.35.1", None),
        (ENDS, "v1.36.0", Some("is not among the fleet's supportedVersions")),
    ] {
        let mut world = fleet();
        at(&mut world, now);
        let before = world.output_text("workers/w-weu/clusters/alpha/cluster.yaml");
        world.edit(ALPHA, "v1.34.2", wanted);
        let proposal = world.run();
        let after = world.output_text("workers/w-weu/clusters/alpha/cluster.yaml");
        if let Some(why) = refused {
            assert_eq!(before, after, "{wanted}");
            let gates: Vec<_> = proposal.gates.iter().map(|g| (&g.name, g.reason)).collect();
            assert_eq!(gates, [(&name("alpha"), GateReason::ForbiddenChange)], "{wanted}");
            let told = told(&proposal, Code::VersionRefused);
            assert!(told.len() == 1 && told[0].contains(why), "{told:?}");
        } else {
            assert_ne!(before, after, "{wanted}");
            assert!(proposal.gates.is_empty(), "{wanted}: {:?}", proposal.gates);
        }
    }
}

#[test]
fn a_worker_with_older_components_gets_no_newer_version() {
    let mut files = small::files();
    let weu = files.get_mut("fleet/workers/w-weu.yaml").unwrap();
    weu.push_str("  components: {kamaji: 25.11.1-edge}\n");
    let mut world = World::new(files);
    world.run();
    world.edit(ALPHA, "v1.34.2", "v1.35.1");
    let told = told(&world.run(), Code::VersionRefused);
    let why = "alpha cannot change to v1.35.1 on w-weu: version v1.35.1 is not supported: \
               kamaji 25.11.1-edge supports up to v1.34";
    assert_eq!(told, [why]);
    world.write(
        "fleet/clusters/golf.yaml",
        &cluster("golf", "westeurope").replace("v1.34.2", "v1.35.1"),
    );
    world.run();
    assert_eq!(world.worker_of("golf").as_deref(), Some("w-eus"));
}
