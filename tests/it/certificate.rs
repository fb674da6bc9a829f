//! The certificate: each deletion and move that begins names the line and the commit that forced it, in the plan, in
//! the commit and in what the forge is told.

use std::fs;

use crate::support::people::{Person, printed};
use crate::support::small::{self, cluster};
use crate::support::{Remote, git};

fn fleet() -> (Remote, Person) {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    let mut files = small::files();
    files.get_mut("carp.yaml").unwrap().push_str("  guards: {maxMoves: 5}\n");
    // Two documents in one file, of which one will go.
    let both = format!(
        "{}---\n# the second\n{}",
        cluster("alpha", "westeurope"),
        cluster("bravo", "westeurope")
    );
    files.insert("fleet/clusters/alpha.yaml".to_owned(), both);
    files.remove("fleet/clusters/bravo.yaml");
    let movable = cluster("echo", "westeurope") + "  onWorkerLoss: Rebuild\n";
    files.insert("fleet/clusters/echo.yaml".to_owned(), movable);
    person.push(&files);
    person.reconciles();
    (remote, person)
}

fn head(person: &Person) -> String {
    git(&person.path(), &["rev-parse", "HEAD"])[..8].to_owned()
}

#[test]
fn a_deletion_names_the_line_that_is_gone_and_the_commit_that_removed_it() {
    let (remote, person) = fleet();
    let alone = cluster("alpha", "westeurope");
    person.write("fleet/clusters/alpha.yaml", &alone);
    fs::remove_file(person.path().join("fleet/clusters/delta.yaml")).unwrap();
    let planned = printed(&person.carp(&["plan"]));
    assert!(planned.contains("FORCED BY: "), "{planned}");
    assert!(planned.contains("\n  bravo: fleet/clusters/alpha.yaml:13, removed\n"), "{planned}");

    person.push_one("fleet/clusters/alpha.yaml", &alone);
    let removed = head(&person);
    // What comes later is not what forced it.
    let edited = format!("# ours\n{alone}");
    person.push_one("fleet/clusters/alpha.yaml", &edited);
    let bravo = format!("bravo: fleet/clusters/alpha.yaml:13, removed in {removed}");
    let delta = format!("delta: fleet/clusters/delta.yaml:1, removed in {removed}");
    let planned = printed(&person.carp(&["plan"]));
    assert!(planned.contains(&bravo) && planned.contains(&delta), "{planned}");
    let comment = printed(&person.carp(&["plan", "--output", "markdown"]));
    assert!(comment.contains(&format!("**Forced by**\n\n- `{bravo}`\n- `{delta}`\n")), "{comment}");
    let json = printed(&person.carp(&["plan", "--output", "json"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["certificate"][0]["line"], 13);

    person.reconciles();
    let message = git(&remote.path(), &["log", "-1", "--format=%B", "carp/rendered"]);
    let section = format!("\nforced by\n  {bravo}\n  {delta}\n\nCarp-Input: ");
    assert!(message.contains(&section), "{message}");
    assert!(person.replays() > 0);
    // A run that goes on with what began before was forced by nothing new.
    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    person.reconciles();
    let message = git(&remote.path(), &["log", "-1", "--format=%B", "carp/rendered"]);
    assert!(!message.contains("forced by"), "{message}");
}

#[test]
fn of_a_pull_request_only_what_it_forces_is_named() {
    let (_remote, person) = fleet();
    fs::remove_file(person.path().join("fleet/clusters/charlie.yaml")).unwrap();
    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    git(&person.path(), &["checkout", "--quiet", "-b", "change"]);
    fs::remove_file(person.path().join("fleet/clusters/delta.yaml")).unwrap();
    git(&person.path(), &["commit", "--quiet", "-am", "delta goes"]);
    let change = head(&person);
    let planned = printed(&person.carp(&["plan", "--against", "origin/main"]));
    let delta = format!("delta: fleet/clusters/delta.yaml:1, removed in {change}");
    assert!(planned.contains(&delta), "{planned}");
    assert!(!planned.contains("charlie: fleet"), "{planned}");
}

#[test]
fn a_move_names_the_line_that_drains() {
    let (remote, person) = fleet();
    let drains = "# it goes back to the vendor\napiVersion: carp.dev/v1alpha1\nkind: WorkerOverlay\nmetadata:\n  \
                  name: w-weu\nspec:\n  drain: true\n";
    person.push_one("fleet/overlays/w-weu.yaml", drains);
    let written = head(&person);
    person.push_one("fleet/overlays/w-weu.yaml", &drains.replace("vendor", "shop"));
    let echo = format!("echo: fleet/overlays/w-weu.yaml:7, written in {written}");
    let planned = printed(&person.carp(&["plan"]));
    assert!(planned.contains(&echo), "{planned}");
    person.carp(&["reconcile", "--once"]);
    let message = git(&remote.path(), &["log", "-1", "--format=%B", "carp/rendered"]);
    assert!(message.contains(&format!("forced by\n  {echo}\n")), "{message}");
}

#[test]
fn a_file_that_is_renamed_to_what_is_not_read_is_a_deletion_with_its_new_name() {
    let (_remote, person) = fleet();
    let (file, disabled) = ("fleet/clusters/delta.yaml", "fleet/clusters/delta.yaml.disabled");
    fs::rename(person.path().join(file), person.path().join(disabled)).unwrap();
    let told = format!("delta: {file}:1, renamed to {disabled}, which is not read");
    let planned = printed(&person.carp(&["plan"]));
    assert!(planned.contains(&format!("  {told}\n")), "{planned}");
    git(&person.path(), &["add", "--all"]);
    git(&person.path(), &["commit", "--quiet", "--message", "for now"]);
    let planned = printed(&person.carp(&["plan"]));
    assert!(planned.contains(&format!("  {told} in {}\n", head(&person))), "{planned}");
    let json = printed(&person.carp(&["plan", "--output", "json"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["certificate"][0]["renamed"], disabled);
}
