//! A run that looks only at the clusters that are removed says what a run says that looks at everything, from the removal to
//! the end of each deletion, over random histories.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use carp::model::Name;
use proptest::prelude::*;
use serde_json::Value;

use crate::affected_law::Standing;
use crate::memo_law::{Edit, apply};
use crate::support::breadth;
use crate::support::prepared::Prepared;
use crate::support::small;
use crate::support::world::after_nine;

const WORKERS: [&str; 2] = ["w-weu", "w-eus"];

/// What a worker says of the clusters that are being deleted on it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Going {
    /// It does not know yet.
    Unaware,
    /// The step is applied, and machines are there still.
    StillThere,
    /// The step is applied, and nothing is left but what it keeps.
    Evidence,
    /// It does not speak of them.
    Silent,
}

/// What people and workers do.
#[derive(Clone, Debug)]
enum Step {
    Add(u8),
    Remove(u8),
    Edit(Edit),
    Report(u8, Going),
}

fn steps() -> impl Strategy<Value = Vec<(Vec<Step>, u8)>> {
    let going = prop_oneof![
        Just(Going::Unaware),
        Just(Going::StillThere),
        Just(Going::Evidence),
        Just(Going::Evidence),
        Just(Going::Evidence),
        Just(Going::Silent)
    ];
    let edit = prop_oneof![
        any::<(u8, u8)>().prop_map(|(c, n)| Edit::Tag(c, n)),
        any::<(u8, u8)>().prop_map(|(c, n)| Edit::Label(c, n)),
        any::<(u8, u8)>().prop_map(|(c, n)| Edit::Version(c, n)),
        any::<u8>().prop_map(Edit::Rules),
        any::<u8>().prop_map(Edit::Quota),
        (0..2_u8, 3..9_u8).prop_map(|(w, n)| Edit::Capacity(w, n)),
    ];
    let step = prop_oneof![
        3 => (0..12_u8).prop_map(Step::Add),
        4 => (0..12_u8).prop_map(Step::Remove),
        1 => edit.prop_map(Step::Edit),
        6 => (0..2_u8, going).prop_map(|(worker, going)| Step::Report(worker, going)),
    ];
    prop::collection::vec((prop::collection::vec(step, 1..4), 1..9_u8), 1..10)
}

/// A cluster, of which the removal deletes it, lets go of it, or is held.
fn cluster(number: u8) -> String {
    let text =
        small::cluster(&format!("r{number:02}"), ["westeurope", "eastus"][usize::from(number) % 2]);
    match number % 6 {
        4 => text.replace("deletionPolicy: Delete", "deletionPolicy: Orphan"),
        5 => text.replace("  deletionPolicy: Delete\n", ""),
        _ => text,
    }
}

fn path(number: u8) -> String {
    format!("fleet/clusters/r{number:02}.yaml")
}

impl Standing {
    /// The small fleet, whose workers report.
    pub(crate) fn observed(guards: &str) -> Self {
        let mut files = small::files();
        files.insert("carp.yaml".to_owned(), format!("{}{guards}", small::FLEET));
        for number in 0..6 {
            files.insert(path(number), cluster(number));
        }
        let standing = Self::of_reporting(files, 8);
        assert_eq!(standing.baseline.as_ref().unwrap().0.counts.bound, 12);
        standing
    }

    /// A fleet of the small one's workers, which report and have room for so many clusters.
    pub(crate) fn of_reporting(files: BTreeMap<String, String>, capacity: u32) -> Self {
        static REPORTING: Prepared<(BTreeMap<String, String>, u32), Standing> = Prepared::new();
        REPORTING.of((files, capacity), |(files, capacity)| {
            Self::first_reports(files.clone(), *capacity)
        })
    }

    fn first_reports(mut files: BTreeMap<String, String>, capacity: u32) -> Self {
        for worker in WORKERS {
            let file = format!("fleet/workers/{worker}.yaml");
            let capacity = format!("capacity: {capacity}\n  observation: Agent");
            let text = files[&file].replace("capacity: 4", &capacity);
            files.insert(file, text);
        }
        let mut standing = Self::of_world(files);
        for _ in 0..2 {
            (0..2).for_each(|worker| standing.say(worker, Going::Unaware));
            standing.run();
        }
        standing.stand();
        standing
    }

