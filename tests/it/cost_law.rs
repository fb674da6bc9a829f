//! What an edit or a report of one cluster costs does not depend on how many others there are: allocations, reads of the store
//! and objects written are equal in a fleet and in one ten times as large, with every rule on.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use carp::model::{Baseline, Dir, Id, KnownDocuments, Name, Proposal, Store, StoreError};
use carp::pipeline::{Sought, baseline, propose_affected, propose_sought};
use carp::verify;

use crate::cost::{FLEET, Settled, WITH_EVERY_RULE, pause};
use crate::support::generator;
use crate::support::world::World;

/// A store that counts what is asked of it.
struct Counting<'a> {
    inner: &'a dyn Store,
    reads: Cell<u64>,
    puts: Cell<u64>,
}

impl<'a> Counting<'a> {
    fn new(inner: &'a dyn Store) -> Self {
        Self { inner, reads: Cell::new(0), puts: Cell::new(0) }
    }
}

impl Store for Counting<'_> {
    fn dir(&self, id: Id) -> Result<Arc<Dir>, StoreError> {
        self.reads.set(self.reads.get() + 1);
        self.inner.dir(id)
    }

    fn blob(&self, id: Id) -> Result<Arc<[u8]>, StoreError> {
        self.reads.set(self.reads.get() + 1);
        self.inner.blob(id)
    }

    fn blob_size(&self, id: Id) -> Result<u64, StoreError> {
        self.inner.blob_size(id)
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Id, StoreError> {
        self.puts.set(self.puts.get() + 1);
        self.inner.put_blob(bytes)
    }

    fn put_dir(&self, dir: &Dir) -> Result<Id, StoreError> {
        self.puts.set(self.puts.get() + 1);
        self.inner.put_dir(dir)
    }
}

/// How often something is done before its cost is taken: what a process makes once is made then, and the shapes of documents
/// are known, with the fourth one of each, whichever test was the first.
const WARM: usize = 4;

#[derive(Debug)]
struct Cost {
    allocations: u64,
    reads: u64,
    puts: u64,
    objects: u64,
}

/// What a run leaves of a fleet that stands, and what it proposed.
fn left(world: &mut World) -> (Proposal, Baseline, KnownDocuments) {
    let standing = world.propose();
    let left = baseline(&world.snapshot(), world.reported(), &standing, &world.store, &world.memo);
    let (before, documents) = left.unwrap().expect("the fleet stands");
    (standing, before, documents)
}

/// What a change costs in a fleet that stands.
fn cost(world: &mut World, change: impl FnOnce(&mut World)) -> (Cost, Proposal) {
    let (_, before, documents) = left(world);
    let reports = world.reports.clone();
    change(world);
    let (snapshot, since) = (world.snapshot(), world.reports_since(reports.as_ref()));
    let store = Counting::new(&world.store);
    let propose = || propose_affected(&snapshot, &since, &store, &before, &documents).unwrap();
    for _ in 0..WARM {
        propose();
    }
    store.reads.set(0);
    store.puts.set(0);
    let mut proposed = None;
    let allocated = allocation_counter::measure(|| proposed = propose());
    let (proposal, _) = proposed.expect("the change affects one cluster");
    let cost = Cost {
        allocations: allocated.count_total,
        reads: store.reads.get(),
        puts: store.puts.get(),
        objects: proposal.work.objects_written,
    };
    (cost, proposal)
}

/// Whether two numbers are equal within a tenth.
fn is_flat(small: u64, large: u64) -> bool {
    large * 10 <= small * 11 && small * 10 <= large * 11
}

#[track_caller]
fn assert_flat(change: impl Fn(&mut World)) -> Proposal {
    let [(small, _), (large, proposal)] =
        WITH_EVERY_RULE.each_ref().map(|fleet| cost(&mut fleet.world(), &change));
    assert_costs_are_flat(&small, &large);
    proposal
}

#[track_caller]
fn assert_costs_are_flat(small: &Cost, large: &Cost) {
    let pairs = [
        (small.allocations, large.allocations),
        (small.reads, large.reads),
        (small.puts, large.puts),
        (small.objects, large.objects),
    ];
    assert!(pairs.iter().all(|(small, large)| is_flat(*small, *large)), "{small:?} {large:?}");
}

#[test]
fn an_edit_of_one_cluster_costs_the_same_in_a_fleet_ten_times_as_large() {
    let proposal = assert_flat(pause);
    assert!(proposal.has_changes());
    assert_eq!(proposal.plan.clusters.len(), 1);
}

