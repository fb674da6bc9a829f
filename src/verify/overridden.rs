//! `matches-nothing` of override policies: a policy that selects no cluster or worker, an object that no selected cluster
//! has, a change that changes nothing. What a policy finds to do is tried on clusters that it selects; one is enough.

use std::collections::{BTreeMap, BTreeSet};

use super::unmatched;
use crate::diag::{Code, Diagnostic, FieldPath, Place};
use crate::load;
use crate::model::api::OverrideTarget;
use crate::model::{Cluster, Fleet, Name, Override, TriedClusters, Worker};
use crate::overrides::{self, Effects};
use crate::render::{self, Templates};
use serde_json::Value;

/// The most clusters that are rendered for one policy.
const MOST_TRIED: usize = 32;

/// A finding for each part of a policy that has no effect, and the clusters on which each policy was tried.
pub(super) fn found(
    fleet: &Fleet,
    templates: &Templates,
) -> (Vec<Diagnostic>, BTreeMap<Name, TriedClusters>) {
    let (mut found, mut tried) = (Vec::new(), BTreeMap::new());
    for policy in fleet.overrides.values() {
        let mut on = TriedClusters::default();
        found.extend(of(fleet, policy, templates, &mut on));
        if !on.names.is_empty() {
            tried.insert(policy.name.clone(), on);
        }
    }
    (found, tried)
}

fn of(
    fleet: &Fleet,
    policy: &Override,
    templates: &Templates,
    on: &mut TriedClusters,
) -> Vec<Diagnostic> {
    if policy.spec.target == OverrideTarget::Worker {
        return of_workers(fleet, policy, templates);
    }
    let selects = |c: &&Cluster| policy.selects_cluster(&c.name, &c.labels);
    let clusters: Vec<&Cluster> = fleet.clusters.values().filter(selects).collect();
    if fleet.clusters.is_empty() {
        return Vec::new();
    }
    if clusters.is_empty() {
        let message = format!("`{}` selects no cluster, so it has no effect", policy.name);
        let help = unmatched::cluster_help(fleet, &policy.spec.cluster_selector);
        return vec![finding(policy, FieldPath::keys("spec.clusterSelector"), message, help)];
    }
    let selector = &policy.spec.worker_selector;
    let worker = fleet
        .workers
        .values()
        .find(|worker| selector.selects(&worker.name, Some(&worker.labels)) == Some(true));
    let Some(worker) = worker else {
        if fleet.workers.is_empty() || !fleet.pools.is_empty() {
            return Vec::new();
        }
        return vec![selects_no_worker(fleet, policy)];
    };
    let worker = &worker.name;
    let Some((effects, tried)) = tried(fleet, policy, (&clusters, worker), templates, on) else {
        return Vec::new();
    };
    let help = "`carp render --cluster NAME --out DIR` shows the objects that there are";
    without_effect(policy, &effects, (tried, "cluster", help))
}

fn selects_no_worker(fleet: &Fleet, policy: &Override) -> Diagnostic {
    let selector = &policy.spec.worker_selector;
    let message = format!("`{}` selects no worker, so it has no effect", policy.name);
    let help = unmatched::worker_help(fleet, selector);
    finding(policy, FieldPath::keys("spec.workerSelector"), message, help)
}

/// The findings about a policy about workers. These are few, and what they are made of hangs on no cluster.
fn of_workers(fleet: &Fleet, policy: &Override, templates: &Templates) -> Vec<Diagnostic> {
    let workers: Vec<&Worker> =
        fleet.workers.values().filter(|worker| policy.selects_worker(worker)).collect();
    if workers.is_empty() {
        let may_come = fleet.workers.is_empty() || !fleet.pools.is_empty();
        return if may_come { Vec::new() } else { vec![selects_no_worker(fleet, policy)] };
    }
    let mut flavors = BTreeSet::new();
    let (first, others): (Vec<&Worker>, Vec<&Worker>) =
        workers.into_iter().partition(|worker| flavors.insert(worker.flavor()));
    let mut all = TriedEffects::default();
    for worker in first.into_iter().chain(others).take(MOST_TRIED) {
        let layers = render::worker_job(fleet, worker, templates, "");
        let made = render::control_plane_worker_job(fleet, worker, templates, "");
        let jobs: Vec<_> = made.into_iter().chain([layers]).collect();
        let objects: Result<Vec<_>, _> = jobs.iter().map(render::Job::reached).collect();
        let Ok(objects) = objects else { continue };
        all.add(&overrides::effects(policy, &objects.concat()));
        if all.is_complete() {
            break;
        }
    }
    let Some((effects, tried)) = all.0 else { return Vec::new() };
    let help = "`carp render --worker NAME --out DIR` shows the objects that there are";
    without_effect(policy, &effects, (tried, "worker", help))
}

