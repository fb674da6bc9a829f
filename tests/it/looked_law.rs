//! A look that is answered by what the last run left standing says what a look at everything says, over random histories,
//! and in the words of the real program.

use std::collections::{BTreeMap, BTreeSet};

use carp::model::{Decision, Name, Proposal, ReasonCode, Snapshot, Verification};
use carp::pipeline::{Sought, SoughtAnswer, propose_sought};
use carp::plan::{PlanInput, explain_with_remedies, place_in_queue};
use carp::verify;
use proptest::prelude::*;

use crate::affected_law::Standing;
use crate::memo_law::{Edit, apply, edits};
use crate::support::generator;
use crate::support::reconciled::Reconciled;
use crate::support::small;
use crate::support::{breadth, is_todays};

impl Standing {
    /// What a look says; `None` where that takes everything.
    pub(crate) fn look(&self, sought: &Sought) -> Option<Proposal> {
        self.answer(sought).map(|answer| answer.proposal)
    }

    fn answer(&self, sought: &Sought) -> Option<SoughtAnswer> {
        let (before, documents) = self.baseline.as_ref()?;
        let snapshot = Snapshot { reports: None, ..self.world.snapshot() };
        let since = self.world.reports_since(self.reports.as_ref());
        propose_sought(&snapshot, &since, &self.world.store, before, documents, sought).unwrap()
    }

    /// Holds every look against one at everything; returns how many were answered by what stands.
    pub(crate) fn looks(&self) -> usize {
        let whole = self.world.propose_afresh();
        let mut answered = usize::from(self.finds(&whole));
        if let Some(narrow) = self.look(&Sought::Changes) {
            answered += 1;
            assert_same_changes(&narrow, &whole);
            assert_eq!(waits(&narrow), waits(&whole));
        }
        answered += usize::from(self.lists(&whole));
        for name in whole.plan.clusters.keys() {
            answered += usize::from(self.looks_at(name, &whole));
        }
        answered
    }

    pub(crate) fn is_found(&self) -> bool {
        self.finds(&self.world.propose_afresh())
    }

    /// Whether what is found is known by what stands.
    fn finds(&self, whole: &Proposal) -> bool {
        let Some(SoughtAnswer { proposal, verified }) = self.answer(&Sought::Findings) else {
            return false;
        };
        let input = self.world.snapshot().input;
        let all = verify::fleet(&input, &self.world.store, &whole.fleet, &whole.previous).unwrap();
        assert_eq!(proposal.diagnostics.sorted(), whole.diagnostics.sorted());
        // Which clusters were looked at to find it is no finding.
        let found = |verified: Verification| Verification {
            witnesses: BTreeMap::new(),
            tried: BTreeMap::new(),
            ..verified
        };
        assert_eq!(verified.map(found), Some(found(all)));
        true
    }

    /// Whether all clusters and workers are known by what stands.
    fn lists(&self, whole: &Proposal) -> bool {
        if let Some(narrow) = self.look(&Sought::Statuses) {
            assert_eq!(narrow.status_tree, whole.status_tree);
            let names = |p: &Proposal| p.plan.clusters.keys().cloned().collect::<Vec<_>>();
            assert_eq!(names(&narrow), names(whole));
            let workers = |p: &Proposal| {
                let all = p.plan.workers.keys().map(|name| p.fleet.workers.get(name));
                all.map(|worker| worker.map(|worker| worker.facts)).collect::<Vec<_>>()
            };
            assert_eq!(workers(&narrow), workers(whole));
            let rows = narrow.previous.index_rows();
            for (name, cluster) in &whole.fleet.clusters {
                let edited = narrow.fleet.clusters.get(name).map(carp::model::Cluster::index_row);
                let row = edited.or_else(|| rows.get(name).map(|row| (*row).clone()));
                assert_eq!(row, Some(cluster.index_row()), "{name}");
            }
        }
        let Some(narrow) = self.look(&Sought::Plan) else { return false };
        assert_same_changes(&narrow, whole);
        assert_eq!(narrow.plan.clusters, whole.plan.clusters);
        assert_eq!(narrow.plan.workers, whole.plan.workers);
        assert_eq!(narrow.plan.retirements, whole.plan.retirements);
        assert_eq!(carp::change::pressure(&narrow), carp::change::pressure(whole));
        true
    }

    fn looks_at(&self, name: &Name, whole: &Proposal) -> bool {
        if let Some(narrow) = self.look(&Sought::Cluster(name.clone())) {
            assert_eq!(narrow.status_tree, whole.status_tree);
            assert_eq!(narrow.plan.clusters.get(name), whole.plan.clusters.get(name));
            let facts = |p: &Proposal| p.fleet.clusters.get(name).map(|cluster| cluster.facts);
            assert_eq!(facts(&narrow), facts(whole));
        }
        self.is_explained(name, whole)
    }

