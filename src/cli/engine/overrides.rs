//! The overrides of a cluster, explained: which policies there are, in the order of their turns, and what each changes.

use std::sync::Arc;

use serde_json::Value;

use super::super::Error;
use super::super::show::OverrideView;
use super::open::{FleetLook, failed};
use crate::load;
use crate::model::{Name, OVERRIDDEN_BY};
use crate::overrides::{self, Overrides};
use crate::render::{self, Files, Templates};

/// The overrides of a cluster on its worker.
pub(super) fn of(
    look: &FleetLook,
    cluster: &Name,
    worker: &Name,
) -> Result<Vec<OverrideView>, Error> {
    let fleet = &look.opened.proposal.fleet;
    let all =
        fleet.clusters.get(cluster).map(|cluster| overrides::applying(fleet, cluster, worker));
    let Some(all) = all.flatten().filter(|all| !all.is_empty()) else { return Ok(Vec::new()) };
    let changed = changed(look, cluster, worker, &all)?;
    let view = |policy: &crate::model::Override| {
        let own = changed.iter().filter(|(_, by)| by.contains(&policy.name.to_string()));
        OverrideView {
            policy: policy.name.to_string(),
            origin: policy.file.clone(),
            objects: own.map(|(object, _)| object.clone()).collect(),
        }
    };
    Ok(all.policies().map(view).collect())
}

/// The objects that are changed, each with who changes it; none where the folder does not render.
fn changed(
    look: &FleetLook,
    cluster: &Name,
    worker: &Name,
    all: &Overrides,
) -> Result<Vec<(String, Vec<String>)>, Error> {
    let (fleet, input) = (&look.opened.proposal.fleet, &look.snapshot.input);
    let Some(cluster) = fleet.clusters.get(cluster) else { return Ok(Vec::new()) };
    let texts = look.sources.with(|store| load::own_templates(input, store, fleet));
    let texts = texts.map_err(|error| failed(&error))?;
    let texts = texts.map_err(|error| failed(&error.into()))?;
    let templates = Templates::built_in().with(&texts).0;
    let job = render::cluster_job(fleet, cluster, worker, &templates);
    let files = job.with_edits(Arc::new(all.clone())).render();
    Ok(files.map(|files| overridden(&files)).unwrap_or_default())
}

fn overridden(files: &Files) -> Vec<(String, Vec<String>)> {
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
