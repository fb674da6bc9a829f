//! What `plan` says is what `reconcile` does: the same holds, the same exit code, the same tree.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use carp::model::HoldKind;
use serde_json::Value;

use crate::support::keys::SshKey;
use crate::support::people::{self, Person};
use crate::support::reconciled::{Ran, Reconciled};
use crate::support::small::{self, cluster, worker};
use crate::support::{Remote, git};

const CLUSTER_TEMPLATE: &str = "templates/kamaji-capz/cluster.yaml";
const POOLS: &str = "{% include \"parts/pools.yaml\" %}\n";
const NINE: &str = "2026-11-01T09:00:00Z";
const NOON: &str = "2026-11-01T12:00:00Z";

/// The holds of a plan, or of a turn, by name, with how many each names.
fn holds(ran: &Ran) -> BTreeMap<String, u64> {
    let json: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}", ran.err));
    match &json["holds"] {
        Value::Object(held) => {
            held.iter().map(|(kind, count)| (kind.clone(), count.as_u64().unwrap())).collect()
        }
        Value::Array(held) => {
            let one = |hold: &Value| {
                let names = hold["names"].as_array().unwrap().len() as u64;
                (hold["kind"].as_str().unwrap().to_owned(), names)
            };
            held.iter().map(one).collect()
        }
        other => panic!("{other}"),
    }
}

/// What a fleet has beforehand so that it can come to such a hold.
fn prepare(kind: HoldKind, files: &mut BTreeMap<String, String>) {
    let carp = |more: &str| format!("{}{more}", small::FLEET);
    match kind {
        HoldKind::Drifted => {
            files.insert("carp.yaml".to_owned(), carp("  drift: refuse\n"));
        }
        HoldKind::DeletionPolicyUnset => {
            let text = cluster("alpha", "westeurope").replace("  deletionPolicy: Delete\n", "");
            files.insert("fleet/clusters/alpha.yaml".to_owned(), text);
        }
        HoldKind::MachinesReplaced => {
            files.insert("carp.yaml".to_owned(), carp("  guards: {maxReplacedMachines: 1}\n"));
        }
        HoldKind::MassMove => {
            let text = cluster("alpha", "westeurope") + "  onWorkerLoss: Rebuild\n";
            files.insert("fleet/clusters/alpha.yaml".to_owned(), text);
        }
        HoldKind::FailoverBreaker => {
            *files = failing_over(std::mem::take(files));
        }
        _ => {}
    }
}

/// The fleet with what makes a run hold exactly this, committed and not yet reconciled.
fn fleet(kind: HoldKind) -> Option<Reconciled> {
    let mut files = small::files();
    prepare(kind, &mut files);
    let fleet = Reconciled::of(&files);
    if kind == HoldKind::Rewind {
        rewind(&fleet);
        return Some(fleet);
    }
    edit(kind, &fleet)?;
    fleet.commit("an edit");
    Some(fleet)
}

/// The input branch goes back behind what was reconciled.
fn rewind(fleet: &Reconciled) {
    fleet.write("fleet/clusters/golf.yaml", cluster("golf", "eastus").as_bytes());
    fleet.commit("golf");
    assert_eq!(fleet.carp(&["reconcile", "--once"]).exit, 0);
    git(&fleet.path(), &["reset", "--quiet", "--hard", "HEAD~1"]);
}

/// The edit that comes to such a hold; `None` where what it needs is not on this machine.
fn edit(kind: HoldKind, fleet: &Reconciled) -> Option<()> {
    let carp = |more: &str| format!("{}{more}", small::FLEET);
    let break_one = || fleet.write("fleet/clusters/bravo.yaml", b"spec: [");
    match kind {
        HoldKind::MassDeletion => {
            for name in ["alpha", "bravo", "charlie", "delta"] {
                fleet.remove(&format!("fleet/clusters/{name}.yaml"));
            }
        }
        HoldKind::MassMove => {
            let policy = "apiVersion: carp.dev/v1alpha1\nkind: PlacementPolicy\nmetadata:\n  name: mine\n\
                          spec:\n  priority: 1\n  onViolation: Move\n  clusterSelector: {names: [alpha]}\n  \
                          affinity: {required: [{names: [w-eus]}]}\n";
            fleet.write("policies/mine.yaml", policy.as_bytes());
        }
        HoldKind::DeletionsHeld => {
            fleet.remove("fleet/clusters/alpha.yaml");
            break_one();
        }
        HoldKind::PlacementsHeld => {
            fleet.write("policies/mine.yaml", b"spec: [");
            fleet.write("fleet/clusters/golf.yaml", cluster("golf", "eastus").as_bytes());
        }
        HoldKind::DeletionPolicyUnset => fleet.remove("fleet/clusters/alpha.yaml"),
        HoldKind::WorkerInUse => fleet.remove("fleet/workers/w-weu.yaml"),
        HoldKind::NameStillDeleting => {
            fleet.remove("fleet/clusters/alpha.yaml");
            fleet.commit("alpha goes");
            assert_eq!(fleet.carp(&["reconcile", "--once"]).exit, 0);
            let text = cluster("alpha", "westeurope").replace("replicas: 2", "replicas: 3");
            fleet.write("fleet/clusters/alpha.yaml", text.as_bytes());
        }
        HoldKind::Rewind => rewind(fleet),
        HoldKind::RootChanged => {
            fleet.write("carp.yaml", carp("  roots: {fleet: other}\n").as_bytes());
            git(&fleet.path(), &["mv", "fleet", "other"]);
            fleet.remove("other/clusters/alpha.yaml");
        }
        HoldKind::Drifted => edit_the_output(fleet),
        HoldKind::MachinesReplaced => {
            let text = cluster("alpha", "westeurope").replace("v1.34.2", "v1.34.3");
            fleet.write("fleet/clusters/alpha.yaml", text.as_bytes());
        }
        HoldKind::InputNotVerified => {
            let key = SshKey::new()?;
            let more =
                format!("  git:\n    verify:\n      allowedSigners: [{:?}]\n", key.allowed("me"));
            fleet.write("carp.yaml", carp(&more).as_bytes());
        }
        HoldKind::FailoverBreaker => fall_silent(fleet),
        HoldKind::ObjectsRemoved => {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(CLUSTER_TEMPLATE);
            let text = fs::read_to_string(path).unwrap();
            assert!(text.contains(POOLS));
            fleet.write(CLUSTER_TEMPLATE, text.replace(POOLS, "").as_bytes());
        }
    }
    Some(())
}

