//! Objects that a new folder leaves out and that have machines, storage or network behind them: Flux would
//! prune them, or nobody would look after them any more.
//!
//! It counts what is left out, whatever the cause: a template, a class, a newer carp. A kind that nothing is
//! known of counts, since nobody can say what is behind it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::agent::LAYER as AGENT;
use super::asked::{IntendedChange, OwnChange, is_installed_anew};
use super::flux::WORKER_APPLIER;
use super::folder_change::FolderChange;
use super::machines::{control_plane_version, machine_groups};
use super::object::Object;
use crate::model::api::GROUP;

/// Kinds with nothing behind them, by API group; a group alone stands for all of its kinds.
const NOTHING_BEHIND: &[(&str, &[&str])] = &[
    ("", &["ConfigMap", "ServiceAccount"]),
    ("apps", &["DaemonSet", "Deployment"]),
    ("batch", &["CronJob"]),
    ("addons.cluster.x-k8s.io", &["ClusterResourceSet"]),
    ("cluster.x-k8s.io", &["MachineHealthCheck"]),
    ("external-secrets.io", &["ExternalSecret"]),
    ("networking.k8s.io", &["NetworkPolicy"]),
    ("policy", &[]),
    ("rbac.authorization.k8s.io", &[]),
    ("storage.k8s.io", &["StorageClass"]),
    ("source.toolkit.fluxcd.io", &[]),
    ("kustomize.toolkit.fluxcd.io", &[]),
    ("notification.toolkit.fluxcd.io", &[]),
    (GROUP, &[]),
];
/// What admission holds only where keys of issuers are published (`parts/issuer-form.yaml`, `parts/autoscaler-form.yaml`), after
/// the account that applies workers. It goes with the setting; the policy that is called as the account does not.
const FORMS: [&str; 2] = ["issuer", "autoscaler"];
/// The annotation that keeps Flux from deleting an object that is left out.
const PRUNE: &str = "/metadata/annotations/kustomize.toolkit.fluxcd.io~1prune";

/// What a new folder costs, beside the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Objects that are left out or scaled to zero, sorted.
    pub removed: Vec<Loss>,
    /// Groups of machines that are replaced by others, sorted.
    pub replaced: Vec<Loss>,
}

/// One object, or the machines of one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss {
    /// The object as people know it.
    pub object: String,
    /// How many machines that are; an object without machines of its own has none.
    pub machines: u64,
    /// Whether the owner's own document asks for it.
    pub asked: bool,
}

/// What a new folder loses of the last one: objects that Flux would prune, and machines that go.
///
/// What the owner's own document asks for is told from what anything else does. A machine template that stays on the
/// cluster when it is left out goes with no machine: rotation makes another and leaves the old one there. Where a control plane gets
/// another version its pools follow, now or in later runs, so their machines count with it.
#[must_use]
pub fn losses(FolderChange { last, new }: &FolderChange, own: OwnChange) -> Losses {
    let by_identity: BTreeMap<_, _> = new.iter().map(|o| (o.identity(), o)).collect();
    let own = IntendedChange::between(last, new, own);
    let follows = last.iter().any(|object| {
        let version = |object| control_plane_version(object);
        let now = by_identity.get(&object.identity()).and_then(|new| version(new));
        now.is_some() && now != version(object)
    });
    let mut losses = Losses::default();
    for object in last.iter().filter(|object| has_something_behind(object)) {
        match by_identity.get(&object.identity()) {
            None => losses.removed.push(Loss {
                object: shown(object),
                machines: machine_groups(&object.value).iter().map(|group| group.machines).sum(),
                asked: own.removes(object),
            }),
            Some(stays) => {
                losses.add_machines(object, stays, &own, follows);
                if is_installed_anew(object, stays) {
                    losses.removed.push(Loss {
                        object: format!("{}, to be installed anew", shown(object)),
                        machines: 0,
                        asked: own.removes(object),
                    });
                }
            }
        }
    }
    losses.removed.sort_unstable();
    losses.replaced.sort_unstable();
    losses
}

impl Losses {
    /// Whether the owner's document asks for any of it.
    #[must_use]
    pub fn are_asked(&self) -> bool {
        self.removed.iter().chain(&self.replaced).any(|loss| loss.asked)
    }

    /// What goes without the change of the owner's document, too, is not its wish: `without` is the change to the folder
    /// that the document would have had as it was. Where that cannot be made nobody can tell, and nothing is.
    #[must_use]
    pub fn but_for(mut self, without: Option<&FolderChange>, steps: bool) -> Self {
        let own = OwnChange { steps, ..OwnChange::default() };
        let others = without.map(|change| losses(change, own));
        let wished = |all: &mut Vec<Loss>, others: Option<Vec<Loss>>| {
            let stays = |object: &String| {
                others.as_ref().is_some_and(|others| others.iter().all(|o| o.object != *object))
            };
            for loss in all.iter_mut() {
                loss.asked &= stays(&loss.object);
            }
        };
        let (removed, replaced) = others.map(|of| (of.removed, of.replaced)).unzip();
        wished(&mut self.removed, removed);
        wished(&mut self.replaced, replaced);
        self
    }

