//! What carp knows and what it decides from that reach the remote in this order: a plan reads the fold,
//! so the fold is on its branch before the plan's commit, and a past decision needs nothing but the
//! repository.

use std::fs;
use std::path::Path;

use crate::support::people::{Person, printed};
use crate::support::small::{self, cluster};
use crate::support::{Remote, git};

const OUTPUT: &str = "refs/heads/carp/rendered";
const STATUS: &str = "refs/heads/carp/status";
const RECONCILE: [&str; 4] = ["reconcile", "--once", "--now", "2026-11-01T09:00:00Z"];

/// A hook that refuses the status branch and nothing else.
const STATUS_REFUSED: &str = "#!/bin/sh
while read -r old new ref; do
    case \"$ref\" in */carp/status) echo 'no status today' >&2; exit 1 ;; esac
done
";

/// A fleet whose w-eus takes nothing before its first report; w-weu needs none.
fn fleet(remote: &Remote) -> Person {
    let person = Person::cloning(&remote.url());
    let mut files = small::files();
    let observed = |text: &mut String| text.push_str("  observation: Agent\n");
    files.entry("fleet/workers/w-eus.yaml".to_owned()).and_modify(observed);
    for name in ["charlie", "delta", "echo", "foxtrot"] {
        files.remove(&format!("fleet/clusters/{name}.yaml"));
    }
    person.push(&files);
    let first = person.carp(&RECONCILE);
    assert!(first.status.success(), "{}", printed(&first));
    assert!(remote.at(OUTPUT).is_some() && remote.at(STATUS).is_some());
    person
}

/// What the agent of w-eus says: all is well.
const REPORT: &str = "schemaVersion: 1
worker: w-eus
workerUID: 11111111-1111-4111-8111-111111111111
time: \"2026-11-01T08:59:00Z\"
complete: true
healthy: true
";

/// The agent of w-eus reports.
fn report(person: &Person, text: &str) {
    let path = person.path();
    git(&path, &["checkout", "--quiet", "--orphan", "report"]);
    git(&path, &["rm", "-r", "--quiet", "--cached", "."]);
    person.write("report.yaml", text);
    git(&path, &["add", "report.yaml"]);
    git(&path, &["commit", "--quiet", "-m", "a report"]);
    git(&path, &["push", "--quiet", "origin", "+HEAD:refs/heads/carp/observed/w-eus"]);
    git(&path, &["checkout", "--quiet", "--force", "main"]);
    git(&path, &["branch", "--quiet", "-D", "report"]);
}

/// golf fits on w-eus only.
fn golf(person: &Person) {
    let text = cluster("golf", "eastus");
    let affinity = "  placement: {affinity: {required: [{names: [w-eus]}]}}\n";
    person.push_one("fleet/clusters/golf.yaml", &format!("{text}{affinity}"));
}

fn record(remote: &Remote, cluster: &str) -> String {
    let path = carp::model::paths::decision(&carp::model::Name::parse(cluster).unwrap());
    git(&remote.path(), &["show", &format!("{OUTPUT}:{path}")])
}

/// The status commit that the last output commit says it has read.
fn observed(remote: &Remote) -> String {
    let format = "--format=%(trailers:key=Carp-Observed,valueonly)";
    git(&remote.path(), &["log", "-1", format, OUTPUT]).trim().to_owned()
}

#[test]
fn the_fold_is_on_its_branch_before_the_plan_that_reads_it() {
    let remote = Remote::new();
    let person = fleet(&remote);
    report(&person, REPORT);
    golf(&person);
    let before = remote.at(STATUS).unwrap().to_string();
    let log = remote.root().join("pushed");
    let script = format!(
        "#!/bin/sh\nwhile read -r old new ref; do echo \"$ref\" >> '{}'; done\n",
        log.display()
    );
    remote.hook("post-receive", &script);
    let ran = person.carp(&RECONCILE);
    assert!(ran.status.success(), "{}", printed(&ran));

    assert!(record(&remote, "golf").contains("worker: w-eus"), "the report let golf in");
    assert_eq!(pushed(&log), [STATUS, OUTPUT, STATUS]);
    let read = observed(&remote);
    assert_ne!(read, before, "the plan read a newer fold than the last one");
    let folded = git(&remote.path(), &["show", &format!("{read}:observed/w-eus.yaml")]);
    assert!(folded.contains("freshness: Fresh"), "{folded}");
    assert_eq!(person.replays(), 2);
}

