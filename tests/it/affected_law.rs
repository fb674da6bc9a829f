//! A run that looks only at what a change affects says what a run says that looks at everything, over random
//! histories.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::OnceLock;

use carp::change::plan_digest;
use carp::model::{Baseline, Digest, Id, Input, KnownDocuments, Name, Proposal, Snapshot};
use carp::pipeline::{baseline, propose, propose_affected};
use carp::verify;
use proptest::prelude::*;

use crate::memo_law::{Edit, apply, edits};
use crate::support::breadth;
use crate::support::prepared::Prepared;
use crate::support::small;
use crate::support::world::World;

/// A world, and what its last run left standing. A copy goes its own way from there.
#[derive(Clone)]
pub(crate) struct Standing {
    pub(crate) world: World,
    pub(crate) baseline: Option<(Baseline, KnownDocuments)>,
    /// The reports of the last run.
    pub(crate) reports: Option<BTreeMap<Name, Vec<u8>>>,
    /// How many runs looked at what is affected alone.
    narrow_runs: u32,
    /// How a run left the fleet that looked at everything and saw nothing stand.
    left: Option<Left>,
}

#[derive(Clone)]
struct Left {
    input: Input,
    output: Id,
    reports: Option<BTreeMap<Name, Vec<u8>>>,
    reported: Digest,
}

impl Standing {
    pub(crate) fn new() -> Self {
        Self::of(small::files())
    }

    /// The fleet of these files, once it stands.
    pub(crate) fn of(files: BTreeMap<String, String>) -> Self {
        static STANDING: Prepared<BTreeMap<String, String>, Standing> = Prepared::new();
        STANDING.of(files, |files| {
            let mut standing = Self::of_world(files.clone());
            standing.stand();
            standing
        })
    }

    /// The fleet of these files after its first run.
    pub(crate) fn of_world(files: BTreeMap<String, String>) -> Self {
        let mut standing = Self::nothing_of(World::new(files));
        standing.run();
        standing
    }

    /// A world of whose runs nothing is known.
    fn nothing_of(world: World) -> Self {
        Self { world, baseline: None, reports: None, narrow_runs: 0, left: None }
    }

    /// Runs until nothing changes any more.
    #[track_caller]
    pub(crate) fn stand(&mut self) {
        let stands = (0..4).any(|_| {
            self.run();
            self.baseline.is_some()
        });
        assert!(stands, "a run that changes nothing leaves a baseline");
    }

    /// What a run says that looks at what is affected; `None` where that may be anything.
    fn propose(&self) -> Option<(Proposal, Baseline)> {
        let (before, documents) = self.baseline.as_ref()?;
        // The reports themselves are not read.
        let snapshot = Snapshot { reports: None, ..self.world.snapshot() };
        propose_affected(
            &snapshot,
            &self.world.reports_since(self.reports.as_ref()),
            &self.world.store,
            before,
            documents,
        )
        .unwrap()
    }

    /// Runs once where the status branch was written just now, so that it is not written again.
    pub(crate) fn run_without_status(&mut self) {
        let (proposal, next) = self.propose().expect("it affects few clusters");
        self.world.output = Some(proposal.tree);
        let (before, _) = self.baseline.as_mut().unwrap();
        match next.with_status_of(before) {
            Some(next) => *before = next,
            None => self.baseline = None,
        }
    }

    /// What a run says that looks at everything. Every third one knows nothing from before, and at night each; the
    /// others have a memo, which changes no byte (`memo_law`).
    fn whole(&mut self) -> Proposal {
        self.narrow_runs += 1;
        let afresh = breadth(self.narrow_runs % 3 == 1, true);
        if afresh { self.world.propose_afresh() } else { self.world.propose() }
    }

