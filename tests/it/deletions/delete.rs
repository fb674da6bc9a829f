//! `deletionPolicy: Delete`: three commits.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use carp::model::{Decision, DeletionStep, Ending, Missing, Name, Progress};
use carp::pipeline::propose;

use super::story::{EMPTY, GONE, RUNNING, Row, Story, WORKER, deletion, folder, held};
use crate::support::world::{Tripwire, cluster_status, files_below, text_at};

const ALPHA: &str = "fleet/clusters/alpha.yaml";

/// alpha, at its first step, with the digests of its folder before and after.
fn begun() -> (Story, String, String) {
    static BEGUN: OnceLock<(Story, String, String)> = OnceLock::new();
    let begin = || {
        let mut story = Story::new();
        let before = story.digest(&folder("alpha"));
        story.hear(vec![Row::new("alpha", &before, RUNNING)]);
        story.world.remove(ALPHA);
        let proposal = story.run();
        assert_eq!(deletion(&proposal, "alpha").progress, Progress::Begins);
        let first = story.digest(&folder("alpha"));
        (story, before, first)
    };
    BEGUN.get_or_init(begin).clone()
}

/// alpha, at its second step, with the digests of the first and the second.
fn second() -> (Story, String, String) {
    let (mut story, _, first) = begun();
    let proposal = story.hear(vec![Row::new("alpha", &first, GONE)]);
    assert_eq!(deletion(&proposal, "alpha").progress, Progress::Steps);
    let second = story.digest(&folder("alpha"));
    (story, first, second)
}

#[test]
fn nothing_but_the_evidence_makes_the_second_step() {
    let (mut story, before, first) = begun();
    story.nothing_moves_on_twins(WORKER, &[Row::new("alpha", &first, GONE)], &before);
}

#[test]
fn nothing_but_the_evidence_ends_a_deletion() {
    let (mut story, first, second) = second();
    story.nothing_moves_on_twins(WORKER, &[Row::new("alpha", &second, EMPTY)], &first);
    let add_on = Row::new("alpha", &second, GONE);
    assert!(!story.hear(vec![add_on]).has_changes(), "an add-on is still there");
}

#[test]
fn a_report_that_cannot_be_read_or_is_gone_moves_nothing() {
    let (mut story, ..) = begun();
    story.world.reports.as_mut().unwrap().values_mut().for_each(|r| *r = b"complete: [".to_vec());
    assert!(!story.run().has_changes());
    story.world.reports = Some([].into());
    assert!(!story.run().has_changes());
}

#[test]
fn room_is_free_at_the_end_and_not_before() {
    let (mut story, first, second) = second();
    // Four fit: bravo and echo are there, and alpha until its end.
    for name in ["golf", "hotel"] {
        let text = crate::support::small::cluster(name, "westeurope");
        let affinity = "  placement: {affinity: {required: [{names: [w-weu]}]}}\n";
        story.world.write(&format!("fleet/clusters/{name}.yaml"), &format!("{text}{affinity}"));
    }
    let proposal = story.hear(vec![Row::new("alpha", &first, GONE)]);
    let waiting = |p: &carp::model::Proposal| {
        let all = p.plan.clusters.values();
        all.filter(|p| matches!(p.decision, Decision::Wait { .. })).count()
    };
    assert_eq!(waiting(&proposal), 1, "one fits, and the other waits for the room");
    let proposal = story.hear(vec![Row::new("alpha", &second, EMPTY)]);
    assert_eq!(waiting(&proposal), 0);
    assert_eq!(story.world.worker_of("hotel").as_deref(), Some(WORKER));
}

#[test]
fn steps_that_have_begun_go_on_while_something_does_not_load() {
    let (mut story, _, first) = begun();
    story.world.write("fleet/clusters/broken.yaml", "kind: [\n");
    let proposal = story.hear(vec![Row::new("alpha", &first, GONE)]);
    assert!(proposal.diagnostics.has_errors());
    assert_eq!(deletion(&proposal, "alpha").progress, Progress::Steps);
    let second = story.digest(&folder("alpha"));
    let proposal = story.hear(vec![Row::new("alpha", &second, EMPTY)]);
    assert_eq!(deletion(&proposal, "alpha").progress, Progress::Ends(Ending::Deleted));
}

#[test]
fn the_status_says_what_is_missing_and_since_when() {
    let (mut story, _, first) = begun();
    let told = |story: &Story, kind: &str| {
        let document = story.status("alpha").unwrap();
        assert!(document.contains("phase: Deleting\n"), "{document}");
        Story::condition(&document, kind)
    };
    let [status, reason, message, since] = told(&story, "ClusterGone");
    assert_eq!([status.as_str(), &reason], ["False", "NotApplied"]);
    assert_eq!(message, "the last report does not show this step applied (w-weu)");
    story.minute += 5;
    story.hear(vec![Row::new("alpha", &first, &["AzureMachine", "Namespace"])]);
    let [_, reason, message, still] = told(&story, "ClusterGone");
    assert_eq!(reason, "StillThere");
    assert!(message.contains("still there: AzureMachine"), "{message}");
    assert_eq!(still, since, "it is the same wait");
    story.hear(vec![Row::new("alpha", &first, GONE)]);
    assert_eq!(told(&story, "ClusterGone")[0], "True");
    let [status, _, _, since_then] = told(&story, "AddOnsGone");
    assert_eq!(status, "False");
    assert_ne!(since_then, since, "the second wait has its own beginning");
}

