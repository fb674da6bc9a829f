//! What the admission webhooks of the providers refuse although the schemas let it pass, and for kinds without a webhook
//! what their controllers stop at: a file for each kind, a line for each rule, and with each rule an object that it
//! refuses. An API server would say so long after the commit, and Flux would then apply nothing of the folder; a
//! controller says so to nobody but the object.
//!
//! The rules go by the objects as they are after the webhooks' own defaults. What a webhook compares with the
//! object before is in [`change`](super::super::change).

mod aks_control_plane;
mod aks_network;
mod aks_pool;
mod azure_cluster;
mod azure_identity;
mod azure_machine;
mod bootstrap;
mod cluster;
mod data_store;
mod external_secret;
mod flux;
mod flux_git;
mod flux_helm;
mod flux_kustomization;
mod flux_oci;
mod flux_release;
mod kamaji;
mod kubeadm_control_plane;
mod machine_deployment;
mod machine_health_check;
mod machine_pool;
mod network;
mod provider;
mod resource_set;
mod security;
mod value;

use serde_json::Value;

use self::value::below;
use super::super::job::Job;
use super::super::object::Object;
use crate::diag::{Code, Diagnostics};

/// The rules of a file, with the place in an object of which they are: they see nothing else of it.
type RulesAt = (&'static str, &'static [WebhookRule]);

/// One thing that a webhook refuses.
pub(super) struct WebhookRule {
    /// What is wrong, after the object's name.
    says: &'static str,
    /// Whether it is so, by what stands at the table's place.
    broken: fn(&Value) -> bool,
    /// What it refuses: a change to the file's `GOOD`, as a JSON merge patch.
    #[cfg(test)]
    refused: &'static str,
}

/// The rules of a kind. Each is what it says, an example of what it refuses, and the question.
macro_rules! rules {
    ($($says:literal, $refused:literal => $broken:expr;)*) => {
        rules! { RULES: $($says, $refused => $broken;)* }
    };
    ($name:ident: $($says:literal, $refused:literal => $broken:expr;)*) => {
        pub(super) const $name: &[super::WebhookRule] = &[$(super::WebhookRule {
            says: $says,
            broken: $broken,
            #[cfg(test)]
            refused: $refused,
        }),*];
    };
}
use rules;

/// Where templates of machines, and of what they boot with, say it.
const MACHINE: &str = "/spec/template/spec";

