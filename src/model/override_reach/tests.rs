//! How far overrides reach, kind by kind.

use serde_json::json;

use super::*;

#[test]
fn nothing_that_says_who_may_do_what_is_reached() {
    for (api_version, kind) in [
        ("v1", "Secret"),
        ("v1", "ServiceAccount"),
        ("v1", "ConfigMap"),
        ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
        ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
        ("addons.cluster.x-k8s.io/v1beta2", "ClusterResourceSet"),
        ("external-secrets.io/v1", "ExternalSecret"),
        ("infrastructure.cluster.x-k8s.io/v1beta1", "AzureClusterIdentity"),
        ("managedidentity.azure.com/v1api20230131", "FederatedIdentityCredential"),
        ("authorization.azure.com/v1api20220401", "RoleAssignment"),
        ("kustomize.toolkit.fluxcd.io/v1", "Kustomization"),
        ("carp.dev/v1alpha1", "Worker"),
    ] {
        let reach = override_reach(api_version, kind);
        assert!(matches!(reach, OverrideReach::Nothing(_)), "{kind}: {reach:?}");
    }
    let pools = override_reach("cluster.x-k8s.io/v1beta2", "MachineDeployment");
    assert_eq!(pools, OverrideReach::OfCluster(MACHINES));
    for kind in ["AzureASOManagedCluster", "AzureASOManagedControlPlane"] {
        let reach = override_reach("infrastructure.cluster.x-k8s.io/v1beta1", kind);
        assert_eq!(reach, OverrideReach::OfCluster(&[]));
    }
}

#[test]
fn labels_that_something_goes_by_stay() {
    let before = json!({"metadata": {"labels": {"cni": "calico"}}});
    let with = |at: &str, key: &str| {
        let mut after = before.clone();
        after["metadata"][at][key] = json!("x");
        changed_label(&before, &after)
    };
    assert_eq!(with("labels", "cost-centre"), None);
    assert_eq!(with("labels", "example.com/cost"), None);
    assert_eq!(with("labels", "cni").as_deref(), Some("/metadata/labels/cni"));
    let gone = changed_label(&before, &json!({}));
    assert_eq!(gone.as_deref(), Some("/metadata/labels/cni"));
    for key in ["pod-security.kubernetes.io/enforce", "cluster.x-k8s.io/x", "k8s.io/x"] {
        assert!(with("labels", key).is_some() && with("annotations", key).is_some(), "{key}");
    }
}

#[test]
fn what_would_turn_something_off_is_found() {
    let before = json!({"spec": {"values": {"replicaCount": 2, "webhook": {"replicas": 0}}}});
    let mut after = before.clone();
    after["spec"]["values"]["replicaCount"] = json!(1);
    assert_eq!(turned_off(&before, &after), None);
    for none in [json!(0), json!(0.0), json!("0")] {
        after["spec"]["values"]["replicaCount"] = none;
        let found = turned_off(&before, &after);
        assert_eq!(found.as_deref(), Some("/spec/values/replicaCount"));
    }
}

#[test]
fn another_version_of_a_kind_is_no_way_around() {
    for version in ["v2", "v2beta2", "v9"] {
        let of = format!("helm.toolkit.fluxcd.io/{version}");
        assert_eq!(override_reach(&of, "HelmRelease"), OverrideReach::Fields(RELEASE));
    }
    assert_eq!(override_reach("v1", "Namespace"), OverrideReach::Fields(&[]));
}

#[test]
fn only_what_is_free_may_differ() {
    let before =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"values": {"x": 1}, "chart": "a"}});
    let mut after = before.clone();
    after["metadata"]["labels"]["c"] = json!("d");
    after["spec"]["values"] = json!({"y": 2});
    assert_eq!(changed_beside(RELEASE, &before, &after), None);
    after["spec"]["chart"] = json!("b");
    assert_eq!(changed_beside(RELEASE, &before, &after).as_deref(), Some("/spec/chart"));
    after["spec"] = json!("b");
    assert_eq!(changed_beside(RELEASE, &before, &after).as_deref(), Some("/spec"));
    assert!(!is_free(RELEASE, "/spec/valuesFrom") && is_free(RELEASE, "/spec/values/a"));
    assert!(!is_free(RELEASE, "") && !is_free(RELEASE, "/spec"));
}

#[test]
fn as_whom_something_runs_is_found_wherever_it_stands() {
    let before = json!({"spec": {"deployment": {"replicas": 1, "containers": [{"name": "a"}]}}});
    let set = |at: &str, key: &str, value: Value| {
        let mut after = before.clone();
        after.pointer_mut(at).unwrap()[key] = value;
        changed_rights(&before, &after)
    };
    assert_eq!(set("/spec/deployment", "replicas", json!(2)), None);
    for key in ["serviceAccountName", "hostNetwork", "rbac", "userAssignedIdentities", "users"] {
        let found = set("/spec/deployment", key, json!("x"));
        assert_eq!(found, Some(format!("/spec/deployment/{key}")));
    }
    let privileged = json!({"privileged": true});
    let at = "/spec/deployment/containers/0";
    let found = set(at, "securityContext", privileged);
    assert_eq!(found, Some(format!("{at}/securityContext")));
}