/// A fleet in which nobody waits.
fn without_waiting(clusters: usize) -> World {
    let mut files = generator::fleet(clusters, 1);
    let gpu = "  placement:\n    affinity:\n      required:\n        - matchLabels:\n            accelerator: gpu\n";
    for text in files.values_mut() {
        *text = text.replace(gpu, "");
    }
    let mut world = World::new(files);
    (0..2).for_each(|_| drop(world.run()));
    assert!(!world.propose().has_changes());
    world
}

/// A new cluster is held against every worker, by what stands there: forty clusters each cost less than a tenth of what they
/// cost where they are loaded.
#[test]
fn one_cluster_more_costs_what_there_are_workers() {
    let more = |clusters| {
        let (cost, proposal) = cost(&mut without_waiting(clusters), |world| {
            let text = crate::support::small::cluster("golf", "westus");
            let labels = "  labels: {team: t011}\nspec:\n";
            let text = text.replacen("spec:\n", labels, 1);
            world.write("fleet/clusters/golf.yaml", &text);
        });
        assert!(proposal.has_changes());
        assert_eq!(proposal.plan.clusters.len(), 1);
        cost
    };
    let [small, large] = [400, 4_000].map(more);
    let each = |small: u64, large: u64| large.saturating_sub(small) / 90;
    assert!(each(small.allocations, large.allocations) < 2_000, "{small:?} {large:?}");
    assert!(each(small.reads, large.reads) < 8, "{small:?} {large:?}");
    assert!(is_flat(small.puts, large.puts), "{small:?} {large:?}");
    assert!(is_flat(small.objects, large.objects), "{small:?} {large:?}");
}

/// What is found after an edit is looked at as that edit is, and what was verified is told again.
#[test]
fn what_is_found_costs_the_same_in_a_fleet_ten_times_as_large() {
    let found = |fleet: &Settled| {
        let mut world = fleet.world();
        let (standing, before, documents) = left(&mut world);
        let input = world.snapshot().input;
        let verified = verify::fleet(&input, &world.store, &standing.fleet, &standing.previous);
        let before = Baseline { verified: verified.ok(), ..before };
        pause(&mut world);
        cost_of_look(&world, (&before, &documents), &Sought::Findings, |_| ())
    };
    let [small, large] = WITH_EVERY_RULE.each_ref().map(found);
    assert_costs_are_flat(&small, &large);
}

/// Those that go on waiting are told by their names and what they lack: their lock, which has a row for each, is not read.
#[test]
fn a_plan_tells_who_goes_on_waiting_without_their_lock() {
    let planned = |fleet: &Settled| {
        let mut world = fleet.world();
        let (_, before, documents) = left(&mut world);
        pause(&mut world);
        let told = |proposal: &Proposal| {
            assert_eq!(proposal.plan.clusters.len(), 1);
            assert!(documents.waiting.keys().all(|name| proposal.pending.contains(name)));
        };
        let cost = cost_of_look(&world, (&before, &documents), &Sought::Changes, told);
        (documents.waiting.len() as u64, cost)
    };
    let [(few, small), (many, large)] = FLEET.each_ref().map(planned);
    assert!(few > 1 && many == 10 * few, "{few} and {many} wait");
    assert!(is_flat(small.reads, large.reads), "{small:?} {large:?}");
    let each = (large.allocations - small.allocations) / (many - few);
    assert!(each < 3, "{each} allocations for each more that waits: {small:?} {large:?}");
}

/// What it costs to look for this after an edit of one cluster, of which `seen` holds what it should.
fn cost_of_look(
    world: &World,
    (before, documents): (&Baseline, &KnownDocuments),
    sought: &Sought,
    seen: impl Fn(&Proposal),
) -> Cost {
    let (snapshot, since) = (world.snapshot(), world.reports_since(world.reports.as_ref()));
    let store = Counting::new(&world.store);
    let look = || propose_sought(&snapshot, &since, &store, before, documents, sought).unwrap();
    for _ in 0..WARM {
        seen(&look().expect("the edit affects one cluster").proposal);
    }
    store.reads.set(0);
    store.puts.set(0);
    let allocations = allocation_counter::measure(|| drop(look())).count_total;
    Cost { allocations, reads: store.reads.get(), puts: store.puts.get(), objects: 0 }
}

