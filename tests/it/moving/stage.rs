//! Two workers that do what the output says: each applies its folder, and reports what is there then.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use carp::model::{MoveProgress, Name, Proposal};

use crate::support::small;
use crate::support::world::{World, after_nine, record};

/// The worker that the clusters are on, and the one that they go to.
pub(super) const OLD: &str = "w-weu";
pub(super) const NEW: &str = "w-eus";

/// The fleet as it goes on.
pub(super) struct Stage {
    pub(super) world: World,
    /// Minutes after nine.
    pub(super) minute: i64,
    /// The workers that do nothing and say nothing.
    pub(super) dead: BTreeSet<&'static str>,
    /// Since when each worker has each cluster.
    made: BTreeMap<(&'static str, String), i64>,
    /// What happened, minute by minute.
    pub(super) told: String,
}

impl Stage {
    /// `count` clusters on the old worker, of which the last `held` stay whatever happens.
    pub(super) fn new(count: usize, held: usize, policy: &str) -> Self {
        Self::beside(count, held, policy, ("eastus", ""))
    }

    /// `count` clusters on the old worker, and the new one, which was cordoned until now, in the same
    /// place: nothing speaks for either but what is on it.
    pub(super) fn uneven(count: usize) -> Self {
        let cordoned = "  unschedulable: true\n";
        let mut stage = Self::beside(count, 0, "", ("westeurope", cordoned));
        stage.world.edit(&format!("fleet/workers/{NEW}.yaml"), cordoned, "");
        stage.tick();
        stage
    }

    /// The same with the new worker there, and with this besides in its document.
    fn beside(count: usize, held: usize, policy: &str, (there, more): (&str, &str)) -> Self {
        let observed =
            |name, location| format!("{}  observation: Agent\n", small::worker(name, location, 20));
        let mut files = BTreeMap::from([
            ("carp.yaml".to_owned(), small::FLEET.to_owned()),
            (format!("fleet/workers/{OLD}.yaml"), observed(OLD, "westeurope")),
            (format!("fleet/workers/{NEW}.yaml"), observed(NEW, there) + more),
        ]);
        if !policy.is_empty() {
            let text = format!(
                "apiVersion: carp.dev/v1alpha1\nkind: PlacementPolicy\nmetadata:\n  name: mine\nspec:\n  \
                 priority: 1\n  {policy}\n"
            );
            files.insert("policies/mine.yaml".to_owned(), text);
        }
        for i in 0..count {
            let name = format!("c{i}");
            let mut text = small::cluster(&name, "westeurope");
            if i + held < count {
                text.push_str("  onWorkerLoss: Rebuild\n");
            }
            files.insert(format!("fleet/clusters/{name}.yaml"), text);
        }
        let mut stage = Self {
            world: World::new(files),
            minute: 0,
            dead: BTreeSet::new(),
            made: BTreeMap::new(),
            told: String::new(),
        };
        for _ in 0..4 {
            stage.tick();
        }
        assert_eq!(stage.on(OLD).len(), count, "{}", stage.told);
        stage.told.clear();
        stage
    }

    /// A minute later: what lives applies its folder and reports, and carp runs.
    pub(super) fn tick(&mut self) -> Proposal {
        self.minute += 1;
        for worker in [OLD, NEW] {
            if !self.dead.contains(worker) {
                self.report(worker);
            }
        }
        self.run()
    }

    /// Runs, and shows that it settles.
    pub(super) fn run(&mut self) -> Proposal {
        let proposal = self.world.settle_at(self.minute);
        self.tell(&proposal);
        proposal
    }

    fn tell(&mut self, proposal: &Proposal) {
        for (name, moved) in proposal.plan.moves() {
            if !matches!(moved.progress, MoveProgress::Leaves | MoveProgress::Starts) {
                let progress = moved.progress.name();
                let _ = writeln!(
                    self.told,
                    "{:>3} {name} {progress} {}>{} {}",
                    self.minute,
                    moved.from,
                    moved.to,
                    moved.cause.name()
                );
            }
        }
    }

    /// The clusters whose folder is on a worker.
    pub(super) fn on(&self, worker: &str) -> BTreeSet<String> {
        let below = format!("workers/{worker}/clusters/");
        let files = self.world.output_files();
        let names = files.keys().filter_map(|path| path.strip_prefix(&below)?.split('/').next());
        names.map(str::to_owned).collect()
    }

