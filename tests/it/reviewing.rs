//! What a change is said to be at fault for, and what of a fleet is told that nobody reads.

use std::path::Path;
use std::process::Command;

use crate::support::reconciled::{Ran, Reconciled};
use crate::support::small::{self, cluster};
use crate::support::{self, generator};

/// The lines that say where findings are.
fn places(ran: &Ran) -> Vec<&str> {
    let at = |line: &'_ str| line.trim_start().starts_with("--> ");
    ran.out.lines().filter(|line| at(line)).map(str::trim).collect()
}

#[test]
fn of_two_of_one_name_the_one_that_came_later_is_at_fault() {
    let fleet = Reconciled::of(&small::files());
    // Another cluster of that name, in a file that is read first.
    let other = cluster("alpha", "westeurope").replace("replicas: 2", "replicas: 3");
    fleet.write("fleet/aaa.yaml", other.as_bytes());
    for args in [&["validate"][..], &["validate", "--against", "main"], &["plan", "--against"]] {
        let ran = fleet.carp(args);
        assert_eq!((ran.exit, places(&ran)), (1, vec!["--> fleet/aaa.yaml:4:9"]), "{}", ran.out);
        assert!(ran.out.contains("this one was there before"), "{}", ran.out);
    }
    // The very same document: only what the change adds tells them apart.
    fleet.write("fleet/aaa.yaml", cluster("alpha", "westeurope").as_bytes());
    let ran = fleet.carp(&["validate", "--against", "main"]);
    assert_eq!((ran.exit, places(&ran)), (1, vec!["--> fleet/aaa.yaml:4:9"]), "{}", ran.out);
    assert!(ran.out.contains("::: fleet/clusters/alpha.yaml:4:9"), "{}", ran.out);
}

#[test]
fn an_acknowledgement_is_named_for_removal_once_it_is_spent() {
    let fleet = Reconciled::of(&small::files());
    for name in ["alpha", "bravo", "charlie", "delta"] {
        fleet.remove(&format!("fleet/clusters/{name}.yaml"));
    }
    fleet.commit("four go");
    let held = fleet.carp(&["reconcile", "--once"]);
    assert_eq!(held.exit, 3, "{}{}", held.out, held.err);
    let plan = fleet.carp(&["plan"]).out;
    let line = plan.lines().find_map(|line| line.trim().strip_prefix("carp ack ")).unwrap();
    // One that nothing holds is refused.
    let mut wrong: Vec<_> = line.split(' ').map(str::to_owned).collect();
    let digest = wrong.iter().position(|word| word == "--digest").unwrap() + 1;
    let last = wrong[digest].pop().unwrap();
    wrong[digest].push(if last == '0' { '1' } else { '0' });
    let words: Vec<_> = ["ack".to_owned()].into_iter().chain(wrong).collect();
    let ran = Ran::of(crate::support::people::carp(
        &fleet.path(),
        &words.iter().map(String::as_str).collect::<Vec<_>>(),
    ));
    assert_eq!(ran.exit, 1, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("are held that have this count and digest"), "{}", ran.err);

    let words: Vec<_> = ["ack"].into_iter().chain(line.split(' ')).collect();
    let ran = Ran::of(crate::support::people::carp(&fleet.path(), &words));
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    let told = |of: &str, ran: &Ran| ran.out.contains("acknowledgement-spent") == (of == "spent");
    fleet.commit("meant");
    assert!(told("good", &fleet.carp(&["validate"])));
    let ran = fleet.carp(&["reconcile", "--once"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    let ran = fleet.carp(&["validate"]);
    assert!(ran.exit == 0 && told("spent", &ran), "{}", ran.out);
    assert!(ran.out.contains("remove it from fleet/acknowledgements/deletions-"), "{}", ran.out);
    // The plan says so in every form, and so does who writes another one.
    let file = "fleet/acknowledgements/deletions-";
    for form in ["text", "markdown", "json"] {
        let plan = fleet.carp(&["plan", "--output", form]).out;
        assert!(plan.to_lowercase().contains("spent") && plan.contains(file), "{form}: {plan}");
    }
    let digest = format!("sha256:{}", "0".repeat(64));
    let ran = fleet.carp(&["ack", "abandon", "--count", "1", "--digest", &digest]);
    assert!(ran.out.contains(&format!("spent, so remove it: {file}")), "{}{}", ran.out, ran.err);
}

#[test]
fn what_nobody_reads_and_what_selects_nobody_is_told_and_costs_a_run_nothing() {
    let mut files = small::files();
    let policy = "apiVersion: carp.dev/v1alpha1\nkind: PlacementPolicy\nmetadata: {name: nobody}\nspec:\n  \
                  clusterSelector: {matchLabels: {team: nobody}}\n";
    files.insert("policies/nobody.yaml".to_owned(), policy.to_owned());
    files.insert("clusters/golf.yaml".to_owned(), cluster("golf", "eastus"));
    let json = r#"{"apiVersion": "carp.dev/v1alpha1", "kind": "ManagedCluster"}"#;
    files.insert("fleet/clusters/hotel.json".to_owned(), json.to_owned());
    let fleet = Reconciled::of(&files);
    let ran = fleet.carp(&["validate"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    let wanted = [
        "--> clusters/golf.yaml:1:1",
        "--> fleet/clusters/hotel.json:1:1",
        "--> policies/nobody.yaml:5:3",
    ];
    assert_eq!(places(&ran), wanted, "{}", ran.out);
    // No run says it again and again, so each ends at once where nothing changed.
    let plan = fleet.carp(&["plan"]);
    assert!(!plan.out.contains("warning"), "{}", plan.out);
    fleet.carp(&["reconcile", "--once"]);
    let turn = fleet.carp(&["reconcile", "--once", "--output", "json"]);
    assert!(!turn.err.contains("warning"), "{}", turn.err);
    let turn: serde_json::Value = serde_json::from_str(&turn.out).unwrap();
    assert_eq!((&turn["outcome"], &turn["work"]["blobsParsed"]), (&"unchanged".into(), &0.into()));
}

/// `benches/reviewing.py` makes each kind of change in a fleet, and fails where its plan is longer than a screen, on a
/// terminal or in a comment.
#[test]
fn a_reviewer_reads_a_screen_of_any_change_of_one_kind() {
    if Command::new("python3").arg("--version").output().is_err() {
        return support::skip("reviewing", "python3 is not there");
    }
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in generator::fleet(120, 1) {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/reviewing.py");
    let mut command = Command::new("python3");
    command.arg(script).args(["--most", "25", "--carp", env!("CARGO_BIN_EXE_carp"), "--fleet"]);
    let ran = Ran::of({
        command.arg(folder.path());
        command
    });
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.lines().count() > 50, "{}", ran.out);
}
