//! Data stores of a worker: what is made of them, which one a cluster is in, and that none goes with clusters in it.

use carp::model::api::{DataStore, DataStoreChoice, DataStoreSnapshots};
use carp::model::{Fleet, GateReason, HoldKind};
use serde_json::{Value, json};

use crate::support::small;
use crate::support::world::World;
use crate::support::{documents, fleet};

const MIRROR: &str = "mirror.example.com";

fn stores() -> Vec<DataStore> {
    let snapshots = DataStoreSnapshots {
        schedule: "0 */6 * * *".into(),
        to: "backup:etcd/fleet".into(),
        secret_ref: "etcd-backup".into(),
    };
    let store = |name: &str| DataStore { name: name.into(), ..DataStore::default() };
    vec![
        DataStore { snapshots: Some(snapshots), ..store("default") },
        DataStore {
            size: Some("16Gi".parse().unwrap()),
            labels: [("tier".to_owned(), "gold".to_owned())].into(),
            ..store("gold")
        },
    ]
}

fn with(mut fleet: Fleet, stores: &[DataStore]) -> Fleet {
    fleet.workers.values_mut().for_each(|w| w.spec.data_stores = stores.to_vec());
    fleet
}

/// The objects of the worker's own layers.
fn layers(fleet: &Fleet) -> Vec<Value> {
    let all = documents(&fleet::tree(fleet, "")).into_iter();
    let of_worker = |path: &str| path.starts_with("workers/") && !path.contains("/clusters/");
    all.filter(|(path, _)| of_worker(path)).map(|(_, object)| object).collect()
}

fn find<'a>(objects: &'a [Value], kind: &str, name: &str) -> &'a Value {
    let mut all = objects.iter().filter(|o| o["kind"] == kind && o["metadata"]["name"] == name);
    all.next().unwrap_or_else(|| panic!("no {kind} {name}"))
}

