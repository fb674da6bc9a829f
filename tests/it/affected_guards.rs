//! What guards count is no matter of one cluster: a run that looks only at what changed holds what a run does that
//! looks at everything.

use std::collections::BTreeMap;

use carp::model::HoldKind;

use crate::affected_law::Standing;
use crate::support::small;

/// A fleet of so many clusters on one worker, with this in its `carp.yaml`.
fn fleet(clusters: u8, spec: &str) -> BTreeMap<String, String> {
    let mut files = BTreeMap::from([
        ("carp.yaml".to_owned(), format!("{}{spec}", small::FLEET)),
        ("fleet/workers/w-weu.yaml".to_owned(), small::worker("w-weu", "westeurope", 50)),
    ]);
    for number in 0..clusters {
        files.insert(path(number), small::cluster(&name(number), "westeurope"));
    }
    files
}

fn name(number: u8) -> String {
    format!("r{number:02}")
}

fn path(number: u8) -> String {
    format!("fleet/clusters/{}.yaml", name(number))
}

/// Gives the pools of these clusters machines of another size.
fn replace_machines(standing: &mut Standing, clusters: impl Iterator<Item = u8>, size: &str) {
    for number in clusters {
        let pool = format!("nodePools: [{{name: np0, replicas: 2, vmSize: {size}}}]");
        let text = small::cluster(&name(number), "westeurope").replace("replicas: 2", &pool);
        standing.world.write(&path(number), &text);
    }
}

/// How many groups of machines are held.
fn held(standing: &mut Standing) -> usize {
    let holds = standing.world.propose_afresh().plan.holds;
    let replaced = holds.iter().filter(|hold| hold.kind == HoldKind::MachinesReplaced);
    replaced.map(|hold| hold.names.len()).sum()
}

const LARGER: &str = "Standard_D8s_v5";

#[test]
fn more_machines_than_the_fleet_allows_are_held() {
    let mut standing = Standing::of(fleet(6, "  guards: {maxReplacedMachines: 5}\n"));
    replace_machines(&mut standing, 0..3, LARGER);
    let before = standing.world.output_text("workers/w-weu/clusters/r00/cluster.yaml");
    assert!(!standing.run(), "a guard is looked at with everything");
    assert_eq!(held(&mut standing), 3);
    assert_eq!(standing.world.output_text("workers/w-weu/clusters/r00/cluster.yaml"), before);
}

#[test]
fn the_machines_of_more_clusters_than_may_ask_at_once_are_held() {
    let mut standing = Standing::of(fleet(12, ""));
    replace_machines(&mut standing, 0..11, LARGER);
    assert!(!standing.run(), "a guard is looked at with everything");
    assert_eq!(held(&mut standing), 11);
}

#[test]
fn what_is_held_holds_what_comes_to_it() {
    let mut standing = Standing::of(fleet(13, ""));
    replace_machines(&mut standing, 0..11, LARGER);
    standing.stand();
    assert_eq!(held(&mut standing), 11);
    replace_machines(&mut standing, 11..12, LARGER);
    assert!(!standing.run(), "its tenant's machines are held");
    assert_eq!(held(&mut standing), 12);
}
