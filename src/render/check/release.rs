//! No two objects of a folder install one release in the cluster, be they `HelmChartProxy` or `HelmRelease`: each would take
//! the other's for its own older one, and upgrade it to itself at every turn (cluster-api-addon-provider-helm v0.6.4,
//! `internal/helm_client.go`, `InstallOrUpgradeHelmRelease`, which goes by the release's name and namespace alone;
//! helm-controller v1.6.3, `internal/reconcile/state.go`, which finds the releases in its storage by the same).

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::job::Job;
use super::super::object::Object;
use super::super::path::at;
use super::field::ObjectField;
use crate::diag::{Code, Diagnostics};

pub(super) fn check(objects: &[Object], job: &Job) -> Diagnostics {
    let mut seen = BTreeMap::new();
    let mut findings = Diagnostics::default();
    for object in objects {
        let release = match object.kind() {
            "HelmChartProxy" => release(object),
            "HelmRelease" => release_of_flux(object),
            _ => None,
        };
        let Some(release) = release else { continue };
        if let Some(other) = seen.insert(release, object) {
            let (namespace, name) = release;
            let message =
                format!("{object} installs the release {namespace}/{name}, and so does {other}");
            let help = "give one of the two another name or namespace";
            findings.push(job.finding(Code::RenderedInvalid, &object.file, &message, help));
        }
    }
    findings
}

/// The namespace and the name of what an object installs. Without a name it is made up for each.
fn release(object: &Object) -> Option<(&str, &str)> {
    let text = |pointer: &str| at(&object.value, pointer).and_then(Value::as_str);
    let name = ObjectField::ReleaseName.text(object).filter(|name| !name.is_empty())?;
    // What the webhook fills in: api/v1alpha1/helmchartproxy_webhook.go.
    Some((text("/spec/namespace").unwrap_or("default"), name))
}

/// The namespace and the name of what Flux installs in another cluster; what it installs on the worker itself is that one's alone.
fn release_of_flux(object: &Object) -> Option<(&str, &str)> {
    let text = |pointer: &str| at(&object.value, pointer).and_then(Value::as_str);
    ObjectField::KubeConfig.of(object)?;
    let namespace = text("/spec/storageNamespace").unwrap_or(object.namespace());
    Some((namespace, ObjectField::ReleaseName.text(object).unwrap_or(object.name())))
}

#[cfg(test)]
mod tests {
    use super::super::tests::messages;
    use super::*;

    #[test]
    fn a_release_is_one_charts() {
        let chart = |name: &str, release: &str, namespace: &str| {
            format!(
                "---\napiVersion: addons.cluster.x-k8s.io/v1alpha1\nkind: HelmChartProxy\n\
                 metadata: {{name: {name}, namespace: a}}\n\
                 spec: {{releaseName: {release}, namespace: {namespace}}}\n"
            )
        };
        let found = |text: String| messages(check, &text, Code::RenderedInvalid);
        let both = chart("x", "cni", "kube-system") + &chart("z", "cni", "kube-system");
        assert_eq!(
            found(both),
            ["HelmChartProxy z installs the release kube-system/cni, and so does HelmChartProxy x"]
        );
        let apart = chart("x", "cni", "kube-system") + &chart("z", "cni", "cni");
        assert!(found(apart).is_empty());
        let made_up = chart("x", "\"\"", "a") + &chart("z", "\"\"", "a");
        assert!(found(made_up).is_empty());
    }

    #[test]
    fn a_release_is_flux_or_the_add_on_providers() {
        let both = |kube_config: &str| {
            let text = format!(
                "apiVersion: addons.cluster.x-k8s.io/v1alpha1\nkind: HelmChartProxy\n\
                 metadata: {{name: x, namespace: a}}\nspec: {{releaseName: cni, namespace: kube-system}}\n\
                 ---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n\
                 metadata: {{name: z, namespace: a}}\n\
                 spec: {{releaseName: cni, storageNamespace: kube-system{kube_config}}}\n"
            );
            messages(check, &text, Code::RenderedInvalid)
        };
        assert_eq!(
            both(", kubeConfig: {secretRef: {name: a-kubeconfig}}"),
            ["HelmRelease z installs the release kube-system/cni, and so does HelmChartProxy x"]
        );
        assert!(both("").is_empty(), "that one is the worker's");
    }
}
