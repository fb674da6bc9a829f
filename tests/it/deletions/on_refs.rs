//! The same with the real program: reports on the agents' refs, commits on the output branch.

use crate::support::people::{Person, printed};
use crate::support::small;
use crate::support::world::record;
use crate::support::{Remote, git};

const OUTPUT: &str = "refs/heads/carp/rendered";
const FOLDER: &str = "workers/w-weu/clusters/alpha";

/// `carp ARGS` at so many minutes after nine: its exit code and what it printed.
fn carp(person: &Person, minute: u32, args: &[&str]) -> (Option<i32>, String) {
    let now = format!("2026-11-01T09:{minute:02}:00Z");
    let ran = person.carp(&[args, &["--now", &now]].concat());
    (ran.status.code(), printed(&ran))
}

/// The agent of w-weu reports alpha.
fn report(person: &Person, minute: u32, uid: &str, digest: &str, present: &str) {
    let path = person.path();
    let text = format!(
        "schemaVersion: 1\nworker: w-weu\nworkerUID: {uid}\ntime: \"2026-11-01T09:{minute:02}:00Z\"\n\
         complete: true\nhealthy: true\nclusters:\n- name: alpha\n  phase: Deleting\n  digest: \"{digest}\"\n  \
         present: [{present}]\n"
    );
    git(&path, &["checkout", "--quiet", "--orphan", "report"]);
    git(&path, &["rm", "-r", "--quiet", "--cached", "."]);
    person.write("report.yaml", &text);
    git(&path, &["add", "report.yaml"]);
    git(&path, &["commit", "--quiet", "-m", "a report"]);
    git(&path, &["push", "--quiet", "origin", "+HEAD:refs/heads/carp/observed/w-weu"]);
    git(&path, &["checkout", "--quiet", "--force", "main"]);
    git(&path, &["branch", "--quiet", "-D", "report"]);
}

fn digest(remote: &Remote) -> String {
    let text = git(&remote.path(), &["show", &format!("{OUTPUT}:{FOLDER}/cluster.yaml")]);
    let line = text.lines().find_map(|l| l.trim().strip_prefix("carp.dev/digest: sha256:"));
    line.unwrap().to_owned()
}

fn subjects(remote: &Remote) -> Vec<String> {
    let record = record("alpha");
    let log = git(&remote.path(), &["log", "--format=%b", OUTPUT, "--", &record]);
    log.lines().filter(|line| line.contains("alpha")).map(str::to_owned).collect()
}

#[test]
fn a_deletion_is_three_commits_that_a_record_tells_of() {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    person.push(&small::files());
    let once = ["reconcile", "--once"];
    assert_eq!(carp(&person, 0, &once).0, Some(0));
    git(&person.path(), &["rm", "--quiet", "fleet/clusters/alpha.yaml"]);
    person.push_one("fleet/NOTES.txt", "alpha goes\n");
    assert_eq!(carp(&person, 1, &once).0, Some(0));
    git(
        &person.path(),
        &["fetch", "--quiet", "origin", "+refs/heads/carp/*:refs/remotes/origin/carp/*"],
    );

    let (code, told) = carp(&person, 1, &["plan"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("DELETING: the next step waits for evidence"), "{told}");
    assert!(told.contains("carp ack abandon --count 1 --digest sha256:"), "{told}");
    let (_, told) = carp(&person, 1, &["explain", "cluster/alpha"]);
    assert!(told.contains("being deleted: step D1 to be reported by w-weu"), "{told}");
    let (_, told) = carp(&person, 1, &["status", "cluster/alpha"]);
    assert!(told.contains("ClusterGone") && told.contains("NotObserved"), "{told}");

    let first = digest(&remote);
    report(&person, 2, "u-1", &first, "AzureMachine, HelmChartProxy, Namespace");
    assert_eq!(carp(&person, 3, &once).0, Some(0));
    assert_eq!(digest(&remote), first, "machines are left");
    report(&person, 4, "u-2", &first, "HelmChartProxy, ManagedCluster, Namespace");
    carp(&person, 5, &once);
    assert_eq!(digest(&remote), first, "that is another cluster");
    report(&person, 6, "u-1", &first, "HelmChartProxy, ManagedCluster, Namespace");
    assert_eq!(carp(&person, 7, &once).0, Some(0));
    let second = digest(&remote);
    assert_ne!(second, first);
    report(&person, 8, "u-1", &second, "ManagedCluster, Namespace");
    assert_eq!(carp(&person, 9, &once).0, Some(0));
    let left = git(&remote.path(), &["ls-tree", "-r", "--name-only", OUTPUT]);
    assert!(!left.contains("alpha"), "{left}");
    let (code, told) = carp(&person, 10, &once);
    assert!(code == Some(0) && !told.contains("committed"), "{told}");
    assert_eq!(
        subjects(&remote)[..3],
        [
            "the deletion of alpha on w-weu is complete",
            "alpha is reported gone on w-weu: its add-ons go",
            "begin the deletion of alpha on w-weu",
        ]
    );
    assert_eq!(person.replays(), 4, "each step follows from the fold that was pushed before it");
}