/// The kinds with rules, each with the group that it must be of.
const KINDS: &[(&str, &str, &[RulesAt])] = &[
    ("cluster.x-k8s.io", "Cluster", &[("", cluster::RULES)]),
    ("cluster.x-k8s.io", "MachineDeployment", &[("", machine_deployment::RULES)]),
    ("cluster.x-k8s.io", "MachineHealthCheck", &[("", machine_health_check::RULES)]),
    ("cluster.x-k8s.io", "MachinePool", &[("", machine_pool::RULES)]),
    ("addons.cluster.x-k8s.io", "ClusterResourceSet", &[("", resource_set::RULES)]),
    (
        "bootstrap.cluster.x-k8s.io",
        "KubeadmConfigTemplate",
        &[(MACHINE, bootstrap::RULES), ("/spec/template", bootstrap::TEMPLATE)],
    ),
    (
        "controlplane.cluster.x-k8s.io",
        "KubeadmControlPlane",
        &[("", kubeadm_control_plane::RULES), ("/spec/kubeadmConfigSpec", bootstrap::RULES)],
    ),
    ("controlplane.cluster.x-k8s.io", "KamajiControlPlane", &[("", kamaji::RULES)]),
    (
        "infrastructure.cluster.x-k8s.io",
        "AzureCluster",
        &[("", azure_cluster::RULES), ("", network::RULES)],
    ),
    ("infrastructure.cluster.x-k8s.io", "AzureASOManagedCluster", &[("", aks_network::RULES)]),
    (
        "infrastructure.cluster.x-k8s.io",
        "AzureASOManagedControlPlane",
        &[("", aks_control_plane::RULES)],
    ),
    ("infrastructure.cluster.x-k8s.io", "AzureASOManagedMachinePool", &[("", aks_pool::RULES)]),
    ("infrastructure.cluster.x-k8s.io", "AzureClusterIdentity", &[("", azure_identity::RULES)]),
    (
        "infrastructure.cluster.x-k8s.io",
        "AzureMachineTemplate",
        &[(MACHINE, azure_machine::RULES), (MACHINE, security::RULES)],
    ),
    ("kustomize.toolkit.fluxcd.io", "Kustomization", &[("", flux_kustomization::RULES)]),
    ("helm.toolkit.fluxcd.io", "HelmRelease", &[("", flux_release::RULES)]),
    ("source.toolkit.fluxcd.io", "GitRepository", &[("", flux_git::RULES)]),
    ("source.toolkit.fluxcd.io", "HelmRepository", &[("", flux_helm::RULES)]),
    ("source.toolkit.fluxcd.io", "OCIRepository", &[("", flux_oci::RULES)]),
    ("operator.cluster.x-k8s.io", "CoreProvider", &[("", provider::RULES)]),
    ("operator.cluster.x-k8s.io", "BootstrapProvider", &[("", provider::RULES)]),
    ("operator.cluster.x-k8s.io", "ControlPlaneProvider", &[("", provider::RULES)]),
    ("operator.cluster.x-k8s.io", "InfrastructureProvider", &[("", provider::RULES)]),
    ("operator.cluster.x-k8s.io", "AddonProvider", &[("", provider::RULES)]),
    ("operator.cluster.x-k8s.io", "IPAMProvider", &[("", provider::RULES)]),
    ("operator.cluster.x-k8s.io", "RuntimeExtensionProvider", &[("", provider::RULES)]),
    ("kamaji.clastix.io", "DataStore", &[("", data_store::RULES)]),
    ("external-secrets.io", "ExternalSecret", &[("", external_secret::RULES)]),
];

/// The groups of kinds that no webhook refuses, or none with rules: what stops at an object is its controller.
const WITHOUT_WEBHOOK: &[&str] = &[
    "kustomize.toolkit.fluxcd.io",
    "helm.toolkit.fluxcd.io",
    "source.toolkit.fluxcd.io",
    "operator.cluster.x-k8s.io",
    "kamaji.clastix.io",
];

pub(super) fn check(objects: &[Object], job: &Job) -> Diagnostics {
    let mut findings = Diagnostics::default();
    for object in objects {
        let help = if WITHOUT_WEBHOOK.contains(&object.group()) {
            "mend the template: the object's controller stops at it"
        } else {
            "mend the template: the provider's webhook refuses the object"
        };
        for says in refusals(object) {
            let message = format!("{object} {says}");
            findings.push(job.finding(Code::RenderedInvalid, &object.file, &message, help));
        }
    }
    findings
}

