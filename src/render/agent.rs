//! The agent that carp installs on a cluster: which there is, and what it wants of people.
//!
//! It is a layer of its own on which no other depends, nor it on any: it reports from the first moment
//! on, also why the layers below the clusters do not come up.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::context::ComponentVersions;
use super::flux::{is_ssh, port};
use crate::model::api::{FleetSpec, Images, Observation};
use crate::model::{Catalogue, Fleet, ProvidedKind, Worker};

/// The layer: its folder, and what its Kustomization is called after.
pub(super) const LAYER: &str = "agent";
/// The namespace of the agent and of its Secrets.
pub(super) const NAMESPACE: &str = "carp-system";
/// The Secret with git's credential for the reports.
const GIT_SECRET: &str = "carp-agent-git";
/// The Secret with the key that signs the reports.
pub(super) const SIGNING_SECRET: &str = "carp-agent-signing";
/// Where clusters serve their API: on 443 behind a load balancer, on 6443 by kubeadm's own rule.
const API_SERVER_PORTS: [u16; 2] = [443, 6443];
/// The component whose version is the image's tag.
const COMPONENT: &str = "carp";

/// An agent that carp installs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Agent {
    /// Whom it reports as: the worker, or the control-plane cluster.
    name: String,
    /// Where the reports go.
    repository: String,
    /// What their branches begin with.
    branch: String,
    /// The image with its tag.
    image: String,
    /// Whether reports count only if they are signed.
    signed: bool,
}

impl Agent {
    /// The agent of a worker; `None` where it is not observed by one, or where `carp.yaml` does not say
    /// enough to install one (see [`agent_missing`]).
    pub(super) fn of_worker(fleet: &Fleet, worker: &Worker) -> Option<Self> {
        let components = ComponentVersions::overlaid(&worker.spec.components.0);
        (worker.spec.observation == Observation::Agent)
            .then(|| Self::new(&fleet.spec, &worker.name, components).ok())?
    }

    /// The agent of the control-plane cluster, which reports the clusters that the workers are.
    pub(super) fn of_control_plane(fleet: &Fleet) -> Option<Self> {
        let cluster = fleet.spec.control_plane.as_ref()?;
        let components = ComponentVersions::overlaid(&cluster.components);
        (cluster.observation == Observation::Agent)
            .then(|| Self::new(&fleet.spec, &cluster.name, components).ok())?
    }

    /// The agent of a cluster, or what of `carp.yaml` is missing for it.
    fn new(
        spec: &FleetSpec,
        name: &str,
        components: ComponentVersions<'_>,
    ) -> Result<Self, &'static str> {
        let observed = spec.observed.as_ref();
        let own = observed.and_then(|o| o.url.as_deref());
        let repository = own.or_else(|| spec.delivery.as_ref().map(|d| d.url.as_str()));
        let repository = repository.ok_or("observed.url or delivery.url")?;
        let image = spec.images.as_ref().and_then(image).ok_or("images.carp")?;
        Ok(Self {
            name: name.to_owned(),
            repository: repository.to_owned(),
            branch: spec.branches.clone().unwrap_or_default().observed,
            image: format!("{image}:{}", components.version(COMPONENT)),
            signed: observed.is_some_and(|o| !o.allowed_signers.is_empty()),
        })
    }

    /// What its template gets.
    pub(super) fn context(&self, catalogue: &Catalogue) -> Value {
        let own = catalogue.observed_besides();
        let observe: Vec<_> = own.iter().map(|kind| json!(kind).to_string()).collect();
        json!({
            "observe": observe,
            "rules": rules(&own),
            "name": self.name,
            "ports": self.ports(),
            "repository": self.repository,
            "branch": self.branch,
            "image": self.image,
            "ssh": self.is_ssh(),
            "gitSecret": GIT_SECRET,
            "signed": self.signed,
            "signingSecret": SIGNING_SECRET,
        })
    }

    /// Whether git reaches the repository by ssh.
    pub(super) fn is_ssh(&self) -> bool {
        is_ssh(&self.repository)
    }

    /// The ports that it must reach, besides those of names: its repository's and the API server's, sorted.
    fn ports(&self) -> BTreeSet<u16> {
        API_SERVER_PORTS.into_iter().chain(port(&self.repository)).collect()
    }

    /// What the branches of all reports begin with.
    pub(super) fn branches(&self) -> &str {
        &self.branch
    }

    /// The branch of its reports.
    pub(super) fn report_branch(&self) -> String {
        format!("{}/{}", self.branch, self.name)
    }

    /// Whom it reports as.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The names of its Secrets.
    pub(super) fn secrets(&self) -> Vec<&'static str> {
        let signing = self.signed.then_some(SIGNING_SECRET);
        std::iter::once(GIT_SECRET).chain(signing).collect()
    }
}

