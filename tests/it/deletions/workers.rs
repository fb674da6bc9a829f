//! Workers that are removed: their own clusters go by what the control-plane cluster reports.

use carp::change::TreeEdit;
use carp::model::{Ending, HoldKind, Missing, Progress, Store as _, WorkerState};

use super::story::{Report, Row, Story, deletion, held};
use crate::support::small;

const HUB: &str = "hub";
const EUS: &str = "fleet/workers/w-eus.yaml";
const MADE: &str = "control-plane/w-eus";
const LEFT: &[&str] = &["HelmChartProxy", "Namespace", "Worker"];
const LAST: &[&str] = &["Namespace", "Worker"];
const THERE: &[&str] = &["Cluster", "HelmChartProxy", "Namespace", "Worker"];

/// The small fleet without clusters in East US, and a control-plane cluster that was heard of.
fn fleet() -> Story {
    let mut files = small::files();
    for name in ["charlie", "delta", "foxtrot"] {
        files.remove(&format!("fleet/clusters/{name}.yaml"));
    }
    let mut story = Story::of(files);
    let known = "schemaVersion: 1\nworker: hub\nworkerUID: u-1\nfreshness: Fresh\nfreshnessSince: \
                 \"2026-11-01T09:00:00Z\"\nhealthy: true\nhealthySince: \
                 \"2026-11-01T09:00:00Z\"\ncomplete: true\n";
    let id = story.world.store.put_blob(known.as_bytes()).unwrap();
    let mut edit = TreeEdit::default();
    edit.file("observed/hub.yaml", id);
    story.world.status = Some(edit.apply(&story.world.store, story.world.status).unwrap());
    let running = story.digest(MADE);
    hub(&mut story, vec![Row::new("w-eus", &running, THERE)]);
    story
}

/// A minute later the control-plane cluster reports these workers, and carp runs.
fn hub(story: &mut Story, rows: Vec<Row>) -> carp::model::Proposal {
    story.minute += 1;
    let report = Report { uid: "u-1", minute: story.minute, complete: true, rows };
    story.say(HUB, &report);
    story.run()
}

#[test]
fn a_workers_own_cluster_goes_in_three_commits_and_its_folders_with_the_last() {
    let mut story = fleet();
    let before = story.digest(MADE);
    story.world.remove(EUS);
    let proposal = story.run();
    assert_eq!(deletion(&proposal, "w-eus").progress, Progress::Begins);
    assert!(proposal.message.contains("begin the deletion of the worker w-eus"));
    let first = story.digest(MADE);
    assert!(!story.file("control-plane/w-eus/cluster.yaml").contains("kind: Cluster\n"));
    story.nothing_moves_on_twins(HUB, &[Row::new("w-eus", &first, LEFT)], &before);

    let proposal = hub(&mut story, vec![Row::new("w-eus", &first, LEFT)]);
    assert_eq!(deletion(&proposal, "w-eus").progress, Progress::Steps);
    let second = story.digest(MADE);
    let document = story.world.status_text("workers/w-eus.yaml").unwrap();
    assert!(document.contains("phase: Terminating\n"), "{document}");
    assert_eq!(Story::condition(&document, "AddOnsGone")[0], "False");
    story.nothing_moves_on_twins(HUB, &[Row::new("w-eus", &second, LAST)], &first);

    let proposal = hub(&mut story, vec![Row::new("w-eus", &second, LAST)]);
    assert_eq!(deletion(&proposal, "w-eus").progress, Progress::Ends(Ending::Deleted));
    assert!(story.world.output_files().keys().all(|path| !path.contains("w-eus")));
    assert!(!story.file("control-plane/workers.yaml").contains("w-eus"));
    assert!(story.world.status_text("workers/w-eus.yaml").is_none());
    assert!(!hub(&mut story, Vec::new()).has_changes());
}

