//! Policies as people live with them: edited, reverted, and asked about afterwards. Each story is told by
//! what the real program prints, and has a twin that goes the other way.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::people::{Person, carp, printed};
use crate::support::{Remote, git, small};

const NOW: &str = "2026-11-01T09:00:00Z";

fn policy(location: &str) -> String {
    format!(
        "apiVersion: carp.dev/v1alpha1\nkind: PlacementPolicy\nmetadata:\n  name: near\nspec:\n  affinity:\n    \
         required:\n      - locations: [{location}]\n"
    )
}

/// A remote with the small fleet and a policy, reconciled, and the person who has a clone of it.
fn fleet(location: &str) -> (Remote, Person) {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    let mut files: BTreeMap<String, String> = small::files();
    files.insert("policies/near.yaml".to_owned(), policy(location));
    // One cluster, so that there is room on either worker.
    files.retain(|path, _| !path.starts_with("fleet/clusters/") || path.ends_with("/alpha.yaml"));
    person.push(&files);
    reconcile(&person);
    (remote, person)
}

fn reconcile(person: &Person) -> String {
    let ran = person.carp(&["reconcile", "--once", "--now", NOW]);
    assert!(ran.status.success(), "{}", printed(&ran));
    printed(&ran)
}

fn at(remote: &Remote, what: &str) -> String {
    git(&remote.path(), &["rev-parse", what])
}

/// The worker in a cluster's record.
fn worker_of(remote: &Remote, cluster: &str) -> Option<String> {
    let paths =
        git(&remote.path(), &["ls-tree", "-r", "--name-only", "carp/rendered", "decisions/"]);
    let path = paths.lines().find(|path| path.ends_with(&format!("/{cluster}.yaml")))?.to_owned();
    let record = git(&remote.path(), &["show", &format!("carp/rendered:{path}")]);
    record.lines().find_map(|line| line.strip_prefix("worker: ")).map(str::to_owned)
}

fn explain(person: &Person, args: &[&str]) -> String {
    let ran = person.carp(&[&["explain", "--now", NOW][..], args].concat());
    assert!(ran.status.success(), "{}", printed(&ran));
    printed(&ran)
}

