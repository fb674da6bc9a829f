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

use self::value::below;
use super::super::job::Job;
use super::super::object::Object;
use crate::diag::{Code, Diagnostics};
use crate::pattern::DocumentPart;

/// The rules of a file, with the place in an object of which they are: they see nothing else of it.
type RulesAt = (&'static str, &'static [WebhookRule]);

/// One thing that a webhook refuses.
pub(super) struct WebhookRule {
    /// What is wrong, after the object's name.
    says: &'static str,
    /// Whether it is so, by what stands at the table's place.
    broken: fn(DocumentPart<'_>) -> bool,
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

/// The kinds with rules, sorted, each with the group that it must be of.
const KINDS: &[(&str, &str, &[RulesAt])] = &[
    ("AddonProvider", "operator.cluster.x-k8s.io", &[("", provider::RULES)]),
    ("AzureASOManagedCluster", "infrastructure.cluster.x-k8s.io", &[("", aks_network::RULES)]),
    (
        "AzureASOManagedControlPlane",
        "infrastructure.cluster.x-k8s.io",
        &[("", aks_control_plane::RULES)],
    ),
    ("AzureASOManagedMachinePool", "infrastructure.cluster.x-k8s.io", &[("", aks_pool::RULES)]),
    (
        "AzureCluster",
        "infrastructure.cluster.x-k8s.io",
        &[("", azure_cluster::RULES), ("", network::RULES)],
    ),
    ("AzureClusterIdentity", "infrastructure.cluster.x-k8s.io", &[("", azure_identity::RULES)]),
    (
        "AzureMachineTemplate",
        "infrastructure.cluster.x-k8s.io",
        &[(MACHINE, azure_machine::RULES), (MACHINE, security::RULES)],
    ),
    ("BootstrapProvider", "operator.cluster.x-k8s.io", &[("", provider::RULES)]),
    ("Cluster", "cluster.x-k8s.io", &[("", cluster::RULES)]),
    ("ClusterResourceSet", "addons.cluster.x-k8s.io", &[("", resource_set::RULES)]),
    ("ControlPlaneProvider", "operator.cluster.x-k8s.io", &[("", provider::RULES)]),
    ("CoreProvider", "operator.cluster.x-k8s.io", &[("", provider::RULES)]),
    ("DataStore", "kamaji.clastix.io", &[("", data_store::RULES)]),
    ("ExternalSecret", "external-secrets.io", &[("", external_secret::RULES)]),
    ("GitRepository", "source.toolkit.fluxcd.io", &[("", flux_git::RULES)]),
    ("HelmRelease", "helm.toolkit.fluxcd.io", &[("", flux_release::RULES)]),
    ("HelmRepository", "source.toolkit.fluxcd.io", &[("", flux_helm::RULES)]),
    ("IPAMProvider", "operator.cluster.x-k8s.io", &[("", provider::RULES)]),
    ("InfrastructureProvider", "operator.cluster.x-k8s.io", &[("", provider::RULES)]),
    ("KamajiControlPlane", "controlplane.cluster.x-k8s.io", &[("", kamaji::RULES)]),
    (
        "KubeadmConfigTemplate",
        "bootstrap.cluster.x-k8s.io",
        &[(MACHINE, bootstrap::RULES), ("/spec/template", bootstrap::TEMPLATE)],
    ),
    (
        "KubeadmControlPlane",
        "controlplane.cluster.x-k8s.io",
        &[("", kubeadm_control_plane::RULES), ("/spec/kubeadmConfigSpec", bootstrap::RULES)],
    ),
    ("Kustomization", "kustomize.toolkit.fluxcd.io", &[("", flux_kustomization::RULES)]),
    ("MachineDeployment", "cluster.x-k8s.io", &[("", machine_deployment::RULES)]),
    ("MachineHealthCheck", "cluster.x-k8s.io", &[("", machine_health_check::RULES)]),
    ("MachinePool", "cluster.x-k8s.io", &[("", machine_pool::RULES)]),
    ("OCIRepository", "source.toolkit.fluxcd.io", &[("", flux_oci::RULES)]),
    ("RuntimeExtensionProvider", "operator.cluster.x-k8s.io", &[("", provider::RULES)]),
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
    let refused =
        objects.iter().flat_map(|object| refusals(object).map(move |says| (object, says)));
    let found = refused.map(|(object, says)| {
        let help = if WITHOUT_WEBHOOK.contains(&object.group()) {
            "mend the template: the object's controller stops at it"
        } else {
            "mend the template: the provider's webhook refuses the object"
        };
        job.finding(Code::RenderedInvalid, &object.file, &format!("{object} {says}"), help)
    });
    found.collect()
}

/// What webhooks say of an object.
fn refusals(object: &Object) -> impl Iterator<Item = &'static str> {
    let rules =
        tables(object).iter().flat_map(|(place, rules)| rules.iter().map(move |r| (place, r)));
    let refused = rules.enumerate().filter(|(nth, (place, rule))| {
        let passes = |whole: DocumentPart<'_>| !(rule.broken)(below(whole, place));
        let passes = match &object.known {
            Some(known) => known.passes(*nth, &object.value, passes),
            None => passes(DocumentPart::of(&object.value)),
        };
        !passes
    });
    refused.map(|(_, (_, rule))| rule.says)
}

/// The tables of an object's kind.
fn tables(object: &Object) -> &'static [RulesAt] {
    let wanted = (object.kind(), object.group());
    let found = KINDS.binary_search_by(|(kind, group, _)| (*kind, *group).cmp(&wanted));
    found.map_or(&[], |at| KINDS[at].2)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use serde_json::Value;

