//! What a reviewer reads of a change: what it does to what, once.

use crate::support::git;
use crate::support::people;
use crate::support::reconciled::{Ran, Reconciled};
use crate::support::small::{self, cluster, worker};

/// A placed fleet with fourteen more clusters that are alike.
fn fleet() -> Reconciled {
    let mut files = small::files();
    files.insert("fleet/workers/w-neu.yaml".to_owned(), worker("w-neu", "northeurope", 20));
    for number in 10..24 {
        let name = format!("same{number}");
        files.insert(format!("fleet/clusters/{name}.yaml"), cluster(&name, "northeurope"));
    }
    Reconciled::of(&files)
}

/// Writes all the clusters that are alike anew.
fn write_alike(fleet: &Reconciled, edit: impl Fn(String) -> String) {
    for number in 10..24 {
        let name = format!("same{number}");
        let text = edit(cluster(&name, "northeurope"));
        fleet.write(&format!("fleet/clusters/{name}.yaml"), text.as_bytes());
    }
}

/// The rows of the table of clusters.
fn rows(ran: &Ran) -> Vec<String> {
    let from = ran.out.lines().skip_while(|line| !line.starts_with("CLUSTER ")).skip(1);
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    from.take_while(|line| !line.is_empty()).map(words).collect()
}