#[test]
fn members_are_apart_leave_one_by_one_and_stop_before_their_disk_is_full() {
    let objects = layers(&with(fleet::plain(), &stores()));
    let of_kamaji = &find(&objects, "HelmRelease", "kamaji")["spec"]["values"]["kamaji-etcd"];
    let own = &find(&objects, "HelmRelease", "gold-store")["spec"]["values"];
    for (values, instance, name, size, quota) in [
        (of_kamaji, "kamaji", "kamaji-etcd", "8Gi", "6871947673"),
        (own, "gold-store", "gold-store", "16Gi", "8589934592"),
    ] {
        assert_eq!(values["quotaBackendBytes"], quota, "a text: a number would lose its digits");
        assert_eq!(values["persistentVolumeClaim"]["size"], size);
        let pods = json!({"matchLabels": {
            "app.kubernetes.io/name": "kamaji-etcd",
            "app.kubernetes.io/instance": instance,
        }});
        let apart = &values["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            [0];
        assert_eq!(apart["topologyKey"], "kubernetes.io/hostname");
        let spread = &values["topologySpreadConstraints"][0];
        assert_eq!(spread["whenUnsatisfiable"], "ScheduleAnyway", "the worker has no zones");
        let budget = &find(&objects, "PodDisruptionBudget", name)["spec"];
        assert_eq!(budget["maxUnavailable"], 1);
        for selector in [&apart["labelSelector"], &spread["labelSelector"], &budget["selector"]] {
            assert_eq!(*selector, pods);
        }
    }
    let known = find(&objects, "DataStore", "gold");
    assert_eq!(known["metadata"]["labels"], json!({"tier": "gold"}));
    let member = "gold-store-0.gold-store.kamaji-system.svc.cluster.local:2379";
    assert_eq!(known["spec"]["endpoints"][0], member);
    assert_eq!(own["fullnameOverride"], "gold-store");
}

#[test]
fn a_worker_over_zones_has_no_two_members_in_one() {
    let mut fleet = with(fleet::plain(), &stores());
    let system = json!({"name": "system", "replicas": 3, "zones": ["1", "2", "3"]});
    for worker in fleet.workers.values_mut() {
        worker.spec.node_pools.push(serde_json::from_value(system.clone()).unwrap());
    }
    let objects = layers(&fleet);
    let values = &find(&objects, "HelmRelease", "gold-store")["spec"]["values"];
    let spread = &values["topologySpreadConstraints"][0];
    assert_eq!(spread["topologyKey"], "topology.kubernetes.io/zone");
    assert_eq!(spread["whenUnsatisfiable"], "DoNotSchedule");
    assert_eq!(spread["nodeTaintsPolicy"], "Honor", "zones of tainted nodes are none for it");
}

#[test]
fn a_worker_that_says_nothing_has_what_it_had() {
    let objects = layers(&fleet::plain());
    let kinds = |kind: &str| objects.iter().filter(|o| o["kind"] == kind).count();
    assert_eq!((kinds("DataStore"), kinds("CronJob"), kinds("PodDisruptionBudget")), (1, 0, 0));
    let values = &find(&objects, "HelmRelease", "kamaji")["spec"]["values"]["kamaji-etcd"];
    assert_eq!(*values, json!({"datastore": {"enabled": false}}));
}

#[test]
fn a_snapshot_is_read_once_more_and_goes_elsewhere() {
    let fleet = with(fleet::full(), &stores());
    let objects = layers(&fleet);
    let job = &find(&objects, "CronJob", "kamaji-etcd-snapshot")["spec"];
    assert_eq!((&job["schedule"], &job["timeZone"]), (&json!("0 */6 * * *"), &json!("Etc/UTC")));
    let pod = &job["jobTemplate"]["spec"]["template"]["spec"];
    let steps = pod["initContainers"].as_array().unwrap().iter();
    let steps: Vec<_> = steps.chain(pod["containers"].as_array().unwrap()).collect();
    let names: Vec<_> = steps.iter().map(|step| step["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["snapshot", "verify", "upload"]);
    for step in &steps {
        let image = step["image"].as_str().unwrap();
        assert!(image.starts_with(&format!("{MIRROR}/")) && !image.ends_with(':'), "{image}");
    }
    let copy = steps[2]["args"][0].as_str().unwrap();
    assert!(copy.contains(" backup:etcd/fleet/wk-weu-1/default/`date -u "), "{copy}");
    let secret = |name: &str| {
        let volumes = pod["volumes"].as_array().unwrap();
        let volume = volumes.iter().find(|volume| volume["name"] == name).unwrap();
        volume["secret"]["secretName"].as_str().unwrap().to_owned()
    };
    assert_eq!(secret("config"), "etcd-backup");
    assert_eq!(secret("certificates"), "kamaji-etcd-client-certs");
    let worker = fleet.workers.values().next().unwrap();
    let wanted = carp::render::secrets_wanted(&fleet, worker);
    let backup = wanted.iter().find(|wanted| wanted.name == "etcd-backup").unwrap();
    assert_eq!(backup.namespace, "kamaji-system");
    assert!(backup.command.contains("--from-file=rclone.conf="), "{}", backup.command);
}

/// The Job of the page by which a snapshot comes back.
fn way_back() -> Value {
    let page = include_str!("../../docs/operations.md");
    let (_, section) = page.split_once("### The way back\n").unwrap();
    let (_, job) = section.split_once("   ```yaml\n").unwrap();
    let (job, _) = job.split_once("   ```\n").unwrap();
    let lines = job.lines().map(|line| format!("{}\n", line.strip_prefix("   ").unwrap_or(line)));
    serde_saphyr::from_str(&lines.collect::<String>()).unwrap()
}

#[test]
fn a_snapshot_comes_back_by_what_made_it() {
    let objects = layers(&with(fleet::plain(), &stores()));
    let taken = &find(&objects, "CronJob", "kamaji-etcd-snapshot")["spec"]["jobTemplate"]["spec"];
    let job = way_back();
    let steps = |job: &Value| -> Vec<Value> {
        let pod = &job["template"]["spec"];
        let all = ["initContainers", "containers"].map(|field| pod[field].as_array().unwrap());
        all.into_iter().flatten().cloned().collect()
    };
    let images = |job: &Value| -> std::collections::BTreeSet<String> {
        steps(job).iter().map(|step| step["image"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(images(&job["spec"]), images(taken));
    let steps = steps(&job["spec"]);
    let names: Vec<_> = steps.iter().map(|step| step["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["fetch", "aside", "restore", "in-place"]);
    let restore: Vec<_> =
        steps[2]["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    assert_eq!(restore[..4], ["etcdutl", "snapshot", "restore", "/snapshot/snapshot.db"]);
    // Without both a watch from before would wait for revisions that are gone.
    for flag in ["--bump-revision=1000000000", "--mark-compacted", "--initial-cluster-token=kamaji"]
    {
        assert!(restore.contains(&flag), "{flag}: {restore:?}");
    }
}

#[test]
fn images_and_charts_of_data_stores_are_behind_the_mirror() {
    let objects = layers(&with(fleet::full(), &stores()));
    let values = &find(&objects, "HelmRelease", "gold-store")["spec"]["values"];
    assert_eq!(values["image"]["repository"], format!("{MIRROR}/quay.io/coreos/etcd"));
    let source = &find(&objects, "HelmRepository", "kamaji-etcd")["spec"];
    assert_eq!(source["url"], format!("oci://{MIRROR}/clastix.github.io/charts"));
    assert_eq!(source["type"], "oci");
}

#[test]
fn a_cluster_names_the_store_that_it_is_in() {
    let mut fleet = with(fleet::plain(), &stores());
    let choice = DataStoreChoice { name: Some("gold".into()), ..DataStoreChoice::default() };
    fleet.clusters.values_mut().for_each(|c| c.spec.data_store = Some(choice.clone()));
    let all: Vec<Value> = documents(&fleet::tree(&fleet, "")).into_iter().map(|(_, o)| o).collect();
    assert_eq!(find(&all, "KamajiControlPlane", "pay-eu")["spec"]["dataStoreName"], "gold");
    let own = find(&all, "ManagedCluster", "pay-eu");
    assert_eq!(own["metadata"]["annotations"]["carp.dev/data-store"], "gold");
}

const WORKER: &str = "fleet/workers/w-weu.yaml";
const ALPHA: &str = "fleet/clusters/alpha.yaml";
const LOCK: &str = "workers/w-weu/carp.lock";
const STORES: &str = "spec:\n  dataStores: [{name: gold, labels: {tier: high}}, {name: iron, labels: {tier: low}}]\n";

/// One worker with two stores more, and one cluster that chooses.
fn world(choice: &str) -> World {
    let mut files = small::files();
    files.retain(|path, _| path == "carp.yaml");
    let worker = small::worker("w-weu", "westeurope", 4).replace("spec:\n", STORES);
    files.insert(WORKER.to_owned(), worker);
    let spec = format!("spec:\n  dataStore: {choice}\n");
    let alpha = small::cluster("alpha", "westeurope").replace("spec:\n", &spec);
    files.insert(ALPHA.to_owned(), alpha);
    World::new(files)
}

/// The data store that the folder of the cluster names.
fn named(world: &World) -> String {
    let text = world.output_text("workers/w-weu/clusters/alpha/cluster.yaml").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("  dataStoreName: ")).unwrap();
    line.trim_matches('"').to_owned()
}

fn in_lock(world: &World) -> Value {
    let lock: Value = serde_json::from_str(&world.output_text(LOCK).unwrap()).unwrap();
    lock["clusters"]["alpha"]["dataStore"].clone()
}

#[test]
fn a_placed_cluster_stays_in_its_store_until_it_says_that_it_goes() {
    let mut world = world("{matchLabels: {tier: high}}");
    world.run();
    assert_eq!((named(&world).as_str(), in_lock(&world)), ("gold", json!("gold")));
    // Neither other labels, nor another choice, nor none moves it.
    world.edit(WORKER, "tier: high", "tier: none");
    world.edit(ALPHA, "{matchLabels: {tier: high}}", "{name: iron}");
    world.run();
    assert_eq!(named(&world), "gold");
    world.edit(ALPHA, "  dataStore: {name: iron}\n", "");
    world.run();
    assert_eq!(named(&world), "gold");
    world.edit(ALPHA, "spec:\n", "spec:\n  dataStore: {name: iron, migrate: true}\n");
    world.run();
    assert_eq!((named(&world).as_str(), in_lock(&world)), ("iron", json!("iron")));
    assert!(!world.run().has_changes(), "and it is settled");
    world.edit(ALPHA, "{name: iron, migrate: true}", "{name: default, migrate: true}");
    world.run();
    assert_eq!((named(&world).as_str(), in_lock(&world)), ("default", Value::Null));
}

#[test]
fn no_template_takes_clusters_to_another_store() {
    let mut world = world("{name: gold}");
    world.run();
    let template = include_str!("../../templates/kamaji-capz/cluster.yaml");
    let other = template.replace("dataStoreName: {{ dataStore }}", "dataStoreName: iron");
    assert_ne!(other, template);
    world.write("templates/kamaji-capz/cluster.yaml", &other);
    let proposal = world.run();
    let gates: Vec<_> = proposal.gates.iter().map(|g| (g.name.as_str(), g.reason)).collect();
    assert_eq!(gates, [("alpha", GateReason::ForbiddenChange)]);
    assert_eq!(named(&world), "gold");
}

#[test]
fn a_lost_lock_is_worked_out_with_the_store() {
    let mut world = world("{matchLabels: {tier: high}}");
    world.run();
    world.remove_by_hand(LOCK);
    world.edit(ALPHA, "tier: high", "tier: low");
    world.run();
    assert_eq!((named(&world).as_str(), in_lock(&world)), ("gold", json!("gold")));
}

#[test]
fn no_worker_with_such_a_store_is_a_reason_to_wait() {
    let mut world = world("{name: tin}");
    let proposal = world.run();
    let record = world.output_text(&crate::support::world::record("alpha")).unwrap();
    assert!(record.contains("- NoDataStore\n"), "{record}");
    assert!(proposal.diagnostics.is_empty());
    world.edit(WORKER, "name: iron", "name: tin");
    world.run();
    assert_eq!(named(&world), "tin");
}

#[test]
fn a_store_with_clusters_in_it_does_not_go() {
    let mut world = world("{name: gold}");
    world.run();
    let before = world.output_text("workers/w-weu/platform/platform.yaml").unwrap();
    world.edit(WORKER, "{name: gold, labels: {tier: high}}, ", "");
    let proposal = world.run();
    let gates: Vec<_> = proposal.gates.iter().map(|g| (g.name.as_str(), g.reason)).collect();
    assert!(gates.contains(&("w-weu", GateReason::ForbiddenChange)), "{gates:?}");
    let told: Vec<_> = proposal.gates.iter().flat_map(|gate| &gate.findings).collect();
    let message = "the data store `gold` of w-weu may not go: the state of alpha is in it";
    let found =
        told.iter().find(|found| found.message == message).unwrap_or_else(|| panic!("{told:?}"));
    assert_eq!(found.place.as_ref().unwrap().file, WORKER);
    assert_eq!(world.output_text("workers/w-weu/platform/platform.yaml").unwrap(), before);
    assert_eq!(named(&world), "gold", "the cluster's folder stays as well");
}

#[test]
fn a_store_that_nobody_uses_goes_when_somebody_says_so() {
    let mut world = world("{name: gold}");
    world.run();
    let before = world.output_text("workers/w-weu/platform/platform.yaml").unwrap();
    world.edit(WORKER, ", {name: iron, labels: {tier: low}}", "");
    let proposal = world.run();
    let held: Vec<_> =
        proposal.plan.holds.iter().filter(|h| h.kind == HoldKind::ObjectsRemoved).collect();
    let names: Vec<_> = held.iter().flat_map(|hold| &hold.names).collect();
    assert!(names.iter().any(|name| name.contains("DataStore iron")), "{names:?}");
    assert_eq!(world.output_text("workers/w-weu/platform/platform.yaml").unwrap(), before);
}

#[test]
fn the_disk_of_a_store_stays_as_it_is() {
    let mut world = world("{name: gold}");
    world.run();
    for (from, to) in [
        ("{name: gold,", "{name: gold, size: 16Gi,"),
        ("dataStores: [", "dataStores: [{name: default, size: 16Gi}, "),
    ] {
        world.edit(WORKER, from, to);
        let proposal = world.run();
        let gate = proposal.gates.iter().find(|gate| gate.name.as_str() == "w-weu").unwrap();
        assert_eq!(gate.reason, GateReason::ForbiddenChange, "{to}");
        assert!(gate.findings[0].message.contains("persistentVolumeClaim.size"), "{gate:?}");
        world.edit(WORKER, to, from);
    }
    world.edit(WORKER, "dataStores: [", "dataStores: [{name: default, size: 8Gi}, ");
    let proposal = world.run();
    assert!(proposal.gates.is_empty(), "{:?}", proposal.gates);
}
