//! What guards count, and how much a tenant may have, is no matter of one cluster: a run that looks only at what
//! changed holds, and tells of, what a run does that looks at everything.

use std::collections::BTreeMap;

use carp::diag::Code;
use carp::model::HoldKind;

use crate::affected_law::Standing;
use crate::support::small;

/// A fleet of so many clusters on one worker, with this in its `carp.yaml`.
fn fleet(clusters: u8, spec: &str) -> BTreeMap<String, String> {
    let mut files = BTreeMap::from([
        ("carp.yaml".to_owned(), format!("{}{spec}", small::FLEET)),
        ("fleet/workers/w-weu.yaml".to_owned(), small::worker("w-weu", "westeurope", 50)),
    ]);
    for number in 0..clusters {
        files.insert(path(number), small::cluster(&name(number), "westeurope"));
    }
    files
}

fn name(number: u8) -> String {
    format!("r{number:02}")
}

fn path(number: u8) -> String {
    format!("fleet/clusters/{}.yaml", name(number))
}

/// Gives the pools of these clusters machines of another size.
fn replace_machines(standing: &mut Standing, clusters: impl Iterator<Item = u8>, size: &str) {
    for number in clusters {
        let pool = format!("nodePools: [{{name: np0, replicas: 2, vmSize: {size}}}]");
        let text = small::cluster(&name(number), "westeurope").replace("replicas: 2", &pool);
        standing.world.write(&path(number), &text);
    }
}

/// How many groups of machines are held.
fn held(standing: &mut Standing) -> usize {
    let holds = standing.world.propose_afresh().plan.holds;
    let replaced = holds.iter().filter(|hold| hold.kind == HoldKind::MachinesReplaced);
    replaced.map(|hold| hold.names.len()).sum()
}

const LARGER: &str = "Standard_D8s_v5";

#[test]
fn more_machines_than_the_fleet_allows_are_held() {
    let mut standing = Standing::of(fleet(6, "  guards: {maxReplacedMachines: 5}\n"));
    replace_machines(&mut standing, 0..3, LARGER);
    let before = standing.world.output_text("workers/w-weu/clusters/r00/cluster.yaml");
    assert!(!standing.run(), "a guard is looked at with everything");
    assert_eq!(held(&mut standing), 3);
    assert_eq!(standing.world.output_text("workers/w-weu/clusters/r00/cluster.yaml"), before);
}

#[test]
fn the_machines_of_more_clusters_than_may_ask_at_once_are_held() {
    let mut standing = Standing::of(fleet(12, ""));
    replace_machines(&mut standing, 0..11, LARGER);
    assert!(!standing.run(), "a guard is looked at with everything");
    assert_eq!(held(&mut standing), 11);
}

#[test]
fn what_is_held_holds_what_comes_to_it() {
    let mut standing = Standing::of(fleet(13, ""));
    replace_machines(&mut standing, 0..11, LARGER);
    standing.stand();
    assert_eq!(held(&mut standing), 11);
    replace_machines(&mut standing, 11..12, LARGER);
    assert!(!standing.run(), "its tenant's machines are held");
    assert_eq!(held(&mut standing), 12);
}

#[test]
fn what_waits_for_an_hour_to_pass_counts_with_what_comes_to_it() {
    let mut standing = Standing::of(fleet(12, ""));
    replace_machines(&mut standing, 0..8, LARGER);
    assert!(standing.run());
    standing.stand();
    replace_machines(&mut standing, 8..11, LARGER);
    standing.stand();
    assert_eq!(held(&mut standing), 3, "two are left of ten");
    replace_machines(&mut standing, 11..12, LARGER);
    assert!(!standing.run());
    assert_eq!(held(&mut standing), 4);
}

#[test]
fn of_one_number_for_all_nothing_is_left_beside_what_is_held() {
    let mut files = fleet(3, "  guards: {maxReplacedMachines: 5}\n");
    let other = small::cluster("other", "westeurope").replace("namespace: shop", "namespace: pay");
    files.insert("fleet/other.yaml".to_owned(), other.clone());
    let mut standing = Standing::of(files);
    replace_machines(&mut standing, 0..3, LARGER);
    standing.stand();
    assert_eq!(held(&mut standing), 3);
    let pool = format!("nodePools: [{{name: np0, replicas: 2, vmSize: {LARGER}}}]");
    standing.world.write("fleet/other.yaml", &other.replace("replicas: 2", &pool));
    assert!(!standing.run());
    assert_eq!(held(&mut standing), 4);
}

