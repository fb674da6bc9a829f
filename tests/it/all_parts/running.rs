//! A cluster comes into being, and carp knows it only as far as the worker's agent says so.

use serde_json::json;

use super::story::{ALPHA, Story, WORKER, of};
use crate::support::keys::SshKey;
use crate::support::{git, git_may_fail, skip};

#[test]
fn what_people_write_runs_and_is_known_to_run() {
    let test = "what_people_write_runs_and_is_known_to_run";
    let Some(story) = Story::begin() else {
        return skip(test, "no ssh-keygen, or KUBEBUILDER_ASSETS or CARP_CRDS is unset");
    };
    story.carp_reconciles();
    assert_eq!(story.alpha()["phase"], "Pending", "nobody has heard of the worker");
    assert_eq!(story.worker_status()["phase"], "Pending");

    story.goes_round();
    assert_eq!(story.worker_status()["phase"], "Running");
    assert_eq!(story.alpha()["phase"], "Scheduled");
    assert_eq!(story.alpha()["assignedWorker"], WORKER);

    story.goes_round();
    assert_eq!(story.alpha()["phase"], "Provisioning", "its objects are there");
    story.cluster_api_begins("alpha");
    story.agent_reports();
    story.carp_reconciles();
    assert_eq!(story.alpha()["phase"], "Provisioning");
    let late = story.worker.report_text().unwrap();

    story.cluster_api_is_done("alpha");
    story.agent_reports();
    story.carp_reconciles();
    let alpha = story.alpha();
    assert_eq!(alpha["phase"], "Running", "{alpha:#}");
    assert_eq!(of(&alpha, "Ready")["status"], "True");
    assert_eq!(alpha["version"], "v1.34.2");
    assert_eq!(alpha["endpoint"], "https://10.1.0.4:6443");
    assert_eq!(alpha["nodes"], json!({"desired": 2, "ready": 2}));
    let get = ["get", "managedclusters.carp.dev", "alpha", "-n", "alpha", "--no-headers"];
    let printed = story.worker.server.kubectl(&get);
    assert!(printed.starts_with("alpha") && printed.contains("Running"), "{printed}");
    the_digest_is_that_of_the_folder(&story);

    // Once more, and nothing has changed: no commit on any branch.
    let tips = || git(&story.worker.remote.path(), &["for-each-ref", "refs/heads/carp/[rs]*"]);
    story.goes_round();
    let before = tips();
    story.goes_round();
    assert_eq!(tips(), before);
    what_does_not_count_changes_nothing(&story, &late);
    silence_is_not_broken_by_what_is_old(&story, &late);
}

/// What the agent saw applied is what carp rendered.
fn the_digest_is_that_of_the_folder(story: &Story) {
    let file = format!("refs/heads/carp/rendered:workers/{WORKER}/clusters/alpha/cluster.yaml");
    let rendered = git(&story.worker.remote.path(), &["show", &file]);
    let report = story.worker.reported().unwrap();
    let digest = report["clusters"][0]["digest"].as_str().unwrap();
    assert!(rendered.contains(&format!("carp.dev/digest: sha256:{digest}")), "{rendered}");
}

/// Each of these reports is like the last good one but for one thing.
fn what_does_not_count_changes_nothing(story: &Story, late: &str) {
    let own = || story.key.file();
    let good = story.worker.report_text().unwrap();
    let time = |text: &str| {
        let line = text.lines().find(|line| line.starts_with("time: ")).unwrap().to_owned();
        text.replace(&line, &format!("time: \"{}\"", story.now()))
    };
    let broken = time(&good).replace("phase: Running", "phase: Degraded");
    assert_ne!(broken, time(&good));
    let (uid, _) = broken.split_once("workerUID: ").unwrap().1.split_once('\n').unwrap();
    let mallory = SshKey::new().unwrap();
    let row = broken.split_once("clusters:\n").unwrap().1.to_owned();
    for (what, text, key, why) in [
        ("late", late.to_owned(), own(), "before a change"),
        ("signed by another", broken.clone(), mallory.file(), "key is that of no allowed signer"),
        ("of another cluster", broken.replace(uid, "another"), own(), "it is from the cluster"),
        ("of another worker", broken.replace(WORKER, "w-eus"), own(), "it says that it is of"),
        ("with two answers", format!("{broken}{row}"), own(), "names the cluster `alpha` twice"),
        ("not readable", broken.replace("healthy: true", "healthy: ["), own(), "cannot be used"),
    ] {
        story.changes_nothing(what, &text, key, why);
    }
    // One that could not see everything says nothing of what it does not name.
    let partial = time(&good).replace("complete: true", "complete: false\nunlisted:\n- Cluster");
    let (head, _) = partial.split_once("clusters:\n").unwrap();
    story.somebody_reports(head, own());
    let before = story.text(ALPHA);
    story.carp_reconciles();
    assert_eq!(story.text(ALPHA), before, "incomplete");
}

fn silence_is_not_broken_by_what_is_old(story: &Story, late: &str) {
    story.minutes_pass(3 * 60);
    story.carp_reconciles();
    assert_eq!(story.worker_status()["phase"], "Unknown");
    assert_eq!(story.alpha()["phase"], "Unknown");
    story.somebody_reports(late, story.key.file());
    story.carp_reconciles();
    assert_eq!(story.alpha()["phase"], "Unknown", "an old report is no sign of life");
    story.agent_reports();
    story.carp_reconciles();
    assert_eq!(
        (&story.alpha()["phase"], &story.worker_status()["phase"]),
        (&json!("Running"), &json!("Running"))
    );
    let output = git_may_fail(&story.worker.remote.path(), &["fsck", "--strict", "--no-dangling"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