#[test]
fn a_worker_on_which_something_is_reported_does_not_retire() {
    let mut story = fleet();
    story.world.edit(EUS, "  replicas: 3\n", "  replicas: 3\n  observation: Agent\n");
    let mut left = Report { uid: "u-e", minute: 2, complete: true, rows: Vec::new() };
    left.rows.push(Row::new("let-go-of", &"0".repeat(64), &["Cluster", "Namespace"]));
    story.say("w-eus", &left);
    story.minute += 1;
    story.run();
    story.world.remove(EUS);
    let proposal = story.run();
    assert!(!proposal.has_changes(), "{:?}", proposal.changes);
    assert_eq!(proposal.plan.workers["w-eus"].state, WorkerState::Retiring);
    let missing = deletion(&proposal, "w-eus").missing.clone();
    assert_eq!(missing, Some(Missing::Occupied(["let-go-of".to_owned()].into())));
    story.minute += 1;
    story.say("w-eus", &Report { minute: story.minute, rows: Vec::new(), ..left });
    assert_eq!(deletion(&story.run(), "w-eus").progress, Progress::Begins);
}

#[test]
fn a_worker_that_comes_back_is_made_anew_after_the_end() {
    let mut story = fleet();
    let text = story.world.files[EUS].clone();
    story.world.remove(EUS);
    story.run();
    let first = story.digest(MADE);
    story.world.write(EUS, &text.replace("capacity: 4", "capacity: 5"));
    let proposal = hub(&mut story, vec![Row::new("w-eus", &first, LEFT)]);
    assert_eq!(held(&proposal), [HoldKind::NameStillDeleting]);
    let second = story.digest(MADE);
    let proposal = hub(&mut story, vec![Row::new("w-eus", &second, LAST)]);
    assert!(held(&proposal).is_empty());
    assert_eq!(proposal.plan.workers["w-eus"].state, WorkerState::Desired);
    assert!(story.file("control-plane/w-eus/cluster.yaml").contains("kind: Cluster\n"));
    assert!(story.file("workers/w-eus/carp.lock").contains("\"worker\":\"w-eus\""));
}

#[test]
fn a_revert_calls_the_deletion_of_a_worker_off() {
    let mut story = fleet();
    let (text, before) = (story.world.files[EUS].clone(), story.digest(MADE));
    story.world.remove(EUS);
    story.run();
    story.world.write(EUS, &text);
    let proposal = hub(&mut story, vec![Row::new("w-eus", &before, THERE)]);
    assert_eq!(deletion(&proposal, "w-eus").progress, Progress::Cancelled);
    assert_eq!(story.digest(MADE), before);
}

#[test]
fn what_was_reported_under_a_name_is_forgotten_with_the_worker() {
    let mut story = fleet();
    let running = Row::new("w-eus", &story.digest(MADE), THERE);
    story.say("w-eus", &Report { uid: "u-old", minute: 2, complete: true, rows: Vec::new() });
    hub(&mut story, vec![running]);
    assert!(story.world.status_text("observed/w-eus.yaml").unwrap().contains("u-old"));
    story.world.remove(EUS);
    story.run();
    let first = story.digest(MADE);
    hub(&mut story, vec![Row::new("w-eus", &first, LEFT)]);
    let second = story.digest(MADE);
    story.world.reports.as_mut().unwrap().remove("w-eus");
    hub(&mut story, vec![Row::new("w-eus", &second, LAST)]);
    hub(&mut story, Vec::new());
    assert!(story.world.status_text("observed/w-eus.yaml").is_none());
    assert!(story.world.status_text("observed/hub.yaml").is_some());
    story.world.write(EUS, &small::worker("w-eus", "eastus", 4));
    let new = Report { uid: "u-new", minute: story.minute, complete: true, rows: Vec::new() };
    story.say("w-eus", &new);
    story.run();
    assert!(story.world.status_text("observed/w-eus.yaml").unwrap().contains("u-new"));
}