    /// Runs once, as a reconcile does; returns whether it looked at what is affected alone.
    pub(crate) fn run(&mut self) -> bool {
        let snapshot = self.world.snapshot();
        if let Some((proposal, next)) = self.propose() {
            assert_same(&proposal, &self.whole());
            self.world.commit(&proposal);
            let (before, _) = self.baseline.as_mut().unwrap();
            *before = next;
            self.reports.clone_from(&self.world.reports);
            return true;
        }
        let proposal = self.world.run();
        self.reports.clone_from(&self.world.reports);
        let reported = self.world.reported();
        self.baseline = self.standing(&snapshot, reported, &proposal);
        let left = || Left {
            input: snapshot.input.clone(),
            output: proposal.tree,
            reports: self.reports.clone(),
            reported,
        };
        self.left = self.baseline.is_none().then(left);
        false
    }

    /// What stands after a look at everything.
    fn standing(
        &self,
        snapshot: &Snapshot,
        reported: Digest,
        proposal: &Proposal,
    ) -> Option<(Baseline, KnownDocuments)> {
        let World { store, memo, .. } = &self.world;
        let left = baseline(snapshot, reported, proposal, store, memo).unwrap();
        let (fleet, previous) = (&proposal.fleet, &proposal.previous);
        let verified = Some(verify::fleet(&snapshot.input, store, fleet, previous).unwrap());
        left.map(|(before, documents)| (Baseline { verified, ..before }, documents))
    }

    /// Looks at everything as the last run left it, where that saw nothing stand, as the next run with news does.
    fn look_at_last_run(&mut self) {
        let left = self.left.take().filter(|left| self.world.output == Some(left.output));
        let Some(Left { input, reports, reported, .. }) = left else { return };
        let before = Snapshot { input, reports: reports.clone(), ..self.world.snapshot() };
        let looked = propose(&before, &self.world.store, &mut self.world.memo).unwrap();
        self.baseline = self.standing(&before, reported, &looked);
        self.reports = reports;
    }
}

/// Both write the same bytes, and tell the same.
#[track_caller]
fn assert_same(narrow: &Proposal, whole: &Proposal) {
    assert_eq!(narrow.message, whole.message);
    let paths = |p: &Proposal| p.changes.iter().map(|c| c.path.clone()).collect::<Vec<_>>();
    assert_eq!(paths(narrow), paths(whole));
    assert_eq!(narrow.tree, whole.tree);
    assert_eq!(narrow.fold_tree, whole.fold_tree);
    assert_eq!(narrow.status_tree, whole.status_tree);
    assert_eq!(narrow.counts, whole.counts);
    assert_eq!(narrow.reported, whole.reported);
    assert_eq!(narrow.form.is_some(), whole.form.is_some());
    let digest = |p: &Proposal| plan_digest(&p.plan, &p.previous, &p.gates);
    assert_eq!(digest(narrow), digest(whole));
    assert_eq!(narrow.diagnostics.sorted(), whole.diagnostics.sorted());
    assert_eq!(narrow.plan.holds, whole.plan.holds);
    assert_eq!(narrow.gates, whole.gates);
    assert_eq!(narrow.fleet.unloaded, whole.fleet.unloaded);
    assert!(narrow.valid_until.is_none_or(|at| whole.valid_until.is_some_and(|by| at <= by)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: breadth(24, 512), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_stands_is_never_what_a_change_affects(history in edits()) {
        let mut standing = Standing::new();
        for edit in &history {
            apply(&mut standing.world, edit);
            standing.run();
            standing.run();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: breadth(12, 512), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn of_a_fleet_that_is_never_quiet_nothing_is_missed(history in edits()) {
        let mut standing = Standing::new();
        for edit in &history {
            apply(&mut standing.world, edit);
            standing.look_at_last_run();
            standing.run();
        }
    }
}

/// A report that lies there and does not count is told of by whoever writes the status of its worker.
#[test]
fn a_late_report_is_told_of_when_a_cluster_comes_to_its_worker() {
    let mut standing = Standing::new();
    for minute in [38, 0] {
        apply(&mut standing.world, &Edit::Report(0, 0, minute));
        standing.stand();
    }
    let status = |standing: &Standing| standing.world.status_text("workers/w-weu.yaml").unwrap();
    assert!(status(&standing).contains("reason: Late"), "{}", status(&standing));
    apply(&mut standing.world, &Edit::Add(0));
    assert!(standing.run(), "a cluster comes to that worker, and nothing else happens");
    assert!(status(&standing).contains("reason: Late"), "{}", status(&standing));
    // The next one counts.
    apply(&mut standing.world, &Edit::Report(0, 0, 39));
    standing.stand();
    assert!(!status(&standing).contains("ReportRefused"), "{}", status(&standing));
}

/// The small fleet, whose workers report all clusters.
fn reporting() -> Standing {
    static REPORTING: OnceLock<Standing> = OnceLock::new();
    let first_reports = || {
        let mut standing = Standing::new();
        for worker in ["w-weu", "w-eus"] {
            standing.hear(&Said { worker, ..Said::default() });
        }
        for _ in 0..3 {
            standing.run();
        }
        assert!(standing.baseline.is_some(), "the fleet stands");
        standing
    };
    REPORTING.get_or_init(first_reports).clone()
}

/// What an agent says: all clusters of its worker run, but for what is named here.
struct Said<'a> {
    worker: &'a str,
    /// After 08:50: a run is at nine.
    minute: u8,
    healthy: bool,
    revision: u8,
    /// Clusters by their place in the worker's list, with a phase; `Gone` is not reported.
    clusters: &'a [(u8, &'a str)],
    /// Namespaces that carp did not make.
    foreign: &'a [&'a str],
}

