//! `propose` says the same with any memo and without one, over random histories.

use std::fmt::Write as _;

use carp::change::TreeEdit;
use carp::model::{Name, Store as _};
use proptest::prelude::*;

use crate::support::breadth;
use crate::support::small::{self, cluster, worker};
use crate::support::world::World;

/// An edit that a person might make.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Add(u8),
    Remove(u8),
    Resize(u8, u8),
    Version(u8, u8),
    Break(u8),
    Cordon(u8),
    Capacity(u8, u8),
    /// The cluster gets a label by which rules tell clusters apart.
    Label(u8, u8),
    /// A policy that spreads clusters, or keeps them apart, or both.
    Rules(u8),
    /// A policy that changes objects of some clusters or workers, or does not load.
    Override(u8),
    /// What the tenant may take.
    Quota(u8),
    /// The cluster gets a label by which rules tell clusters apart, and a rule of its own.
    Own(u8, u8),
    /// The cluster gets a label that no rule reads.
    Tag(u8, u8),
    /// The cluster is paused, or not.
    Pause(u8, bool),
    /// A worker reports all clusters of these files in one phase.
    Report(u8, u8, u8),
    /// The cluster's file has two documents: bit 0 has them the other way round, bit 1 has the second warned of, bit 2 breaks it,
    /// and the rest are lines above both.
    Pair(u8, u8),
    /// A comment, which says nothing.
    Comment(u8, u8),
    LoseMemo,
    /// A person changes or removes a file of the output branch, or puts one there.
    ByHand(u8, u8),
    /// `spec.drift`.
    Drift(u8),
}

pub(crate) fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let edit = prop_oneof![
        any::<u8>().prop_map(Edit::Add),
        any::<u8>().prop_map(Edit::Remove),
        any::<(u8, u8)>().prop_map(|(c, n)| Edit::Resize(c, n)),
        any::<(u8, u8)>().prop_map(|(c, n)| Edit::Version(c, n)),
        any::<u8>().prop_map(Edit::Break),
        any::<u8>().prop_map(Edit::Cordon),
        any::<(u8, u8)>().prop_map(|(w, n)| Edit::Capacity(w, n)),
        any::<(u8, u8)>().prop_map(|(c, n)| Edit::Label(c, n)),
        any::<(u8, u8)>().prop_map(|(c, n)| Edit::Own(c, n)),
        any::<u8>().prop_map(Edit::Rules),
        any::<u8>().prop_map(Edit::Override),
        any::<u8>().prop_map(Edit::Quota),
        any::<(u8, u8)>().prop_map(|(c, n)| Edit::Tag(c, n)),
        any::<(u8, u8)>().prop_map(|(c, how)| Edit::Pair(c, how)),
        (0..2_u8, 0..8_u8).prop_map(|(c, how)| Edit::Pair(c, how & !4)),
        any::<(u8, bool)>().prop_map(|(c, on)| Edit::Pause(c, on)),
        any::<(u8, u8, u8)>().prop_map(|(w, p, at)| Edit::Report(w, p, at)),
        any::<(u8, u8)>().prop_map(|(c, n)| Edit::Comment(c, n)),
        Just(Edit::LoseMemo),
        any::<(u8, u8)>().prop_map(|(file, how)| Edit::ByHand(file, how)),
        any::<(u8, u8)>().prop_map(|(file, how)| Edit::ByHand(file, how)),
        any::<u8>().prop_map(Edit::Drift),
    ];
    prop::collection::vec(edit, 1..12)
}

fn path(number: u8) -> String {
    format!("fleet/clusters/r{:02}.yaml", number % 12)
}

fn name(number: u8) -> String {
    format!("r{:02}", number % 12)
}

fn location(number: u8) -> &'static str {
    ["westeurope", "eastus"][usize::from(number) % 2]
}

fn worker_name(number: u8) -> &'static str {
    ["w-weu", "w-eus"][usize::from(number) % 2]
}