/// What a policy found to do, and on how many that was tried; `None` where it was tried on none.
#[derive(Default)]
struct TriedEffects(Option<(Effects, usize)>);

impl TriedEffects {
    fn add(&mut self, one: &Effects) {
        let (sum, tried) = self.0.get_or_insert_with(|| (one.clone(), 0));
        *tried += 1;
        sum.selects.iter_mut().zip(&one.selects).for_each(|(sum, one)| *sum |= one);
        sum.changes.iter_mut().zip(&one.changes).for_each(|(sum, one)| *sum |= one);
    }

    /// Whether all of the policy has an effect somewhere.
    fn is_complete(&self) -> bool {
        let all = |(sum, _): &(Effects, usize)| {
            sum.selects.iter().chain(&sum.changes).all(|has_effect| *has_effect)
        };
        self.0.as_ref().is_some_and(all)
    }
}

/// What a policy finds to do on the clusters that it selects, and on how many that was tried; `None` where none of them
/// renders. All that were looked at go to `on`.
fn tried(
    fleet: &Fleet,
    policy: &Override,
    (clusters, worker): (&[&Cluster], &Name),
    templates: &Templates,
    on: &mut TriedClusters,
) -> Option<(Effects, usize)> {
    let mut flavors = BTreeSet::new();
    let (first, others): (Vec<&Cluster>, Vec<&Cluster>) =
        clusters.iter().partition(|cluster| flavors.insert(cluster.flavor()));
    let mut all = TriedEffects::default();
    for cluster in first.into_iter().chain(others).take(MOST_TRIED) {
        on.names.insert(cluster.name.clone());
        on.flavors.insert(cluster.flavor().to_owned());
        on.all = on.names.len() == clusters.len();
        let job = render::cluster_job(fleet, cluster, worker, templates);
        let Ok(files) = job.render() else { continue };
        all.add(&overrides::effects(policy, &objects(&files)));
        if all.is_complete() {
            break;
        }
    }
    all.0
}

fn objects(files: &render::Files) -> Vec<Value> {
    let manifests = files.iter().filter(|(path, _)| !path.ends_with("kustomization.yaml"));
    let texts = manifests.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned());
    let read = |text: String| {
        let all = text.split("\n---\n").map(|one| load::read_yaml(one.as_bytes()));
        all.filter_map(Result::ok).collect::<Vec<Value>>()
    };
    texts.flat_map(read).collect()
}

/// A finding for each part of a policy that has no effect on so many clusters or workers.
fn without_effect(
    policy: &Override,
    effects: &Effects,
    (tried, of, shown): (usize, &str, &str),
) -> Vec<Diagnostic> {
    let of = crate::model::count(tried as u64, of);
    let mut found = Vec::new();
    let spec = FieldPath::keys("spec");
    for (at, _) in effects.selects.iter().enumerate().filter(|(_, selects)| !**selects) {
        let message = format!("this selects no object of the {of} that it was tried on");
        let path = spec.key("objects").index(at);
        found.push(finding(policy, path, message, Some(shown.to_owned())));
    }
    if effects.selects.iter().all(|selects| !selects) {
        return found;
    }
    for (at, _) in effects.changes.iter().enumerate().filter(|(_, changes)| !**changes) {
        let message = format!("this changes nothing of the {of} that it was tried on");
        let help = "the objects are that way already, or have no such container";
        let path = spec.key("changes").index(at);
        found.push(finding(policy, path, message, Some(help.to_owned())));
    }
    found
}

fn finding(
    policy: &Override,
    path: FieldPath,
    message: String,
    help: Option<String>,
) -> Diagnostic {
    let help = help.unwrap_or_else(|| "mend it, or remove it".to_owned());
    Diagnostic::new(Code::MatchesNothing, message)
        .at(Place::field(&*policy.file, policy.document, path))
        .help(help)
}
