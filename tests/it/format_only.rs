//! The same things in another form: told as that, and committed apart from what means something.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::support::people::{Person, printed};
use crate::support::reconciled::Reconciled;
use crate::support::small::{cluster, files};
use crate::support::{Remote, git};

const OUTPUT: &str = "carp/rendered";

/// The built-in template of hosted clusters as a newer carp might have it: the same objects, and a
/// comment above each.
fn tidied(comment: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/kamaji-capz/cluster.yaml");
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains("\nkind: "));
    text.replace("\nkind: ", &format!("\n# {comment}\nkind: "))
}

const TEMPLATE: &str = "templates/kamaji-capz/cluster.yaml";

fn subjects(at: &Path) -> Vec<String> {
    let log = git(at, &["log", "--format=%s", "--reverse", OUTPUT]);
    log.lines().map(str::to_owned).collect()
}

fn changed(at: &Path, commit: &str) -> BTreeSet<String> {
    let listed = git(at, &["diff", "--name-only", &format!("{commit}~1"), commit]);
    listed.lines().map(str::to_owned).collect()
}

fn planned(fleet: &Reconciled) -> Value {
    let ran = fleet.carp(&["plan", "--output", "json"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn another_form_is_told_and_is_a_commit_that_says_so() {
    let fleet = Reconciled::of(&files());
    let before = planned(&fleet);
    assert_eq!(before["formatOnly"]["files"], 0, "{before:#}");
    fleet.write(TEMPLATE, tidied("tidier").as_bytes());
    fleet.commit("tidy");
    let said = fleet.carp(&["plan"]).out;
    assert!(said.contains("\nformat only: 10 files (w-eus, w-weu)\n"), "{said}");
    assert!(said.contains("1 file, format only"), "{said}");
    let plan = planned(&fleet);
    assert_eq!(plan["formatOnly"]["tree"], plan["tree"]);
    assert_eq!(plan["formatOnly"]["ownCommit"], false);
    let ran = fleet.carp(&["reconcile", "--once"]);
    assert!(ran.out.contains("carp: format only, 10 files of 2 workers"), "{}{}", ran.out, ran.err);
    assert_eq!(subjects(&fleet.path()).len(), 2);
    assert_eq!(fleet.output_tree(), plan["tree"].as_str().unwrap());
    assert!(fleet.carp(&["reconcile", "--once"]).out.starts_with("nothing to commit"));
}

#[test]
fn with_another_form_and_another_meaning_the_form_comes_first_by_itself() {
    let fleet = Reconciled::of(&files());
    fleet.write(TEMPLATE, tidied("tidier").as_bytes());
    let more = cluster("alpha", "westeurope").replace("replicas: 2", "replicas: 3");
    fleet.write("fleet/clusters/alpha.yaml", more.as_bytes());
    fleet.write("fleet/clusters/golf.yaml", cluster("golf", "eastus").as_bytes());
    fleet.commit("tidy, and change something");
    let said = fleet.carp(&["plan"]).out;
    assert!(said.contains("a commit of its own, before the rest"), "{said}");
    let plan = planned(&fleet);
    assert_eq!(plan["formatOnly"]["ownCommit"], true);
    assert_eq!(fleet.carp(&["reconcile", "--once"]).exit, 0);
    let said = subjects(&fleet.path());
    assert_eq!(
        said[1..],
        ["carp: format only, 9 files of 2 workers", "carp: 2 workers, +1 -0 ~1 clusters"]
    );
    assert_eq!(fleet.output_tree(), plan["tree"].as_str().unwrap(), "plan is apply");
    // What means something is in the second one alone.
    let (form, rest) = (changed(&fleet.path(), "carp/rendered~1"), changed(&fleet.path(), OUTPUT));
    let folder = |name: &str| format!("workers/w-weu/clusters/{name}/cluster.yaml");
    assert!(form.contains(&folder("bravo")) && !form.contains(&folder("alpha")), "{form:?}");
    assert!(rest.contains(&folder("alpha")) && !rest.contains(&folder("bravo")), "{rest:?}");
    assert!(!form.iter().any(|path| path.starts_with("decisions/")), "{form:?}");
    let text =
        git(&fleet.path(), &["show", "--format=", "carp/rendered~1", "--", &folder("bravo")]);
    assert!(text.contains("+# tidier"), "{text}");
    // Each of the two is whole: from the first one alone a run ends in the same tree.
    let tree = fleet.output_tree();
    git(&fleet.path(), &["branch", "--quiet", "-f", OUTPUT, "carp/rendered~1"]);
    assert_eq!(planned(&fleet)["formatOnly"]["files"], 0);
    let ran = fleet.carp(&["reconcile", "--once"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    assert_eq!(fleet.output_tree(), tree);
    assert!(!ran.out.contains("drift"), "{}", ran.out);
}

#[test]
fn both_commits_arrive_in_one_push() {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    person.push(&files());
    let run = || {
        let output = person.carp(&["reconcile", "--once"]);
        assert!(output.status.success(), "{}", printed(&output));
    };
    run();
    let log = remote.path().join("pushes");
    let hook = format!("#!/bin/sh\ngrep rendered >> {}\n", log.display());
    remote.hook("post-receive", &hook);
    person.write(TEMPLATE, &tidied("tidier"));
    let more = cluster("alpha", "westeurope").replace("replicas: 2", "replicas: 3");
    person.push_one("fleet/clusters/alpha.yaml", &more);
    run();
    assert_eq!(subjects(&remote.path()).len(), 3);
    assert_eq!(person.replays(), 3);
    assert_eq!(std::fs::read_to_string(&log).unwrap().lines().count(), 1, "one push");
}
