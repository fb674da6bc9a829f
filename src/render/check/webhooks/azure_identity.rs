//! `AzureClusterIdentity` (cluster-api-provider-azure v1.26.0,
//! `internal/webhooks/azureclusteridentity_validation.go`).

use super::rules;
use super::value::{has, text};

rules! {
    "has a resourceID, which is for UserAssignedMSI only", "spec: {resourceID: /subscriptions/s}" =>
        |o| has(o, "/spec/resourceID") && text(o, "/spec/type") != "UserAssignedMSI";
    "has credentials of a kind that it is not",
        "spec: {userAssignedIdentityCredentialsPath: /var/lib/x}" =>
        |o| text(o, "/spec/type") != "UserAssignedIdentityCredential"
            && ["userAssignedIdentityCredentialsPath", "userAssignedIdentityCredentialsCloudType"]
                .iter().any(|field| has(o, &format!("/spec/{field}")));
    // api/v1beta1/azureclusteridentity_types.go: nobody may use one that allows no namespace.
    "lets no namespace use it", "spec: {allowedNamespaces: null}" =>
        |o| !has(o, "/spec/allowedNamespaces");
}

#[cfg(test)]
pub(super) const GOOD: &str = r"
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureClusterIdentity
metadata: {name: a, namespace: a}
spec: {type: WorkloadIdentity, tenantID: t, clientID: c, allowedNamespaces: {list: [a]}}
";
