//! The picture of readiness: from nothing to a worker that runs clusters, step by step, each with the objects
//! that do it and what they wait for. It is read off what is rendered, so a link that is missing there is
//! missing here: a step without an object, a selector that selects nothing, a dependency on nobody.
//!
//! A flavor's own steps are in its manifest. The others are those of every worker: Flux, its credential, its
//! folder, the layers, and the Kustomization of each cluster.

mod flavored;

use serde_json::Value;

use self::flavored::{FlavoredFolder, flavored};
use super::control_plane::control_plane_worker_job;
use super::flux::{self, Removal};
use super::job::Job;
use super::object::{Object, objects};
use super::preparation::Where;
use super::templates::Templates;
use super::{Appliers, Files, IndexedCluster, cluster_job, clusters_index, worker_job};
use crate::diag::Diagnostics;
use crate::model::{Cluster, Fleet, Worker, paths};

/// The file with the Kustomizations of a worker's clusters, which come after its layers.
const CLUSTERS_FILE: &str = "clusters.yaml";

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadinessStep {
    /// What happens: `network`, `component-providers`, `pay-eu: machines`.
    pub step: String,
    /// The cluster that its objects are on.
    pub cluster: Where,
    /// The objects that do it, each as `Kind namespace/name`.
    pub objects: Vec<String>,
    /// The steps that it waits for.
    pub after: Vec<String>,
    /// What keeps it from ever happening; empty where nothing does.
    pub missing: Vec<String>,
    /// The parameter that leaves it to the fleet, which then has objects of its own for it.
    pub own: Option<String>,
}

/// The steps of a worker and of some clusters on it, in the order in which they can happen.
///
/// # Errors
/// What does not render.
pub fn readiness(
    fleet: &Fleet,
    worker: &Worker,
    clusters: &[&Cluster],
    templates: &Templates,
    prefix: &str,
) -> Result<Vec<ReadinessStep>, Diagnostics> {
    let listed = clusters.iter().map(|cluster| IndexedCluster {
        name: &cluster.name,
        tenant: &cluster.tenant,
        removal: Removal::Prune,
    });
    let mut layers = worker_job(fleet, worker, templates, prefix).render()?;
    let appliers = layers.get(paths::PLATFORM).map(|p| Appliers::of(p)).unwrap_or_default();
    let index = clusters_index(fleet, &worker.name, listed, &appliers, prefix);
    layers.insert(CLUSTERS_FILE.to_owned(), index);
    let on_worker = ReadFolder::new(layers);
    let mut all = Vec::new();
    if let Some(job) = control_plane_worker_job(fleet, worker, templates, prefix) {
        let above = ReadFolder::of(&job)?;
        all.extend(flavored(&FlavoredFolder {
            flavor: templates.flavor(worker.flavor()),
            said: &worker.spec.parameters,
            folder: &above,
            worker: &on_worker,
            prefix: "",
            on: &Where::ControlPlane,
        }));
        all.extend(bootstrap(&above, &all, &paths::worker(&worker.name)));
    }
    let mut own: Vec<_> = on_worker.flux().collect();
    own.sort_by_key(|object| object.file == CLUSTERS_FILE);
    all.extend(own.into_iter().map(|object| on_worker.own_step(object)));
    for cluster in clusters {
        let folder = ReadFolder::of(&cluster_job(fleet, cluster, &worker.name, templates))?;
        let mut own = flavored(&FlavoredFolder {
            flavor: templates.flavor(cluster.flavor()),
            said: &cluster.spec.parameters,
            folder: &folder,
            worker: &on_worker,
            prefix: &format!("{}: ", cluster.name),
            on: &Where::Worker,
        });
        for step in own.iter_mut().filter(|step| step.after.is_empty()) {
            step.after.push(format!("cluster-{}", cluster.name));
        }
        all.extend(own);
    }
    Ok(all)
}

/// The objects of one folder.
struct ReadFolder {
    files: Files,
    objects: Vec<Object>,
}

impl ReadFolder {
    fn of(job: &Job) -> Result<Self, Diagnostics> {
        Ok(Self::new(job.render()?))
    }

    fn new(files: Files) -> Self {
        let objects = objects(&files).unwrap_or_default();
        Self { files, objects }
    }

    fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Object> {
        self.objects.iter().filter(move |object| object.kind() == kind)
    }

    fn has(&self, kind: &str, name: &str) -> bool {
        self.of_kind(kind).any(|object| object.name() == name)
    }

    /// The Kustomizations by which a cluster's own Flux applies something.
    fn flux(&self) -> impl Iterator<Item = &Object> {
        self.of_kind("Kustomization")
    }

    /// The step of a Kustomization of the worker's own Flux.
    fn own_step(&self, object: &Object) -> ReadinessStep {
        let mut missing = self.broken(object);
        let source = text(&object.value, "/spec/sourceRef/name").unwrap_or_default();
        if source != flux::SOURCE {
            missing.push(format!("its source is `{source}`, and carp's is `{}`", flux::SOURCE));
        }
        let layer = object.name().strip_prefix("component-");
        let listed = |layer: &str| self.files.contains_key(&format!("{layer}/kustomization.yaml"));
        if layer.is_some_and(|layer| !listed(layer)) {
            missing.push("there is nothing in its folder".to_owned());
        }
        let after = depends_on(object);
        // The first layer and the agent's wait for Flux alone.
        let after = if after.is_empty() { vec![flux::ROOT.to_owned()] } else { after };
        let on = Where::Worker;
        ReadinessStep {
            step: object.name().to_owned(),
            cluster: on,
            objects: vec![shown(object)],
            after,
            missing,
            own: None,
        }
    }