    /// Whether it is known by what stands why a cluster is where it is, or waits.
    pub(crate) fn is_explained(&self, name: &Name, whole: &Proposal) -> bool {
        let Some(narrow) = self.look(&Sought::Reasons(name.clone())) else { return false };
        let told = |of: &Proposal| explain_with_remedies(&PlanInput::of(of), &of.ahead, name);
        match (told(&narrow), told(whole)) {
            (Some((said, found)), Some((of_all, all))) => {
                assert_eq!(said, of_all);
                let places = [&narrow, whole].map(|proposal| place_in_queue(proposal, name));
                assert_eq!(places[0], places[1], "{name}");
                assert!(found.is_none() || found == all, "{found:?} {all:?}");
                found.is_some()
            }
            (narrow, whole) => {
                assert_eq!(narrow, whole);
                true
            }
        }
    }
}

/// Who waits for what.
fn waits(proposal: &Proposal) -> BTreeMap<&Name, &BTreeSet<ReasonCode>> {
    let decided = proposal.plan.clusters.iter();
    let decided = decided.filter_map(|(name, planned)| match &planned.decision {
        Decision::Wait { reasons, .. } => Some((name, reasons)),
        _ => None,
    });
    let alike = proposal.pending.0.iter();
    let still = alike.flat_map(|(reasons, names)| names.iter().map(move |name| (name, reasons)));
    decided.chain(still).collect()
}