    pub(super) fn file(&self, path: &str) -> String {
        self.world.output_text(path).unwrap_or_else(|| panic!("there is no {path}"))
    }

    pub(super) fn record(&self, cluster: &str) -> String {
        self.file(&record(cluster))
    }

    pub(super) fn folder(&self, worker: &str, cluster: &str) -> String {
        self.file(&format!("workers/{worker}/clusters/{cluster}/cluster.yaml"))
    }

    pub(super) fn cluster_status(&self, name: &str) -> String {
        self.world.cluster_status(name).unwrap()
    }

    pub(super) fn worker_status(&self, name: &str) -> String {
        self.world.status_text(&format!("workers/{name}.yaml")).unwrap()
    }

    /// Lays an overlay over the old worker.
    pub(super) fn overlay(&mut self, spec: &str) {
        let text = format!(
            "apiVersion: carp.dev/v1alpha1\nkind: WorkerOverlay\nmetadata:\n  name: {OLD}\nspec:\n  {spec}\n"
        );
        self.world.write(&format!("fleet/overlays/{OLD}.yaml"), &text);
    }

    /// A worker's last report lies there again, with another time.
    pub(super) fn says_again(&mut self, worker: &str, minute: i64) {
        let reports = self.world.reports.as_mut().unwrap();
        let report = reports.get_mut(worker).unwrap();
        let text = String::from_utf8(report.clone()).unwrap();
        let time = text.lines().find(|line| line.starts_with("time:")).unwrap().to_owned();
        *report = text.replace(&time, &format!("time: \"{}\"", after_nine(minute))).into_bytes();
    }

    /// Somebody requests a rebalance of at most three moves of 20 points, of exactly these clusters.
    pub(super) fn rebalance(&mut self, clusters: &[&str]) {
        let digest = carp::model::Digest::of_names(clusters.iter().copied());
        let text = format!(
            "apiVersion: carp.dev/v1alpha1\nkind: Acknowledgement\nmetadata:\n  name: even\nspec:\n  of: \
             rebalance\n  count: {}\n  digest: \"{digest}\"\n  rebalance: {{most: 3, gain: 20}}\n",
            clusters.len()
        );
        self.world.write("fleet/acknowledgements/even.yaml", &text);
    }

    /// What a worker reports once it has applied what is committed. A cluster is made for a minute before
    /// it runs.
    fn report(&mut self, worker: &'static str) {
        let time = after_nine(self.minute);
        let mut text = format!(
            "schemaVersion: 1\nworker: {worker}\nworkerUID: u-{worker}\ntime: \"{time}\"\ncomplete: true\n\
             healthy: true\n"
        );
        let there = if self.world.output.is_some() { self.on(worker) } else { BTreeSet::new() };
        self.made.retain(|(on, name), _| *on != worker || there.contains(name));
        if !there.is_empty() {
            text.push_str("clusters:\n");
        }
        for name in there {
            let folder = self.folder(worker, &name);
            let digest = folder
                .lines()
                .find_map(|line| line.trim().strip_prefix("carp.dev/digest: sha256:"))
                .unwrap()
                .to_owned();
            let since = *self.made.entry((worker, name.clone())).or_insert(self.minute);
            let whole = folder.contains("kind: Cluster\n");
            let phase = match (whole, since < self.minute) {
                (false, _) => "Deleting",
                (true, false) => "Provisioning",
                (true, true) => "Running",
            };
            let _ = writeln!(text, "- name: {name}\n  phase: {phase}\n  digest: \"{digest}\"");
            let mut present = vec!["ManagedCluster", "Namespace"];
            if whole {
                text.push_str("  uid: c-1\n");
                present.extend(["Cluster", "KamajiControlPlane"]);
            }
            if !folder.contains("step: D2") {
                present.push("HelmChartProxy");
            }
            text.push_str("  present:\n");
            for kind in present {
                let _ = writeln!(text, "  - {kind}");
            }
        }
        let reports = self.world.reports.get_or_insert_default();
        reports.insert(Name::parse(worker).unwrap(), text.into_bytes());
    }
}
