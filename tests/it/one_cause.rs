//! One cause, one error: what is held, kept or undecided because of a mistake is a line at that mistake.

use crate::support::git;
use crate::support::reconciled::Reconciled;
use crate::support::small;

fn edit(fleet: &Reconciled, path: &str, from: &str, to: &str) {
    let text = fleet.read(path);
    assert!(text.contains(from), "{text}");
    fleet.write(path, text.replace(from, to).as_bytes());
}

fn typed_wrong(fleet: &Reconciled, path: &str) {
    edit(fleet, path, "version: v1.34.2", "versoin: v1.34.2");
}

#[test]
fn a_document_that_does_not_load_is_one_error_with_what_follows() {
    let fleet = Reconciled::of(&small::files());
    typed_wrong(&fleet, "fleet/clusters/alpha.yaml");
    fleet.remove("fleet/clusters/bravo.yaml");
    let follows =
        "until it is mended, alpha keeps its last good output; bravo is neither deleted nor moved";
    for command in [&["plan"][..], &["validate"]] {
        let ran = fleet.carp(command);
        assert_eq!(ran.out.matches("error[").count(), 1, "{}", ran.out);
        assert!(ran.out.contains(&format!("= note: {follows}")), "{}", ran.out);
        assert!(
            !ran.out.contains("DeletionsHeld") && !ran.out.contains("NotLoaded"),
            "{}",
            ran.out
        );
    }
    let planned = fleet.carp(&["plan"]);
    assert_eq!(planned.exit, 3, "it is held all the same: {}", planned.out);
    assert!(planned.out.contains("; 2 held\n"), "{}", planned.out);
    let comment = fleet.carp(&["plan", "--output", "markdown"]).out;
    let (caution, rest) = comment.split_once("> [!CAUTION]\n").unwrap();
    assert!(
        rest.starts_with("> - **error** `unknown-field` `fleet/clusters/alpha.yaml:7:3`: "),
        "{comment}"
    );
    assert!(
        rest.contains(&format!(">   - {follows}\n")) && !caution.contains("alpha"),
        "{comment}"
    );
    assert!(!rest.contains("DeletionsHeld") && !rest.contains("NotLoaded"), "{comment}");
    let json = fleet.carp(&["plan", "--output", "json"]).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["findings"][0]["consequence"], follows);
    assert_eq!(json["holds"][0]["kind"], "DeletionsHeld", "a program is told as before");
    assert_eq!(json["gates"][0]["reason"], "NotLoaded");
    let github = fleet.carp(&["validate", "--output", "github"]).out;
    assert!(github.contains(&format!("%0Anote: {follows}\n")), "{github}");

    let status = fleet.carp(&["status"]);
    let note = "the fleet has 1 error, and what that is about is shown as it was";
    assert!(status.exit == 0 && status.err.contains(note), "{}{}", status.out, status.err);
    let explained = fleet.carp(&["explain", "cluster/alpha"]);
    assert!(explained.exit == 0 && explained.err.contains(note), "{}", explained.err);
    let kept = "the document did not load, so the last good output stays (NotLoaded)";
    assert!(explained.out.contains(kept), "{}", explained.out);

    fleet.commit("an edit that is wrong");
    let turn = fleet.carp(&["reconcile", "--once"]);
    assert!(turn.err.contains(follows) && turn.exit == 3, "{}{}", turn.out, turn.err);
    assert!(!turn.out.contains("held") && !turn.out.contains("kept"), "{}", turn.out);
}

#[test]
fn a_worker_whose_document_does_not_load_can_be_taken_out_of_service() {
    let fleet = Reconciled::of(&small::files());
    typed_wrong(&fleet, "fleet/workers/w-weu.yaml");
    let cordoned = fleet.carp(&["cordon", "w-weu"]);
    assert_eq!(cordoned.exit, 0, "{}", cordoned.err);
    assert!(fleet.read("fleet/overlays/w-weu.yaml").contains("unschedulable: true"));
    let validated = fleet.carp(&["validate"]);
    assert_eq!(validated.out.matches("error[").count(), 1, "{}", validated.out);
}

#[test]
fn several_that_do_not_load_are_told_together() {
    let fleet = Reconciled::of(&small::files());
    for name in ["alpha", "bravo", "charlie", "delta"] {
        typed_wrong(&fleet, &format!("fleet/clusters/{name}.yaml"));
    }
    let ran = fleet.carp(&["plan"]);
    assert_eq!(ran.out.matches("error[").count(), 1, "{}", ran.out);
    assert!(ran.out.contains("3 more of these; `carp validate` shows each"), "{}", ran.out);
    let follows = "until all that did not load is mended, alpha, bravo, charlie, delta keep their last good output";
    assert!(ran.out.contains(follows), "{}", ran.out);
}

