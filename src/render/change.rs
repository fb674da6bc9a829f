//! What may not change between the last good folder and the new one: webhooks would refuse it on the
//! worker, long after the commit.

use serde_json::Value;

use super::fixed_parameters::{self, ChangedParameter};
use super::folder_change::FolderChange;
use super::frozen::{self, ChangedField};
use super::object::Object;
use crate::diag::{Code, Diagnostic, FieldPath};
use crate::model::{Catalogue, KubeVersion, ProvidedKind};

/// A change that the worker would refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forbidden {
    /// The field of the document that decides over it.
    pub field: FieldPath,
    /// What is wrong, without its place unless a policy asks for it.
    pub finding: Diagnostic,
    /// The object and its field; `None` where the document itself says what may not change.
    pub(super) frozen: Option<(String, String)>,
}

/// Changes that the worker would refuse: each a finding that names the object, the field and both
/// values. Which fields stay is what the catalogue has of the object's kind.
#[must_use]
pub fn forbidden_changes(
    FolderChange { last, new }: &FolderChange,
    catalogue: &Catalogue,
) -> Vec<Forbidden> {
    let same = |object: &Object| new.iter().find(|o| o.identity() == object.identity());
    last.iter()
        .filter_map(|before| same(before).map(|after| (before, after)))
        .flat_map(|(before, after)| changed(before, after, catalogue))
        .collect()
}

fn changed(before: &Object, after: &Object, catalogue: &Catalogue) -> Vec<Forbidden> {
    let fixed = fixed_parameters::changed(before, after, catalogue);
    let mut found: Vec<_> = fixed.iter().map(parameter).collect();
    for kind in catalogue.provided(before.group(), before.kind()) {
        let fields = frozen::changed(before, after, kind);
        found.extend(fields.iter().map(|changed| finding(before, changed, kind)));
        if kind.machines {
            let version = |o: &Object| {
                Some(o.value.pointer("/spec/version")?.as_str().unwrap_or_default().to_owned())
            };
            found.extend(
                version(before).zip(version(after)).and_then(|(a, b)| version_step(&a, &b)),
            );
        }
    }
    found
}

fn finding(
    before: &Object,
    (field, old, new): &ChangedField<'_>,
    kind: &ProvidedKind,
) -> Forbidden {
    let path = field.trim_start_matches('/').replace('/', ".");
    let (old, new) = (shown(*old), shown(*new));
    let message = format!("{path} of {before} may not change once it exists: {old} to {new}");
    let help = if kind.rotates {
        "end its name in a hash of what it holds (`sha8`), so that another takes its place"
    } else {
        "put the old value back, or make a cluster of another name and delete this one"
    };
    let finding = Diagnostic::new(Code::ImmutableField, message).help(help);
    let decided_by = kind.decided_by.get(field).map_or("spec", String::as_str);
    let frozen = Some((before.key(), field.clone()));
    Forbidden { field: FieldPath::of_written(decided_by), finding, frozen }
}

/// A parameter of a flavor that stays.
fn parameter(ChangedParameter { field, old, new }: &ChangedParameter) -> Forbidden {
    let (old, new) = (shown(old.as_ref()), shown(new.as_ref()));
    let message = format!("{field} may not change once the cluster exists: {old} to {new}");
    let help = "put the old value back, or make a cluster of another name and delete this one";
    let finding = Diagnostic::new(Code::ImmutableField, message).help(help);
    Forbidden { field: field.clone(), finding, frozen: None }
}