    /// A worker reports the clusters that are recorded on it.
    pub(crate) fn say(&mut self, worker: u8, going: Going) {
        let worker = WORKERS[usize::from(worker)];
        let now = self.world.now;
        let mut text = format!(
            "schemaVersion: 1\nworker: {worker}\nworkerUID: u-{worker}\ntime: \"{now}\"\ncomplete: true\n\
             healthy: true\n"
        );
        let lock = self.world.output_text(&format!("workers/{worker}/carp.lock"));
        let lock: Value = lock.map_or(Value::Null, |lock| serde_json::from_str(&lock).unwrap());
        let rows = lock["clusters"].as_object().into_iter().flatten();
        let said = rows.filter_map(|(name, row)| said(name, &row["deletion"], going));
        let said: String = said.collect();
        if !said.is_empty() {
            let _ = write!(text, "clusters:\n{said}");
        }
        let reports = self.world.reports.get_or_insert_default();
        reports.insert(Name::parse(worker).unwrap(), text.into_bytes());
    }

    /// Takes a step a minute, with two runs after each.
    fn take_by_the_minute(&mut self, steps: &[Step]) {
        for (minute, step) in (1..).zip(steps) {
            self.world.now = after_nine(minute);
            self.take(step);
            self.run();
            self.run();
        }
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Add(number) => drop(self.world.write(&path(*number), &cluster(*number))),
            Step::Remove(number) => drop(self.world.files.remove(&path(*number))),
            Step::Edit(edit) => apply(&mut self.world, edit),
            Step::Report(worker, going) => self.say(*worker, *going),
        }
    }
}