#[test]
fn a_policy_is_edited_and_nothing_moves() {
    let (remote, person) = fleet("westeurope");
    assert_eq!(worker_of(&remote, "alpha").as_deref(), Some("w-weu"));
    let before = at(&remote, "carp/rendered");

    person.push_one("policies/near.yaml", &policy("eastus"));
    let plan = printed(&person.carp(&["plan", "--now", NOW]));
    // Which tree it is hangs on all templates.
    let plan =
        plan.lines().filter(|line| !line.starts_with("tree ")).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(plan, @r"
    Plan for small: no changes; 0 waiting

    VIOLATED: location westeurope is not one that the affinity allows (eastus); they stay
      alpha

    files  +0 ~0 -0
    valid  for ever
    work   1 file parsed, 0 clusters planned, 0 rendered, 0 objects written
    ");
    reconcile(&person);
    assert_eq!(at(&remote, "carp/rendered"), before, "there is nothing to commit");
    insta::assert_snapshot!(explain(&person, &["cluster/alpha"]), @r"
    cluster/alpha: bound to w-weu, and stays there
    policy: near (policies/near.yaml)
      before default: the fleet's own, not built in
    it stays on w-weu; placed anew it would go to w-eus: no other takes it

    WORKER   SOFT   PREFERRED   DISTANCE   SHARE USED   CLUSTERS
    w-eus    0      0           3          25%          0

    WORKER   REFUSES BECAUSE
    w-weu    location westeurope is not one that the affinity allows (eastus)

    its policy would not place it there now: location westeurope is not one that the
      affinity allows (eastus) (PlacementViolated)
    ");

    // A cluster that is new goes where the policy says today.
    person.push_one("fleet/clusters/bravo.yaml", &small::cluster("bravo", "westeurope"));
    reconcile(&person);
    assert_eq!(worker_of(&remote, "bravo").as_deref(), Some("w-eus"));
    assert_eq!(worker_of(&remote, "alpha").as_deref(), Some("w-weu"));
}

/// The twin: placed anew, the same documents go elsewhere. What kept them is the record.
#[test]
fn a_fleet_placed_anew_under_the_edited_policy_goes_elsewhere() {
    let (remote, _) = fleet("eastus");
    assert_eq!(worker_of(&remote, "alpha").as_deref(), Some("w-eus"));
}

#[test]
fn a_revert_restores_the_placement() {
    let (remote, person) = fleet("westeurope");
    person.push_one("policies/near.yaml", &policy("northeurope"));
    person.push_one("fleet/clusters/bravo.yaml", &small::cluster("bravo", "westeurope"));
    reconcile(&person);
    assert_eq!(worker_of(&remote, "bravo"), None, "it waits");
    insta::assert_snapshot!(explain(&person, &["cluster/bravo"]), @r"
    cluster/bravo: pending, number 1 in the queue
    0/2 workers are available: 2 worker(s) did not match the placement affinity.
    policy: near (policies/near.yaml)
      before default: the fleet's own, not built in

    WORKER   REFUSES BECAUSE
    w-eus    location eastus is not one that the affinity allows (northeurope)
    w-weu    location westeurope is not one that the affinity allows (northeurope)

    Any one of these would place it:
      - allow location eastus (then w-eus takes it)
      - allow location westeurope (then w-weu takes it)
    ");

    // The twin: without the revert it goes on waiting, and no commit says so again.
    let waiting = at(&remote, "carp/rendered");
    reconcile(&person);
    assert_eq!(at(&remote, "carp/rendered"), waiting);

    git(&person.path(), &["revert", "--no-edit", "HEAD~1"]);
    git(&person.path(), &["push", "--quiet", "origin", "main"]);
    reconcile(&person);
    assert_eq!(worker_of(&remote, "bravo").as_deref(), Some("w-weu"));
    assert_eq!(worker_of(&remote, "alpha").as_deref(), Some("w-weu"), "it never moved");
}

#[test]
fn a_decision_is_explained_as_it_was_made_from_the_repository_alone() {
    let (remote, person) = fleet("westeurope");
    person.push_one("policies/near.yaml", &policy("northeurope"));
    person.push_one("fleet/clusters/bravo.yaml", &small::cluster("bravo", "westeurope"));
    reconcile(&person);
    let (output, input) = (at(&remote, "carp/rendered"), at(&remote, "main"));
    let then = explain(&person, &["cluster/bravo"]);

    // Everything changes since: the policy, the workers, and the cluster is placed.
    person.push_one("policies/near.yaml", &policy("eastus"));
    person.push_one("fleet/workers/w-eus.yaml", &small::worker("w-eus", "eastus", 9));
    let ran = person.carp(&["reconcile", "--once", "--now", "2026-11-02T09:00:00Z"]);
    assert!(ran.status.success(), "{}", printed(&ran));
    let now = explain(&person, &["cluster/bravo"]);
    assert!(now.contains("bound to w-eus") && now != then, "the twin without --at: {now}");

    git(&person.path(), &["fetch", "--quiet", "origin"]);
    let bare = remote.path();
    for (folder, revision) in [
        (person.path(), output.as_str()),
        (person.path(), "carp/rendered~1"),
        (person.path(), input.as_str()),
        (bare.clone(), output.as_str()),
        (bare, "carp/rendered~1"),
    ] {
        let past = past(&folder, &["cluster/bravo", "--at", revision]);
        let (note, told) = past.split_once('\n').unwrap();
        assert_eq!(told, then, "{revision} in {}", folder.display());
        let saw = format!("as the run of {NOW} saw it: output commit {}", &output[..8]);
        assert!(note.contains(&saw) && note.contains(&input[..8]), "{note}");
    }
    let placed = past(&person.path(), &["cluster/bravo", "--at", "carp/rendered"]);
    assert!(placed.contains("cluster/bravo: goes to w-eus"), "at its run: {placed}");
    let policy = past(&person.path(), &["policy/near", "--at", &output]);
    insta::assert_snapshot!(policy.split_once('\n').unwrap().1, @r"
    policy/near: policies/near.yaml, priority 0, selects every cluster

    applies to 2 clusters:
      alpha, bravo
    ");
}

/// The notes first, then what is explained; `--now` is the run's own.
fn past(folder: &Path, args: &[&str]) -> String {
    let ran = carp(folder, &[&["explain"][..], args].concat()).output().unwrap();
    assert!(ran.status.success(), "{}", printed(&ran));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}", text(&ran.stderr), text(&ran.stdout))
}

#[test]
fn a_revision_that_no_run_had_to_do_with_is_told_apart() {
    let (remote, person) = fleet("westeurope");
    let unmade = {
        person.push_one("README.md", "hello\n");
        at(&remote, "main")
    };
    let told = past(&person.path(), &["cluster/alpha", "--at", &unmade]);
    assert!(told.contains("no output commit was made from"), "{told}");
    let wrong = [
        (vec!["--at", "nowhere"], 1, "nowhere"),
        (vec!["--at", "carp/status"], 1, "is no commit of this fleet"),
        (vec!["--at", "main", "--fleet", ".@main"], 64, "another one is looked at"),
        (vec!["--at", "main", "--observed", "."], 64, "cannot be used with"),
    ];
    for (args, exit, words) in wrong {
        let ran = person.carp(&[vec!["explain", "cluster/alpha"], args].concat());
        assert_eq!(ran.status.code(), Some(exit), "{}", printed(&ran));
        assert!(printed(&ran).contains(words), "{words}: {}", printed(&ran));
    }
}