#[test]
fn what_one_tenant_replaces_is_no_matter_of_another() {
    let tenant = |name: &str| format!("  - {{name: {name}, paths: [fleet/{name}]}}\n");
    let spec = format!(
        "  guards: {{maxReplacedMachines: 5}}\n  tenants:\n{}",
        tenant("red") + &tenant("blue")
    );
    let mut files = fleet(0, &spec);
    let document = |tenant: &str, number: u8| {
        let text = small::cluster(&format!("{tenant}-{number}"), "westeurope");
        text.replace("namespace: shop", &format!("namespace: {tenant}"))
    };
    let clusters = [("red", 0), ("red", 1), ("red", 2), ("blue", 0), ("blue", 1)];
    let path = |(tenant, number): (&str, u8)| format!("fleet/{tenant}/{number}.yaml");
    for (tenant, number) in clusters {
        files.insert(path((tenant, number)), document(tenant, number));
    }
    let mut standing = Standing::of(files);
    let replace = |standing: &mut Standing, all: &[(&str, u8)]| {
        let pool = format!("nodePools: [{{name: np0, replicas: 2, vmSize: {LARGER}}}]");
        for (tenant, number) in all {
            let text = document(tenant, *number).replace("replicas: 2", &pool);
            standing.world.write(&path((tenant, *number)), &text);
        }
    };
    replace(&mut standing, &clusters[..3]);
    standing.stand();
    assert_eq!(held(&mut standing), 3, "six of red's five");
    replace(&mut standing, &clusters[3..]);
    assert!(!standing.run(), "what is held is looked at with everything");
    standing.stand();
    assert_eq!(held(&mut standing), 3, "four of blue's five");
    let lock = standing.world.output_text("control-plane/fleet.lock").unwrap();
    assert!(lock.contains(r#""askedMachines":{"blue":4}"#), "{lock}");
    assert!(!lock.contains(r#""replacedMachines":"#), "{lock}");
}

#[test]
fn four_commits_of_three_clusters_are_twelve() {
    let mut standing = Standing::of(fleet(12, ""));
    for first in [0, 3, 6] {
        replace_machines(&mut standing, first..first + 3, LARGER);
        assert!(standing.run(), "these three are looked at alone");
        assert_eq!(held(&mut standing), 0);
        standing.world.now += jiff::SignedDuration::from_mins(2);
        standing.stand();
    }
    replace_machines(&mut standing, 9..12, LARGER);
    assert!(!standing.run());
    assert_eq!(held(&mut standing), 3, "ten may ask in an hour");
    standing.world.now += jiff::SignedDuration::from_hours(2);
    standing.stand();
    assert_eq!(held(&mut standing), 0, "it goes on by itself");
    let lock = standing.world.output_text("control-plane/fleet.lock").unwrap();
    assert!(lock.contains(r#""replacing":{"shop":3}"#), "{lock}");
}

/// Two tenants with folders and limits of their own, and a cluster each.
fn tenants(limits: &str) -> BTreeMap<String, String> {
    let tenant =
        |name: &str| format!("  - {{name: {name}, paths: [fleet/{name}], limits: {{{limits}}}}}\n");
    let mut files = fleet(0, &format!("  tenants:\n{}{}", tenant("red"), tenant("blue")));
    for of in ["red", "blue"] {
        files.insert(format!("fleet/{of}/{of}.yaml"), of_tenant(of));
    }
    files
}

fn of_tenant(tenant: &str) -> String {
    small::cluster(&format!("{tenant}-1"), "westeurope")
        .replace("namespace: shop", &format!("namespace: {tenant}"))
}

/// The cluster of a tenant with so many rules of placement, and as many bytes as with any other number.
fn with_rules(tenant: &str, rules: usize) -> String {
    let rules = vec!["{names: [w-weu]}"; rules].join(", ");
    let text = of_tenant(tenant);
    format!("{text}  placement: {{affinity: {{required: [{rules}]}}}}\n")
}

/// The tenants' folders of which too much is told.
fn too_much(standing: &mut Standing) -> Vec<String> {
    let told = standing.world.propose_afresh().diagnostics;
    let told = told.iter().filter(|found| found.code == Code::TooMuch);
    told.filter_map(|found| Some(found.place.as_ref()?.file.clone())).collect()
}

#[test]
fn what_one_tenant_gives_up_is_nothing_that_another_may_take() {
    let mut files = tenants("rules: 2");
    files.insert("fleet/red/red.yaml".to_owned(), with_rules("red", 2));
    files.insert("fleet/blue/blue.yaml".to_owned(), with_rules("blue", 2));
    let mut standing = Standing::of(files);
    standing.world.write("fleet/red/red.yaml", &with_rules("red", 1));
    standing.world.write("fleet/blue/blue.yaml", &with_rules("blue", 3));
    assert!(!standing.run());
    assert_eq!(too_much(&mut standing), ["fleet/blue"]);
}

#[test]
fn files_that_nobody_reads_count_too() {
    let mut standing = Standing::of(tenants("documents: 2"));
    standing.world.write("fleet/red/1.txt", "one").write("fleet/red/2.txt", "two");
    standing.run();
    assert!(too_much(&mut standing).is_empty(), "four are twice two");
    standing.stand();
    standing.world.write("fleet/red/deep/3.txt", "three");
    assert!(!standing.run());
    assert_eq!(too_much(&mut standing), ["fleet/red"]);
}

#[test]
fn a_tenant_that_has_too_much_no_more_is_told_so() {
    let mut files = tenants("documents: 2");
    for number in 0..5 {
        files.insert(format!("fleet/red/{number}.txt"), String::new());
    }
    let mut standing = Standing::of(files);
    assert_eq!(too_much(&mut standing), ["fleet/red"]);
    for number in 0..3 {
        standing.world.remove(&format!("fleet/red/{number}.txt"));
    }
    assert!(!standing.run(), "what is told may be over");
    assert!(too_much(&mut standing).is_empty());
}

/// Writes a new cluster of a tenant, with this among the keys of its `spec`.
fn comes(standing: &mut Standing, tenant: &str, number: u8, spec: &str) {
    let text = of_tenant(tenant).replace(&format!("{tenant}-1"), &format!("{tenant}-{number}"));
    let path = format!("fleet/{tenant}/{number}/cluster.yaml");
    standing.world.write(&path, &format!("{text}{spec}"));
}

#[test]
fn a_cluster_comes_by_itself_where_nobody_is_at_a_limit() {
    let mut standing = Standing::of(tenants("documents: 8"));
    comes(&mut standing, "red", 2, "");
    assert!(standing.run(), "how many more may come is known");
    assert!(standing.world.output_text("workers/w-weu/clusters/red-2/cluster.yaml").is_some());
}

#[test]
fn clusters_that_come_one_by_one_are_too_many_in_the_end() {
    let mut standing = Standing::of(tenants("documents: 3"));
    for number in 2..4 {
        comes(&mut standing, "red", number, "");
        standing.run();
        standing.stand();
    }
    assert!(too_much(&mut standing).is_empty());
    comes(&mut standing, "red", 4, "");
    assert!(!standing.run());
    assert_eq!(too_much(&mut standing), ["fleet/red"]);
}

#[test]
fn a_cluster_that_comes_brings_no_rules_that_are_not_counted() {
    let mut standing = Standing::of(tenants("documents: 200, rules: 1"));
    comes(&mut standing, "red", 2, "  placement: {affinity: {required: [{names: [w-weu]}]}}\n");
    assert!(!standing.run(), "whoever has more rules may have too many");
    standing.stand();
    comes(&mut standing, "red", 3, "  placement: {affinity: {required: [{names: [w-weu]}]}}\n");
    assert!(!standing.run());
    assert_eq!(too_much(&mut standing), ["fleet/red"]);
}

#[test]
fn nothing_comes_by_itself_to_a_fleet_in_which_something_is_held() {
    let mut standing = Standing::of(fleet(13, ""));
    replace_machines(&mut standing, 0..11, LARGER);
    standing.stand();
    assert_eq!(held(&mut standing), 11);
    standing.world.write(&path(20), &small::cluster(&name(20), "westeurope"));
    assert!(!standing.run());
    assert_eq!(held(&mut standing), 11);
}

#[test]
fn what_comes_beside_a_loss_loses_nothing_and_the_loss_counts() {
    let mut standing = Standing::of(fleet(12, ""));
    replace_machines(&mut standing, 0..8, LARGER);
    standing.world.write(&path(20), &small::cluster(&name(20), "westeurope"));
    assert!(standing.run());
    standing.stand();
    replace_machines(&mut standing, 8..11, LARGER);
    assert!(!standing.run());
    assert_eq!(held(&mut standing), 3, "two are left of ten");
}
