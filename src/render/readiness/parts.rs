//! The parts of a worker's platform that clusters wait for.

use std::collections::BTreeSet;

use super::super::object::Object;
use super::super::preparation::Where;
use super::super::templates::Templates;
use super::folder::{ReadFolder, ReadinessStep, shown, text};
use crate::model::WaitsFor;

/// What is on a worker before clusters are.
pub(super) struct OnWorker {
    pub(super) folder: ReadFolder,
    /// The parts of its platform that Flux waits for.
    pub(super) parts: Vec<ReadinessStep>,
}

impl OnWorker {
    pub(super) fn of(folder: ReadFolder, templates: &Templates) -> Self {
        let platform = templates.catalogue().flavors().flat_map(|(_, flavor)| &flavor.platform);
        let kinds: BTreeSet<&WaitsFor> = platform.flat_map(|part| &part.waits_for).collect();
        let parts = kinds.into_iter().flat_map(|waits| waited(&folder, waits)).collect();
        Self { folder, parts }
    }
}

/// The step of a part of the platform.
pub(super) fn part(kind: &str, name: &str) -> String {
    format!("{kind} {name}")
}

/// The steps of the parts of the platform that are of a kind: each comes with its layer, which waits for it.
fn waited(folder: &ReadFolder, waits: &WaitsFor) -> Vec<ReadinessStep> {
    let api_version = |object: &&Object| object.value["apiVersion"] == waits.api_version.as_str();
    let step = |object: &Object| {
        let layer = object.file.split('/').next().unwrap_or_default();
        let address = waits.address.as_deref().map(|at| text(&object.value, at));
        let service = address.map(|address| address.unwrap_or_default().split('.').nth(1));
        let release = service.map(|service| release(folder, service.unwrap_or_default()));
        let missing = matches!(release, Some(None)).then(|| {
            let address = address.flatten().unwrap_or_default();
            format!("no HelmRelease beside it makes what is at `{address}`")
        });
        ReadinessStep {
            step: part(&waits.kind, object.name()),
            cluster: Where::Worker,
            objects: std::iter::once(object).chain(release.flatten()).map(shown).collect(),
            after: vec![format!("component-{layer}")],
            missing: missing.into_iter().collect(),
            own: None,
        }
    };
    folder.of_kind(&waits.kind).filter(api_version).map(step).collect()
}

/// What makes a service: the release that says its name, else one whose charts name theirs after it.
fn release<'a>(folder: &'a ReadFolder, service: &str) -> Option<&'a Object> {
    let named =
        |object: &&Object| text(&object.value, "/spec/values/fullnameOverride") == Some(service);
    let after = |object: &&Object| {
        service.strip_prefix(object.name()).is_some_and(|rest| rest.starts_with('-'))
    };
    let releases = || folder.of_kind("HelmRelease");
    releases().find(named).or_else(|| releases().find(after))
}
