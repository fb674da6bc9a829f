//! The overrides of a cluster or a worker, explained: which policies there are, in the order of their turns, and what each
//! changes.

use std::sync::Arc;

use serde_json::Value;

use super::super::Error;
use super::super::show::OverrideView;
use super::open::{FleetLook, failed};
use crate::load;
use crate::model::{Name, OVERRIDDEN_BY, Override};
use crate::overrides::{self, Overrides};
use crate::render::{self, Files, Job, Templates};

/// An object, and who changes it.
type Changed = (String, Vec<String>);

/// The overrides of a cluster on its worker.
pub(super) fn of(
    look: &FleetLook,
    cluster: &Name,
    worker: &Name,
) -> Result<Vec<OverrideView>, Error> {
    let fleet = &look.opened.proposal.fleet;
    let Some(cluster) = fleet.clusters.get(cluster) else { return Ok(Vec::new()) };
    let all = overrides::applying(fleet, cluster, worker);
    let Some(all) = all.filter(|all| !all.is_empty()) else { return Ok(Vec::new()) };
    let job = render::cluster_job(fleet, cluster, worker, &templates(look)?);
    let changed = changed(job, &all);
    Ok(all.policies().map(|policy| view(policy, &changed)).collect())
}

/// The overrides of what a worker itself is made of.
pub(super) fn of_worker(look: &FleetLook, worker: &Name) -> Result<Vec<OverrideView>, Error> {
    let fleet = &look.opened.proposal.fleet;
    let Some(worker) = fleet.workers.get(worker) else { return Ok(Vec::new()) };
    let made = overrides::applying_to_worker(fleet, worker);
    let layers = overrides::applying_to_layers(fleet, worker);
    if made.is_empty() && layers.is_empty() {
        return Ok(Vec::new());
    }
    let (templates, prefix) = (templates(look)?, &look.opened.source.prefix);
    let job = render::control_plane_worker_job(fleet, worker, &templates, prefix);
    let mut objects = job.map(|job| changed(job, &made)).unwrap_or_default();
    objects.extend(changed(render::worker_job(fleet, worker, &templates, prefix), &layers));
    let mut policies: Vec<&Override> = made.policies().chain(layers.policies()).collect();
    policies.sort_by_key(|policy| (policy.spec.priority, &policy.name));
    policies.dedup_by_key(|policy| &policy.name);
    Ok(policies.into_iter().map(|policy| view(policy, &objects)).collect())
}

fn view(policy: &Override, changed: &[Changed]) -> OverrideView {
    let own = changed.iter().filter(|(_, by)| by.contains(&policy.name.to_string()));
    OverrideView {
        policy: policy.name.to_string(),
        origin: policy.file.clone(),
        objects: own.map(|(object, _)| object.clone()).collect(),
    }
}

fn templates(look: &FleetLook) -> Result<Templates, Error> {
    let (fleet, input) = (&look.opened.proposal.fleet, &look.snapshot.input);
    let texts = look.sources.with(|store| load::own_templates(input, store, fleet));
    let texts = texts.map_err(|error| failed(&error))?;
    let texts = texts.map_err(|error| failed(&error.into()))?;
    Ok(Templates::built_in().with(&texts).0)
}

/// The objects that are changed, each with who changes it; none where the folder does not render.
fn changed(job: Job, all: &Overrides) -> Vec<Changed> {
    let files = job.with_edits(Arc::new(all.clone())).render();
    files.map(|files| overridden(&files)).unwrap_or_default()
}

fn overridden(files: &Files) -> Vec<Changed> {
    let texts = files.values().map(|bytes| String::from_utf8_lossy(bytes));
    let one = |text: &str| {
        let object: Value = load::read_yaml(text.as_bytes()).ok()?;
        let by = object["metadata"]["annotations"][OVERRIDDEN_BY].as_str()?;
        let by = by.split(", ").map(str::to_owned).collect();
        let (kind, name) = (object["kind"].as_str()?, object["metadata"]["name"].as_str()?);
        Some((format!("{kind} {name}"), by))
    };
    texts.flat_map(|text| text.split("\n---\n").filter_map(one).collect::<Vec<_>>()).collect()
}