/// What webhooks say of an object.
fn refusals(object: &Object) -> impl Iterator<Item = &'static str> {
    let (own, kind) = (object.group(), object.kind());
    let of = |(group, named, _): &&(&str, &str, _)| *named == kind && *group == own;
    let tables = KINDS.iter().find(of).map_or(&[][..], |(_, _, tables)| tables);
    (0..).zip(tables).flat_map(move |(nth, (place, rules))| {
        let part = below(&object.value, place);
        let broken = move || rules.iter().filter(move |rule| (rule.broken)(part));
        let known = object.known.as_ref();
        let passes = known.is_some_and(|known| {
            known.passes(nth, (&object.value, part), || broken().next().is_none())
        });
        let asked = (!passes).then(broken);
        asked.into_iter().flatten().map(|rule| rule.says)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::tests::{job, read};
    use super::*;

    /// RFC 7396.
    fn merge(target: &mut Value, patch: &Value) {
        let Value::Object(patch) = patch else {
            *target = patch.clone();
            return;
        };
        if !target.is_object() {
            *target = serde_json::json!({});
        }
        let fields = target.as_object_mut().unwrap();
        for (key, value) in patch {
            if value.is_null() {
                fields.remove(key);
            } else {
                merge(fields.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
    }

    /// Holds a table against an object that passes and, for each rule, one that does not.
    fn hold(good: &str, rules: &[WebhookRule]) -> usize {
        let good = read(good).remove(0);
        assert_eq!(refusals(&good).collect::<Vec<_>>(), Vec::<&str>::new(), "{good}");
        for rule in rules {
            let patch: Value = serde_saphyr::from_str(rule.refused).unwrap();
            let mut bad = good.clone();
            merge(bad.value_mut(), &patch);
            let said: Vec<_> = refusals(&bad).collect();
            assert!(said.contains(&rule.says), "{good}: {} not in {said:?}", rule.refused);
            let findings = check(&[bad], &job());
            assert!(findings.iter().all(|f| f.code == Code::RenderedInvalid), "{findings:?}");
        }
        rules.len()
    }

    #[test]
    fn every_rule_refuses_what_it_is_for_and_not_what_is_good() {
        let count = [
            hold(cluster::GOOD, cluster::RULES),
            hold(machine_deployment::GOOD, machine_deployment::RULES),
            hold(machine_health_check::GOOD, machine_health_check::RULES),
            hold(machine_pool::GOOD, machine_pool::RULES),
            hold(aks_control_plane::GOOD, aks_control_plane::RULES),
            hold(aks_network::GOOD, aks_network::RULES),
            hold(aks_pool::GOOD, aks_pool::RULES),
            hold(resource_set::GOOD, resource_set::RULES),
            hold(bootstrap::GOOD, bootstrap::RULES),
            hold(bootstrap::GOOD, bootstrap::TEMPLATE),
            hold(kubeadm_control_plane::GOOD, kubeadm_control_plane::RULES),
            hold(kamaji::GOOD, kamaji::RULES),
            hold(azure_cluster::GOOD, azure_cluster::RULES),
            hold(azure_cluster::GOOD, network::RULES),
            hold(azure_identity::GOOD, azure_identity::RULES),
            hold(azure_machine::GOOD, azure_machine::RULES),
            hold(azure_machine::GOOD, security::RULES),
            hold(flux_kustomization::GOOD, flux_kustomization::RULES),
            hold(flux_release::GOOD, flux_release::RULES),
            hold(flux_git::GOOD, flux_git::RULES),
            hold(flux_helm::GOOD, flux_helm::RULES),
            hold(flux_oci::GOOD, flux_oci::RULES),
            hold(provider::GOOD, provider::RULES),
            hold(data_store::GOOD, data_store::RULES),
            hold(external_secret::GOOD, external_secret::RULES),
        ];
        assert!(count.iter().sum::<usize>() > 220, "{count:?}");
    }

    #[test]
    fn a_control_plane_is_held_by_the_rules_of_its_bootstrap_too() {
        let mut object = read(kubeadm_control_plane::GOOD).remove(0);
        let files =
            serde_json::json!([{"path": "/a", "content": "x"}, {"path": "/a", "content": "y"}]);
        object.value_mut()["spec"]["kubeadmConfigSpec"]["files"] = files;
        assert_eq!(refusals(&object).count(), 1);
    }

    #[test]
    fn a_kind_of_another_group_has_no_rules() {
        let other = cluster::GOOD.replace("cluster.x-k8s.io/v1beta2", "example.com/v1");
        let other = other.replace("{pods: ", "{nodes: ").replace("Ref:", "ref:");
        assert_eq!(refusals(&read(&other)[0]).count(), 0);
    }

    #[test]
    fn a_rule_says_one_thing_and_stands_once() {
        for (_, kind, tables) in KINDS {
            let rules = tables.iter().flat_map(|(_, rules)| *rules);
            let all: Vec<_> = rules.map(|r| r.says).collect();
            assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{kind}");
        }
    }
}