    /// The links of an object that lead nowhere in this folder.
    fn broken(&self, object: &Object) -> Vec<String> {
        let spec = &object.value;
        let mut missing = Vec::new();
        for name in depends_on(object).iter().filter(|name| !self.has("Kustomization", name)) {
            missing.push(format!("it waits for `{name}`, which is not there"));
        }
        if let Some(account) = text(spec, "/spec/serviceAccountName")
            && !self.has("ServiceAccount", account)
        {
            missing.push(format!("it acts as the service account `{account}`, which is not there"));
        }
        if let Some(secret) = text(spec, "/spec/kubeConfig/secretRef/name") {
            let made = |cluster: &Object| secret == format!("{}-kubeconfig", cluster.name());
            if !self.of_kind("Cluster").any(made) {
                missing.push(format!("`{secret}` is no kubeconfig that Cluster API makes"));
            }
        }
        if let Some(wanted) = spec.pointer("/spec/clusterSelector/matchLabels")
            && !self.of_kind("Cluster").any(|cluster| selects(wanted, cluster))
        {
            missing.push("its clusterSelector selects no Cluster".to_owned());
        }
        missing
    }
}

/// What puts Flux on a worker and points it at its folder, once the cluster's own steps are done.
fn bootstrap(above: &ReadFolder, own: &[ReadinessStep], folder: &str) -> Vec<ReadinessStep> {
    let on_worker = |object: &&Object| object.file.starts_with("bootstrap/");
    let last = own.iter().map(|step| step.step.clone());
    let last: Vec<_> = last.filter(|step| !own.iter().any(|s| s.after.contains(step))).collect();
    let mut all = Vec::new();
    for object in above.objects.iter().filter(|o| !on_worker(o)) {
        let is_flux = object.kind() == "Kustomization";
        let copies = object.kind() == "ClusterResourceSet";
        if !(is_flux || copies) || own.iter().any(|step| step.objects.contains(&shown(object))) {
            continue;
        }
        let after = depends_on(object);
        all.push(ReadinessStep {
            step: object.name().to_owned(),
            cluster: Where::ControlPlane,
            objects: vec![shown(object)],
            after: if after.is_empty() { last.clone() } else { after },
            missing: above.broken(object),
            own: None,
        });
    }
    let roots = above.objects.iter().filter(on_worker).filter(|o| o.kind() == "Kustomization");
    all.extend(
        roots
            .map(|root| {
                let path = text(&root.value, "/spec/path").unwrap_or_default();
                let elsewhere = !path.ends_with(folder);
                let before = all.iter().map(|step| step.step.clone()).collect();
                ReadinessStep {
                    step: root.name().to_owned(),
                    cluster: Where::Worker,
                    objects: vec![shown(root)],
                    after: before,
                    missing: elsewhere.then(|| format!("it applies {path}")).into_iter().collect(),
                    own: None,
                }
            })
            .collect::<Vec<_>>(),
    );
    all
}

fn shown(object: &Object) -> String {
    match object.namespace() {
        "" => object.to_string(),
        namespace => format!("{} {namespace}/{}", object.kind(), object.name()),
    }
}

fn depends_on(object: &Object) -> Vec<String> {
    let list = object.value.pointer("/spec/dependsOn").and_then(Value::as_array);
    let names = list.into_iter().flatten().filter_map(|entry| text(entry, "/name"));
    names.map(ToOwned::to_owned).collect()
}

fn selects(wanted: &Value, cluster: &Object) -> bool {
    let labels = &cluster.value["metadata"]["labels"];
    let mut wanted = wanted.as_object().into_iter().flatten();
    wanted.all(|(key, value)| labels.get(key) == Some(value))
}

fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::super::fixture::{fleet, observed};
    use super::*;

    pub(super) fn steps(fleet: &Fleet, templates: &Templates) -> Vec<ReadinessStep> {
        let worker = fleet.workers.values().next().unwrap();
        let clusters: Vec<_> = fleet.clusters.values().collect();
        readiness(fleet, worker, &clusters, templates, "p").unwrap()
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

    #[test]
    fn every_link_from_nothing_to_a_cluster_is_there() {
        let kind = |fleet: Fleet| {
            let mut fleet = fleet;
            fleet.workers.values_mut().for_each(|w| w.spec.flavor = Some("kind".to_owned()));
            fleet.clusters.values_mut().for_each(|c| c.spec.flavor = Some("kind".to_owned()));
            fleet
        };
        for fleet in [fleet(), observed(), kind(fleet())] {
            let all = steps(&fleet, &Templates::built_in());
            assert_eq!(missing(&all), Vec::<String>::new());
            let mut before = BTreeSet::new();
            for step in &all {
                assert!(!step.objects.is_empty(), "{}", step.step);
                for after in &step.after {
                    assert!(before.contains(after), "{}: after {after}", step.step);
                }
                assert!(before.insert(step.step.clone()), "{} twice", step.step);
            }
        }
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
}
