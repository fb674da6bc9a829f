//! The picture of every flavor that carp ships, and of what is missing in it.

use std::collections::{BTreeMap, BTreeSet};

use super::super::control_plane::control_plane_worker_job;
use super::super::fixture::{fleet, observed};
use super::super::flux::ROOT;
use super::super::{cluster_job, worker_job};
use super::*;
use crate::model::api::{DataStore, DataStoreChoice, Parameters};
use crate::model::{FlavorKind, FlavorStep};

pub(super) fn steps(fleet: &Fleet, templates: &Templates) -> Vec<ReadinessStep> {
    let worker = fleet.workers.values().next().unwrap();
    let of_cluster = |cluster| (cluster, cluster_job(fleet, cluster, &worker.name, templates));
    let jobs = ReadinessJobs {
        layers: worker_job(fleet, worker, templates, "p"),
        made: control_plane_worker_job(fleet, worker, templates, "p"),
        clusters: fleet.clusters.values().map(of_cluster).collect(),
    };
    readiness(fleet, worker, &jobs, templates, "p").unwrap()
}

pub(super) fn missing(all: &[ReadinessStep]) -> Vec<String> {
    let each = all.iter().flat_map(|step| {
        step.missing.iter().map(move |missing| format!("{}: {missing}", step.step))
    });
    each.collect()
}

fn with(name: &str, change: impl Fn(&str) -> String) -> Templates {
    let text = Templates::built_in_files().find(|(file, _)| *file == name).unwrap().1;
    let text = change(text);
    Templates::built_in().with(&BTreeMap::from([(name.to_owned(), text)])).0
}

/// The fleet with a worker and a cluster of these flavors.
fn of_flavors(fleet: Fleet, worker: &str, cluster: &str) -> Fleet {
    let mut fleet = fleet;
    fleet.workers.values_mut().for_each(|w| w.spec.flavor = Some(worker.to_owned()));
    fleet.clusters.values_mut().for_each(|c| c.spec.flavor = Some(cluster.to_owned()));
    // A Secret may hold ids and nothing else, and these are told by their form.
    let azure = fleet.spec.credentials[0].azure.as_mut().unwrap();
    let id = |last: u8| format!("3f2504e0-4f89-11d3-9a0c-0305e82c33{last:02}");
    (azure.tenant_id, azure.subscription_id, azure.client_id) = (id(1), id(2), id(3));
    fleet
}

/// The fleet with a data store more on its worker, and its cluster in it.
fn with_store(mut fleet: Fleet) -> Fleet {
    let store = DataStore { name: "gold".into(), ..DataStore::default() };
    fleet.workers.values_mut().for_each(|w| w.spec.data_stores = vec![store.clone()]);
    let choice = DataStoreChoice { name: Some("gold".into()), ..DataStoreChoice::default() };
    fleet.clusters.values_mut().for_each(|c| c.spec.data_store = Some(choice.clone()));
    fleet
}

/// That each step has objects, comes once and after what it waits for, and misses nothing.
fn is_whole(all: &[ReadinessStep], of: &str) {
    assert_eq!(missing(all), Vec::<String>::new(), "{of}");
    let mut before = BTreeSet::new();
    // Where the worker is there already, people have put its first Kustomization on it.
    if all[0].cluster == Where::Worker {
        before.insert(ROOT.to_owned());
    }
    for step in all {
        assert!(!step.objects.is_empty(), "{of}: {}", step.step);
        for after in &step.after {
            assert!(before.contains(after), "{of}: {}: after {after}", step.step);
        }
        assert!(before.insert(step.step.clone()), "{of}: {} twice", step.step);
    }
}

#[test]
fn every_link_from_nothing_to_a_cluster_is_there() {
    let templates = Templates::built_in();
    let names = |kind| templates.catalogue().names(kind).map(ToOwned::to_owned);
    let mut seen = BTreeSet::new();
    for worker in names(FlavorKind::Worker) {
        for cluster in names(FlavorKind::ManagedCluster) {
            // Containers are made on a worker of containers, and nothing else is.
            if (worker == "kind") != (cluster == "kind") {
                continue;
            }
            for fleet in [fleet(), observed()] {
                let all = steps(&of_flavors(fleet, &worker, &cluster), &templates);
                is_whole(&all, &format!("{cluster} on {worker}"));
                seen.extend(all.into_iter().map(|step| step.step));
            }
        }
    }
    let declared = templates.catalogue().flavors().flat_map(|(_, flavor)| &flavor.readiness);
    // Of what a parameter lists there is a step where it lists something.
    for FlavorStep { step, .. } in declared.filter(|step| step.each.is_none()) {
        let of_cluster = format!("pay-eu: {step}");
        assert!(seen.contains(step) || seen.contains(&of_cluster), "{step} is in no chain");
    }
}

#[test]
fn a_control_plane_waits_for_its_data_store_and_that_for_what_makes_it() {
    for fleet in [with_store(fleet()), of_flavors(with_store(fleet()), "aks", "kamaji-capz")] {
        let all = steps(&fleet, &Templates::built_in());
        is_whole(&all, "with a data store more");
        let step = |name: &str| all.iter().find(|step| step.step == name).unwrap();
        let plane = step("pay-eu: control plane");
        assert_eq!(plane.after, ["cluster-pay-eu", "DataStore gold"]);
        let store = step("DataStore gold");
        assert_eq!(store.objects, ["DataStore gold", "HelmRelease kamaji-system/gold-store"]);
        assert_eq!(store.after, ["component-platform"]);
        let own = step("DataStore default");
        assert_eq!(own.objects, ["DataStore default", "HelmRelease kamaji-system/kamaji"]);
    }
}

