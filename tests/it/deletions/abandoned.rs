//! Deletions that never get their evidence.

use carp::model::{Missing, Progress, Stuck};

use super::story::{RUNNING, Row, Story, deletion, folder};
use crate::support::small;

fn acknowledge(story: &mut Story, of: &str, set: &Stuck) {
    let (count, digest) = (set.names.len(), set.digest());
    let text = format!(
        "apiVersion: carp.dev/v1alpha1\nkind: Acknowledgement\nmetadata:\n  name: gone\nspec:\n  of: \
         {of}\n  count: {count}\n  digest: \"{digest}\"\n"
    );
    story.world.write("fleet/acknowledgements/gone.yaml", &text);
}

/// alpha and bravo are being deleted on a worker that falls silent.
fn silent() -> Story {
    let mut story = Story::new();
    let row = |story: &Story, name| Row::new(name, &story.digest(&folder(name)), RUNNING);
    let rows = vec![row(&story, "alpha"), row(&story, "bravo")];
    story.hear(rows);
    story.world.remove("fleet/clusters/alpha.yaml").remove("fleet/clusters/bravo.yaml");
    story.run();
    story.minute += 90;
    let proposal = story.run();
    assert!(!proposal.has_changes());
    assert_eq!(deletion(&proposal, "alpha").missing, Some(Missing::Silent));
    story
}

#[test]
fn a_worker_that_reports_abandons_nothing() {
    let mut story = silent();
    let sets = Stuck::sets(story.world.propose().plan.deletions());
    acknowledge(&mut story, "abandon", &sets[0]);
    let first = story.digest(&folder("alpha"));
    let proposal = story.hear(vec![Row::new("alpha", &first, RUNNING)]);
    assert!(!proposal.has_changes(), "it is not gone after all");
    assert_eq!(deletion(&proposal, "alpha").progress, Progress::Waits);
}

#[test]
fn a_spent_acknowledgement_abandons_nothing_again() {
    let mut story = silent();
    let sets = Stuck::sets(story.world.propose().plan.deletions());
    acknowledge(&mut story, "abandon", &sets[0]);
    story.run();
    for name in ["alpha", "bravo"] {
        let affinity = "  placement: {affinity: {required: [{names: [w-eus]}]}}\n";
        let text = small::cluster(name, "eastus") + affinity;
        story.world.write(&format!("fleet/clusters/{name}.yaml"), &text);
    }
    // w-eus has room for one more only.
    story.world.edit("fleet/workers/w-eus.yaml", "capacity: 4", "capacity: 9");
    story.run();
    // What was deleted before counts for an hour after the one in which it was.
    story.minute += 120;
    story.world.remove("fleet/clusters/alpha.yaml").remove("fleet/clusters/bravo.yaml");
    let proposal = story.run();
    assert_eq!(deletion(&proposal, "alpha").progress, Progress::Begins);
    let proposal = story.run();
    assert_eq!(deletion(&proposal, "alpha").missing, Some(Missing::NotObserved));
    assert_eq!(deletion(&proposal, "alpha").progress, Progress::Waits, "the same set, spent");
}