/// Why a cluster waits hangs on those before it in the queue, and where something changed, on all that wait. What their documents
/// say is known: none of them is read. The folders in which they stand are, of which there may be more.
#[test]
fn who_waits_is_explained_without_the_files_of_those_that_wait() {
    let explained = |fleet: &Settled, is_edited: bool, at: usize| {
        let mut world = fleet.world();
        let (_, before, documents) = left(&mut world);
        if is_edited {
            let file = generator::cluster_file(0);
            let text = format!("# a comment\n{}", world.files[&file]);
            world.write(&file, &text);
        }
        let (snapshot, since) = (world.snapshot(), world.reports_since(world.reports.as_ref()));
        let (_, queue) = documents.queue.clone().expect("there is a lock");
        let store = Counting::new(&world.store);
        let sought = Sought::Reasons(queue.clusters[at * queue.clusters.len() / 2].name.clone());
        let look = propose_sought(&snapshot, &since, &store, &before, &documents, &sought);
        let proposal = look.unwrap().expect("it is known by what stands").proposal;
        let clusters = &proposal.fleet.clusters;
        let queue = queue.clusters;
        let read = queue.iter().filter(|queued| clusters.contains_key(&queued.name)).count();
        // Of those before it that are alike one is read.
        let before = if is_edited { &[][..] } else { &queue[..at * queue.len() / 2] };
        let sorts: BTreeSet<usize> = before.iter().map(|queued| queued.alike).collect();
        assert!(proposal.ahead.queue.clusters == before && proposal.ahead.first.keys().eq(&sorts));
        (queue.len(), read, store.reads.get())
    };
    for (is_edited, at) in [(false, 0), (false, 1), (true, 0)] {
        let of = |fleet: &Settled| explained(fleet, is_edited, at);
        let [(few, some, small), (many, more, large)] = FLEET.each_ref().map(of);
        assert!(few > 1 && many == 10 * few, "{few} and {many} wait");
        let are_read = |all: usize| if is_edited { all } else { 1 };
        assert_eq!((some, more), (are_read(few), are_read(many)));
        let waits = (many - few) as u64;
        assert!(10 * (large - small) < waits, "{small} and {large} readings, {waits} more wait");
    }
}

#[test]
fn a_comment_costs_the_same_in_a_fleet_ten_times_as_large() {
    let proposal = assert_flat(|world| {
        let file = crate::support::generator::cluster_file(0);
        let text = format!("# a comment\n{}", world.files[&file]);
        world.write(&file, &text);
    });
    assert!(!proposal.has_changes());
    assert_eq!(proposal.plan.clusters.len(), 0);
}

#[test]
fn a_report_costs_the_same_in_a_fleet_ten_times_as_large() {
    let hear = |world: &mut World, minute: u8, phase: &str| {
        let cluster = generator::cluster_name(0);
        let worker = world.worker_of(&cluster).unwrap();
        let text = format!(
            "schemaVersion: 1\nworker: {worker}\nworkerUID: u\ntime: \"2026-11-01T08:{minute:02}:00Z\"\n\
             complete: true\nhealthy: true\nclusters:\n- {{name: {cluster}, uid: u, phase: {phase}}}\n"
        );
        world.reports = Some([(Name::parse(&worker).unwrap(), text.into_bytes())].into());
    };
    let heard = |fleet: &Settled| {
        let mut world = fleet.world();
        hear(&mut world, 10, "Running");
        (0..2).for_each(|_| drop(world.run()));
        cost(&mut world, |world| hear(world, 20, "Degraded"))
    };
    let [(small, _), (large, proposal)] = WITH_EVERY_RULE.each_ref().map(heard);
    assert_costs_are_flat(&small, &large);
    assert_eq!(proposal.plan.clusters.len(), 1);
    assert_ne!(proposal.status_tree, proposal.status_base.unwrap());
}

/// A removal reads the fleet's lock, which has a row for each worker: forty clusters each cost less than a tenth of what they
/// cost where they are loaded.
#[test]
fn a_removal_costs_what_there_are_workers() {
    let removed = |fleet: &Settled| {
        let (cost, proposal) = cost(&mut fleet.world(), |world| {
            let file = generator::cluster_file(0);
            let text = world.files[&file].clone();
            let (_, rest) = text.split_once("---\n").unwrap_or_default();
            world.write(&file, rest);
        });
        assert!(proposal.has_changes());
        assert_eq!(proposal.plan.clusters.len(), 1);
        assert_eq!(proposal.plan.deletions().len(), 1);
        cost
    };
    let [small, large] = WITH_EVERY_RULE.each_ref().map(removed);
    let workers = 90;
    assert!(
        large.allocations.saturating_sub(small.allocations) / workers < 200,
        "{small:?} {large:?}"
    );
    let costs = [(small.reads, large.reads), (small.puts, large.puts)];
    assert!(costs.iter().all(|(small, large)| is_flat(*small, *large)), "{small:?} {large:?}");
    assert!(is_flat(small.objects, large.objects), "{small:?} {large:?}");
}
