//! The cost of a change follows the change, not the fleet.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use carp::model::{ClusterPlan, Decision, Name, Proposal, Work, paths};
use carp::pipeline::propose;

use crate::support::breadth;
use crate::support::generator::{self, cluster_file, cluster_name};
use crate::support::world::{Tripwire, World, files_below};

/// The cluster that is edited: one that is placed, in the middle of a file.
const EDITED: usize = 123;

/// A fleet that carp has run until nothing changes any more. It is built when it is first asked for and
/// serves all tests of the process: each gets a copy of its own.
pub(crate) struct Settled {
    files: fn(usize, u64) -> BTreeMap<String, String>,
    /// How many times as large as the smaller one.
    times: usize,
    world: OnceLock<World>,
}

/// The same fleet twice, the second ten times as large.
pub(crate) static FLEET: [Settled; 2] =
    [Settled::of(generator::fleet, 1), Settled::of(generator::fleet, 10)];
pub(crate) static WITH_EVERY_RULE: [Settled; 2] =
    [Settled::of(generator::fleet_with_rules, 1), Settled::of(generator::fleet_with_rules, 10)];

impl Settled {
    const fn of(files: fn(usize, u64) -> BTreeMap<String, String>, times: usize) -> Self {
        Self { files, times, world: OnceLock::new() }
    }

    /// How many clusters it has: the larger one 2,000 with every change, and 10,000 in the nightly.
    fn clusters(&self) -> usize {
        breadth(200, 1_000) * self.times
    }

    pub(crate) fn world(&self) -> World {
        let settle = || {
            let mut world = World::new((self.files)(self.clusters(), 1));
            let first = world.run();
            assert!(!first.diagnostics.has_errors(), "{:?}", first.diagnostics.sorted().first());
            assert!(!world.run().has_changes(), "the second run changes nothing");
            world
        };
        // Where it fails, it fails for every test that asks for it, with the same words.
        self.world.get_or_init(settle).clone()
    }
}

/// Edits one field of one cluster.
pub(crate) fn pause(world: &mut World) {
    let file = cluster_file(EDITED);
    let marker = format!("name: {}\n", cluster_name(EDITED));
    let at = world.files[&file].find(&marker).unwrap();
    let text = world.files.get_mut(&file).unwrap();
    let field = at + text[at..].find("spec:\n").unwrap() + "spec:\n".len();
    text.insert_str(field, "  paused: true\n");
}

/// Edits one field of one cluster, and proposes under the tripwire.
fn one_cluster_change(world: &mut World) -> Proposal {
    let file = cluster_file(EDITED);
    let before = file_id(world, &file);
    pause(world);
    let snapshot = world.snapshot();

    let worker = world.worker_of(&cluster_name(EDITED)).expect("the edited cluster is placed");
    let cluster = Name::parse(&cluster_name(EDITED)).unwrap();
    let mut allowed = BTreeSet::from([before, file_id(world, &file), file_id(world, "carp.yaml")]);
    let own = [
        "control-plane/fleet.lock".to_owned(),
        "decisions/pending.lock".to_owned(),
        paths::decision(&cluster),
        format!("workers/{worker}/carp.lock"),
        format!("workers/{worker}/clusters.yaml"),
        format!("workers/{worker}/sentinel.yaml"),
        format!("workers/{worker}/{}", paths::PLATFORM),
    ];
    let folder = format!("workers/{worker}/clusters/{cluster}/");
    files_below(&world.store, world.output.unwrap(), "", &mut |path, id| {
        if own.iter().any(|p| p == path) || path.starts_with(&folder) {
            allowed.insert(id);
        }
    });
    // The status branch is apart: its documents of this cluster and its worker may be read.
    files_below(&world.store, world.status.unwrap(), "", &mut |path, id| {
        if path.ends_with(&format!("{cluster}.yaml")) || path.ends_with(&format!("{worker}.yaml")) {
            allowed.insert(id);
        }
    });
    let tripwire = Tripwire::new(&world.store, allowed);
    propose(&snapshot, &tripwire, &mut world.memo).unwrap()
}

fn file_id(world: &World, path: &str) -> carp::model::Id {
    carp::model::blob_id(world.files[path].as_bytes())
}

#[test]
fn a_one_cluster_change_costs_the_same_in_a_fleet_ten_times_as_large() {
    let work = FLEET.each_ref().map(|fleet| one_cluster_change(&mut fleet.world()).work);
    assert_eq!(work[0], work[1]);
    assert_eq!((work[0].blobs_parsed, work[0].clusters_rendered), (1, 1));
    assert_eq!(work[0].clusters_planned, 1);
    // The commit itself is one more.
    assert!(work[0].objects_written < 16, "{:?}", work[0]);
}