/// What a report says of a cluster; `None`: nothing.
fn said(name: &str, deletion: &Value, going: Going) -> Option<String> {
    let mut text = format!("- name: {name}\n");
    let Some(digest) = deletion["digest"].as_str() else {
        let _ = write!(text, "  uid: u-{name}\n  phase: Running\n  present: [Cluster]\n");
        return Some(text);
    };
    let digest = digest.trim_start_matches("sha256:");
    let (other, own) = ("0".repeat(64), format!("  uid: u-{name}\n"));
    let mut kinds: Vec<&str> =
        deletion["keeps"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let (digest, uid) = match going {
        Going::Silent => return None,
        Going::Unaware => (other.as_str(), own.as_str()),
        Going::StillThere => (digest, own.as_str()),
        Going::Evidence => (digest, ""),
    };
    if !uid.is_empty() {
        kinds.extend(["Cluster", "AzureMachine"]);
    }
    let kinds = kinds.join(", ");
    let _ = write!(text, "{uid}  phase: Deleting\n  digest: \"{digest}\"\n  present: [{kinds}]\n");
    Some(text)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: breadth(24, 512), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_stands_is_never_what_a_removal_affects(history in steps(), wide in any::<bool>()) {
        let guards = ["", "  guards: {maxDeletions: 40, window: {hour: 20, day: 20}}\n"];
        let mut standing = Standing::observed(guards[usize::from(wide)]);
        let mut minute = 0;
        for (steps, minutes) in history {
            minute += i64::from(minutes);
            standing.world.now = after_nine(minute);
            for step in &steps {
                standing.take(step);
            }
            standing.run();
            standing.run();
        }
    }
}

/// What steps to another version while it is deleted is not decided anew in every run.
#[test]
fn what_was_between_two_versions_is_deleted_once() {
    let mut standing = Standing::observed("");
    let steps = [Step::Edit(Edit::Version(28, 38)), Step::Remove(4), Step::Remove(0)];
    standing.take_by_the_minute(&steps);
}

/// What goes back to a version from which its control plane went on keeps its folder, which is not decided anew in every run.
#[test]
fn what_goes_back_between_two_versions_is_refused_once() {
    let mut standing = Standing::observed("");
    let steps = [Step::Edit(Edit::Version(109, 3)), Step::Add(1), Step::Add(0)];
    standing.take_by_the_minute(&steps);
    assert_eq!(standing.world.propose_afresh().gates.len(), 1, "its folder stays");
}

/// What goes with an upgrade that a document asks for is its wish at every step of the way.
#[test]
fn an_upgrade_in_steps_of_many_clusters_is_held_by_nothing() {
    let mut standing = Standing::observed("");
    for number in 0..6 {
        let text = cluster(number).replace("version: v1.34.2", "version: v1.34.3");
        standing.world.write(&path(number), &text);
    }
    (0..2).for_each(|worker| standing.say(worker, Going::Unaware));
    let proposal = standing.world.run();
    assert!(proposal.plan.versions().next().is_some(), "they go in steps");
    let replaced = |hold: &&carp::model::Hold| hold.kind == carp::model::HoldKind::MachinesReplaced;
    assert_eq!(proposal.plan.holds.iter().find(replaced), None);
}

/// Whether the last step of a deletion was looked at by itself, with where it is now.
fn runs(standing: &mut Standing) -> (bool, bool) {
    (standing.run(), standing.run())
}

#[test]
fn a_removal_is_a_small_run_from_its_beginning_to_its_end() {
    for (number, steps) in [(0_u8, 2), (1, 2)] {
        let mut standing = Standing::observed("");
        standing.take(&Step::Remove(number));
        assert_eq!(runs(&mut standing), (true, true), "it begins");
        let name = format!("r{number:02}");
        assert!(standing.world.cluster_status(&name).unwrap().contains("phase: Deleting"));
        for step in 0..steps {
            standing.say(number % 2, Going::StillThere);
            assert_eq!(runs(&mut standing), (true, true), "machines are there");
            standing.say(number % 2, Going::Evidence);
            let before = standing.world.output;
            assert_eq!(runs(&mut standing), (true, true), "step {step}");
            assert_ne!(standing.world.output, before, "step {step}");
        }
        assert_eq!(standing.world.cluster_status(&name), None);
        assert_eq!(standing.world.worker_of(&name), None, "it is gone");
        standing.say(number % 2, Going::Evidence);
        assert_eq!(runs(&mut standing), (true, true), "it is not reported any more");
        let counts = standing.baseline.as_ref().unwrap().0.counts.clone();
        assert_eq!((counts.bound, counts.deleting), (11, 0));
        assert!(standing.baseline.as_ref().unwrap().0.gone.is_empty());
    }
}

#[test]
fn what_is_let_go_of_and_runs_on_is_told_by_a_look_at_everything() {
    let mut standing = Standing::observed("");
    standing.take(&Step::Remove(4));
    assert_eq!(runs(&mut standing), (true, true), "Flux is told to let go");
    standing.say(0, Going::StillThere);
    assert!(!standing.run(), "it is there, and carp knows nothing of it any more");
    assert_eq!(standing.world.worker_of("r04"), None);
    assert_eq!(standing.world.propose_afresh().diagnostics.iter().count(), 1);
}

#[test]
fn a_removal_of_which_nobody_said_what_becomes_is_held_by_a_small_run() {
    let mut standing = Standing::observed("");
    standing.take(&Step::Remove(5));
    assert_eq!(runs(&mut standing), (true, true));
    let baseline = &standing.baseline.as_ref().unwrap().0;
    assert_eq!(baseline.holds.len(), 1, "it is told");
    assert!(!baseline.quiet);
    standing.take(&Step::Remove(0));
    assert_eq!(runs(&mut standing), (true, true), "the other one goes");
    assert_eq!(standing.baseline.as_ref().unwrap().0.counts.deleting, 1);
}

#[test]
fn what_is_too_much_for_one_run_is_looked_at_with_everything() {
    let mut standing = Standing::observed("");
    for number in 0..3 {
        standing.take(&Step::Remove(number));
    }
    assert_eq!(runs(&mut standing), (true, true), "three are few");
    standing.take(&Step::Remove(3));
    assert!(!standing.run(), "of a fourth the guards hold that three went in this hour");
    assert_eq!(standing.world.propose_afresh().plan.holds.len(), 1);
}

#[test]
fn whoever_waits_for_room_is_looked_at_when_it_is_given_back() {
    let mut standing = Standing::observed("");
    // Eight fit on each, and twelve are there.
    for number in [6, 8, 10, 7, 9, 11] {
        standing.take(&Step::Add(number));
    }
    // A report of a cluster that came since is held against everything.
    standing.run();
    standing.baseline = None;
    standing.stand();
    assert!(standing.baseline.as_ref().unwrap().0.counts.pending > 0, "no room is left");
    standing.take(&Step::Remove(0));
    assert_eq!(runs(&mut standing), (true, true), "what is being deleted keeps its place");
    standing.say(0, Going::Evidence);
    assert!(standing.run());
    standing.say(0, Going::Evidence);
    let waiting = standing.baseline.as_ref().unwrap().0.counts.pending;
    assert!(standing.run(), "all that wait are planned, and nobody else");
    let counts = standing.world.propose_afresh().counts;
    assert_eq!(counts.pending, waiting - 1, "one came");
}

#[test]
fn a_status_that_waits_speaks_of_what_is_removed_in_the_next_run() {
    let mut standing = Standing::observed("");
    standing.take(&Step::Remove(0));
    standing.run_without_status();
    assert!(standing.run(), "it is looked at again");
    assert!(standing.world.cluster_status("r00").unwrap().contains("phase: Deleting"));
    standing.take(&Step::Add(6));
    standing.run_without_status();
    assert!(!standing.run(), "its worker has less room");
    assert!(standing.world.cluster_status("r06").is_some());
    let whole = standing.world.propose_afresh();
    assert_eq!((whole.counts.bound, whole.counts.deleting), (12, 1));
}