/// A value as people write it.
fn shown(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

/// Whether a cluster may go from one Kubernetes version to another: never back to an older minor
/// version, and up by one minor version at a time (KubeadmControlPlane's webhook; nobody forbids the way
/// back but carp). `None`: it may. Texts that are no versions are other rules' findings.
#[must_use]
pub fn version_step(last: &str, new: &str) -> Option<Forbidden> {
    let (from, to) = (last.parse::<KubeVersion>().ok()?, new.parse::<KubeVersion>().ok()?);
    if to < from {
        let message = format!("the version goes back from {from} to {to}");
        let help = "Kubernetes cannot be downgraded; make a new cluster of the older version";
        return Some(skew(message, help));
    }
    let next = KubeVersion { minor: from.minor + 1, patch: u32::MAX, ..from };
    if to > next {
        let message = format!("the version goes from {from} to {to}, over a minor version between");
        let help = format!("go to v{}.{} first and wait until it runs", next.major, next.minor);
        return Some(skew(message, help));
    }
    None
}

fn skew(message: String, help: impl Into<String>) -> Forbidden {
    let finding = Diagnostic::new(Code::VersionSkew, message).help(help);
    Forbidden { field: FieldPath::keys("spec.version"), finding, frozen: None }
}

#[cfg(test)]
mod tests {
    use super::super::Files;
    use super::*;

    fn folder(kind: &str, spec: &str) -> Files {
        let all = Catalogue::default();
        let declared = all.declared().find(|declared| declared.kind == kind);
        let api_version = declared.map_or("g/v1", |declared| declared.api_version.as_str());
        let text = format!(
            "apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a}}\nspec: {spec}\n"
        );
        Files::from([("cluster.yaml".to_owned(), text.into_bytes())])
    }

    fn change(kind: &str, before: &str, after: &str) -> Vec<String> {
        let change = FolderChange::between(&folder(kind, before), &folder(kind, after));
        let findings = forbidden_changes(&change, &Catalogue::default());
        assert!(findings.iter().all(|f| f.finding.code == Code::ImmutableField));
        findings.into_iter().map(|f| format!("{}: {}", f.field, f.finding.message)).collect()
    }

    #[test]
    fn what_a_webhook_would_refuse_is_refused_before_the_commit() {
        assert_eq!(
            change("AzureCluster", "{location: westeurope}", "{location: northeurope}"),
            [
                "spec.location: spec.location of AzureCluster a may not change once it exists: westeurope to northeurope"
            ]
        );
        assert_eq!(
            change(
                "AzureMachineTemplate",
                "{template: {spec: {a: 1}}}",
                "{template: {spec: {a: 2}}}"
            )
            .len(),
            1
        );
        assert_eq!(change("MachineDeployment", "{clusterName: a}", "{clusterName: b}").len(), 1);
        assert_eq!(
            change("Cluster", "{controlPlaneRef: {name: a}}", "{}").len(),
            1,
            "a ref cannot be unset"
        );
    }

    #[test]
    fn what_was_not_set_may_be_set_and_the_rest_may_change() {
        assert!(change("AzureCluster", "{}", "{networkSpec: {vnet: {name: v}}}").is_empty());
        assert!(change("MachineDeployment", "{replicas: 1}", "{replicas: 2}").is_empty());
        assert!(change("Unknown", "{location: a}", "{location: b}").is_empty());
    }

    #[test]
    fn what_a_control_planes_webhook_does_not_list_may_not_change() {
        let spec = |days: u32| {
            format!(
                "{{kubeadmConfigSpec: {{clusterConfiguration: {{caCertificateValidityPeriodDays: {days}}}}}}}"
            )
        };
        let found = change("KubeadmControlPlane", &spec(1), &spec(2));
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("caCertificateValidityPeriodDays"), "{found:?}");
        assert!(change("KubeadmControlPlane", "{replicas: 1}", "{replicas: 3}").is_empty());
    }

    #[test]
    fn a_version_goes_up_one_minor_at_a_time() {
        for (last, new) in [("v1.33.1", "v1.33.9"), ("v1.33.9", "v1.34.0"), ("v1.34.2", "v1.34.2")]
        {
            assert_eq!(version_step(last, new), None, "{last} → {new}");
        }
        for (last, new) in [("v1.33.1", "v1.35.0"), ("v1.34.0", "v1.33.9"), ("v1.34.2", "v1.34.1")]
        {
            let finding = version_step(last, new).expect(new);
            assert_eq!(finding.finding.code, Code::VersionSkew, "{last} → {new}");
        }
    }
    #[test]
    fn a_workers_control_plane_goes_up_one_minor_at_a_time_too() {
        let at = |version: &str| folder("KubeadmControlPlane", &format!("{{version: {version}}}"));
        let found = |last: &str, new: &str| {
            let change = FolderChange::between(&at(last), &at(new));
            forbidden_changes(&change, &Catalogue::default())
        };
        assert_eq!(found("v1.33.1", "v1.34.0"), []);
        let skipped = found("v1.33.1", "v1.35.0");
        assert_eq!(skipped.len(), 1);
        assert_eq!(skipped[0].finding.code, Code::VersionSkew);
        assert_eq!(skipped[0].field, FieldPath::keys("spec.version"));
    }
}
