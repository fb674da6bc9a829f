//! What Flux installs for a cluster reaches that cluster and nothing else. Flux administers the worker, so that a
//! HelmRelease without a kubeconfig, or with another cluster's, would be a way out of the cluster's folder; and only a
//! fleet that says so lets it (`fluxReleases` in `carp.yaml`), for else nobody has the rights that it takes.

use serde_json::Value;

use super::super::job::{Job, Scope};
use super::super::object::Object;
use super::super::path::at;
use crate::diag::{Code, Diagnostics};

/// The kind, of which a cluster has those that are installed in it alone.
const RELEASE: &str = "HelmRelease";

pub(super) fn check(objects: &[Object], job: &Job) -> Diagnostics {
    let Scope::Cluster { name, .. } = &job.scope else { return Diagnostics::default() };
    let is_allowed = at(&job.context, "/fluxReleases").is_some();
    let all: Vec<_> = objects.iter().filter(|o| o.kind() == RELEASE).collect();
    let mut findings = Diagnostics::default();
    for release in &all {
        for (says, help) in problems(release, &all, name, is_allowed) {
            let message = format!("{release} {says}");
            findings.push(job.finding(Code::RenderedRefused, &release.file, &message, &help));
        }
    }
    findings
}

fn problems(
    release: &Object,
    all: &[&Object],
    cluster: &str,
    is_allowed: bool,
) -> Vec<(String, String)> {
    let text = |path: &str| at(&release.value, path).and_then(Value::as_str).unwrap_or_default();
    let mut found = Vec::new();
    if !is_allowed {
        let help = "write `fluxReleases: true` into carp.yaml, or list the chart in `helmCharts`";
        let says = "is Flux's to install, which wants `fluxReleases: true` in carp.yaml";
        found.push((says.to_owned(), help.to_owned()));
    }
    let wanted = format!("{cluster}-kubeconfig");
    if text("/spec/kubeConfig/secretRef/name") != wanted {
        let help = format!("write `kubeConfig: {{secretRef: {{name: {wanted}}}}}`");
        found.push((format!("is not installed in {cluster}"), help));
    }
    let source = at(&release.value, "/spec/chart/spec/sourceRef");
    if source.is_none_or(|source| source.get("namespace").is_some()) {
        let help = "write `chart`, whose `sourceRef` names no namespace";
        found.push(("does not take its chart from beside it".to_owned(), help.to_owned()));
    }
    let others = at(&release.value, "/spec/dependsOn").and_then(Value::as_array);
    let others = others.into_iter().flatten().filter_map(|other| other.get("name")?.as_str());
    let gone = others.filter(|other| all.iter().all(|release| release.name() != *other));
    found.extend(gone.map(|other| {
        let help = "name one of the charts that Flux installs in the cluster, or leave it out";
        (format!("waits for {other}, which is not there"), help.to_owned())
    }));
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::{job, read};
    use super::*;

    const OWN: &str = "kubeConfig: {secretRef: {name: a-kubeconfig}}";
    const CHART: &str = "chart: {spec: {chart: c, sourceRef: {kind: HelmRepository, name: c}}}";

    fn found(specs: &[&str], allowed: bool) -> Vec<String> {
        let one = |(nth, spec): (usize, &&str)| {
            format!(
                "---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n\
                 metadata: {{name: r{nth}, namespace: a}}\nspec: {{{spec}}}\n"
            )
        };
        let text: String = specs.iter().enumerate().map(one).collect();
        let mut job = job();
        job.context = if allowed { json!({"fluxReleases": true}) } else { json!({}) };
        let findings = check(&read(&text), &job);
        assert!(findings.iter().all(|d| d.code == Code::RenderedRefused), "{findings:?}");
        findings.into_iter().map(|d| d.message).collect()
    }

    #[test]
    fn a_release_reaches_its_own_cluster() {
        let good = format!("{OWN}, {CHART}");
        assert_eq!(found(&[&good], true), Vec::<String>::new());
        assert_eq!(
            found(&[&good], false),
            ["HelmRelease r0 is Flux's to install, which wants `fluxReleases: true` in carp.yaml"]
        );
        for reach in ["", "kubeConfig: {secretRef: {name: b-kubeconfig}}, ", "kubeConfig: {}, "] {
            let told = found(&[&format!("{reach}{CHART}")], true);
            assert_eq!(told, ["HelmRelease r0 is not installed in a"], "{reach}");
        }
    }

    #[test]
    fn its_chart_and_what_it_waits_for_are_beside_it() {
        let elsewhere = CHART.replace("name: c}", "name: c, namespace: flux-system}");
        let told = ["HelmRelease r0 does not take its chart from beside it"];
        assert_eq!(found(&[&format!("{OWN}, {elsewhere}")], true), told);
        let by_reference = format!("{OWN}, chartRef: {{kind: OCIRepository, name: c}}");
        assert_eq!(found(&[&by_reference], true), told);
        let waits = |name: &str| format!("{OWN}, {CHART}, dependsOn: [{{name: {name}}}]");
        assert_eq!(found(&[&waits("r1"), &format!("{OWN}, {CHART}")], true), Vec::<String>::new());
        assert_eq!(
            found(&[&waits("r2")], true),
            ["HelmRelease r0 waits for r2, which is not there"]
        );
    }
}
