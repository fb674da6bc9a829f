//! `deletionPolicy: Orphan`: two commits, and nothing is deleted.

use carp::model::{Missing, Progress};

use super::story::{RUNNING, Report, Row, Story, WORKER, deletion, folder};
use crate::support::world::record;

const ALPHA: &str = "fleet/clusters/alpha.yaml";
const INDEX: &str = "workers/w-weu/clusters.yaml";

fn begun() -> (Story, String, String) {
    let mut story = Story::new();
    story.world.edit(ALPHA, "deletionPolicy: Delete", "deletionPolicy: Orphan");
    story.run();
    let before = story.digest(&folder("alpha"));
    story.hear(vec![Row::new("alpha", &before, RUNNING)]);
    story.world.remove(ALPHA);
    let proposal = story.run();
    assert!(proposal.message.contains("let go of alpha on w-weu"), "{}", proposal.message);
    let marked = story.digest(&folder("alpha"));
    (story, before, marked)
}

#[test]
fn nothing_but_the_evidence_lets_go() {
    let (mut story, before, marked) = begun();
    let minute = story.minute + 1;
    let row = |digest: &str| vec![Row::new("alpha", digest, RUNNING)];
    let good = Report { uid: "u-1", minute, complete: true, rows: row(&marked) };
    for (which, twin, minute) in [
        ("late", Report { minute: -30, ..good.clone() }, minute),
        ("of long ago", good.clone(), minute + 61),
        ("of another cluster", Report { uid: "u-2", ..good.clone() }, minute),
        ("incomplete", Report { complete: false, ..good.clone() }, minute),
        ("stale", Report { rows: row(&before), ..good.clone() }, minute),
        ("silent about it", Report { rows: Vec::new(), ..good.clone() }, minute),
    ] {
        let proposal = story.if_it_said(WORKER, &twin, minute);
        assert!(!proposal.has_changes(), "a report that is {which} moves nothing");
    }
    assert!(story.if_it_said(WORKER, &good, minute).has_changes(), "and the good one does");
}

#[test]
fn a_document_that_comes_back_finds_its_cluster_as_it_was() {
    let (mut story, ..) = begun();
    let text = crate::support::small::cluster("alpha", "westeurope");
    story.world.write(ALPHA, &text.replace("Delete", "Orphan"));
    let proposal = story.run();
    assert_eq!(deletion(&proposal, "alpha").progress, Progress::Cancelled);
    assert!(proposal.plan.holds.is_empty());
    assert!(story.file(&record("alpha")).contains("state: Bound\n"));
    assert!(!story.file(INDEX).contains("deletionPolicy: Orphan"));
    let text = story.file(&format!("{}/cluster.yaml", folder("alpha")));
    let own = text.split("---\n").find(|text| text.contains("kind: Cluster\n")).unwrap();
    assert!(!own.contains("prune: disabled"), "{own}");
}

#[test]
fn a_document_of_that_name_that_does_not_load_lets_nothing_go() {
    let (mut story, _, marked) = begun();
    story.world.write(ALPHA, "kind: ManagedCluster\nmetadata: {name: alpha}\nspec: {x: 1}\n");
    let proposal = story.hear(vec![Row::new("alpha", &marked, RUNNING)]);
    assert_eq!(deletion(&proposal, "alpha").missing, Some(Missing::NotLoaded));
    assert!(!proposal.has_changes());
}
