//! `propose` says the same with any memo and without one, over random histories.

use carp::change::TreeEdit;
use carp::model::Store as _;
use proptest::prelude::*;

use crate::support::small::{self, cluster, worker};
use crate::support::world::World;

/// An edit that a person might make.
#[derive(Clone, Debug)]
enum Edit {
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
    /// What the tenant may take.
    Quota(u8),
    LoseMemo,
    /// A person changes or removes a file of the output branch, or puts one there.
    ByHand(u8, u8),
    /// `spec.drift`.
    Drift(u8),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let edit = prop_oneof![
        any::<u8>().prop_map(Edit::Add),
        any::<u8>().prop_map(Edit::Remove),
        any::<(u8, u8)>().prop_map(|(c, n)| Edit::Resize(c, n)),
        any::<(u8, u8)>().prop_map(|(c, n)| Edit::Version(c, n)),
        any::<u8>().prop_map(Edit::Break),
        any::<u8>().prop_map(Edit::Cordon),
        any::<(u8, u8)>().prop_map(|(w, n)| Edit::Capacity(w, n)),
        any::<(u8, u8)>().prop_map(|(c, n)| Edit::Label(c, n)),
        any::<u8>().prop_map(Edit::Rules),
        any::<u8>().prop_map(Edit::Quota),
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

fn apply(world: &mut World, edit: &Edit) {
    let name = |n: u8| format!("r{:02}", n % 12);
    let location = |n: u8| ["westeurope", "eastus"][usize::from(n) % 2];
    let worker_name = |n: u8| ["w-weu", "w-eus"][usize::from(n) % 2];
    match *edit {
        Edit::Add(n) => {
            world.write(&path(n), &cluster(&name(n), location(n)));
        }
        Edit::Remove(n) => {
            world.files.remove(&path(n));
        }
        Edit::Resize(n, to) if world.files.contains_key(&path(n)) => {
            let text = cluster(&name(n), location(n));
            let replicas = format!("replicas: {}", to % 5);
            world.write(&path(n), &text.replace("replicas: 2", &replicas));
        }
        Edit::Version(n, to) if world.files.contains_key(&path(n)) => {
            let text = cluster(&name(n), location(n));
            let version = format!("version: v1.34.{}", to % 5);
            world.write(&path(n), &text.replace("version: v1.34.2", &version));
        }
        Edit::Break(n) => {
            world.write(&path(n), "kind: {");
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
        Edit::Label(n, to) if world.files.contains_key(&path(n)) => {
            let labels = format!("  labels: {{team: t{}}}\nspec:\n", to % 3);
            let text = cluster(&name(n), location(n)).replacen("spec:\n", &labels, 1);
            world.write(&path(n), &text);
        }
        Edit::Rules(n) => {
            world.write("policies/rules.yaml", &rules(n % 4));
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
        Edit::Resize(..) | Edit::Version(..) | Edit::Label(..) => {}
    }
}

/// A policy for all clusters: bit 0 spreads them by team, bit 1 keeps those of one team apart.
fn rules(which: u8) -> String {
    let mut policy =
        "apiVersion: carp.dev/v1alpha1\nkind: PlacementPolicy\nmetadata:\n  name: rules\nspec:\n  \
                      clusterSelector: {}\n  priority: 1\n"
            .to_owned();
    if which & 1 != 0 {
        policy +=
            "  spread:\n  - {topologyKey: carp.dev/location, maxSkew: 1, matchLabelKeys: [team]}\n";
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
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

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
    assert_eq!(world.propose_afresh().work.workers_counted, 2);
    assert_eq!(world.propose().work.workers_counted, 0);
}
