//! Two clusters wait and one place becomes free. The story is told by what the real program prints; in its
//! twin the worker's report is stale, and nobody is placed.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::support::reconciled::{Ran, Reconciled};
use crate::support::small::{self, cluster, worker};

/// One worker that reports, with two places for two clusters, and two more clusters that wait. The one that
/// came first is not the first by name.
struct Story {
    fleet: Reconciled,
    reports: PathBuf,
}

impl Story {
    fn begin() -> Self {
        let mut files = BTreeMap::from([
            ("carp.yaml".to_owned(), small::FLEET.to_owned()),
            ("fleet/workers/w-weu.yaml".to_owned(), observed(2)),
        ]);
        for name in ["alpha", "bravo"] {
            files.insert(format!("fleet/clusters/{name}.yaml"), cluster(name, "westeurope"));
        }
        let fleet = Reconciled::of(&files);
        let reports = fleet.beside("reports");
        let story = Self { fleet, reports };
        story.report("2026-11-01T08:59:00Z");
        story.reconcile();
        for name in ["zulu-early", "early-bird"] {
            let file = format!("fleet/clusters/{name}.yaml");
            story.fleet.write(&file, cluster(name, "westeurope").as_bytes());
            story.fleet.commit(name);
            story.reconcile();
        }
        story
    }

    fn report(&self, time: &str) {
        let text = format!(
            "schemaVersion: 1\nworker: w-weu\nworkerUID: uid\ntime: \"{time}\"\ncomplete: true\nhealthy: true\n"
        );
        fs::create_dir_all(&self.reports).unwrap();
        fs::write(self.reports.join("w-weu.yaml"), text).unwrap();
    }

    /// The worker has another place.
    fn grow(&self) {
        self.fleet.write("fleet/workers/w-weu.yaml", observed(3).as_bytes());
        self.fleet.commit("one more place");
    }

    fn carp(&self, args: &[&str]) -> Ran {
        let folder = self.reports.to_str().unwrap();
        let ran = self.fleet.carp(&[args, &["--observed", folder]].concat());
        assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
        ran
    }

    fn reconcile(&self) {
        self.carp(&["reconcile", "--once"]);
    }

    /// What `carp status` says of the clusters that were not there from the start, without their ages.
    fn waiting(&self) -> String {
        let status = self.carp(&["status"]).out;
        let rows =
            status.lines().filter(|l| l.starts_with("zulu-early") || l.starts_with("early-bird"));
        let row = |line: &str| line.split_whitespace().take(4).collect::<Vec<_>>().join(" ") + "\n";
        rows.map(row).collect()
    }
}

fn observed(capacity: u32) -> String {
    let text = worker("w-weu", "westeurope", capacity);
    format!("{text}  observation: Agent\n  heartbeatTimeout: 10m\n")
}

#[test]
fn one_place_for_two_goes_to_the_one_that_waits_longer() {
    let story = Story::begin();
    insta::assert_snapshot!(story.waiting(), @r"
    early-bird shop Pending -
    zulu-early shop Pending -
    ");
    let told = story.carp(&["explain", "cluster/early-bird"]).out;
    assert!(told.starts_with("cluster/early-bird: pending, number 2 in the queue\n"), "{told}");

    story.grow();
    story.reconcile();
    insta::assert_snapshot!(story.waiting(), @r"
    early-bird shop Pending -
    zulu-early shop Scheduled w-weu
    ");
    insta::assert_snapshot!(story.carp(&["explain", "cluster/early-bird"]).out, @r"
    cluster/early-bird: pending, number 2 in the queue
    0/1 workers are available: 1 worker(s) had insufficient clusters.
    policy: default (built-in)

    WORKER   REFUSES BECAUSE
    w-weu    needs 1 clusters, 0 free

    Any one of these would place it:
      - +1 clusters on w-weu (then w-weu takes it)
    ");
    let tree = story.fleet.output_tree();
    story.reconcile();
    assert_eq!(story.fleet.output_tree(), tree, "and nothing more happens");
}

#[test]
fn while_its_report_is_stale_the_place_goes_to_nobody() {
    let story = Story::begin();
    fs::remove_file(story.reports.join("w-weu.yaml")).unwrap();
    story.grow();
    story.reconcile();
    insta::assert_snapshot!(story.waiting(), @r"
    early-bird shop Pending -
    zulu-early shop Pending -
    ");
    let told = story.carp(&["explain", "cluster/zulu-early"]).out;
    assert!(told.contains("silent since"), "{told}");

    // A report comes, and the place goes to the one that waits longer after all.
    story.report("2026-11-01T09:00:00Z");
    story.reconcile();
    insta::assert_snapshot!(story.waiting(), @r"
    early-bird shop Pending -
    zulu-early shop Scheduled w-weu
    ");
}
