//! Policy tests, as `carp validate` runs them: on the small fleet in memory, and by the real program.

use std::collections::BTreeMap;

use carp::diag::{Code, Diagnostic};
use carp::verify::{self, Verified};

use crate::support::people::{Person, printed};
use crate::support::world::World;
use crate::support::{Remote, small};

const POLICIES: &str = "\
apiVersion: carp.dev/v1alpha1
kind: PlacementPolicy
metadata:
  name: europe
spec:
  clusterSelector:
    names: [alpha, charlie]
  affinity:
    required:
      - locations: [westeurope]
";

const PATH: &str = "policies/tests/t.yaml";

/// A test that expects this; `given` stands before it in the spec.
fn test(given: &str, expect: &str) -> String {
    format!(
        "apiVersion: carp.dev/v1alpha1\nkind: PlacementPolicyTest\nmetadata:\n  name: t\nspec:\n{given}  \
         expect:\n    - {expect}\n"
    )
}

fn world(test: &str) -> World {
    let mut files = small::files();
    files.insert("policies/europe.yaml".to_owned(), POLICIES.to_owned());
    files.insert(PATH.to_owned(), test.to_owned());
    World::new(files)
}

fn verified(world: &mut World) -> Verified {
    let proposal = world.propose();
    assert!(!proposal.diagnostics.has_errors(), "{:#?}", proposal.diagnostics);
    verify::policies(&world.snapshot().input, &world.store, &proposal.fleet).unwrap()
}

fn found(given: &str, expect: &str) -> Vec<Diagnostic> {
    verified(&mut world(&test(given, expect))).diagnostics.into_iter().collect()
}

#[track_caller]
fn holds(given: &str, expect: &str) {
    assert_eq!(found(given, expect), [], "{expect}");
}

/// Exactly one thing does not hold: `field: message`, and what the help says.
#[track_caller]
fn fails(given: &str, expect: &str, code: Code, told: &str, help: &str) {
    let all = found(given, expect);
    let [one] = &all[..] else { panic!("{expect}: {all:#?}") };
    let place = one.place.clone().unwrap();
    let said = format!("{}: {}", place.field.unwrap(), one.message);
    assert_eq!((one.code, said.as_str()), (code, told));
    assert_eq!(one.help.as_deref().unwrap_or_default(), help, "{expect}");
}

#[test]
fn what_is_expected_and_happens_is_no_finding() {
    for expect in [
        "{cluster: alpha, worker: w-weu, policy: europe}",
        "{cluster: charlie, worker: w-weu}",
        "{cluster: bravo, policy: default}",
        "{cluster: alpha, refused: [{worker: w-eus, reasons: [AffinityLocation]}]}",
        "{cluster: alpha, refused: [{worker: w-eus}]}",
    ] {
        holds("", expect);
    }
    let full = "  placed: {bravo: w-weu, delta: w-weu, echo: w-weu, foxtrot: w-weu}\n";
    holds(full, "{cluster: alpha, pending: true}");
    holds(full, "{cluster: alpha, reasons: [AffinityLocation, Capacity]}");
    holds(full, "{cluster: bravo, worker: w-weu}");
}