    use super::super::super::object::objects;
    use super::super::super::{Files, yaml};
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

    /// An object of each table that passes, with the table.
    const EXAMPLES: [(&str, &[WebhookRule]); 25] = [
        (cluster::GOOD, cluster::RULES),
        (machine_deployment::GOOD, machine_deployment::RULES),
        (machine_health_check::GOOD, machine_health_check::RULES),
        (machine_pool::GOOD, machine_pool::RULES),
        (aks_control_plane::GOOD, aks_control_plane::RULES),
        (aks_network::GOOD, aks_network::RULES),
        (aks_pool::GOOD, aks_pool::RULES),
        (resource_set::GOOD, resource_set::RULES),
        (bootstrap::GOOD, bootstrap::RULES),
        (bootstrap::GOOD, bootstrap::TEMPLATE),
        (kubeadm_control_plane::GOOD, kubeadm_control_plane::RULES),
        (kamaji::GOOD, kamaji::RULES),
        (azure_cluster::GOOD, azure_cluster::RULES),
        (azure_cluster::GOOD, network::RULES),
        (azure_identity::GOOD, azure_identity::RULES),
        (azure_machine::GOOD, azure_machine::RULES),
        (azure_machine::GOOD, security::RULES),
        (flux_kustomization::GOOD, flux_kustomization::RULES),
        (flux_release::GOOD, flux_release::RULES),
        (flux_git::GOOD, flux_git::RULES),
        (flux_helm::GOOD, flux_helm::RULES),
        (flux_oci::GOOD, flux_oci::RULES),
        (provider::GOOD, provider::RULES),
        (data_store::GOOD, data_store::RULES),
        (external_secret::GOOD, external_secret::RULES),
    ];

    #[test]
    fn every_rule_refuses_what_it_is_for_and_not_what_is_good() {
        let count = EXAMPLES.map(|(good, rules)| hold(good, rules));
        assert!(count.iter().sum::<usize>() > 220, "{count:?}");
    }

    /// The objects of all tables, those that pass and those that do not, each value in a line of its own.
    fn texts() -> Vec<String> {
        let of = |(good, rules): (&str, &[WebhookRule])| {
            let good: Value = serde_saphyr::from_str(good).unwrap();
            let refused = |rule: &WebhookRule| {
                let mut object = good.clone();
                merge(&mut object, &serde_saphyr::from_str(rule.refused).unwrap());
                yaml::emit(&object)
            };
            std::iter::once(yaml::emit(&good)).chain(rules.iter().map(refused)).collect::<Vec<_>>()
        };
        EXAMPLES.into_iter().flat_map(of).collect()
    }

    /// Words that some rules want and others refuse.
    const WORDS: &str = "a b 1 0 2 10.0.0.0/16 10.1.0.0 192.168.0.0/24 node cluster v1.34.2 v1.34 1s 0s Standard \
        Internal /a example.com/a a..b Cluster KamajiControlPlane CoreProvider";

    /// The text with other words at the ends of some of its lines.
    fn edited(text: &str, edits: &[(usize, &str)]) -> String {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        for (at, word) in edits {
            let at = at % lines.len();
            let line = &lines[at];
            let of_key = line.rfind(": ").map(|end| end + 2);
            let of_item = line.rfind("- ").map(|end| end + 2).filter(|_| of_key.is_none());
            if let Some(start) = of_key.or(of_item) {
                lines[at] = line[..start].to_owned() + word;
            }
        }
        lines.join("\n") + "\n"
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]
        #[test]
        fn what_others_of_its_shape_passed_hides_no_refusal(
            text in prop::sample::select(texts()),
            edits in prop::collection::vec(
                prop::collection::vec(
                    (any::<usize>(), prop::sample::select(WORDS.split_whitespace().collect::<Vec<_>>())),
                    0..3,
                ),
                10,
            ),
        ) {
            for edits in &edits {
                let text = edited(&text, edits);
                let files = Files::from([("cluster.yaml".to_owned(), text.clone().into_bytes())]);
                // One may have no name.
                let Ok(found) = objects(&files) else { continue };
                let mut alone = found[0].clone();
                alone.value_mut();
                let refused: Vec<_> = refusals(&found[0]).collect();
                prop_assert_eq!(refused, refusals(&alone).collect::<Vec<_>>(), "{}", text);
            }
        }
    }

    #[test]
    fn objects_of_the_tables_are_known_by_their_shapes() {
        for text in texts() {
            for _ in 0..3 {
                read(&text);
            }
            assert!(read(&text)[0].known.is_some(), "{text}");
        }
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
    fn kinds_are_found() {
        assert!(KINDS.is_sorted_by_key(|(kind, group, _)| (kind, group)));
        for (kind, group, wanted) in KINDS {
            let object = format!("apiVersion: {group}/v1\nkind: {kind}\nmetadata: {{name: a}}\n");
            let first = |tables: &[RulesAt]| tables[0].1[0].says;
            assert_eq!(first(tables(&read(&object)[0])), first(wanted), "{kind}");
        }
    }

    #[test]
    fn a_rule_says_one_thing_and_stands_once() {
        for (kind, _, tables) in KINDS {
            let rules = tables.iter().flat_map(|(_, rules)| *rules);
            let all: Vec<_> = rules.map(|r| r.says).collect();
            assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{kind}");
            assert!(all.len() <= 64, "{kind}: they have numbers below 64");
        }
    }
}