#[test]
fn an_update_is_told_field_by_field_with_what_it_does_to_machines() {
    let fleet = fleet();
    let edited = cluster("alpha", "westeurope").replace("v1.34.2", "v1.34.3");
    fleet.write("fleet/clusters/alpha.yaml", edited.as_bytes());
    let edited = cluster("bravo", "westeurope").replace("replicas: 2", "replicas: 5");
    fleet.write("fleet/clusters/bravo.yaml", edited.as_bytes());
    let ran = fleet.carp(&["plan"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    let wanted = [
        "alpha update w-weu w-weu version v1.34.2 → v1.34.3; np0: replaces 2 machines; the control plane \
         restarts",
        "bravo update w-weu w-weu np0: nodes 2 → 5",
    ];
    assert_eq!(rows(&ran), wanted, "{}", ran.out);
    let comment = fleet.carp(&["plan", "--output", "markdown"]).out;
    assert!(
        comment.contains("| version v1.34.2 → v1.34.3; np0: replaces 2 machines;"),
        "{comment}"
    );
    let plan = fleet.carp(&["plan", "--output", "json"]).out;
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    let alpha = &plan["clusters"][0]["update"];
    assert_eq!(alpha["fields"][0], "version v1.34.2 → v1.34.3");
    assert_eq!(alpha["replaced"][0]["machines"], 2);
    assert_eq!(alpha["controlPlaneRestarts"], true);
}

#[test]
fn the_same_change_in_many_clusters_is_one_line_with_one_diff() {
    let fleet = fleet();
    write_alike(&fleet, |text| text.replace("replicas: 2", "replicas: 3"));
    let ran = fleet.carp(&["plan", "--diff"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    let one = "14 clusters update w-neu w-neu np0: nodes 2 → 3; +14 nodes (same10, same11, same12 and 11 more)";
    assert_eq!(rows(&ran), [one], "{}", ran.out);
    assert_eq!(ran.out.matches("+  replicas: 3").count(), 1, "{}", ran.out);
    let comment = fleet.carp(&["plan", "--output", "markdown"]).out;
    assert_eq!(comment.matches("+  replicas: 3").count(), 1, "{comment}");
    assert!(!comment.contains("diffs shown"), "{comment}");
}

#[test]
fn a_revision_is_found_from_below_the_root_too() {
    let fleet = fleet();
    let edited = cluster("bravo", "westeurope").replace("replicas: 2", "replicas: 5");
    fleet.write("fleet/clusters/bravo.yaml", edited.as_bytes());
    let below = Ran::of(people::carp(&fleet.path().join("fleet"), &["plan", "--fleet", ".@HEAD"]));
    assert_eq!(below.exit, 0, "{}{}", below.out, below.err);
    assert!(below.out.contains("no changes"), "{}", below.out);
}

#[test]
fn many_new_clusters_are_a_line_and_their_manifests_no_diff() {
    let fleet = fleet();
    for number in 30..50 {
        let name = format!("new{number}");
        let text = cluster(&name, "northeurope");
        fleet.write(&format!("fleet/clusters/{name}.yaml"), text.as_bytes());
    }
    let ran = fleet.carp(&["plan", "--diff"]);
    let rows = rows(&ran);
    // Those that are placed are one line, and those that wait for the same.
    assert_eq!(rows.len(), 2, "{}", ran.out);
    assert!(rows[0].starts_with("8 clusters create - 3 workers new30"), "{rows:?}");
    assert!(!ran.out.contains("kind: MachineDeployment"), "{}", ran.out);
    let exit = |args: &[&str]| fleet.carp(&[&["plan"], args].concat()).exit;
    assert_eq!(exit(&[]), 0);
    assert_eq!(exit(&["--fail-on", "violated,held"]), 0);
    assert_eq!(exit(&["--fail-on", "waiting,violated"]), 1);
}

#[test]
fn a_commit_says_field_by_field_what_it_updates_as_the_plan_does() {
    let fleet = fleet();
    let edited = cluster("alpha", "westeurope").replace("v1.34.2", "v1.34.3");
    fleet.write("fleet/clusters/alpha.yaml", edited.as_bytes());
    write_alike(&fleet, |text| text.replace("replicas: 2", "replicas: 3"));
    fleet.commit("more nodes");
    let plan = fleet.carp(&["plan", "--output", "json"]).out;
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    assert_eq!(plan["counts"]["nodes"], 14);
    assert!(fleet.carp(&["plan"]).out.contains("0 held; +14 nodes\n"));
    let ran = fleet.carp(&["reconcile", "--once"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    let message = git(&fleet.path(), &["log", "-1", "--format=%B", "carp/rendered"]);
    let wanted = "\n\nupdate 14 clusters (same10, same11, same12 and 11 more): np0: nodes 2 → 3; +14 nodes\n\
                  update alpha: version v1.34.2 → v1.34.3; np0: replaces 2 machines; the control plane restarts\n\n\
                  Carp-Input: ";
    assert!(message.contains(wanted), "{message}");
    assert!(message.starts_with(plan["message"].as_str().unwrap()), "{plan:#}\n{message}");
}

#[test]
fn what_is_at_its_limit_and_who_waits_stands_in_every_form() {
    let fleet = fleet();
    let small = worker("w-neu", "northeurope", 5);
    fleet.write("fleet/workers/w-neu.yaml", small.as_bytes());
    let text = fleet.carp(&["plan", "--against", "main"]).out;
    assert!(text.contains("OVERCOMMITTED: more is on these"), "{text}");
    assert!(text.contains("\n  w-neu: 14 of 5 clusters\n"), "{text}");
    let comment = fleet.carp(&["plan", "--output", "markdown"]).out;
    assert!(comment.contains("\n- w-neu: 14 of 5 clusters\n"), "{comment}");
    let plan = fleet.carp(&["plan", "--output", "json"]).out;
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    let over = &plan["overcommitted"][0];
    assert_eq!(
        (&over["worker"], &over["used"], &over["of"]),
        (&"w-neu".into(), &"14".into(), &"5".into())
    );

    // Once it is merged, the next change did not cause it.
    fleet.commit("less room");
    fleet.carp(&["reconcile", "--once"]);
    let edited = cluster("bravo", "westeurope").replace("replicas: 2", "replicas: 5");
    fleet.write("fleet/clusters/bravo.yaml", edited.as_bytes());
    assert!(!fleet.carp(&["plan", "--against", "main"]).out.contains("OVERCOMMITTED"));
    assert!(fleet.carp(&["plan"]).out.contains("OVERCOMMITTED"));

    let waiting = cluster("waits", "northeurope")
        + "  placement:\n    affinity:\n      required:\n        - names: [w-neu]\n";
    fleet.write("fleet/clusters/waits.yaml", waiting.as_bytes());
    fleet.commit("one that waits");
    fleet.carp(&["reconcile", "--once"]);
    let text = fleet.carp(&["plan"]).out;
    assert!(
        text.contains("\n  waits: some workers have too little room, some are not among "),
        "{text}"
    );
    assert_eq!(fleet.carp(&["plan", "--fail-on", "waiting"]).exit, 1);
    assert_eq!(fleet.carp(&["plan", "--fail-on", "held,violated"]).exit, 0);
}