/// The first objects of a kind are taken out of what was rendered.
fn without(folder: &ReadFolder, kind: &str, name: Option<&str>) -> ReadFolder {
    let is_other = |o: &&Object| o.kind() != kind || name.is_some_and(|name| o.name() != name);
    let objects = folder.objects.iter().filter(is_other).cloned().collect();
    ReadFolder { files: folder.files.clone(), objects }
}

#[test]
fn each_step_of_each_flavor_that_loses_its_objects_says_so() {
    let templates = Templates::built_in();
    let mut lost = 0;
    for (name, flavor) in templates.catalogue().flavors() {
        let fleet = of_flavors(fleet(), name, name);
        let worker = fleet.workers.values().next().unwrap();
        let cluster = fleet.clusters.values().next().unwrap();
        let layers = worker_job(&fleet, worker, &templates, "p").render().unwrap();
        let on_worker = OnWorker::of(ReadFolder::new(layers), &templates);
        let mut folders = Vec::new();
        if flavor.kinds.contains(&FlavorKind::Worker) {
            let job = control_plane_worker_job(&fleet, worker, &templates, "p");
            folders.extend(job.map(|job| ReadFolder::of(&job).unwrap()));
        }
        if flavor.kinds.contains(&FlavorKind::ManagedCluster) {
            let job = cluster_job(&fleet, cluster, &worker.name, &templates);
            folders.push(ReadFolder::of(&job).unwrap());
        }
        for folder in &folders {
            // Of what a parameter lists there is nothing where it lists nothing.
            for step in flavor.readiness.iter().filter(|step| step.each.is_none()) {
                let less = without(folder, &step.kind, step.name.as_deref());
                let all = flavored(&FlavoredFolder {
                    flavor: Some(flavor),
                    said: &Parameters::default(),
                    folder: &less,
                    worker: &on_worker,
                    prefix: "",
                    on: &Where::Worker,
                });
                let told = all.iter().find(|told| told.step == step.step).unwrap();
                assert!(!told.missing.is_empty(), "{name}: {}", step.step);
                lost += 1;
            }
        }
    }
    assert!(lost > 30, "{lost} steps were looked at");
}

#[test]
fn the_chain_is_the_one_that_people_expect() {
    let all = steps(&observed(), &Templates::built_in());
    let order: Vec<_> = all.iter().map(|step| step.step.as_str()).collect();
    let chain = [
        "identity",
        "network",
        "control plane",
        "pod network",
        "cloud controller",
        "component-flux",
        "component-sync",
        "carp-worker",
        "component-cert-manager",
        "component-providers",
        "component-platform",
        "cluster-pay-eu",
        "pay-eu: identity",
        "pay-eu: control plane",
        "pay-eu: machines",
        "pay-eu: cloud controller",
    ];
    let mut at = order.iter();
    for step in chain {
        assert!(at.any(|found| *found == step), "{step} in {order:?}");
    }
    assert!(order.contains(&"component-agent") && order.contains(&"carp-credential"));
}

#[test]
fn a_missing_link_is_named() {
    for (file, from, to, told) in [
        (
            "parts/addons.yaml",
            "  name: cloud-provider-azure\n",
            "  name: ccm\n",
            "cloud controller: there is no HelmChartProxy cloud-provider-azure",
        ),
        (
            "parts/addons.yaml",
            "      cni: calico\n",
            "      cni: cilium\n",
            "pod network: its clusterSelector selects no Cluster",
        ),
        (
            "kamaji-capz/cluster.yaml",
            "dataStoreName: default\n",
            "dataStoreName: fast\n",
            "pay-eu: control plane: the worker has no DataStore `fast`",
        ),
        (
            "components/platform.yaml",
            "  - kamaji-etcd-0.kamaji-etcd.kamaji-system.svc",
            "  - etcd-0.etcd.kamaji-system.svc",
            "DataStore default: no HelmRelease beside it makes what is at \
             `etcd-0.etcd.kamaji-system.svc.cluster.local:2379`",
        ),
        (
            "components/platform.yaml",
            "kind: ServiceAccount\nmetadata:\n  name: {{ applier }}\n",
            "kind: ServiceAccount\nmetadata:\n  name: other\n",
            "cluster-pay-eu: it acts as the service account `carp-clusters`, which is not there",
        ),
    ] {
        let all = steps(&fleet(), &with(file, |text| text.replacen(from, to, 1)));
        let missing = missing(&all);
        assert!(missing.iter().any(|line| line == told), "{told}: {missing:?}");
    }
}

#[test]
fn an_attached_worker_begins_with_its_own_flux() {
    let mut fleet = fleet();
    fleet.workers.values_mut().for_each(|w| w.spec.flavor = Some("attached".to_owned()));
    let all = steps(&fleet, &Templates::built_in());
    assert_eq!(all[0].cluster, Where::Worker);
    assert_eq!(missing(&all), Vec::<String>::new());
}