pub(crate) fn apply(world: &mut World, edit: &Edit) {
    match *edit {
        Edit::Add(n) => {
            world.write(&path(n), &cluster(&name(n), location(n)));
        }
        Edit::Remove(n) => {
            world.files.remove(&path(n));
        }
        Edit::Break(n) => {
            world.write(&path(n), "kind: {");
        }
        Edit::Pair(n, how) => {
            world.write(&path(n), &pair(n, how));
        }
        Edit::Cordon(n) => {
            let name = worker_name(n);
            let text = format!("{}  unschedulable: true\n", worker(name, location(n), 4));
            world.write(&format!("fleet/workers/{name}.yaml"), &text);
        }
        Edit::Capacity(n, to) => {
            let name = worker_name(n);
            let text = worker(name, location(n), u32::from(to % 9));
            world.write(&format!("fleet/workers/{name}.yaml"), &text);
        }
        Edit::Report(worker, phase, minute) => {
            let name = worker_name(worker);
            let report = report(world, name, phase, minute % 60);
            world.reports.get_or_insert_default().insert(Name::parse(name).unwrap(), report);
        }
        Edit::Rules(n) => {
            world.write("policies/rules.yaml", &rules(n % 12));
        }
        Edit::Override(n) => {
            world.write("policies/override.yaml", &overriding(n));
        }
        Edit::Quota(n) => {
            let tenant = "  - {name: shop, quota: {total: {clusters: N}}}\n";
            let tenant = tenant.replace('N', &(n % 12).to_string());
            world.write("carp.yaml", &format!("{}  tenants:\n{tenant}", small::FLEET));
        }
        Edit::LoseMemo => world.memo = carp::model::Memo::default(),
        Edit::ByHand(file, how) => by_hand(world, file, how),
        Edit::Drift(policy) => {
            let policy = ["overwrite", "refuse", "warn"][usize::from(policy) % 3];
            world.write(
                "carp.yaml",
                &small::FLEET.replace("spec:\n", &format!("spec:\n  drift: {policy}\n")),
            );
        }
        Edit::Resize(n, _)
        | Edit::Version(n, _)
        | Edit::Label(n, _)
        | Edit::Own(n, _)
        | Edit::Tag(n, _)
        | Edit::Pause(n, _)
        | Edit::Comment(n, _) => {
            let there = world.files.get(&path(n)).map(|text| edited(text, n, edit));
            world.files.extend(there.map(|text| (path(n), text)));
        }
    }
}

/// A file of two clusters.
fn pair(n: u8, how: u8) -> String {
    let second = cluster(&format!("s{:02}", n % 12), location(n));
    let second = match how & 0b110 {
        0 => second,
        2 => second.replacen("metadata:\n", "metadata:\n  uid: 1-2-3\n", 1),
        _ => "kind: {\n".to_owned(),
    };
    let mut both = [cluster(&name(n), location(n)), second];
    if how & 1 != 0 {
        both.reverse();
    }
    format!("{}{}", "---\n# a line\n".repeat(usize::from(how >> 4)), both.join("---\n"))
}

/// A policy that labels objects of clusters or workers, that replaces their machines, that fails on some, or that does
/// not load.
fn overriding(n: u8) -> String {
    let change = match n % 4 {
        0 => "{labels: {set: {by: me}}}",
        1 => "{mergePatch: {spec: {template: {spec: {osDisk: {diskSizeGB: 200}}}}}}",
        2 => "{jsonPatch: [{op: test, path: /metadata/namespace, value: r01}]}",
        _ => "{lables: {}}",
    };
    let of_workers = n & 0x20 != 0;
    let selector = match n % 3 {
        0 if of_workers => "priority: 2",
        0 => "clusterSelector: {matchLabels: {tier: gold}}",
        1 => "workerSelector: {names: [w-weu]}",
        _ => "priority: 1",
    };
    let target = if of_workers { "Worker" } else { "ManagedCluster" };
    format!(
        "apiVersion: carp.dev/v1alpha1\nkind: OverridePolicy\nmetadata: {{name: o}}\nspec:\n  target: {target}\n  {selector}\n  objects: \
         [{{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AzureMachineTemplate}}]\n  changes: [{change}]\n"
    )
}

/// The text of a cluster's file after an edit of what it says.
fn edited(text: &str, n: u8, edit: &Edit) -> String {
    let whole = cluster(&name(n), location(n));
    let labelled = |key: &str, value: u8| {
        let labels = format!("  labels: {{{key}: t{}}}\nspec:\n", value % 3);
        whole.replacen("spec:\n", &labels, 1)
    };
    match *edit {
        Edit::Resize(_, to) => whole.replace("replicas: 2", &format!("replicas: {}", to % 5)),
        Edit::Version(_, to) => {
            whole.replace("version: v1.34.2", &format!("version: v1.34.{}", to % 5))
        }
        Edit::Label(_, to) => labelled("team", to),
        Edit::Own(_, to) => {
            let key = if to & 1 == 0 { "worker" } else { "location" };
            let rule = "{topologyKey: carp.dev/KEY, matchLabelKeys: [team]}".replace("KEY", key);
            format!("{}  placement: {{antiAffinity: [{rule}]}}\n", labelled("team", to))
        }
        Edit::Tag(_, to) => labelled("tag", to),
        Edit::Pause(_, on) => format!("{whole}  paused: {on}\n"),
        Edit::Comment(_, to) => format!("# {to}\n{text}"),
        _ => text.to_owned(),
    }
}

