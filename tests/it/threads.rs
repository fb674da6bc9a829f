//! How many threads render changes nothing of what a run says.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use carp::model::{Memo, Proposal};
use carp::pipeline::propose;

use crate::support::generator;
use crate::support::world::World;

/// More clusters than are rendered without threads.
const CLUSTERS: usize = 240;

/// More workers than are rendered without threads, and few clusters.
fn of_many_workers() -> BTreeMap<String, String> {
    let mut files = generator::fleet(20, 1);
    let path = "fleet/workers/000/w00000.yaml";
    let text = files[path].clone();
    for number in 2..120 {
        let name = format!("w{number:05}");
        files.insert(path.replace("w00000", &name), text.replace("w00000", &name));
    }
    files
}

/// What a run on so many threads comes to, without a memo.
fn on(world: &World, threads: usize) -> Proposal {
    let mut snapshot = world.snapshot();
    snapshot.build.threads = NonZeroUsize::new(threads).unwrap();
    propose(&snapshot, &world.store, &mut Memo::default()).unwrap()
}

/// Some threads come to what one comes to, which is told.
fn told_by_any(world: &World) -> Proposal {
    let alone = on(world, 1);
    for threads in [2, 5] {
        let proposal = on(world, threads);
        assert_eq!(proposal.tree, alone.tree, "{threads} threads");
        assert_eq!(proposal.status_tree, alone.status_tree, "{threads} threads");
        assert_eq!(proposal.diagnostics, alone.diagnostics, "{threads} threads");
        assert_eq!(format!("{:?}", proposal.gates), format!("{:?}", alone.gates));
        assert_eq!(proposal.work, alone.work, "{threads} threads");
    }
    alone
}

#[test]
fn many_folders_are_the_same_on_any_number_of_threads() {
    let mut world = World::new(generator::fleet(CLUSTERS, 1));
    let first = told_by_any(&world);
    assert!(first.work.clusters_rendered > 200, "{:?}", first.work);
    world.commit(&first);
    let again = told_by_any(&world);
    assert!(!again.has_changes(), "{:?}", again.changes);
}

#[test]
fn findings_come_in_the_same_order_on_any_number_of_threads() {
    let mut files = generator::fleet(CLUSTERS, 1);
    // No folder of any cluster may be made of this.
    let template =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ cluster.name }}}\ndata: [\n";
    files.insert("templates/kamaji-capz/cluster.yaml".to_owned(), template.to_owned());
    let broken = told_by_any(&World::new(files));
    assert!(broken.gates.len() > 200, "{}", broken.gates.len());
}

#[test]
fn folders_of_many_workers_are_the_same_on_any_number_of_threads() {
    let mut files = of_many_workers();
    let mut world = World::new(files.clone());
    let first = told_by_any(&world);
    assert_eq!(first.plan.workers.len(), 120);
    let made = |root: &str, file: &str| {
        let paths = first.changes.iter().map(|change| change.path.as_str());
        paths.filter(|path| path.starts_with(root) && path.ends_with(file)).count()
    };
    assert_eq!(made("workers/", "/platform.yaml"), 120);
    assert_eq!(made("control-plane/", "/cluster.yaml"), 120);
    assert_eq!(made("workers/", "/cluster.yaml"), 19, "one waits");
    world.commit(&first);
    assert!(!told_by_any(&world).has_changes());

    // Of one worker alone nothing may be made, and one is renamed.
    let text = files.get_mut("fleet/workers/000/w00050.yaml").unwrap();
    *text = text.replace("replicas: 6", "replicas: -1");
    let text = files.remove("fleet/workers/000/w00060.yaml").unwrap();
    files.insert("fleet/workers/000/x.yaml".to_owned(), text.replace("w00060", "w00999"));
    world.files = files;
    assert!(told_by_any(&world).has_changes());
}
