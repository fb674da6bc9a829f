//! The picture of readiness: from nothing to a worker that runs clusters, step by step, each with the objects
//! that do it and what they wait for. It is read off what is rendered, so a link that is missing there is
//! missing here: a step without an object, a selector that selects nothing, a dependency on nobody.
//!
//! A flavor's own steps are in its manifest. The others are those of every worker: Flux, its credential, its
//! folder, the layers, and the Kustomization of each cluster.

mod flavored;
mod folder;
mod parts;

use serde_json::Value;

use super::flux::{Applying, Removal};
use super::job::Job;
use super::object::Object;
use super::preparation::Where;
use super::templates::Templates;
use super::{Appliers, IndexedCluster, clusters_index};
use crate::diag::Diagnostics;
use crate::model::{Cluster, Fleet, Worker, paths};
use flavored::{FlavoredFolder, flavored};
use folder::{ReadFolder, depends_on, shown, text};
use parts::OnWorker;

pub use folder::ReadinessStep;

/// The file with the Kustomizations of a worker's clusters, which come after its layers.
const CLUSTERS_FILE: &str = "clusters.yaml";

/// What a worker and some clusters on it come up by.
pub struct ReadinessJobs<'a> {
    /// The worker's own files.
    pub layers: Job,
    /// The cluster that the worker is, where carp makes it.
    pub made: Option<Job>,
    /// The clusters, each with its folder.
    pub clusters: Vec<(&'a Cluster, Job)>,
}

/// The steps of a worker and of some clusters on it, in the order in which they can happen.
///
/// # Errors
/// What does not render.
pub fn readiness(
    fleet: &Fleet,
    worker: &Worker,
    jobs: &ReadinessJobs<'_>,
    templates: &Templates,
    prefix: &str,
) -> Result<Vec<ReadinessStep>, Diagnostics> {
    let listed = jobs.clusters.iter().map(|(cluster, _)| IndexedCluster {
        name: &cluster.name,
        tenant: &cluster.tenant,
        removal: Removal::Prune,
        applying: Applying::Active,
    });
    let mut layers = jobs.layers.render()?;
    let appliers = layers.get(paths::PLATFORM).map(|p| Appliers::of(p)).unwrap_or_default();
    let index = clusters_index(fleet, &worker.name, listed, &appliers, prefix);
    layers.insert(CLUSTERS_FILE.to_owned(), index);
    let on_worker = OnWorker::of(ReadFolder::new(layers), templates);
    let mut all = Vec::new();
    if let Some(job) = &jobs.made {
        let above = ReadFolder::of(job)?;
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
    let (clusters_of, layers): (Vec<_>, Vec<_>) =
        on_worker.folder.flux().partition(|object| object.file == CLUSTERS_FILE);
    all.extend(layers.into_iter().map(|object| on_worker.folder.own_step(object)));
    all.extend(on_worker.parts.iter().cloned());
    all.extend(clusters_of.into_iter().map(|object| on_worker.folder.own_step(object)));
    for (cluster, job) in &jobs.clusters {
        let folder = ReadFolder::of(job)?;
        let name = format!("{}: ", cluster.name);
        let mut own = flavored(&FlavoredFolder {
            flavor: templates.flavor(cluster.flavor()),
            said: &cluster.spec.parameters,
            folder: &folder,
            worker: &on_worker,
            prefix: &name,
            on: &Where::Worker,
        });
        let is_own = |after: &String| after.starts_with(&name);
        for step in own.iter_mut().filter(|step| !step.after.iter().any(is_own)) {
            step.after.insert(0, format!("cluster-{}", cluster.name));
        }
        all.extend(own);
    }
    Ok(all)
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
        // What it copies comes from people, or from an operator that is told of it here.
        let sources = above.of_kind("ExternalSecret").filter(|secret| copied(object, secret));
        all.push(ReadinessStep {
            step: object.name().to_owned(),
            cluster: Where::ControlPlane,
            objects: std::iter::once(object).chain(sources).map(shown).collect(),
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

/// Whether a `ClusterResourceSet` copies the Secret that an `ExternalSecret` makes.
fn copied(set: &Object, secret: &Object) -> bool {
    let resources = set.value.pointer("/spec/resources").and_then(Value::as_array);
    let name = text(&secret.value, "/spec/target/name");
    resources.into_iter().flatten().any(|resource| text(resource, "/name") == name)
}

#[cfg(test)]
mod tests;