/// What a worker reports of the clusters that it was given.
fn report(world: &World, worker: &str, phase: u8, minute: u8) -> Vec<u8> {
    let phase = ["Provisioning", "Running", "Degraded"][usize::from(phase) % 3];
    let mut text = format!(
        "schemaVersion: 1\nworker: {worker}\nworkerUID: u-{worker}\ntime: \"2026-11-01T08:{minute:02}:00Z\"\n\
         complete: true\nhealthy: true\nclusters:\n"
    );
    let named =
        |path: &str| Some(path.strip_prefix("fleet/clusters/")?.strip_suffix(".yaml")?.to_owned());
    let clusters = world.files.keys().filter_map(|path| named(path));
    for cluster in clusters.filter(|cluster| world.worker_of(cluster).as_deref() == Some(worker)) {
        let _ = write!(text, "- name: {cluster}\n  uid: u-{cluster}\n  phase: {phase}\n");
    }
    text.into_bytes()
}

/// A policy for all clusters: bit 0 spreads them by team, bit 1 keeps those of one team apart, and the rest is how much it
/// prefers a location.
fn rules(which: u8) -> String {
    let mut policy =
        "apiVersion: carp.dev/v1alpha1\nkind: PlacementPolicy\nmetadata:\n  name: rules\nspec:\n  \
                      clusterSelector: {}\n  priority: 1\n"
            .to_owned();
    if which & 1 != 0 {
        policy +=
            "  spread:\n  - {topologyKey: carp.dev/location, maxSkew: 1, matchLabelKeys: [team]}\n";
    }
    if which / 4 != 0 {
        let term = format!("{{weight: {}, term: {{locations: [eastus]}}}}", which / 4);
        let _ = writeln!(policy, "  affinity: {{preferred: [{term}]}}");
    }
    if which & 2 != 0 {
        policy += "  antiAffinity:\n  - {topologyKey: carp.dev/worker, matchLabelKeys: [team]}\n";
    }
    policy
}

/// An edit of one file of the output, whichever comes up: a lock, a record, an index, a cluster.
fn by_hand(world: &mut World, file: u8, how: u8) {
    let files = world.output_files();
    let Some((path, bytes)) = files.iter().nth(usize::from(file) * files.len() / 256) else {
        return;
    };
    let half = &bytes[..bytes.len() / 2];
    let mut edit = TreeEdit::default();
    match how % 5 {
        0 => edit.remove(path),
        1 => edit.file(path, world.store.put_blob(b"a person's\n").unwrap()),
        2 => edit.file(path, world.store.put_blob(half).unwrap()),
        3 => edit.file(&format!("{path}.txt"), world.store.put_blob(b"a person's\n").unwrap()),
        _ => {
            let folder = path.rsplit_once('/').map_or(path.as_str(), |(folder, _)| folder);
            edit.file(
                &format!("{folder}/NOTES.md"),
                world.store.put_blob(b"a person's\n").unwrap(),
            );
        }
    }
    world.output = Some(edit.apply(&world.store, world.output).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: breadth(16, 512), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_memo_never_changes_what_is_proposed(history in edits()) {
        let mut world = World::new(small::files());
        world.run();
        for edit in &history {
            apply(&mut world, edit);
            let afresh = world.propose_afresh();
            let remembered = world.propose();
            prop_assert_eq!(remembered.tree, afresh.tree);
            prop_assert_eq!(remembered.status_tree, afresh.status_tree);
            prop_assert_eq!(remembered.diagnostics.sorted(), afresh.diagnostics.sorted());
            prop_assert_eq!(&remembered.plan.clusters, &afresh.plan.clusters);
            prop_assert_eq!(&remembered.plan.holds, &afresh.plan.holds);
            prop_assert_eq!(&remembered.message, &afresh.message);
            prop_assert_eq!(remembered.valid_until, afresh.valid_until);
            world.run();
            let again = world.propose();
            prop_assert!(!again.has_changes(), "planning its own result changes nothing");
        }
    }
}

#[test]
fn the_edits_of_rules_and_quotas_are_read_and_counted() {
    let mut world = World::new(small::files());
    world.run();
    for edit in [Edit::Add(1), Edit::Label(1, 1), Edit::Rules(3), Edit::Quota(9)] {
        apply(&mut world, &edit);
        let proposal = world.run();
        assert!(!proposal.diagnostics.has_errors(), "{:?}", proposal.diagnostics.sorted());
    }
    // The tenant of the quota is new: both workers got an account for it, and are counted once more.
    assert!(!world.run().has_changes());
    assert_eq!(world.propose_afresh().work.workers_counted, 2);
    assert_eq!(world.propose().work.workers_counted, 0);
}