#[track_caller]
fn assert_same_changes(narrow: &Proposal, whole: &Proposal) {
    assert_eq!(narrow.tree, whole.tree);
    assert_eq!(narrow.message, whole.message);
    assert_eq!(narrow.counts, whole.counts);
    assert_eq!(carp::change::pressure(narrow).quotas, carp::change::pressure(whole).quotas);
    // The moment that an older report named may come first; nothing is decided then but that one looks again.
    assert!(narrow.valid_until.is_none_or(|at| whole.valid_until.is_some_and(|by| at <= by)));
    assert_eq!(narrow.diagnostics.sorted(), whole.diagnostics.sorted());
    assert!(narrow.plan.versions().eq(whole.plan.versions()));
    for (name, planned) in &narrow.plan.clusters {
        assert_eq!(whole.plan.clusters.get(name), Some(planned));
    }
    for (name, worker) in &narrow.plan.workers {
        assert_eq!(whole.plan.workers.get(name), Some(worker));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: breadth(16, 512), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_look_by_what_stands_says_what_a_look_at_everything_says(history in edits()) {
        let mut standing = Standing::new();
        for edit in &history {
            apply(&mut standing.world, edit);
            standing.looks();
            standing.run();
            standing.run();
            standing.looks();
        }
    }
}

/// A look holds no longer than what the newest reports say, whatever was said before.
#[test]
fn a_look_holds_as_long_as_the_newest_reports_say() {
    let mut standing = Standing::new();
    for edit in [Edit::Report(29, 0, 1), Edit::Report(91, 0, 2)] {
        apply(&mut standing.world, &edit);
        standing.looks();
        standing.run();
        standing.run();
        standing.looks();
    }
}

#[test]
fn looks_at_a_fleet_that_stands_are_answered_by_what_stands() {
    let mut standing = Standing::new();
    assert_eq!(standing.looks(), 9, "what is found, what changes, all, and six clusters");
    for edit in [Edit::Add(1), Edit::Add(2), Edit::Rules(3), Edit::Label(1, 1), Edit::Quota(11)] {
        apply(&mut standing.world, &edit);
        for _ in 0..3 {
            standing.run();
        }
        assert!(standing.looks() >= 9, "{edit:?}");
    }
    apply(&mut standing.world, &Edit::Tag(2, 1));
    assert!(standing.looks() >= 9, "one is edited");
    apply(&mut standing.world, &Edit::Capacity(1, 8));
    assert_eq!(standing.looks(), 0, "a worker is edited");
}

/// Whoever used an acknowledgement is told by every plan that it can be removed.
#[test]
fn a_plan_tells_what_is_spent() {
    let mut standing = Standing::new();
    for name in ["alpha", "bravo", "charlie", "delta"] {
        standing.world.remove(&format!("fleet/clusters/{name}.yaml"));
    }
    standing.run();
    let held = standing.world.propose_afresh().plan.holds;
    let (count, digest) = (held[0].names.len(), held[0].digest());
    standing.world.write(
        "fleet/meant.yaml",
        &format!(
            "apiVersion: carp.dev/v1alpha1\nkind: Acknowledgement\nmetadata:\n  name: meant\nspec:\n  \
             of: deletions\n  count: {count}\n  digest: {digest}\n"
        ),
    );
    standing.stand();
    assert!(standing.look(&Sought::Changes).is_none(), "it is spent, and there still");
    standing.world.remove("fleet/meant.yaml");
    standing.stand();
    let narrow = standing.look(&Sought::Changes).expect("four are being deleted");
    assert_same_changes(&narrow, &standing.world.propose_afresh());
    assert_eq!(narrow.plan.deletions().len(), 4);
}

/// A finding goes with its document, wherever that stands in its file and how much is written above it.
#[test]
fn what_is_found_is_where_its_document_is() {
    let mut standing = Standing::new();
    apply(&mut standing.world, &Edit::Pair(1, 2));
    standing.stand();
    assert_eq!(standing.world.propose_afresh().diagnostics.iter().count(), 1, "a warning");
    for pair in [3, 0b11_0010, 0] {
        apply(&mut standing.world, &Edit::Pair(1, pair));
        standing.looks();
        standing.run();
        standing.stand();
    }
}

/// A policy test, and a document that nobody reads.
#[test]
fn what_is_verified_is_verified_again_where_it_may_be_otherwise() {
    let mut standing = Standing::new();
    let test = "apiVersion: carp.dev/v1alpha1\nkind: PlacementPolicyTest\nmetadata: {name: t}\nspec:\n  expect:\n  \
                - {cluster: alpha, worker: w-weu}\n";
    standing.world.write("policies/tests/t.yaml", test);
    standing.stand();
    assert!(standing.is_found());
    apply(&mut standing.world, &Edit::Add(1));
    assert!(standing.is_found(), "one more, of which no test speaks");
    standing.world.write(
        "fleet/notes.json",
        "{\"kind\": \"ManagedCluster\", \"apiVersion\": \"carp.dev/v1alpha1\"}",
    );
    assert!(!standing.is_found(), "a document that nobody reads");
    standing.stand();
    let alpha = standing.world.files["fleet/clusters/alpha.yaml"].clone();
    let other = alpha.replacen("spec:\n", "spec:\n  paused: true\n", 1);
    standing.world.write("fleet/clusters/alpha.yaml", &other);
    assert!(!standing.is_found(), "a test speaks of it");
    assert!(standing.run(), "it is looked at by itself");
    assert!(!standing.is_found(), "and what that test says is not known any more");
    standing.baseline = None;
    standing.stand();
    assert!(standing.is_found(), "until everything was looked at");
    standing.world.write("fleet/notes.json", "{\"kind\": \"List\"}");
    assert!(!standing.is_found(), "nobody reads it, and it was told of");
}

/// A policy that selects nobody, and two that tie.
#[test]
fn what_is_verified_of_policies_is_verified_again_for_a_new_cluster() {
    let policy = |name: &str, selector: &str| {
        format!(
            "apiVersion: carp.dev/v1alpha1\nkind: PlacementPolicy\nmetadata: {{name: {name}}}\nspec:\n  \
             clusterSelector: {selector}\n"
        )
    };
    let mut standing = Standing::new();
    standing.world.write("policies/p.yaml", &policy("p", "{names: [r02]}"));
    standing.stand();
    assert!(standing.is_found(), "it selects nobody");
    apply(&mut standing.world, &Edit::Add(2));
    assert!(!standing.is_found(), "now it does");
    for worker in 0..2 {
        apply(&mut standing.world, &Edit::Capacity(worker, 8));
    }
    let labelled = |name: &str, labels: &str| {
        let document = crate::support::small::cluster(name, "westeurope");
        document.replacen("spec:\n", &format!("  labels: {labels}\nspec:\n"), 1)
    };
    let (a, b) = ("{a: x}", "{b: x}");
    for (name, label) in [("p", a), ("q", b)] {
        let document = policy(name, &format!("{{matchLabels: {label}}}"));
        standing.world.write(&format!("policies/{name}.yaml"), &document);
    }
    standing.world.write("fleet/clusters/r03.yaml", &labelled("r03", a));
    standing.world.write("fleet/clusters/r04.yaml", &labelled("r04", b));
    standing.stand();
    assert!(standing.is_found());
    standing.world.write("fleet/clusters/golf.yaml", &labelled("golf", a));
    assert!(standing.is_found(), "one policy selects it");
    standing.world.write("fleet/clusters/golf.yaml", &labelled("golf", "{a: x, b: x}"));
    assert!(!standing.is_found(), "both policies select it");
}

/// Commands that only look, of a fleet in which `c000000` is placed and `c000007` waits.
const LOOKS: &[&[&str]] = &[
    &["plan"],
    &["plan", "--detailed-exitcode", "--diff"],
    &["plan", "--output", "json"],
    &["plan", "--output", "markdown"],
    &["explain", "cluster/c000000"],
    &["explain", "c000001", "--output", "json"],
    &["explain", "cluster/c000007"],
    &["explain", "cluster/nobody"],
    &["status"],
    &["status", "workers"],
    &["status", "clusters", "--output", "wide"],
    &["status", "clusters", "--output", "json"],
    &["status", "clusters", "--tenant", "tenant-1"],
    &["status", "cluster/c000000"],
    &["status", "c000002", "--output", "yaml"],
    &["status", "cluster/c000007"],
    &["get", "nobody"],
    &["validate"],
    &["validate", "--output", "json"],
];

/// What each of these commands prints, without how much was done for it: all where the fleet stands, and every second one
/// in each of the other states.
fn said(fleet: &Reconciled, state: usize) -> BTreeMap<String, (i32, String, String)> {
    let of = |args: &&[&str]| {
        let ran = fleet.carp(args);
        let counts = ["blobsParsed", "clustersPlanned", "clustersRendered", "workersCounted"];
        let is_work = |line: &&str| {
            line.starts_with("work ") || counts.iter().any(|count| line.contains(count))
        };
        let out: Vec<_> = ran.out.lines().filter(|line| !is_work(line)).collect();
        (args.join(" "), (ran.exit, out.join("\n"), ran.err))
    };
    let asked = |at: &usize| state == 0 || is_todays(at + state);
    let looks = (0..LOOKS.len()).filter(asked).map(|at| of(&LOOKS[at]));
    let rendered = (0..RENDERED.len()).filter(asked).map(|at| {
        let name = RENDERED[at];
        (format!("render {name}"), rendered(fleet, name))
    });
    looks.chain(rendered).collect()
}

/// Clusters that are rendered alone: placed, edited, waiting, new, unknown.
const RENDERED: &[&str] = &["c000000", "c000001", "c000007", "more", "nobody"];

/// What is printed where one cluster is rendered, and every file that is written.
fn rendered(fleet: &Reconciled, name: &str) -> (i32, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let shown = out.display().to_string();
    let ran = fleet.carp(&["render", "--cluster", name, "--out", &shown]);
    let files: Vec<_> = files_below(&out)
        .into_iter()
        .map(|file| {
            let text = std::fs::read_to_string(&file).unwrap();
            format!("{}\n{text}", file.strip_prefix(&out).unwrap().display())
        })
        .collect();
    let told = format!("{}{}", ran.out.replace(&shown, "OUT"), files.join("\n"));
    (ran.exit, told, ran.err)
}

/// The files below a folder, in their order; none where it is not there.
fn files_below(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in folder.read_dir().into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files_below(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

#[test]
fn the_same_is_said_with_what_the_last_run_left_and_without() {
    let fleet = Reconciled::of(&generator::fleet(60, 1));
    assert_eq!(fleet.carp(&["reconcile", "--once"]).exit, 0);
    let mut states = 0..;
    let mut check = |fleet: &Reconciled, what: &str| {
        let state = states.next().unwrap();
        let before = git_files(fleet);
        let with = said(fleet, state);
        assert_eq!(git_files(fleet), before, "{what}: a look writes nothing else");
        let without = fleet.copy();
        std::fs::remove_dir_all(without.path().join(".git/carp")).unwrap();
        for (command, said) in said(&without, state) {
            assert_eq!(with[&command], said, "{what}: {command}");
        }
    };
    check(&fleet, "it stands");
    let file = generator::cluster_file(0);
    let text = fleet.read(&file);
    fleet.write(&file, text.replacen("  labels:\n", "  labels:\n    note: \"1\"\n", 1).as_bytes());
    check(&fleet, "a label, not committed");
    fleet.commit("a label");
    check(&fleet, "a label");
    fleet.write(&file, text.replacen("v1.34.", "v1.33.", 1).as_bytes());
    check(&fleet, "a version");
    fleet.write(&file, text.replacen("kind: ManagedCluster", "kind: Managed", 1).as_bytes());
    check(&fleet, "a broken document");
    fleet.write(&file, text.as_bytes());
    let more =
        small::cluster("more", "westeurope").replace("namespace: shop", "namespace: tenant-1");
    fleet.write("fleet/clusters/more.yaml", more.as_bytes());
    check(&fleet, "one more");
}

/// Every file below `.git`, with its length, but for what a look hashed: nothing that stands is said there.
fn git_files(fleet: &Reconciled) -> BTreeMap<String, u64> {
    fn below(folder: &std::path::Path, found: &mut BTreeMap<String, u64>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                below(&entry.path(), found);
            } else {
                found.insert(entry.path().display().to_string(), entry.metadata().unwrap().len());
            }
        }
    }
    let mut found = BTreeMap::new();
    below(&fleet.path().join(".git"), &mut found);
    found.remove(&fleet.path().join(".git/carp/folder.stat").display().to_string());
    found
}