/// Three workers that are observed, and a policy by which it matters that they fall silent.
fn failing_over(mut files: BTreeMap<String, String>) -> BTreeMap<String, String> {
    files.insert("fleet/workers/w-neu.yaml".to_owned(), worker("w-neu", "northeurope", 4));
    for (path, text) in &mut files {
        if path.starts_with("fleet/workers/") {
            text.push_str("  observation: Agent\n");
        } else if path.starts_with("fleet/clusters/") {
            text.push_str("  onWorkerLoss: Rebuild\n");
        }
    }
    let policy = "apiVersion: carp.dev/v1alpha1\nkind: PlacementPolicy\nmetadata:\n  name: mine\nspec:\n  \
                  priority: 1\n  failover: {grace: 30m}\n";
    files.insert("policies/mine.yaml".to_owned(), policy.to_owned());
    files
}

/// All workers report once and never again.
fn fall_silent(fleet: &Reconciled) {
    let folder = fleet.beside("observed");
    fs::create_dir(&folder).unwrap();
    for (number, worker) in ["w-weu", "w-eus", "w-neu"].iter().enumerate() {
        let text = format!(
            "schemaVersion: 1\nworker: {worker}\nworkerUID: {number}1111111-1111-4111-8111-111111111111\n\
             time: \"2026-11-01T08:59:00Z\"\ncomplete: true\nhealthy: true\n"
        );
        fs::write(folder.join(format!("{worker}.yaml")), text).unwrap();
    }
    let ran = carp(fleet, HoldKind::FailoverBreaker, &["reconcile", "--once"], NINE);
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
}

/// Runs the program; where it matters what workers report, with their reports.
fn carp(fleet: &Reconciled, kind: HoldKind, args: &[&str], now: &str) -> Ran {
    let folder = fleet.beside("observed").display().to_string();
    let observed = ["--observed", folder.as_str()];
    let observed = if kind == HoldKind::FailoverBreaker { &observed[..] } else { &[] };
    Ran::of(people::carp(&fleet.path(), &[args, observed, &["--now", now]].concat()))
}

