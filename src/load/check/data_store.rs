//! `invalid-data-store`: a cluster, or its class, chooses one by a name or by labels, where its flavor has some; and
//! what a Worker says of its data stores can be made: names are those of objects and do not
//! repeat, a disk holds what etcd writes beside its data, three members have three nodes, and a snapshot has a time
//! and a place.

use std::collections::BTreeSet;

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::cron;
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::api::{DataStore, DataStoreChoice, DataStoreSnapshots, WorkerSpec};
use crate::model::{
    DATA_STORE_MEMBERS, Nodes, Quantity, SYSTEM_POOL, count, is_dns_label, is_label_key,
    is_label_value,
};

/// The longest name: with what its objects add to it, it is one of a CronJob (52 characters).
const LONGEST: usize = 20;
/// The smallest disk: etcd writes up to 320 MiB of log besides its data.
const SMALLEST: i64 = 2 << 30;

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    match &subject.body.spec {
        DocumentSpec::Worker(worker) if !worker.data_stores.is_empty() => {
            of_worker(worker, subject, scene, out);
        }
        DocumentSpec::ManagedCluster(own) => {
            let resolved = subject.cluster.as_ref().and_then(|c| c.data_store.as_ref());
            choice(own.data_store.as_ref(), resolved, (subject, scene), out);
        }
        DocumentSpec::ManagedClusterClass(class) => {
            let own = class.data_store.as_ref();
            choice(own, own, (subject, scene), out);
        }
        _ => {}
    }
}

/// What a cluster or class chooses, and what it comes to with the class.
fn choice(
    own: Option<&DataStoreChoice>,
    resolved: Option<&DataStoreChoice>,
    (subject, scene): (&Subject<'_>, &CheckContext<'_>),
    out: &mut Findings,
) {
    let at = FieldPath::keys("spec.dataStore");
    let has_none = subject.manifest(scene).is_some_and(|flavor| flavor.data_stores.is_none());
    if let (Some(flavor), Some(_)) = (subject.flavor().filter(|_| has_none), resolved) {
        let path = if own.is_some() { at } else { FieldPath::keys("spec.class") };
        let message =
            format!("clusters of the flavor `{flavor}` are in no data store of their worker");
        out.add(
            Code::InvalidDataStore,
            path,
            message,
            "remove `dataStore`, or take another flavor",
        );
        return;
    }
    let Some(own) = own else { return };
    if own.name.is_some() != own.match_labels.is_empty() {
        let message = "a data store is chosen by its name or by labels";
        out.add(Code::InvalidDataStore, at, message, "keep one of `name` and `matchLabels`");
    } else if own.migrate && own.name.is_none() {
        let message = "a cluster goes to a data store that is named";
        let help = "write its `name` in the place of `matchLabels`, or remove `migrate`";
        out.add(Code::InvalidDataStore, at.key("migrate"), message, help);
    }
}

fn of_worker(
    worker: &WorkerSpec,
    subject: &Subject<'_>,
    scene: &CheckContext<'_>,
    out: &mut Findings,
) {
    let at = FieldPath::keys("spec.dataStores");
    if subject.manifest(scene).is_some_and(|flavor| flavor.nodes == Nodes::Containers) {
        let message = "a worker in containers hosts no control planes, so it has no data stores";
        out.add_on_key(Code::InvalidDataStore, at, message, "remove `dataStores`");
        return;
    }
    nodes(worker, &at, out);
    let mut seen = BTreeSet::new();
    for (i, store) in worker.data_stores.iter().enumerate() {
        let path = at.index(i);
        one(store, &path, out);
        if !seen.insert(&store.name) {
            let message = format!("two data stores are called `{}`", store.name);
            out.add(Code::InvalidDataStore, path.key("name"), message, "give each its own name");
        }
    }
}

/// No two members of a store share a node.
fn nodes(worker: &WorkerSpec, at: &FieldPath, out: &mut Findings) {
    let system = worker.node_pools.iter().find(|pool| pool.name == SYSTEM_POOL);
    let least = system.and_then(|p| p.replicas.or(p.autoscale.map(|bounds| bounds.min)));
    if let Some(least) = least.filter(|least| *least < DATA_STORE_MEMBERS) {
        let message = format!(
            "the pool `system` may have {}, and no two of the {DATA_STORE_MEMBERS} members of a data store share a node",
            count(u64::from(least), "node")
        );
        let most = count(u64::from(DATA_STORE_MEMBERS), "node");
        let help = format!("give the pool `system` {most} at least");
        out.add_on_key(Code::InvalidDataStore, at.clone(), message, help);
    }
}

fn one(store: &DataStore, path: &FieldPath, out: &mut Findings) {
    let name = store.name.as_str();
    let letter = name.starts_with(|c: char| c.is_ascii_lowercase());
    if !is_dns_label(name) || !letter || name.len() > LONGEST {
        let message = format!("`{name}` cannot be the name of a data store");
        let help = format!(
            "begin with a letter and use lower-case letters, digits and inner dashes, at most {LONGEST}"
        );
        out.add(Code::InvalidDataStore, path.key("name"), message, help);
    }
    for (key, value) in &store.labels {
        if !is_label_key(key) || !is_label_value(value) {
            let message = format!("`{key}: {value}` cannot be a label");
            let help = "write a key and a value as Kubernetes takes them, such as `tier: gold`";
            out.add(Code::InvalidDataStore, path.key("labels").key(key), message, help);
        }
    }
    if let Some(size) = store.size.filter(|size| *size < Quantity::units(SMALLEST)) {
        let message = format!("a disk of {size} is full of what etcd writes beside its data");
        out.add(Code::InvalidDataStore, path.key("size"), message, "write `2Gi` at least");
    }
    if let Some(snapshots) = &store.snapshots {
        kept(snapshots, &path.key("snapshots"), out);
    }
}