impl Default for Said<'_> {
    fn default() -> Self {
        Self { worker: "w-weu", minute: 0, healthy: true, revision: 0, clusters: &[], foreign: &[] }
    }
}

impl Standing {
    fn hear(&mut self, said: &Said<'_>) {
        let Said { worker, minute, healthy, revision, clusters, foreign } = said;
        let mut text = format!(
            "schemaVersion: 1\nworker: {worker}\nworkerUID: u-{worker}\ntime: \"2026-11-01T08:{:02}:00Z\"\n\
             complete: true\nhealthy: {healthy}\nappliedRevision: \"{revision}\"\n\
             foreignNamespaces: [{}]\nclusters:\n",
            50 + minute,
            foreign.join(", "),
        );
        let world = &mut self.world;
        let files = world.files.keys();
        let names =
            files.filter_map(|path| path.strip_prefix("fleet/clusters/")?.strip_suffix(".yaml"));
        let here = names.filter(|name| world.worker_of(name).as_deref() == Some(worker));
        for (at, name) in here.enumerate() {
            let of = clusters.iter().find(|(place, _)| usize::from(*place) == at);
            let phase = of.map_or("Running", |(_, phase)| *phase);
            if phase != "Gone" {
                let _ = write!(text, "- name: {name}\n  uid: u-{name}\n  phase: {phase}\n");
            }
        }
        let reports = world.reports.get_or_insert_default();
        reports.insert(Name::parse(worker).unwrap(), text.into_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: breadth(24, 512), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_stands_is_never_what_a_report_affects(
        history in prop::collection::vec(
            (any::<bool>(), 0..10_u8, 0..3_u8, prop::collection::vec((0..4_u8, 0..5_usize), 0..3), any::<Option<(u8, u8)>>()),
            1..8,
        ),
    ) {
        const PHASES: [&str; 5] = ["Running", "Degraded", "Updating", "Deleting", "Gone"];
        let mut standing = reporting();
        for (minute, (west, sick, revision, clusters, edit)) in (1..).zip(history) {
            let worker = if west { "w-weu" } else { "w-eus" };
            let clusters: Vec<_> = clusters.iter().map(|(at, phase)| (*at, PHASES[*phase])).collect();
            let foreign: &[&str] = if minute % 3 == 0 { &["r02", "r05"] } else { &[] };
            let said = Said { worker, minute, healthy: sick != 0, revision, clusters: &clusters, foreign };
            standing.hear(&said);
            if let Some((cluster, how)) = edit {
                let edit = match how % 4 {
                    0 => Edit::Add(cluster),
                    1 => Edit::Remove(cluster),
                    2 => Edit::Tag(cluster, how),
                    _ => Edit::Version(cluster, how),
                };
                apply(&mut standing.world, &edit);
            }
            standing.run();
            standing.run();
        }
    }
}

#[test]
fn a_report_looks_at_the_clusters_of_which_it_says_something_else() {
    let of = |said: &Said<'_>| {
        let mut standing = reporting();
        standing.hear(said);
        let clusters = standing.propose().map(|(proposal, _)| proposal.plan.clusters.len());
        // What it comes to is compared with a look at everything.
        assert_eq!(standing.run(), clusters.is_some());
        assert!(standing.run() || clusters.is_none(), "it is folded");
        clusters
    };
    let said = Said { minute: 5, ..Said::default() };
    assert_eq!(of(&said), Some(0), "only its time is another");
    assert_eq!(of(&Said { revision: 1, ..said }), Some(0), "what it applied decides nothing");
    assert_eq!(of(&Said { clusters: &[(0, "Degraded")], ..said }), Some(1));
    assert_eq!(of(&Said { clusters: &[(0, "Gone"), (2, "Updating")], ..said }), Some(2));
    assert_eq!(of(&Said { healthy: false, ..said }), None, "placements read that");
    assert_eq!(of(&Said { foreign: &["billing"], ..said }), None, "so they do that");
    assert_eq!(of(&Said { worker: "w-new", ..said }), None, "a first report");
}

#[test]
fn no_cluster_comes_into_a_namespace_that_carp_did_not_make() {
    let mut standing = reporting();
    let foreign = |standing: &mut Standing, names: &[&str]| {
        for worker in ["w-weu", "w-eus"] {
            standing.hear(&Said { worker, minute: 5, foreign: names, ..Said::default() });
        }
        for _ in 0..2 {
            standing.run();
        }
    };
    foreign(&mut standing, &["r01"]);
    apply(&mut standing.world, &Edit::Add(1));
    apply(&mut standing.world, &Edit::Add(2));
    standing.run();
    assert_eq!(
        standing.world.worker_of("r01"),
        None,
        "it would be made in what is somebody else's"
    );
    let there = standing.world.worker_of("r02").expect("nobody has its name");

    let before = standing.world.output;
    foreign(&mut standing, &["r01", "r02"]);
    assert_eq!(standing.world.worker_of("r02"), Some(there), "what is placed stays");
    assert_eq!(standing.world.output, before, "with all that is written of it");
    let found = standing.world.propose_afresh().diagnostics;
    let told: Vec<_> = found.iter().map(|d| d.message.as_str()).collect();
    assert!(told.len() == 1 && told[0].starts_with("r02 is recorded on"), "{told:?}");

    foreign(&mut standing, &[]);
    assert!(standing.world.worker_of("r01").is_some(), "the namespace is gone");
}

#[test]
fn what_is_told_of_others_is_told_again() {
    let stands = |edit: &dyn Fn(&mut World)| {
        let mut standing = Standing::new();
        for cluster in [1, 2] {
            apply(&mut standing.world, &Edit::Add(cluster));
        }
        for _ in 0..3 {
            standing.run();
        }
        edit(&mut standing.world);
        for _ in 0..4 {
            standing.run();
        }
        apply(&mut standing.world, &Edit::Tag(1, 1));
        assert!(standing.run(), "only r01 is looked at");
        let (baseline, _) = standing.baseline.take().unwrap();
        let told = baseline.busy.len() + baseline.gone.len();
        (baseline.findings.len(), baseline.holds.len(), baseline.gates.len(), told)
    };
    assert_eq!(stands(&|_| {}), (0, 0, 0, 0));
    let broken = stands(&|world| apply(world, &Edit::Break(2)));
    assert_eq!(broken, (1, 1, 0, 1), "a broken document, and no deletion may begin");
    let going = stands(&|world| apply(world, &Edit::Remove(2)));
    assert_eq!(going, (0, 0, 0, 1), "a deletion that waits for evidence");
    let pasted = stands(&|world| {
        let file = "fleet/clusters/r02.yaml";
        let text = world.files[file].replace("metadata:\n", "metadata:\n  uid: 1-2-3\n");
        world.write(file, &text);
    });
    assert_eq!(pasted, (1, 0, 0, 0), "a warning");
}

/// A worker that a pool made, and that is running.
fn pooled() -> Standing {
    let mut files = small::files();
    let pool = "apiVersion: carp.dev/v1alpha1\nkind: WorkerPool\nmetadata:\n  name: weu\nspec:\n  max: 2\n  template:\n    \
                spec:\n      version: v1.34.2\n      location: northeurope\n      replicas: 3\n      capacity: 4\n      \
                observation: Agent\n";
    files.insert("fleet/pools/weu.yaml".to_owned(), pool.to_owned());
    files.insert("fleet/clusters/north.yaml".to_owned(), small::cluster("north", "northeurope"));
    let mut world = World::new(files);
    world.reports = Some(BTreeMap::new());
    world.run();
    let worker = world.worker_of("north").expect("the pool made a worker for it");
    let text = format!(
        "schemaVersion: 1\nworker: {worker}\nworkerUID: u\ntime: \"2026-11-01T08:59:00Z\"\ncomplete: true\nhealthy: true\n"
    );
    world.reports = Some([(Name::parse(&worker).unwrap(), text.into_bytes())].into());
    let mut standing = Standing::nothing_of(world);
    for _ in 0..4 {
        standing.run();
    }
    standing
}

#[test]
fn a_worker_that_a_pool_made_is_like_any_other_once_it_ran() {
    let mut standing = pooled();
    let text = standing.world.files["fleet/clusters/north.yaml"].clone();
    let paused = text.replacen("spec:\n", "spec:\n  paused: true\n", 1);
    standing.world.write("fleet/clusters/north.yaml", &paused);
    let before = standing.world.output;
    assert!(standing.run(), "only north is looked at");
    assert_ne!(standing.world.output, before);
    assert!(standing.run());
}

#[test]
fn a_report_whose_status_waits_is_folded_by_the_next_run() {
    let mut standing = reporting();
    standing.hear(&Said { minute: 5, clusters: &[(0, "Degraded")], ..Said::default() });
    let (proposal, next) = standing.propose().expect("it affects one cluster");
    assert_ne!(proposal.status_tree, standing.world.status.unwrap());
    // The status branch was written just now, so nothing is committed.
    let (before, _) = standing.baseline.as_mut().unwrap();
    *before = next.with_status_of(before).expect("nobody is gone");
    let (again, _) = standing.propose().expect("it is heard again");
    assert_eq!(again.status_tree, proposal.status_tree);
    assert!(standing.run());
}

#[test]
fn a_status_that_waits_is_written_by_the_next_run() {
    let mut standing = Standing::new();
    apply(&mut standing.world, &Edit::Add(1));
    for _ in 0..2 {
        standing.run();
    }
    apply(&mut standing.world, &Edit::Tag(1, 1));
    standing.run_without_status();
    assert!(standing.run(), "the cluster is looked at again");
    assert_eq!(standing.world.propose_afresh().counts, standing.baseline.unwrap().0.counts);
}

#[test]
fn an_edit_of_one_cluster_looks_at_that_cluster() {
    for edit in [Edit::Tag(1, 1), Edit::Pause(1, true), Edit::Version(1, 3), Edit::Comment(1, 1)] {
        let mut standing = Standing::new();
        apply(&mut standing.world, &Edit::Add(1));
        for _ in 0..2 {
            assert!(standing.run(), "a new cluster is placed by what stands");
        }
        apply(&mut standing.world, &edit);
        let before = standing.world.output;
        assert!(standing.run(), "{edit:?}");
        let changed = standing.world.output != before;
        assert_eq!(changed, !matches!(edit, Edit::Comment(..)), "{edit:?}");
        // What was written is looked at once more, and stands then.
        assert!(standing.run());
        assert_eq!(standing.baseline.as_ref().unwrap().0.unsettled.len(), 0, "{edit:?}");
    }
}