/// What the agent may do with these kinds, as rules of a ClusterRole: one for each API group.
fn rules(kinds: &[&ProvidedKind]) -> Vec<Value> {
    let mut groups = BTreeMap::<&str, BTreeSet<String>>::new();
    for kind in kinds {
        groups.entry(kind.group()).or_default().insert(kind.resource());
    }
    let rule = |(group, resources)| json!({"group": group, "resources": resources});
    groups.into_iter().map(rule).collect()
}

/// carp's image, without a tag; `None` where nothing says where it is.
fn image(images: &Images) -> Option<String> {
    let behind = |registry: &String| format!("{registry}/{COMPONENT}");
    images.carp.clone().or_else(|| images.registry.as_ref().map(behind))
}

/// What of `carp.yaml` is missing, where a worker is to be observed by an agent and carp cannot install
/// one: then people do.
#[must_use]
pub fn agent_missing(fleet: &Fleet, worker: &Worker) -> Option<&'static str> {
    let components = ComponentVersions::overlaid(&worker.spec.components.0);
    (worker.spec.observation == Observation::Agent)
        .then(|| Agent::new(&fleet.spec, &worker.name, components).err())?
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{objects_of, observed};
    use super::super::{
        Files, RenderSettings, Templates, control_plane_job, control_plane_worker_job, worker_job,
    };
    use super::*;
    use crate::model::api::ObservedSettings;

    fn worker(fleet: &Fleet) -> &Worker {
        fleet.workers.values().next().unwrap()
    }

    fn files(fleet: &Fleet) -> Files {
        worker_job(fleet, worker(fleet), &Templates::built_in(), "").render().unwrap()
    }

    /// The one container of the agent.
    fn container(files: &Files) -> Value {
        let deployment = &objects_of(files, "Deployment")[0];
        deployment.pointer("/spec/template/spec/containers/0").unwrap().clone()
    }

    fn args(files: &Files) -> String {
        container(files)["args"].to_string()
    }

    #[test]
    fn an_agent_is_a_layer_apart_from_the_others() {
        let layers = objects_of(&files(&observed()), "Kustomization");
        let agent = layers.iter().find(|l| l["metadata"]["name"] == "component-agent").unwrap();
        assert_eq!(agent["spec"]["path"], "./workers/wk-1/agent");
        assert_eq!(agent["spec"]["prune"], true);
        assert!(agent["spec"].get("dependsOn").is_none(), "it reports from the first moment on");
        for layer in &layers {
            let depends = layer["spec"]["dependsOn"].to_string();
            assert!(!depends.contains("component-agent"), "{depends}");
        }
    }

    #[test]
    fn without_observation_there_is_none_and_nothing_of_it_stays() {
        let mut fleet = observed();
        let there = files(&fleet);
        fleet.workers.values_mut().for_each(|w| w.spec.observation = Observation::None);
        let gone = files(&fleet);
        assert!(there.keys().any(|path| path.starts_with("agent/")));
        assert!(!gone.keys().any(|path| path.starts_with("agent/")));
        let layers = String::from_utf8(gone["layers.yaml"].clone()).unwrap();
        assert!(!layers.contains("agent"), "Flux prunes the Kustomization, and that its objects");
    }

    #[test]
    fn it_is_told_where_its_reports_go() {
        let mut fleet = observed();
        let told = args(&files(&fleet));
        for arg in ["--worker=wk-1", "--repository=ssh://git@example.com/fleet.git", "observed"] {
            assert!(told.contains(arg), "{told}");
        }
        let observed = ObservedSettings {
            url: Some("https://r.example.com/r.git".into()),
            ..Default::default()
        };
        fleet.spec.observed = Some(observed);
        let files = files(&fleet);
        assert!(args(&files).contains("--repository=https://r.example.com/r.git"));
        assert!(container(&files).get("env").is_none(), "no ssh, no command for it");
    }

    #[test]
    fn its_image_is_pinned_and_comes_from_where_the_fleet_says() {
        let mut fleet = observed();
        let image = |fleet: &Fleet| container(&files(fleet))["image"].as_str().unwrap().to_owned();
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(image(&fleet), format!("r.example.com/carp:{version}"));
        let registry = Some("m.example.com".into());
        fleet.spec.images = Some(Images { registry, ..Images::default() });
        assert_eq!(image(&fleet), format!("m.example.com/carp:{version}"));
        let worker = fleet.workers.values_mut().next().unwrap();
        worker.spec.components.0.insert("carp".into(), "9.9.9".into());
        assert_eq!(image(&fleet), "m.example.com/carp:9.9.9");
    }

    #[test]
    fn what_is_missing_for_an_agent_is_said() {
        let missing = |fleet: &Fleet| agent_missing(fleet, worker(fleet));
        let mut fleet = observed();
        assert_eq!(missing(&fleet), None);
        fleet.spec.images = None;
        assert_eq!(missing(&fleet), Some("images.carp"));
        fleet.spec.delivery = None;
        assert_eq!(missing(&fleet), Some("observed.url or delivery.url"));
        assert!(!files(&fleet).keys().any(|path| path.starts_with("agent/")));
        fleet.workers.values_mut().for_each(|w| w.spec.observation = Observation::None);
        assert_eq!(missing(&fleet), None, "nobody asked for one");
    }

    #[test]
    fn reports_are_signed_where_only_signed_ones_count() {
        let mut fleet = observed();
        assert!(!args(&files(&fleet)).contains("signing"));
        let signers = vec!["wk-1 ssh-ed25519 AAAA".to_owned()];
        fleet.spec.observed =
            Some(ObservedSettings { allowed_signers: signers, ..Default::default() });
        let files = files(&fleet);
        assert!(args(&files).contains("--signing-key=/etc/carp/signing/key"));
        let mounts = container(&files)["volumeMounts"].to_string();
        assert!(mounts.contains("/etc/carp/signing"), "{mounts}");
    }

    #[test]
    fn the_control_plane_has_one_that_reports_under_its_own_name() {
        let mut fleet = observed();
        let templates = Templates::built_in();
        let rendered =
            control_plane_job(&fleet, &templates, "", RenderSettings::default()).render().unwrap();
        assert!(args(&rendered).contains("--worker=hub"));
        let layers = String::from_utf8(rendered["layers.yaml"].clone()).unwrap();
        assert!(layers.contains("path: ./control-plane/agent\n"), "{layers}");
        fleet.spec.control_plane.as_mut().unwrap().observation = Observation::None;
        let rendered =
            control_plane_job(&fleet, &templates, "", RenderSettings::default()).render().unwrap();
        assert!(!rendered.contains_key("agent/agent.yaml"), "workers do not decide over it");
    }

    #[test]
    fn cluster_api_copies_the_secrets_to_a_worker_that_carp_makes() {
        let copied = |fleet: &Fleet| {
            let job = control_plane_worker_job(fleet, worker(fleet), &Templates::built_in(), "");
            let files = job.unwrap().render().unwrap();
            let sets = objects_of(&files, "ClusterResourceSet");
            sets.into_iter().find(|s| s["metadata"]["name"] == "carp-agent")
        };
        let mut fleet = observed();
        let set = copied(&fleet).unwrap();
        assert_eq!(set["spec"]["resources"], json!([{"kind": "Secret", "name": "carp-agent-git"}]));
        fleet.workers.values_mut().for_each(|w| w.spec.observation = Observation::None);
        assert_eq!(copied(&fleet), None);
    }
}