/// When snapshots are taken, and where they go.
fn kept(snapshots: &DataStoreSnapshots, path: &FieldPath, out: &mut Findings) {
    if let Some(message) = cron::fault(&snapshots.schedule) {
        let help = "write minute, hour, day, month and day of the week, such as `0 */6 * * *`";
        out.add(Code::InvalidDataStore, path.key("schedule"), message, help);
    }
    if !is_place(&snapshots.to) {
        let message = format!("`{}` is no place of rclone's", snapshots.to);
        let help = "write a remote of `rclone.conf` and a path in it, such as `backup:bucket/etcd`";
        out.add(Code::InvalidDataStore, path.key("to"), message, help);
    }
    let name = &snapshots.secret_ref;
    if !name.split('.').all(is_dns_label) || name.len() > 253 {
        let message = format!("`{name}` cannot be the name of a Secret");
        let help = "write the name of the Secret that has `rclone.conf`";
        out.add(Code::InvalidDataStore, path.key("secretRef"), message, help);
    }
}

/// `remote:path`. The path goes through a shell, so it has no character that means something there.
fn is_place(to: &str) -> bool {
    let plain = |text: &str, more: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    };
    to.split_once(':').is_some_and(|(remote, path)| {
        let inner = path.split('/').all(|part| plain(part, "-_.") && part != "." && part != "..");
        plain(remote, "-_.") && !remote.starts_with('-') && inner
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{class, cluster, files_find, finds, finds_nothing, worker};
    use super::*;

    const GOOD: &str =
        "snapshots: {schedule: 0 */6 * * *, to: backup:etcd/fleet, secretRef: etcd-backup}";

    fn stores(list: &str) -> String {
        worker(&format!("dataStores: [{list}]\n  "))
    }

    fn is_wrong(list: &str, field: &str) -> crate::diag::Diagnostic {
        finds(stores(list), Code::InvalidDataStore, &format!("spec.dataStores[0]{field}"))
    }

    #[test]
    fn a_worker_may_have_several_data_stores() {
        finds_nothing(stores(&format!(
            "{{name: default, {GOOD}}}, {{name: gold, labels: {{tier: gold}}, size: 16Gi}}"
        )));
    }

    #[test]
    fn names_are_those_of_objects_and_do_not_repeat() {
        for name in ["Gold", "-a", "a-", "1st", "a-name-of-21-letters-x", "a.b"] {
            is_wrong(&format!("{{name: {name}}}"), ".name");
        }
        let twice = stores("{name: gold}, {name: gold}");
        finds(twice, Code::InvalidDataStore, "spec.dataStores[1].name");
        is_wrong("{name: gold, labels: {tier: a b}}", ".labels.tier");
    }

    #[test]
    fn a_disk_holds_what_etcd_writes() {
        is_wrong("{name: gold, size: 1Gi}", ".size");
        finds_nothing(stores("{name: gold, size: 2Gi}"));
    }

    #[test]
    fn three_members_have_three_nodes() {
        let with = |pool: &str| {
            worker(&format!("dataStores: [{{name: default}}]\n  nodePools: [{pool}]\n  "))
        };
        for few in ["{name: system, replicas: 2}", "{name: system, autoscale: {min: 1, max: 5}}"] {
            finds(with(few), Code::InvalidDataStore, "spec.dataStores");
        }
        finds_nothing(with("{name: system, replicas: 3}"));
        finds_nothing(with("{name: np0, replicas: 1}"));
    }

    #[test]
    fn a_snapshot_has_a_time_and_a_place() {
        let change = |from: &str, to: &str| format!("{{name: gold, {}}}", GOOD.replace(from, to));
        is_wrong(&change("*/6", "25"), ".snapshots.schedule");
        for place in ["etcd", "backup:", "backup:a b", "backup:a/../b", "backup:$HOME", "-x:a"] {
            is_wrong(&change("backup:etcd/fleet", &format!("'{place}'")), ".snapshots.to");
        }
        is_wrong(&change("etcd-backup", "Backup"), ".snapshots.secretRef");
    }

    #[test]
    fn a_cluster_chooses_by_a_name_or_by_labels() {
        for good in ["{name: gold}", "{matchLabels: {tier: gold}}", "{name: gold, migrate: true}"] {
            finds_nothing(cluster(&format!("dataStore: {good}\n  ")));
        }
        for (bad, field) in [
            ("{name: gold, matchLabels: {tier: gold}}", ""),
            ("{matchLabels: {tier: gold}, migrate: true}", ".migrate"),
        ] {
            let text = cluster(&format!("dataStore: {bad}\n  "));
            finds(text, Code::InvalidDataStore, &format!("spec.dataStore{field}"));
        }
    }

    #[test]
    fn a_flavor_without_data_stores_has_none_to_choose() {
        let own = cluster("flavor: kind\n  dataStore: {name: gold}\n  ");
        finds(own, Code::InvalidDataStore, "spec.dataStore");
        let class = class("small", "dataStore: {name: gold}\n  ");
        let both = format!("{class}---\n{}", cluster("class: small\n  flavor: kind\n  "));
        files_find(&[("fleet/x.yaml", &*both)], Code::InvalidDataStore, "spec.class");
    }

    #[test]
    fn a_worker_in_containers_has_none() {
        let text = worker("flavor: kind\n  dataStores: [{name: gold}]\n  ");
        finds(text, Code::InvalidDataStore, "spec.dataStores");
    }
}
