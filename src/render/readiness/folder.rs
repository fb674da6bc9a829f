//! The objects of a folder, as steps read them.

use serde_json::Value;

use super::super::Files;
use super::super::flux;
use super::super::job::Job;
use super::super::object::{Object, objects};
use super::super::preparation::Where;
use crate::diag::Diagnostics;

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

/// The objects of one folder.
pub(super) struct ReadFolder {
    pub(super) files: Files,
    pub(super) objects: Vec<Object>,
}

impl ReadFolder {
    pub(super) fn of(job: &Job) -> Result<Self, Diagnostics> {
        Ok(Self::new(job.render()?))
    }

    pub(super) fn new(files: Files) -> Self {
        let objects = objects(&files).unwrap_or_default();
        Self { files, objects }
    }

    pub(super) fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Object> {
        self.objects.iter().filter(move |object| object.kind() == kind)
    }

    pub(super) fn has(&self, kind: &str, name: &str) -> bool {
        self.of_kind(kind).any(|object| object.name() == name)
    }

    /// The Kustomizations by which a cluster's own Flux applies something.
    pub(super) fn flux(&self) -> impl Iterator<Item = &Object> {
        self.of_kind("Kustomization")
    }

    /// The step of a Kustomization of the worker's own Flux.
    pub(super) fn own_step(&self, object: &Object) -> ReadinessStep {
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
    pub(super) fn broken(&self, object: &Object) -> Vec<String> {
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

pub(super) fn shown(object: &Object) -> String {
    match object.namespace() {
        "" => object.to_string(),
        namespace => format!("{} {namespace}/{}", object.kind(), object.name()),
    }
}

pub(super) fn depends_on(object: &Object) -> Vec<String> {
    let list = object.value.pointer("/spec/dependsOn").and_then(Value::as_array);
    let names = list.into_iter().flatten().filter_map(|entry| text(entry, "/name"));
    names.map(ToOwned::to_owned).collect()
}

pub(super) fn selects(wanted: &Value, cluster: &Object) -> bool {
    let labels = &cluster.value["metadata"]["labels"];
    let mut wanted = wanted.as_object().into_iter().flatten();
    wanted.all(|(key, value)| labels.get(key) == Some(value))
}

pub(super) fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str)
}