#[test]
fn a_lost_lock_forgets_no_step() {
    let (mut story, _, second) = second();
    story.world.remove_by_hand("workers/w-weu/carp.lock");
    let proposal = story.run();
    assert_eq!(deletion(&proposal, "alpha").step, Some(DeletionStep::D2));
    let proposal = story.hear(vec![Row::new("alpha", &second, EMPTY)]);
    assert_eq!(deletion(&proposal, "alpha").progress, Progress::Ends(Ending::Deleted));
}

#[test]
fn files_of_others_in_the_folder_stay() {
    let (mut story, _, second) = second();
    let notes = format!("{}/NOTES.md", folder("alpha"));
    story.world.put_by_hand(&notes, "a person's\n");
    story.hear(vec![Row::new("alpha", &second, EMPTY)]);
    let left = story.world.output_files();
    let left: Vec<_> = left.keys().filter(|path| path.contains("alpha")).collect();
    assert_eq!(left, [&notes]);
}

#[test]
fn a_template_that_does_not_render_holds_the_step_and_says_so() {
    let (mut story, _, first) = begun();
    story.world.write("templates/kamaji-capz/flavor.yaml", "kind: [\n");
    let proposal = story.hear(vec![Row::new("alpha", &first, GONE)]);
    assert!(!proposal.has_changes());
    assert_eq!(deletion(&proposal, "alpha").progress, Progress::Waits);
    story.world.remove("templates/kamaji-capz/flavor.yaml");
    assert_eq!(deletion(&story.run(), "alpha").progress, Progress::Steps);
}

#[test]
fn what_was_edited_by_hand_and_is_kept_does_not_step() {
    let (mut story, _, second) = second();
    story.world.edit("carp.yaml", "  controlPlane:", "  drift: refuse\n  controlPlane:");
    let path = format!("{}/cluster.yaml", folder("alpha"));
    let text = format!("# mine\n{}", story.file(&path));
    story.world.put_by_hand(&path, &text);
    let proposal = story.hear(vec![Row::new("alpha", &second, EMPTY)]);
    assert_eq!(deletion(&proposal, "alpha").missing, Some(Missing::FolderKept));
    assert_eq!(story.file(&path), text);
}

#[test]
fn an_end_that_is_only_proposed_leaves_the_status() {
    let (mut story, _, second) = second();
    story.world.edit(
        "carp.yaml",
        "  controlPlane:",
        "  git: {write: pullRequest}\n  controlPlane:",
    );
    let minute = story.minute + 1;
    let rows = vec![Row::new("alpha", &second, EMPTY)];
    let report = super::story::Report { uid: "u-1", minute, complete: true, rows };
    let proposal = story.if_it_said(WORKER, &report, minute);
    assert!(proposal.has_changes());
    let path = cluster_status("alpha");
    let document = text_at(&story.world.store, proposal.status_tree, &path).unwrap();
    assert!(document.contains("phase: Deleting\n"), "{document}");
    assert_eq!(Story::condition(&document, "Placed")[1], "EndProposed");
}

/// A run may read the locks, the index of the worker and, where a step is taken, the cluster's own folder.
#[test]
fn a_deletion_reads_nothing_of_other_clusters() {
    let (mut story, _, first) = begun();
    for (present, moves) in [(RUNNING, false), (GONE, true)] {
        let good = Row::new("alpha", &first, present);
        let minute = story.minute + 1;
        let report = super::story::Report { uid: "u-1", minute, complete: true, rows: vec![good] };
        story.say(WORKER, &report);
        let fleet = carp::model::blob_id(story.world.files["carp.yaml"].as_bytes());
        let mut allowed = BTreeSet::from([fleet]);
        let own = folder("alpha");
        let record = carp::model::paths::decision(&Name::parse("alpha").unwrap());
        let output = story.world.output.unwrap();
        files_below(&story.world.store, output, "", &mut |path, id| {
            if path.ends_with(".lock")
                || path.ends_with(carp::model::paths::PLATFORM)
                || (moves && path.starts_with(&own))
                || (moves && path == record)
            {
                allowed.insert(id);
            }
        });
        // The status branch is apart.
        let status = story.world.status.unwrap();
        files_below(&story.world.store, status, "", &mut |_, id| {
            allowed.insert(id);
        });
        let snapshot = story.world.snapshot();
        let tripwire = Tripwire::new(&story.world.store, allowed);
        let proposal = propose(&snapshot, &tripwire, &mut story.world.memo).unwrap();
        assert_eq!(proposal.has_changes(), moves);
        assert_eq!((proposal.work.clusters_rendered, proposal.work.blobs_parsed), (0, 0));
    }
}

#[test]
fn a_cluster_without_a_policy_is_held_as_ever() {
    let mut story = Story::new();
    story.world.edit(ALPHA, "  deletionPolicy: Delete\n", "");
    story.run();
    story.world.remove(ALPHA);
    let proposal = story.run();
    assert_eq!(held(&proposal), [carp::model::HoldKind::DeletionPolicyUnset]);
    assert!(proposal.plan.deletions().is_empty());
}
