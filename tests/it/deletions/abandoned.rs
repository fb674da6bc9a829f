//! Deletions that never get their evidence.

use carp::diag::Code;
use carp::model::{DeletionStep, Ending, Missing, Progress, Stuck};

use super::story::{RUNNING, Row, Story, deletion, folder};
use crate::support::small;
use crate::support::world::record;

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
fn a_dead_workers_deletions_are_abandoned_by_name() {
    let mut story = silent();
    let sets = Stuck::sets(&story.world.propose().plan.deletions);
    assert_eq!(sets.len(), 1);
    assert_eq!(sets[0].names, ["alpha", "bravo"]);
    acknowledge(&mut story, "abandon", &sets[0]);
    let proposal = story.run();
    for name in ["alpha", "bravo"] {
        assert_eq!(deletion(&proposal, name).progress, Progress::Ends(Ending::Abandoned));
        assert!(story.world.output_files().keys().all(|path| !path.contains(name)), "{name}");
    }
    assert!(proposal.message.contains("ABANDON the deletion of alpha"), "{}", proposal.message);
    assert_eq!(proposal.plan.workers["w-weu"].clusters, 1, "their room is free");
    assert!(story.file("control-plane/fleet.lock").contains("\"of\":\"abandon\""), "it is spent");
}

#[test]
fn an_acknowledgement_of_another_set_or_kind_abandons_nothing() {
    let mut story = silent();
    let sets = Stuck::sets(&story.world.propose().plan.deletions);
    acknowledge(&mut story, "deletions", &sets[0]);
    assert!(!story.run().has_changes());
    let other = Stuck { reporter: None, names: vec!["alpha".to_owned()] };
    acknowledge(&mut story, "abandon", &other);
    let proposal = story.run();
    assert!(!proposal.has_changes());
    assert!(proposal.diagnostics.iter().any(|d| d.code == Code::AcknowledgementMismatch));
}

#[test]
fn a_worker_that_reports_abandons_nothing() {
    let mut story = silent();
    let sets = Stuck::sets(&story.world.propose().plan.deletions);
    acknowledge(&mut story, "abandon", &sets[0]);
    let first = story.digest(&folder("alpha"));
    let proposal = story.hear(vec![Row::new("alpha", &first, RUNNING)]);
    assert!(!proposal.has_changes(), "it is not gone after all");
    assert_eq!(deletion(&proposal, "alpha").progress, Progress::Waits);
}

#[test]
fn a_spent_acknowledgement_abandons_nothing_again() {
    let mut story = silent();
    let sets = Stuck::sets(&story.world.propose().plan.deletions);
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

#[test]
fn without_an_agent_a_deletion_stays_at_its_first_step_and_says_so() {
    let mut story = Story::new();
    story.world.remove("fleet/clusters/charlie.yaml");
    story.run();
    let proposal = story.run();
    assert_eq!(deletion(&proposal, "charlie").step, Some(DeletionStep::D1));
    assert!(proposal.plan.holds.is_empty(), "it is not held: somebody may end it");
    let document = story.status("charlie").unwrap();
    let [status, reason, message, _] = Story::condition(&document, "ClusterGone");
    assert_eq!([status.as_str(), &reason], ["False", "NotObserved"]);
    assert!(message.contains("somebody must abandon it"), "{message}");
    let sets = Stuck::sets(&proposal.plan.deletions);
    acknowledge(&mut story, "abandon", &sets[0]);
    story.run();
    assert!(story.world.output_text(&record("charlie")).is_none());
}