    /// What becomes of the machines of an object that stays; `follows` says that their control plane gets
    /// another version.
    fn add_machines(&mut self, last: &Object, new: &Object, own: &IntendedChange, follows: bool) {
        let now = machine_groups(&new.value);
        for group in machine_groups(&last.value).into_iter().filter(|group| group.machines > 0) {
            let suffix =
                if group.name.is_empty() { String::new() } else { format!(" {}", group.name) };
            let loss = |what: &str, asked| Loss {
                object: format!("{}{suffix}{what}", shown(last)),
                machines: group.machines,
                asked,
            };
            match now.iter().find(|other| other.name == group.name) {
                None => self.removed.push(loss("", own.removes_pool(last, &group))),
                Some(other) if other.machines == 0 => {
                    self.removed.push(loss(" to 0", own.empties(last, &group)));
                }
                Some(other) if other.template == group.template => {
                    if follows && !group.template.is_null() {
                        self.replaced.push(loss("", own.replaces(last, &group)));
                    }
                }
                Some(other) if own.goes_in_steps() && other.version != group.version => {}
                Some(_) => self.replaced.push(loss("", own.replaces(last, &group))),
            }
        }
    }
}

fn shown(object: &Object) -> String {
    match object.namespace() {
        "" => object.to_string(),
        namespace => format!("{} {namespace}/{}", object.kind(), object.name()),
    }
}

fn has_something_behind(object: &Object) -> bool {
    let is_kind = |kinds: &[&str]| kinds.is_empty() || kinds.contains(&object.kind());
    let harmless = NOTHING_BEHIND.iter().any(|(g, kinds)| object.group() == *g && is_kind(kinds));
    let kept = object.value.pointer(PRUNE).and_then(Value::as_str) == Some("disabled");
    let rotated = object.kind().ends_with("Template") && kept;
    // The agent has a layer of its own, which goes as a whole where nobody observes any more.
    let of_agent = object.file.starts_with(&format!("{AGENT}/"));
    !harmless && !rotated && !of_agent && !is_form(object)
}

/// Whether it is a policy that holds what a setting renders, or its binding.
fn is_form(object: &Object) -> bool {
    let form = object.name().strip_prefix(WORKER_APPLIER).and_then(|form| form.strip_prefix('-'));
    object.group() == "admissionregistration.k8s.io"
        && form.is_some_and(|form| FORMS.contains(&form))
}

#[cfg(test)]
mod tests {
    use super::super::Files;
    use super::super::fixture::{cluster_files, fleet};
    use super::*;
    use crate::model::api::NodePool;

    /// What is left out or scaled to zero and nobody asked for.
    fn removed_objects(last: &Files, new: &Files, own: bool) -> Vec<String> {
        let own = OwnChange { anything: own, pools: own, others: own, steps: false };
        let removed = losses(&FolderChange::between(last, new), own).removed.into_iter();
        removed.filter(|loss| !loss.asked).map(|loss| loss.object).collect()
    }

    fn with_pools(names: &[(&str, &[&str])]) -> Files {
        let pool = |(name, zones): &(&str, &[&str])| NodePool {
            name: (*name).to_owned(),
            zones: zones.iter().map(ToString::to_string).collect(),
            ..NodePool::default()
        };
        let mut fleet = fleet();
        for cluster in fleet.clusters.values_mut() {
            cluster.spec.node_pools = names.iter().map(pool).collect();
        }
        cluster_files(&fleet)
    }

    /// The folder without the objects of a kind, as a template without them would make it.
    fn without(files: &Files, kind: &str) -> Files {
        let mut files = files.clone();
        let text = String::from_utf8(files["cluster.yaml"].clone()).unwrap();
        let line = format!("\nkind: {kind}\n");
        let kept: Vec<_> = text.split("---\n").filter(|d| !d.contains(&line)).collect();
        assert_ne!(kept.len(), text.split("---\n").count(), "there is a {kind}");
        files.insert("cluster.yaml".to_owned(), kept.join("---\n").into_bytes());
        files
    }

    #[test]
    fn what_a_template_leaves_out_counts_whoever_changed() {
        let last = with_pools(&[("np0", &[])]);
        for (kind, object) in [
            ("MachineDeployment", "MachineDeployment pay-eu/pay-eu-np0"),
            ("KamajiControlPlane", "KamajiControlPlane pay-eu/pay-eu"),
            ("AzureCluster", "AzureCluster pay-eu/pay-eu"),
            ("AzureClusterIdentity", "AzureClusterIdentity pay-eu/pay-eu"),
            ("Cluster", "Cluster pay-eu/pay-eu"),
            ("Namespace", "Namespace pay-eu"),
        ] {
            for own in [false, true] {
                assert_eq!(removed_objects(&last, &without(&last, kind), own), [object]);
            }
        }
        let addons = removed_objects(&last, &without(&last, "HelmChartProxy"), true);
        assert_eq!(addons.len(), 3, "{addons:?}");
    }

