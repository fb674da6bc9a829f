//! Tests of what carp's own flavors declare of their parameters: what no API server or kubelet could use is told before
//! the commit, with its line.

use super::super::tests::{cluster, files_find, load_fleet};
use crate::diag::{Code, Diagnostic};

fn found(text: &str, code: Code, path: &str) -> Diagnostic {
    files_find(&[("fleet/x.yaml", text)], code, path)
}

fn is_fine(text: &str) {
    let loaded = load_fleet(&[("fleet/x.yaml", text)]);
    let of_parameters = [Code::InvalidParameter, Code::UnknownParameter];
    let found = loaded.diagnostics.iter().find(|finding| of_parameters.contains(&finding.code));
    assert_eq!(found, None);
}

/// A cluster of carp's own flavor for hosted control planes that says this.
fn hosted(parameters: &str) -> String {
    cluster(&format!("parameters: {parameters}\n  "))
}

#[test]
fn what_no_check_for_secrets_reads_is_no_encoding() {
    let path = "spec.parameters.files[0].encoding";
    for encoding in ["gzip", "gzip+base64"] {
        let text = hosted(&format!("{{files: [{{path: /a, content: x, encoding: {encoding}}}]}}"));
        let told = found(&text, Code::InvalidParameter, path);
        assert!(told.message.contains(encoding), "{}", told.message);
    }
    let fine = hosted("{files: [{path: /a, content: eA==, encoding: base64}]}");
    is_fine(&fine);
}

#[test]
fn an_argument_that_the_platform_gives_is_refused() {
    for (argument, says) in [
        ("secure-port: '1'", "is not for `spec.parameters.apiServerExtraArgs.secure-port` to say"),
        ("etcd-servers: x", "is not for"),
        ("audit-policy-file: /a", "is not for"),
        ("enable-admission-plugins: x", "is not for"),
        ("--v: '4'", "is not of the form"),
        ("v=4: ''", "is not of the form"),
    ] {
        let name = argument.split(':').next().unwrap();
        let path = format!("spec.parameters.apiServerExtraArgs.{name}");
        let text = hosted(&format!("{{apiServerExtraArgs: {{{argument}}}}}"));
        let told = found(&text, Code::InvalidParameter, &path);
        assert!(told.message.contains(says), "{}", told.message);
    }
    let text = hosted("{kubeletExtraArgs: {max-pods: '9'}}");
    found(&text, Code::InvalidParameter, "spec.parameters.kubeletExtraArgs.max-pods");
    let fine = hosted("{apiServerExtraArgs: {audit-log-path: /x, v: '4'}}");
    is_fine(&fine);
}

#[test]
fn an_audit_policy_is_one_that_an_api_server_reads() {
    let policy = |rules: &str| {
        hosted(&format!(
            "\n    auditPolicy: |\n      apiVersion: audit.k8s.io/v1\n      kind: Policy\n      rules: {rules}"
        ))
    };
    let fine = policy(
        "[{level: None, nonResourceURLs: ['/healthz*']}, {level: Metadata, resources: [{group: ''}]}]",
    );
    is_fine(&fine);
    for (rules, says) in [
        ("[]", "the number of items of `rules` is 0"),
        ("[{verbs: [get]}]", "`rules[0].level` is missing"),
        ("[{level: Metdata}]", "`Metdata` is not a value that `rules[0].level` takes"),
        ("[{level: None, verb: [get]}]", "there is no field `rules[0].verb`"),
        ("[{level: None, nonResourceURLs: [healthz]}]", "`healthz` is not of the form"),
        ("[", "is no YAML"),
    ] {
        let told = found(&policy(rules), Code::InvalidParameter, "spec.parameters.auditPolicy");
        assert!(told.message.contains(says), "{rules}: {}", told.message);
    }
    let other = hosted("{auditPolicy: 'kind: Policy'}");
    let told = found(&other, Code::InvalidParameter, "spec.parameters.auditPolicy");
    assert!(told.message.contains("`apiVersion` is missing"), "{}", told.message);
}

#[test]
fn a_chart_is_named_as_helm_and_kubernetes_have_it_and_by_a_version() {
    let chart = |field: &str, value: &str| {
        let good = [
            ("name", "cilium"),
            ("repoURL", "https://helm.cilium.io"),
            ("chartName", "cilium"),
            ("version", "1.18.2"),
            ("namespace", "kube-system"),
        ];
        let said = good
            .map(|(name, good)| format!("{name}: '{}'", if name == field { value } else { good }));
        hosted(&format!("{{helmCharts: [{{{}}}]}}", said.join(", ")))
    };
    for (field, value) in [
        ("name", "a-release-of-53-characters-is-the-longest-one-for-helm"),
        ("name", "Cilium"),
        ("repoURL", "http://helm.cilium.io"),
        ("repoURL", "https://me:word@helm.cilium.io"),
        ("repoURL", "https://helm.cilium.io/"),
        ("repoURL", "https://helm.cilium.io: x"),
        ("chartName", "charts/cilium"),
        ("version", "1.18"),
        ("version", "^1.18.2"),
        ("version", "1.x.x"),
        ("version", "latest"),
        ("version", ">=1.18.2"),
        ("namespace", "kube_system"),
        ("namespace", ""),
    ] {
        let path = format!("spec.parameters.helmCharts[0].{field}");
        let told = found(&chart(field, value), Code::InvalidParameter, &path);
        assert!(told.message.contains("is not of the form"), "{value}: {}", told.message);
    }
    for (field, value) in [
        ("name", "a-release-of-53-characters-is-the-longest-one-helm-ha"),
        ("repoURL", "oci://r.example.com:5000/charts/v1"),
        ("version", "v0.1.0-rc.1+build.7"),
    ] {
        is_fine(&chart(field, value));
    }
    let text = hosted("{helmCharts: [{name: a}]}");
    found(&text, Code::InvalidParameter, "spec.parameters.helmCharts[0].version");
    let values = chart("name", "a").replace("}]", ", values: 'a: ['}]");
    let told = found(&values, Code::InvalidParameter, "spec.parameters.helmCharts[0].values");
    assert!(told.message.contains("is no YAML"), "{}", told.message);
}
