//! Lost workers and a later time, as reports and a time: those that are lost report no more, and all others
//! go on saying what they said last.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::{Error, Question, SimulatedChange, SimulatedFleet, edit};
use crate::change::TreeEdit;
use crate::load::emit_yaml;
use crate::model::api::Observation;
use crate::model::{
    FoldedReport, Freshness, Id, Name, REPORT_SCHEMA, Report, ReportedCluster, paths,
};

/// What a run sees of the workers.
pub(super) struct Later {
    pub(super) status: Option<Id>,
    pub(super) reports: Option<BTreeMap<Name, Vec<u8>>>,
    pub(super) now: Timestamp,
}

pub(super) fn later(
    scene: &SimulatedFleet<'_>,
    question: &Question,
    notes: &mut Vec<String>,
) -> Result<Later, Error> {
    let snapshot = scene.snapshot;
    let lost = lost(scene, question, notes)?;
    let now = time(scene, question, &lost)?;
    if lost.is_empty() && now == snapshot.now {
        let (status, reports) = (snapshot.status, snapshot.reports.clone());
        return Ok(Later { status, reports, now });
    }
    let known = &scene.before.observed.workers;
    let mut reports = BTreeMap::new();
    for (name, folded) in known.iter().filter(|(_, f)| f.freshness == Freshness::Fresh) {
        let own = snapshot.reports.as_ref().and_then(|reports| reports.get(name));
        let is_lost = lost.contains(name);
        let heard = if is_lost { snapshot.now } else { now };
        let again = || emit_yaml(&report(folded, heard)).into_bytes();
        let bytes = own.filter(|_| is_lost).cloned().unwrap_or_else(again);
        reports.insert(name.clone(), bytes);
    }
    Ok(Later { status: Some(fold(scene)?), reports: Some(reports), now })
}

/// The workers whose reports stop.
fn lost(
    scene: &SimulatedFleet<'_>,
    question: &Question,
    notes: &mut Vec<String>,
) -> Result<BTreeSet<Name>, Error> {
    let fleet = &scene.before.fleet;
    let mut lost = BTreeSet::new();
    for change in &question.changes {
        let SimulatedChange::Lose(name) = change else { continue };
        edit::known(fleet, name)?;
        let observation = fleet.workers.get(name).map(|worker| worker.spec.observation);
        if observation != Some(Observation::Agent) {
            notes.push(format!(
                "{name} has `observation: None`: carp asks nobody how it is, so it would not notice"
            ));
        }
        match scene.before.observed.workers.get(name).map(|folded| folded.freshness) {
            None => notes.push(format!("{name} has never reported, so there is nothing to lose")),
            Some(Freshness::Silent) => notes.push(format!("{name} is silent already")),
            Some(Freshness::Fresh) => {
                lost.insert(name.clone());
            }
        }
    }
    Ok(lost)
}

/// The time that was asked for, or the moment at which the last of the lost workers is found out.
fn time(
    scene: &SimulatedFleet<'_>,
    question: &Question,
    lost: &BTreeSet<Name>,
) -> Result<Timestamp, Error> {
    let now = scene.snapshot.now;
    if let Some(at) = question.at {
        return if at < now { Err(Error::Past { at, now }) } else { Ok(at) };
    }
    let workers = lost.iter().filter_map(|name| scene.before.fleet.workers.get(name));
    let longest = workers.map(|worker| worker.heartbeat_timeout_seconds).max().unwrap_or(0);
    Ok(now.checked_add(SignedDuration::from_secs(longest)).unwrap_or(Timestamp::MAX))
}

/// The status tree with what is known after the first run: the second one folds on from there.
fn fold(scene: &SimulatedFleet<'_>) -> Result<Id, Error> {
    let mut edit = TreeEdit::default();
    for (name, folded) in &scene.before.observed.workers {
        let path = format!("{}/{name}.yaml", paths::OBSERVED);
        let path = paths::in_repository(&scene.snapshot.input.prefix, &path);
        edit.file(&path, scene.store.put_blob(emit_yaml(folded).as_bytes())?);
    }
    Ok(edit.apply(scene.store, scene.snapshot.status)?)
}

/// A report that says what is known.
fn report(folded: &FoldedReport, time: Timestamp) -> Report {
    let clusters = folded.clusters.iter().map(|(name, cluster)| ReportedCluster {
        name: name.clone(),
        uid: cluster.uid.clone(),
        digest: cluster.digest,
        phase: cluster.phase.clone(),
        since: Some(cluster.since),
        version: cluster.version.clone(),
        control_plane_version: cluster.control_plane_version.clone(),
        pool_version: cluster.pool_version.clone(),
        endpoint: cluster.endpoint.clone(),
        nodes: cluster.nodes,
        machines: cluster.machines,
        suspended: cluster.suspended,
        conditions: cluster.conditions.clone(),
        errors: cluster.errors.clone(),
        present: cluster.present.clone(),
    });
    Report {
        schema_version: REPORT_SCHEMA,
        worker: folded.worker.clone(),
        worker_uid: folded.worker_uid.clone(),
        time,
        complete: folded.complete,
        unlisted: Vec::new(),
        healthy: folded.healthy,
        healthy_since: Some(folded.healthy_since),
        reason: folded.reason.clone(),
        message: folded.message.clone(),
        applied_revision: folded.applied_revision.clone(),
        applied_digest: folded.applied_digest,
        components: folded.components.clone(),
        foreign_namespaces: folded.foreign_namespaces.iter().cloned().collect(),
        clusters: clusters.collect(),
    }
}
