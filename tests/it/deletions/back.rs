//! A document that comes back under a name that is being deleted.

use super::story::{EMPTY, GONE, RUNNING, Report, Row, Story, WORKER, folder, held};
use crate::support::small::cluster;
use crate::support::world::record;

const ALPHA: &str = "fleet/clusters/alpha.yaml";

/// The deletion of alpha is committed, and its document is there again.
fn reverted() -> (Story, String, String) {
    let mut story = Story::new();
    let before = story.digest(&folder("alpha"));
    story.hear(vec![Row::new("alpha", &before, RUNNING)]);
    let text = story.world.files[ALPHA].clone();
    story.world.remove(ALPHA);
    story.run();
    let first = story.digest(&folder("alpha"));
    story.world.write(ALPHA, &text);
    (story, before, first)
}

#[test]
fn what_does_not_show_it_untouched_calls_nothing_off() {
    let (mut story, before, first) = reverted();
    let minute = story.minute + 1;
    let running = Row::new("alpha", &before, RUNNING);
    let one = |row: Row| Report { uid: "u-1", minute, complete: true, rows: vec![row] };
    let good = one(running.clone());
    for (which, twin, minute) in [
        ("applied", one(Row::new("alpha", &first, RUNNING)), minute),
        ("going", one(Row { phase: "Deleting", ..running.clone() }), minute),
        ("without the cluster", one(Row::new("alpha", &before, GONE)), minute),
        ("incomplete", Report { complete: false, ..good.clone() }, minute),
        ("of another cluster", Report { uid: "u-2", ..good.clone() }, minute),
        ("of long ago", good.clone(), minute + 61),
        ("silent about it", Report { rows: Vec::new(), ..good.clone() }, minute),
    ] {
        let proposal = story.if_it_said(WORKER, &twin, minute);
        // One of another cluster is not used, and what is known is what was reported before.
        let known = which == "of another cluster";
        assert_eq!(held(&proposal).is_empty(), known, "{which}: {:?}", proposal.plan.deletions());
    }
}

#[test]
fn a_name_that_is_free_again_may_go_to_another_worker_or_wait() {
    for location in ["eastus", "westeurope"] {
        let (mut story, _, first) = reverted();
        let elsewhere = "  placement: {affinity: {required: [{names: [NAME]}]}}\n";
        let name = if location == "eastus" { "w-eus" } else { "w-none" };
        let text = cluster("alpha", location) + &elsewhere.replace("NAME", name);
        story.world.write(ALPHA, &text);
        story.hear(vec![Row::new("alpha", &first, GONE)]);
        let second = story.digest(&folder("alpha"));
        let proposal = story.hear(vec![Row::new("alpha", &second, EMPTY)]);
        assert!(held(&proposal).is_empty(), "{:?}", proposal.plan.holds);
        let here = format!("{}/", folder("alpha"));
        assert!(story.world.output_files().keys().all(|path| !path.starts_with(&here)));
        let record = story.file(&record("alpha"));
        let there = "workers/w-eus/clusters/alpha/cluster.yaml";
        match location {
            "eastus" => assert!(record.contains("worker: w-eus") && !story.file(there).is_empty()),
            _ => assert!(record.contains("state: Pending"), "{record}"),
        }
    }
}