fn pushed(log: &Path) -> Vec<String> {
    fs::read_to_string(log).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_fold_that_is_refused_is_not_planned_with() {
    let remote = Remote::new();
    let person = fleet(&remote);
    report(&person, REPORT);
    golf(&person);
    let known = remote.at(STATUS);
    remote.hook("pre-receive", STATUS_REFUSED);
    let ran = person.carp(&RECONCILE);
    assert!(ran.status.success(), "a status push that fails fails no run: {}", printed(&ran));
    assert!(printed(&ran).contains("no status today"), "{}", printed(&ran));

    assert_eq!(remote.at(STATUS), known);
    let waits = record(&remote, "golf");
    assert!(waits.contains("state: Pending") && waits.contains("NeverReported"), "{waits}");
    assert_eq!(observed(&remote), known.unwrap().to_string(), "the last fold that is there");

    fs::remove_file(remote.path().join("hooks/pre-receive")).unwrap();
    let again = person.carp(&RECONCILE);
    assert!(again.status.success(), "{}", printed(&again));
    assert!(record(&remote, "golf").contains("worker: w-eus"));
    assert_eq!(person.replays(), 3, "also what was planned with the last fold");
}

#[test]
fn a_report_whose_fold_was_refused_is_told_and_read_again() {
    let remote = Remote::new();
    let person = fleet(&remote);
    golf(&person);
    (0..2).for_each(|_| drop(person.reconciles()));
    assert!(record(&remote, "golf").contains("NeverReported"));
    report(&person, REPORT);
    remote.hook("pre-receive", STATUS_REFUSED);
    // With the last fold there is nothing to do, so this run looks as if there were no news.
    let ran = person.carp(&RECONCILE);
    assert!(ran.status.success() && printed(&ran).contains("no status today"), "{}", printed(&ran));
    assert!(record(&remote, "golf").contains("NeverReported"));

    fs::remove_file(remote.path().join("hooks/pre-receive")).unwrap();
    let again = person.carp(&RECONCILE);
    assert!(again.status.success(), "{}", printed(&again));
    assert!(record(&remote, "golf").contains("worker: w-eus"), "{}", printed(&again));
}

#[test]
fn a_stopped_proposal_pushes_nothing() {
    let remote = Remote::new();
    let person = fleet(&remote);
    report(&person, REPORT);
    git(&person.path(), &["rm", "-r", "--quiet", "fleet"]);
    person.push_one("fleet/README.md", "all documents are gone\n");
    let tips = [OUTPUT, STATUS].map(|name| remote.at(name));
    let ran = person.carp(&RECONCILE);
    assert_eq!(ran.status.code(), Some(1), "{}", printed(&ran));
    assert!(printed(&ran).contains("fleet-empty"), "{}", printed(&ran));
    assert_eq!([OUTPUT, STATUS].map(|name| remote.at(name)), tips);
}

#[test]
fn without_reports_there_is_no_fold_to_push() {
    let remote = Remote::new();
    fleet(&remote);
    let subjects = git(&remote.path(), &["log", "--format=%s", STATUS]);
    assert_eq!(subjects, "carp: status");
}

#[test]
fn a_run_without_news_pushes_nothing() {
    let remote = Remote::new();
    let person = fleet(&remote);
    report(&person, REPORT);
    person.carp(&RECONCILE);
    let tips = [OUTPUT, STATUS].map(|name| remote.at(name));
    let again = person.carp(&RECONCILE);
    assert!(again.status.success(), "{}", printed(&again));
    assert_eq!([OUTPUT, STATUS].map(|name| remote.at(name)), tips);
}

#[test]
fn a_report_that_is_too_large_is_told_and_silences_nobody() {
    let remote = Remote::new();
    let person = fleet(&remote);
    report(&person, REPORT);
    person.carp(&RECONCILE);
    let large = format!("{REPORT}# {}\n", "x".repeat(2 << 20));
    report(&person, &large);
    let ran = person.carp(&RECONCILE);
    assert!(ran.status.success(), "{}", printed(&ran));
    assert!(printed(&ran).contains("larger than 2 MiB"), "{}", printed(&ran));
    let folded = git(&remote.path(), &["show", &format!("{STATUS}:observed/w-eus.yaml")]);
    assert!(folded.contains("freshness: Fresh"), "{folded}");

    let reports = tempfile::tempdir().unwrap();
    fs::write(reports.path().join("w-eus.yaml"), &large).unwrap();
    let planned = person.carp(&["plan", "--observed", reports.path().to_str().unwrap()]);
    assert!(printed(&planned).contains("larger than 2 MiB"), "{}", printed(&planned));
}

/// Neither the output nor the status branch is there, and a worker says that it hosts a cluster.
#[test]
fn a_report_that_names_a_cluster_shows_that_this_is_no_first_run() {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    person.push(&small::files());
    report(&person, &format!("{REPORT}clusters:\n- name: alpha\n  phase: Running\n"));
    let ran = person.carp(&RECONCILE);
    assert_eq!(ran.status.code(), Some(3), "{}", printed(&ran));
    assert!(printed(&ran).contains("the report of w-eus names"), "{}", printed(&ran));
    assert_eq!([OUTPUT, STATUS].map(|name| remote.at(name)), [None, None]);
}

#[test]
fn branches_that_no_worker_can_have_are_told_and_not_brought() {
    let remote = Remote::new();
    let person = fleet(&remote);
    report(&person, REPORT);
    for stray in ["No_Name", "w-other/others"] {
        let to = format!("main:refs/heads/carp/observed/{stray}");
        git(&person.path(), &["push", "--quiet", "origin", &to]);
    }
    let ran = person.carp(&RECONCILE);
    let said = printed(&ran);
    assert!(ran.status.success() && said.contains("are not read: "), "{said}");
    for stray in ["carp/observed/No_Name", "carp/observed/w-other/others"] {
        assert!(said.contains(stray), "{said}");
        let here = format!("refs/remotes/origin/{stray}");
        assert_eq!(git(&person.path(), &["for-each-ref", &here]), "");
    }
    let folded = git(&remote.path(), &["show", &format!("{STATUS}:observed/w-eus.yaml")]);
    assert!(folded.contains("freshness: Fresh"), "{folded}");
}