#[test]
fn what_does_not_happen_is_told_with_what_came_and_why() {
    let failed = Code::PolicyTestFailed;
    fails(
        "",
        "{cluster: alpha, worker: w-eus}",
        failed,
        "spec.expect[0].worker: `alpha` goes to `w-weu`; `w-eus` is expected",
        "`w-eus` refuses it: location eastus is not one that the affinity allows (westeurope)",
    );
    fails(
        "",
        "{cluster: bravo, worker: w-eus}",
        failed,
        "spec.expect[0].worker: `bravo` goes to `w-weu`; `w-eus` is expected",
        "`w-weu` comes before `w-eus` by location distance: same location against elsewhere",
    );
    fails(
        "",
        "{cluster: alpha, pending: true}",
        failed,
        "spec.expect[0].pending: `alpha` goes to `w-weu`; it is expected to wait",
        "the policy `europe` applies to it",
    );
    fails(
        "",
        "{cluster: alpha, policy: default}",
        failed,
        "spec.expect[0].policy: `europe` applies to `alpha`; the policy `default` is expected",
        "`europe` comes before `default`: the fleet's own, not built in",
    );
    fails(
        "",
        "{cluster: bravo, policy: europe}",
        failed,
        "spec.expect[0].policy: `default` applies to `bravo`; the policy `europe` is expected",
        "the selector of `europe` does not select `bravo`",
    );
    fails(
        "",
        "{cluster: alpha, refused: [{worker: w-eus, reasons: [Taint]}]}",
        failed,
        "spec.expect[0].refused[0].worker: `w-eus` refuses `alpha` for AffinityLocation; Taint is expected",
        "`w-eus` refuses it: location eastus is not one that the affinity allows (westeurope)",
    );
    fails(
        "",
        "{cluster: bravo, refused: [{worker: w-eus}]}",
        failed,
        "spec.expect[0].refused[0].worker: `w-eus` can take `bravo`; it is expected to refuse it",
        "`w-weu` comes before `w-eus` by location distance: same location against elsewhere",
    );
}

#[test]
fn a_cluster_that_waits_is_told_with_its_line() {
    let full = "  placed: {bravo: w-weu, delta: w-weu, echo: w-weu, foxtrot: w-weu}\n";
    let line = "0/2 workers are available: 1 worker(s) did not match the placement affinity, \
                1 worker(s) had insufficient clusters.";
    fails(
        full,
        "{cluster: alpha, reasons: [Taint]}",
        Code::PolicyTestFailed,
        "spec.expect[0].reasons: `alpha` waits for Capacity, AffinityLocation; Taint is expected",
        line,
    );
    fails(
        full,
        "{cluster: alpha, worker: w-weu}",
        Code::PolicyTestFailed,
        "spec.expect[0].worker: `alpha` waits for Capacity, AffinityLocation; `w-weu` is expected",
        &format!("`w-weu` refuses it: needs 1 cluster, 0 free\n{line}"),
    );
}

#[test]
fn a_test_that_cannot_be_meant_is_no_test() {
    let wrong = Code::InvalidValue;
    for (given, expect, told, help) in [
        (
            "",
            "{cluster: golf, worker: w-weu}",
            "spec.expect[0].cluster: there is no cluster `golf`, in this test or in the fleet",
            "write the name of one that is there, or give it below `spec.clusters`",
        ),
        (
            "",
            "{cluster: alpha, worker: w1}",
            "spec.expect[0].worker: there is no worker `w1` in the fleet",
            "there are w-eus, w-weu",
        ),
        (
            "  placed: {bravo: w1}\n",
            "{cluster: alpha, worker: w-weu}",
            "spec.placed.bravo: there is no worker `w1` in the fleet",
            "there are w-eus, w-weu",
        ),
        (
            "",
            "{cluster: alpha, worker: w-weu, pending: true}",
            "spec.expect[0].worker: `alpha` cannot wait and be on `w-weu` as well",
            "keep one: `worker`, or `pending` and `reasons`",
        ),
        (
            "",
            "{cluster: alpha}",
            "spec.expect[0]: nothing is expected of `alpha`",
            "add `worker`, `pending: true`, `reasons`, `policy` or `refused`",
        ),
    ] {
        fails(given, expect, wrong, told, help);
    }
}

#[test]
fn a_cordon_or_a_full_worker_fails_no_test() {
    let mut world = world(&test("", "{cluster: alpha, worker: w-weu}"));
    world.write(
        "fleet/overlays/w-weu.yaml",
        "apiVersion: carp.dev/v1alpha1\nkind: WorkerOverlay\nmetadata:\n  name: w-weu\nspec:\n  \
         unschedulable: true\n",
    );
    world.run();
    assert!(world.worker_of("alpha").is_none(), "it waits in the fleet");
    assert!(verified(&mut world).diagnostics.is_empty());
}