#[test]
fn a_fleet_that_cannot_be_decided_is_no_plan_and_no_status() {
    let fleet = Reconciled::of(&small::files());
    edit(&fleet, "carp.yaml", "  controlPlane:", "  controlPlan:");
    let follows = "= note: `carp.yaml` did not load, so nothing can be decided";
    let planned = fleet.carp(&["plan"]);
    assert_eq!((planned.exit, planned.out.matches("error[").count()), (1, 1), "{}", planned.out);
    assert!(
        planned.out.contains(follows) && planned.out.contains("found  1 error\n"),
        "{}",
        planned.out
    );
    assert!(
        planned.out.contains("\nNo plan for ") && !planned.out.contains("files  "),
        "{}",
        planned.out
    );
    assert!(
        !planned.out.contains("no changes") && !planned.out.contains("for ever"),
        "{}",
        planned.out
    );
    let validated = fleet.carp(&["validate"]);
    assert!(
        validated.out.contains(follows) && validated.out.ends_with("1 error\n"),
        "{}",
        validated.out
    );
    for command in [
        &["status"][..],
        &["get", "clusters"],
        &["explain", "cluster/alpha"],
        &["explain", "worker/w-weu"],
    ] {
        let ran = fleet.carp(command);
        assert_eq!((ran.exit, ran.out.as_str()), (1, ""), "{command:?}: {}", ran.err);
        let why = "error: nothing can be decided: `spec.controlPlan` is not a field of a Fleet\nhelp: `carp validate` ";
        assert!(ran.err.contains(why), "{}", ran.err);
    }
}

#[test]
fn a_deletion_that_an_edit_by_hand_or_a_lost_lock_holds_is_told_as_held() {
    let mut files = small::files();
    let carp = files.get_mut("carp.yaml").unwrap();
    *carp = carp.replace("spec:\n", "spec:\n  drift: refuse\n");
    let fleet = Reconciled::of(&files);
    let by_hand = |fleet: &Reconciled, line: &str| {
        let path = fleet.beside("by-hand");
        let path = path.to_str().unwrap();
        git(&fleet.path(), &["worktree", "add", "--quiet", path, "carp/rendered"]);
        let done = std::process::Command::new("sh").args(["-c", line]).current_dir(path).status();
        assert!(done.unwrap().success());
        git(path.as_ref(), &["commit", "--quiet", "--all", "-m", "by hand"]);
        git(&fleet.path(), &["worktree", "remove", "--force", path]);
    };
    let edited = fleet.copy();
    by_hand(&edited, "echo '# by hand' >> workers/w-weu/clusters/bravo/cluster.yaml");
    let lost = fleet.copy();
    by_hand(&lost, "rm workers/w-eus/carp.lock");
    let held =
        "HELD DeletionsHeld: something did not load, or the output branch is not as carp left it";
    for (fleet, what) in [(edited, "an edit by hand"), (lost, "a lost lock")] {
        typed_wrong(&fleet, "fleet/clusters/alpha.yaml");
        fleet.remove("fleet/clusters/bravo.yaml");
        let planned = fleet.carp(&["plan"]);
        assert!(planned.out.contains(held), "{what}: {}", planned.out);
        let kept = "= note: until it is mended, alpha keeps its last good output\n";
        assert!(planned.out.contains(kept), "{what}: {}", planned.out);
        assert!(!planned.out.contains("neither deleted nor moved"), "{what}: {}", planned.out);
        let comment = fleet.carp(&["plan", "--output", "markdown"]).out;
        assert!(!comment.contains("neither deleted nor moved"), "{what}: {comment}");
    }
}

#[test]
fn a_template_that_cannot_be_read_is_what_stops_beside_a_typo() {
    let mut files = small::files();
    files.insert("templates/kamaji-capz/README.md".to_owned(), "# Ours\n".to_owned());
    let fleet = Reconciled::of(&files);
    typed_wrong(&fleet, "fleet/clusters/alpha.yaml");
    fleet.write("templates/kamaji-capz/README.md", b"# \xff\n");
    let follows = "= note: a template cannot be read, so nothing can be rendered";
    for command in [&["plan"][..], &["validate"]] {
        let ran = fleet.carp(command);
        let (before, _) = ran.out.split_once(follows).unwrap_or_else(|| panic!("{}", ran.out));
        let named =
            "error[file-not-utf8]: the file is not UTF-8\n --> templates/kamaji-capz/README.md:1:3";
        let last = before.rsplit("error[").next().unwrap_or_default();
        assert!(format!("error[{last}").starts_with(named), "{}", ran.out);
    }
    let status = fleet.carp(&["status"]);
    assert_eq!((status.exit, status.out.as_str()), (1, ""));
    let why =
        "error: nothing can be decided: templates/kamaji-capz/README.md: the file is not UTF-8\n";
    assert!(status.err.contains(why), "{}", status.err);
}