/// A person edits a file of the output branch.
fn edit_the_output(fleet: &Reconciled) {
    let path = fleet.beside("output");
    git(&fleet.path(), &["worktree", "add", "--quiet", path.to_str().unwrap(), "carp/rendered"]);
    let file = path.join("workers/w-weu/clusters/alpha/cluster.yaml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("replicas: 2", "replicas: 7")).unwrap();
    git(&path, &["commit", "--quiet", "--all", "-m", "by hand"]);
    git(&fleet.path(), &["worktree", "remove", path.to_str().unwrap()]);
}

#[test]
fn what_reconcile_holds_plan_held_before() {
    let mut seen = BTreeSet::new();
    for &kind in HoldKind::ALL {
        let Some(fleet) = fleet(kind) else { continue };
        let now = if kind == HoldKind::FailoverBreaker { NOON } else { NINE };
        let run = |args: &[&str]| carp(&fleet, kind, &[args, &["--output", "json"]].concat(), now);
        let planned = run(&["plan"]);
        let reconciled = run(&["reconcile", "--once"]);
        assert!(holds(&planned).contains_key(kind.name()), "{kind:?}: {:?}", holds(&planned));
        assert_eq!(holds(&planned), holds(&reconciled), "{kind:?}");
        assert_eq!((planned.exit, reconciled.exit), (3, 3), "{kind:?}: {}", planned.err);
        let json: Value = serde_json::from_str(&planned.out).unwrap();
        assert_eq!(json["tree"], fleet.output_tree(), "{kind:?}");
        seen.insert(kind);
    }
    // There may be no `ssh-keygen`.
    assert!(seen.len() + 1 >= HoldKind::ALL.len(), "{seen:?}");
}

/// A fleet whose output goes to a repository of its own, and that repository, which is empty.
fn with_another_output(person: &Person) -> Remote {
    let output = Remote::new();
    let more = format!("{}  output: {{url: {}}}\n", small::FLEET, output.url());
    person.push_one("carp.yaml", &more);
    output
}

/// The commands that plan, each with how it ends.
fn ends(person: &Person, more: &[&str]) -> Vec<(i32, String)> {
    let out = tempfile::tempdir().unwrap();
    let out = out.path().join("out").display().to_string();
    let commands: [&[&str]; 4] =
        [&["plan"], &["render", "--out", &out], &["status"], &["reconcile", "--once"]];
    let run = |args: &&[&str]| {
        let ran = Ran::of(person.command(&[*args, more].concat()));
        (ran.exit, ran.err)
    };
    commands.iter().map(run).collect()
}

#[test]
fn an_output_that_moves_to_an_empty_repository_places_nothing_anew() {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    person.push(&small::files());
    person.reconciles();
    let output = with_another_output(&person);
    for more in [&[][..], &["--first-run"]] {
        for (exit, told) in ends(&person, more) {
            assert_eq!(exit, 3, "{told}");
            assert!(told.contains("origin has `carp/rendered`"), "{told}");
        }
    }
    assert_eq!(output.at("refs/heads/carp/rendered"), None);
    // What the message says is enough.
    for branch in ["carp/rendered", "carp/status"] {
        let refs = format!("refs/heads/{branch}:refs/heads/{branch}");
        git(&remote.path(), &["push", "--quiet", &output.url(), &refs]);
    }
    person.reconciles();
    let clusters = git(&output.path(), &["rev-list", "--count", "carp/rendered"]);
    assert_eq!(clusters, "1", "nothing is placed anew");
}

#[test]
fn a_first_run_into_another_repository_is_asked_for() {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    person.push(&small::files());
    let output = with_another_output(&person);
    for (exit, told) in ends(&person, &[]) {
        assert_eq!(exit, 3, "{told}");
        assert!(told.contains("--first-run"), "{told}");
    }
    assert_eq!(output.at("refs/heads/carp/rendered"), None);
    assert!(ends(&person, &["--first-run"]).iter().all(|(exit, _)| *exit == 0));
    assert!(output.at("refs/heads/carp/rendered").is_some());
    assert!(ends(&person, &[]).iter().all(|(exit, _)| *exit == 0), "it is said once");
}

#[test]
fn an_empty_commit_on_the_output_branch_asks_for_a_first_run() {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    person.push(&small::files());
    let output = with_another_output(&person);
    let tree = git(&output.path(), &["hash-object", "-w", "-t", "tree", "/dev/null"]);
    let commit = git(&output.path(), &["commit-tree", &tree, "-m", "the output of the fleet"]);
    git(&output.path(), &["update-ref", "refs/heads/carp/rendered", &commit]);
    person.reconciles();
    assert_ne!(output.at("refs/heads/carp/rendered").unwrap().to_string(), commit);
}

#[test]
fn the_reports_that_a_clone_has_are_what_a_plan_stands_on() {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    let mut files = small::files();
    let observed = |text: &mut String| text.push_str("  observation: Agent\n");
    files.entry("fleet/workers/w-eus.yaml".to_owned()).and_modify(observed);
    person.push(&files);
    let report = "schemaVersion: 1\nworker: w-eus\nworkerUID: 11111111-1111-4111-8111-111111111111\n\
                  time: \"2026-11-01T08:59:00Z\"\ncomplete: true\nhealthy: true\n";
    crate::support::flux::push_report(&remote.url(), "w-eus", report, None);
    git(&person.path(), &["fetch", "--quiet"]);
    for now in [NINE, "2026-11-01T11:30:00Z"] {
        let json = |args: &[&str]| {
            let ran = Ran::of(person.command(&[args, &["--now", now]].concat()));
            assert_eq!(ran.exit, 0, "{}", ran.err);
            ran
        };
        let planned = json(&["plan", "--output", "json"]);
        let tree: Value = serde_json::from_str(&planned.out).unwrap();
        assert!(planned.err.contains("the newest is of 2026-11-01T08:59:00Z"), "{}", planned.err);
        let explained = json(&["explain", "cluster/charlie"]).out;
        json(&["reconcile", "--once"]);
        let committed = git(&remote.path(), &["rev-parse", "carp/rendered^{tree}"]);
        assert_eq!(tree["tree"], committed, "at {now}");
        assert!(explained.contains("w-eus"), "{explained}");
        // What comes late finds a worker that is heard of no more.
        if now == NINE {
            person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
        }
    }
}