#[test]
fn tests_hold_nothing_and_change_no_byte() {
    let mut without = world("");
    without.remove(PATH);
    without.run();
    for text in [
        test("", "{cluster: alpha, worker: w-eus}"),
        "kind: [".to_owned(),
        String::new(),
        "kind: PlacementPolicy\n".to_owned(),
    ] {
        let mut with = world(&text);
        let proposal = with.run();
        assert!(proposal.diagnostics.is_empty(), "{:#?}", proposal.diagnostics);
        assert_eq!((with.output, proposal.holds().len()), (without.output, 0), "{text}");
        assert!(verified(&mut with).diagnostics.has_errors(), "{text}");
    }
}

#[test]
fn while_something_did_not_load_no_test_says_anything() {
    let mut world = world(&test("", "{cluster: alpha, worker: w-eus}"));
    world.edit("fleet/clusters/alpha.yaml", "version:", "vrsion:");
    let fleet = world.propose().fleet;
    let verified = verify::policies(&world.snapshot().input, &world.store, &fleet).unwrap();
    assert!(verified.left_out && verified.diagnostics.is_empty(), "{verified:?}");
}

#[test]
fn policies_that_meet_with_equal_weight_are_told_of() {
    let other = POLICIES.replace("name: europe", "name: others").replace("alpha, ch", "bravo, ch");
    let mut world = world(&test("", "{cluster: charlie, policy: europe}"));
    world.write("policies/others.yaml", &other);
    let verified = verified(&mut world);
    assert!(!verified.diagnostics.has_errors(), "it is a warning");
    let all: Vec<_> = verified.diagnostics.into_iter().collect();
    let [one] = &all[..] else { panic!("{all:#?}") };
    assert_eq!(one.code, Code::PolicyTie);
    assert_eq!(
        one.message,
        "`europe` and `others` weigh the same for `charlie`, and the smaller name decides"
    );
    assert_eq!(one.place.as_ref().unwrap().file, "policies/others.yaml");
    assert_eq!(one.related[1].0.file, "fleet/clusters/charlie.yaml");
}

/// Somebody removes the term from the policy, and a test of hers stands in the way.
#[test]
fn validate_shows_a_test_that_fails_in_every_form() {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    let mut files = small::files();
    files.insert("policies/europe.yaml".to_owned(), POLICIES.to_owned());
    files.insert(PATH.to_owned(), test("", "{cluster: charlie, worker: w-weu}"));
    person.push(&files);
    let fine = person.carp(&["validate"]);
    assert_eq!(fine.status.code(), Some(0), "{}", printed(&fine));
    assert!(
        printed(&fine).contains("6 clusters, 2 workers, 1 policy test\n"),
        "{}",
        printed(&fine)
    );

    person.write("policies/europe.yaml", &POLICIES.replace("[westeurope]", "[eastus]"));
    let text = person.carp(&["validate"]);
    assert_eq!(text.status.code(), Some(1), "{}", printed(&text));
    insta::assert_snapshot!(String::from_utf8_lossy(&text.stdout), @r"
    error[policy-test-failed]: `charlie` goes to `w-eus`; `w-weu` is expected
     --> policies/tests/t.yaml:7:34
      |
    7 |     - {cluster: charlie, worker: w-weu}
      |                                  ^^^^^
      |
      = help: `w-weu` refuses it: location westeurope is not one that the affinity allows (eastus)

    1 error; 1 policy test ran
    ");
    let forms: BTreeMap<&str, [&str; 2]> = BTreeMap::from([
        ("json", ["\"code\": \"policy-test-failed\"", "\"line\": 7"]),
        ("sarif", ["\"ruleId\": \"policy-test-failed\"", "\"startLine\": 7"]),
        ("github", ["::error file=policies/tests/t.yaml,line=7", "policy-test-failed"]),
    ]);
    for (form, wanted) in forms {
        let ran = person.carp(&["validate", "--output", form]);
        assert_eq!(ran.status.code(), Some(1), "{form}");
        for text in wanted {
            assert!(printed(&ran).contains(text), "{form} has no {text}:\n{}", printed(&ran));
        }
    }
    let planned = person.carp(&["plan"]);
    assert_eq!(planned.status.code(), Some(0), "a plan takes no notice: {}", printed(&planned));
}
