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
