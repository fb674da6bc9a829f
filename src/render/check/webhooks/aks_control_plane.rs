//! `AzureASOManagedControlPlane` (cluster-api-provider-azure v1.26.0). Its webhook asks for a feature gate alone; what its
//! controller refuses for ever, as a terminal error, is in `pkg/mutators/azureasomanagedcontrolplane.go`, and the names
//! are Azure's own (`Microsoft.ContainerService/managedClusters`, API 2024-09-01).

use std::sync::LazyLock;

use regex_lite::Regex;
use serde_json::Value;

use super::rules;
use super::value::{has, list, text};
use crate::pattern::DocumentPart;

/// What begins the name of AKS' API server.
static DNS_PREFIX: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("^[a-zA-Z0-9]([-a-zA-Z0-9]{0,52}[a-zA-Z0-9])?$")
        .expect("the expression is a constant that a test compiles")
});

/// The cluster of AKS among the resources: the first of its kind.
fn aks(object: DocumentPart<'_>) -> Option<&Value> {
    list(object, "/spec/resources").iter().find(|&resource| {
        text(resource, "/kind") == "ManagedCluster"
            && text(resource, "/apiVersion").starts_with("containerservice.azure.com/")
    })
}

rules! {
    "has no ManagedCluster of containerservice.azure.com among its resources", "spec: {resources: []}" =>
        |o| aks(o).is_none();
    "has another Kubernetes version in its ManagedCluster",
        "spec: {version: v1.34.3}" =>
        |o| aks(o).is_some_and(|aks| {
            let said = text(aks, "/spec/kubernetesVersion");
            !said.is_empty() && said != text(o, "/spec/version").trim_start_matches('v')
        });
    "has agent pools in its ManagedCluster, which are those of the machine pools",
        "spec: {resources: [{apiVersion: containerservice.azure.com/v1api20240901, kind: ManagedCluster, \
         spec: {agentPoolProfiles: []}}]}" =>
        |o| aks(o).is_some_and(|aks| has(aks, "/spec/agentPoolProfiles"));
    "has a range of addresses in its ManagedCluster, which is the Cluster's",
        "spec: {resources: [{apiVersion: containerservice.azure.com/v1api20240901, kind: ManagedCluster, \
         spec: {networkProfile: {podCidr: 10.0.0.0/16}}}]}" =>
        |o| aks(o).is_some_and(|aks| {
            ["podCidr", "serviceCidr"].iter().any(|range| has(aks, &format!("/spec/networkProfile/{range}")))
        });
    "has a dnsPrefix that Azure refuses",
        "spec: {resources: [{apiVersion: containerservice.azure.com/v1api20240901, kind: ManagedCluster, \
         spec: {dnsPrefix: a-}}]}" =>
        |o| aks(o).is_some_and(|aks| {
            has(aks, "/spec/dnsPrefix") && !DNS_PREFIX.is_match(text(aks, "/spec/dnsPrefix"))
        });
    // learn.microsoft.com/azure/aks/api-server-authorized-ip-ranges: they are for the public address.
    "is private and has ranges from which its public address is reached",
        "spec: {resources: [{apiVersion: containerservice.azure.com/v1api20240901, kind: ManagedCluster, \
         spec: {apiServerAccessProfile: {enablePrivateCluster: true, authorizedIPRanges: [192.0.2.0/24]}}}]}" =>
        |o| aks(o).is_some_and(|aks| {
            super::value::on(aks, "/spec/apiServerAccessProfile/enablePrivateCluster")
                && has(aks, "/spec/apiServerAccessProfile/authorizedIPRanges")
        });
    // Azure creates it, and a Kubernetes client cannot be made for it (`reconcileKubeconfig`).
    "lets nobody in: it has neither local accounts nor credentials of users",
        "spec: {resources: [{apiVersion: containerservice.azure.com/v1api20240901, kind: ManagedCluster, \
         spec: {disableLocalAccounts: true}}]}" =>
        |o| aks(o).is_some_and(|aks| {
            super::value::on(aks, "/spec/disableLocalAccounts")
                && !has(aks, "/spec/operatorSpec/secrets/userCredentials")
        });
}

#[cfg(test)]
pub(super) const GOOD: &str = r"
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureASOManagedControlPlane
metadata: {name: a, namespace: a}
spec:
  version: v1.34.2
  resources:
  - apiVersion: containerservice.azure.com/v1api20240901
    kind: ManagedCluster
    metadata: {name: a}
    spec: {owner: {name: a}, dnsPrefix: a, kubernetesVersion: 1.34.2, location: westeurope}
";