    #[test]
    fn what_has_nothing_behind_it_may_go() {
        let last = with_pools(&[("np0", &[])]);
        for kind in ["MachineHealthCheck", "AzureMachineTemplate", "KubeadmConfigTemplate"] {
            assert!(removed_objects(&last, &without(&last, kind), false).is_empty(), "{kind}");
        }
        assert!(removed_objects(&last, &last, false).is_empty());
    }

    #[test]
    fn a_template_that_flux_would_delete_counts() {
        let last = with_pools(&[("np0", &[])]);
        let text = String::from_utf8(last["cluster.yaml"].clone()).unwrap();
        let open = text.replace("kustomize.toolkit.fluxcd.io/prune: disabled", "a.b/c: d");
        let last = Files::from([("cluster.yaml".to_owned(), open.into_bytes())]);
        let gone = removed_objects(&last, &without(&last, "AzureMachineTemplate"), false);
        assert_eq!(gone.len(), 1, "{gone:?}");
    }

    #[test]
    fn a_pool_goes_with_the_document_that_removes_it_and_with_nothing_else() {
        let last = with_pools(&[("np0", &[]), ("np0-b", &[]), ("np1", &["1", "2"])]);
        let new = with_pools(&[("np0-b", &[]), ("np1", &["1", "2"])]);
        assert!(removed_objects(&last, &new, true).is_empty());
        assert_eq!(removed_objects(&last, &new, false), ["MachineDeployment pay-eu/pay-eu-np0"]);
        let one_zone = with_pools(&[("np0", &[]), ("np0-b", &[]), ("np1", &["1"])]);
        assert!(removed_objects(&last, &one_zone, true).is_empty());
        assert_eq!(removed_objects(&last, &one_zone, false).len(), 1);
        // Another pool's machines do not go with it, though their names begin alike.
        let more = without(&new, "MachineDeployment");
        let gone = removed_objects(&last, &more, true);
        let wanted =
            ["np0-b", "np1-1", "np1-2"].map(|n| format!("MachineDeployment pay-eu/pay-eu-{n}"));
        assert_eq!(gone, wanted);
    }

    #[test]
    fn the_agents_layer_may_go_and_a_layer_of_components_may_not() {
        let object = |file: &str| {
            let text = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: web\n  \
                        namespace: ns\n";
            Files::from([(file.to_owned(), text.as_bytes().to_vec())])
        };
        assert!(removed_objects(&object("agent/agent.yaml"), &Files::new(), false).is_empty());
        let gone = removed_objects(&object("providers/providers.yaml"), &Files::new(), true);
        assert_eq!(gone, ["HelmRelease ns/web"]);
    }

    #[test]
    fn a_kind_that_nobody_knows_counts() {
        let text = "apiVersion: example.com/v1\nkind: Lake\nmetadata: {name: web, namespace: ns}\n";
        let last = Files::from([("cluster.yaml".to_owned(), text.as_bytes().to_vec())]);
        assert_eq!(removed_objects(&last, &Files::new(), false), ["Lake ns/web"]);
    }

    #[test]
    fn what_is_scaled_to_zero_goes_and_what_is_made_of_something_else_is_replaced() {
        let edit = |files: &Files, from: &str, to: &str| {
            let text = String::from_utf8(files["cluster.yaml"].clone()).unwrap();
            assert!(text.contains(from), "{text}");
            Files::from([("cluster.yaml".to_owned(), text.replace(from, to).into_bytes())])
        };
        let last = with_pools(&[("np0", &[])]);
        let pool = "MachineDeployment pay-eu/pay-eu-np0";
        let text = String::from_utf8(last["cluster.yaml"].clone()).unwrap();
        let (_, of_pool) = text.split_once("kind: MachineDeployment").unwrap();
        let replicas = of_pool.lines().find(|line| line.starts_with("  replicas: ")).unwrap();
        let none = edit(&last, &format!("{replicas}\n"), "  replicas: 0\n");
        let gone = removed_objects(&last, &none, false);
        assert!(gone.contains(&format!("{pool} to 0")), "{gone:?}");
        assert!(
            losses(&FolderChange::between(&none, &last), OwnChange::default()).removed.is_empty(),
            "the other way nothing goes"
        );

        let version = of_pool.lines().find(|line| line.starts_with("      version: ")).unwrap();
        let other = edit(&last, version, "      version: v1.99.0");
        let Losses { removed, replaced } =
            losses(&FolderChange::between(&last, &other), OwnChange::default());
        assert_eq!((removed.len(), replaced.len()), (0, 1));
        assert_eq!((replaced[0].object.as_str(), replaced[0].asked), (pool, false));
        assert!(replaced[0].machines > 0);
    }
}