#[test]
fn about_five_percent_of_the_generated_clusters_wait() {
    let mut world = FLEET[0].world();
    let waiting = world
        .propose()
        .plan
        .clusters
        .values()
        .filter(|p| matches!(p.decision, carp::model::Decision::Wait { .. }))
        .count();
    assert_eq!(waiting, (0..FLEET[0].clusters()).filter(|i| generator::waits(*i)).count());
    assert_eq!(waiting * 20, FLEET[0].clusters());
}

/// What a run does, in a fleet and in one ten times as large.
fn flat(edit: impl Fn(&mut World)) -> Work {
    let [small, large] = FLEET.each_ref().map(|fleet| {
        let mut world = fleet.world();
        edit(&mut world);
        let proposal = world.propose();
        assert!(proposal.has_changes());
        proposal.work
    });
    assert_eq!(small, large);
    small
}

#[test]
fn one_cluster_more_costs_the_same_in_a_fleet_ten_times_as_large() {
    let work = flat(|world| {
        let text = crate::support::small::cluster("golf", "westus");
        world.write("fleet/clusters/golf.yaml", &text);
    });
    assert_eq!((work.blobs_parsed, work.clusters_planned, work.clusters_rendered), (1, 1, 1));
}

/// Removes a cluster's document.
fn remove(world: &mut World, cluster: usize) {
    let file = cluster_file(cluster);
    let marker = format!("name: {}\n", cluster_name(cluster));
    let documents: Vec<_> = world.files[&file].split("---\n").map(str::to_owned).collect();
    let rest: Vec<_> = documents.into_iter().filter(|d| !d.contains(&marker)).collect();
    world.write(&file, &rest.join("---\n"));
}

#[test]
fn one_cluster_less_costs_the_same_in_a_fleet_ten_times_as_large() {
    let work = flat(|world| remove(world, EDITED));
    assert_eq!((work.blobs_parsed, work.clusters_planned, work.clusters_rendered), (1, 0, 0));
}

#[test]
fn a_report_of_a_new_phase_costs_the_output_branch_nothing() {
    for fleet in &FLEET {
        let mut world = fleet.world();
        let report = |phase: &str, minute: u32| {
            let cluster = cluster_name(EDITED);
            let worker = world.worker_of(&cluster).unwrap();
            let text = format!(
                "schemaVersion: 1\nworker: {worker}\nworkerUID: u\ntime: \"2026-11-01T08:{minute}:00Z\"\n\
                 complete: true\nhealthy: true\nclusters:\n- name: {cluster}\n  phase: {phase}\n"
            );
            (Name::parse(&worker).unwrap(), text.into_bytes())
        };
        let (first, second) = (report("Provisioning", 50), report("Running", 55));
        world.reports = Some([first].into());
        world.run();
        world.reports = Some([second].into());
        let proposal = world.propose();
        assert!(!proposal.has_changes() && proposal.status_tree != proposal.status_base.unwrap());
        assert_eq!(proposal.work, Work::default());
    }
}

/// The cluster that is removed: one that is placed.
const REMOVED: usize = 121;

/// What three changes of one cluster each cost in a fleet with every rule.
fn three_changes(fleet: &Settled) -> [Work; 3] {
    let mut world = fleet.world();
    let plan = world.propose().plan;
    let waits = |p: &&ClusterPlan| matches!(p.decision, Decision::Wait { .. });
    let waiting = plan.clusters.values().filter(waits).count();
    assert!(waiting * 20 >= fleet.clusters(), "{waiting} of {} wait", fleet.clusters());

    let edited = one_cluster_change(&mut world).work;
    world.run();
    // Its whole team waits, for want of a label that no worker has.
    let text = crate::support::small::cluster("golf", "westus");
    let of_team = "namespace: tenant-3\n  labels: {team: t007, pair: p003-golf}";
    world.write("fleet/clusters/golf.yaml", &text.replace("namespace: shop", of_team));
    let added = world.run().work;
    remove(&mut world, REMOVED);
    let removed = world.run();
    assert!(removed.has_changes());
    [edited, added, removed.work]
}

// The first by name, so that its fleet and the other are settled beside each other, not one after the other.
#[test]
fn a_change_costs_the_same_with_every_rule_in_a_fleet_ten_times_as_large() {
    let [small, large] = WITH_EVERY_RULE.each_ref().map(three_changes);
    assert_eq!(small, large);
    let [edited, added, removed] = small;
    let counts = |work: Work| (work.blobs_parsed, work.clusters_planned, work.clusters_rendered);
    assert_eq!(counts(edited), (1, 1, 1));
    assert_eq!(counts(added), (1, 1, 1));
    assert_eq!(counts(removed), (1, 0, 0));
    // Only the worker whose lock the run before wrote is counted anew.
    let workers = [edited, added, removed].map(|work| work.workers_counted);
    assert_eq!(workers, [0, 1, 1]);
}
