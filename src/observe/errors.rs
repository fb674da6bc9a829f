//! What is wrong with a cluster, with a code and whether a change of the fleet mends it.
//!
//! Cluster API has no terminal failures any more; what is wrong stands in conditions and in words of the
//! cloud. The words are Azure's error codes; Gardener's Azure extension classifies the same
//! (`gardener/gardener-extension-provider-azure`, `pkg/apis/azure/helper/error_codes.go`).

use std::collections::BTreeMap;

use super::ObservedKind;
use super::conditions::bounded;
use super::listing::Listing;
use super::object::{ObservedObject, ProviderCondition};
use crate::model::{KindRole, Name, ReportedError};

/// The most errors of one cluster that are reported.
const MOST: usize = 5;

/// The words of a cloud, the code that they stand for, and whether the fleet's people can mend it.
const WORDS: [(&str, &[&str], bool); 6] = [
    ("QuotaExceeded", &["QuotaExceeded", "exceeding approved", "exceeded quota"], true),
    ("SizeNotAvailable", &["SkuNotAvailable", "AllocationFailed", "ZonalAllocationFailed"], true),
    (
        "CredentialsRejected",
        &[
            "AuthorizationFailed",
            "LinkedAuthorizationFailed",
            "InvalidAuthenticationToken",
            "AADSTS",
            "SubscriptionNotFound",
            "NamespaceNotAllowedByIdentity",
        ],
        true,
    ),
    (
        "NameTaken",
        &["ResourceGroupBeingDeleted", "DnsRecordInUse", "already exists in location"],
        true,
    ),
    ("PolicyRefused", &["RequestDisallowedByPolicy"], true),
    ("RateLimited", &["TooManyRequests", "Too many requests", "Throttling"], false),
];

/// Flux could not apply the cluster's folder.
const NOT_APPLIED: &str = "ApplyFailed";

/// Conditions that hold where something is wrong; of all others it is wrong that they do not hold.
const BAD_IF_TRUE: [&str; 8] = [
    "Deleting",
    "RollingOut",
    "ScalingUp",
    "ScalingDown",
    "Paused",
    "Remediating",
    "Reconciling",
    "Stalled",
];

/// The code of what has no words of its own, by what the object is to its cluster.
const NOT_READY: [(KindRole, &str); 4] = [
    (KindRole::Infrastructure, "InfrastructureNotReady"),
    (KindRole::Machine, "MachineNotReady"),
    (KindRole::ControlPlane, "ControlPlaneNotReady"),
    (KindRole::AddOn, "AddOnNotReady"),
];

/// Every code that a report may name, for the page that explains them.
#[must_use]
pub fn codes() -> std::collections::BTreeSet<&'static str> {
    let of_words = WORDS.iter().map(|(code, ..)| *code);
    of_words.chain(NOT_READY.map(|(_, code)| code)).chain([NOT_APPLIED]).collect()
}

/// What is wrong with a cluster, one for each code, in the order of the codes. Something that is still
/// being made for the first time is no error; what the cloud refuses is one at once.
pub(super) fn of(
    listing: &Listing,
    name: &Name,
    applied_by: Option<&ObservedObject>,
) -> Vec<ReportedError> {
    let mut found: BTreeMap<String, ReportedError> = BTreeMap::new();
    let mut add = |error: ReportedError| {
        found.entry(error.code.clone()).or_insert(error);
    };
    let otherwise =
        |kind: ObservedKind| NOT_READY.iter().find(|(role, _)| kind.role() == Some(*role));
    let kinds = listing.kinds().iter().filter_map(|kind| Some((*kind, otherwise(*kind)?.1)));
    for (kind, otherwise) in kinds {
        for object in listing.in_cluster(kind, name) {
            for seen in &object.status.conditions {
                if let Some(error) = error_in(kind, object, seen, otherwise) {
                    add(error);
                }
            }
        }
    }
    if let Some(refused) = applied_by.and_then(not_applied) {
        add(refused);
    }
    found.into_values().take(MOST).collect()
}

fn error_in(
    kind: ObservedKind,
    object: &ObservedObject,
    seen: &ProviderCondition,
    otherwise: &str,
) -> Option<ReportedError> {
    if seen.status != "False" || BAD_IF_TRUE.contains(&seen.kind.as_str()) {
        return None;
    }
    let text = format!("{} {}", seen.reason, seen.message);
    let words = WORDS.iter().find(|(_, words, _)| words.iter().any(|w| text.contains(w)));
    let (code, user_error) = match words {
        Some((code, _, user_error)) => (*code, *user_error),
        // Of the old contract only what is of severity Error has failed; the rest is on its way. A release of Flux's
        // has failed once it was tried (helm-controller, `api/v2/condition_types.go`).
        None if seen.severity == "Error" || is_failed_release(kind, seen) => (otherwise, false),
        None => return None,
    };
    let what = format!("{} {}: {}", kind.name(), object.name(), said(seen));
    Some(ReportedError { code: code.to_owned(), message: bounded(&what), user_error })
}

/// Flux could not apply the cluster's folder.
fn not_applied(kustomization: &ObservedObject) -> Option<ReportedError> {
    let ready = kustomization.condition("Ready").filter(|c| c.status == "False")?;
    let failed = [
        "BuildFailed",
        "ReconciliationFailed",
        "PruneFailed",
        "HealthCheckFailed",
        "ArtifactFailed",
    ];
    if !failed.contains(&ready.reason.as_str()) {
        return None;
    }
    let message = bounded(&format!("Kustomization {}: {}", kustomization.name(), said(ready)));
    Some(ReportedError { code: NOT_APPLIED.to_owned(), message, user_error: false })
}

fn is_failed_release(kind: ObservedKind, seen: &ProviderCondition) -> bool {
    kind == ObservedKind::HelmRelease && seen.kind == "Released"
}

fn said(seen: &ProviderCondition) -> &str {
    if seen.message.is_empty() { &seen.reason } else { &seen.message }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn errors(kind: ObservedKind, condition: Value) -> Vec<(String, bool)> {
        let mut listing = Listing::default();
        let object = json!({
            "metadata": {"name": "x", "namespace": "a"},
            "status": {"conditions": [condition]},
        });
        listing.add(kind, [object]);
        let found = of(&listing, &Name::parse("a").unwrap(), None);
        found.into_iter().map(|e| (e.code, e.user_error)).collect()
    }

    fn code(message: &str) -> Option<(String, bool)> {
        let condition = json!({"type": "VMRunning", "status": "False", "severity": "Warning", "reason": "VMProvisionFailed", "message": message});
        errors(ObservedKind::named("AzureMachine"), condition).pop()
    }

    #[test]
    fn the_clouds_words_have_codes() {
        let user = |code: &str| Some((code.to_owned(), true));
        assert_eq!(
            code(
                "RESPONSE 409: OperationNotAllowed: Operation could not be completed as it results in exceeding approved Total Regional Cores quota"
            ),
            user("QuotaExceeded")
        );
        assert_eq!(
            code("SkuNotAvailable: Standard_D4s_v5 is not available in zone 2"),
            user("SizeNotAvailable")
        );
        assert_eq!(
            code("AuthorizationFailed: the client does not have authorization"),
            user("CredentialsRejected")
        );
        assert_eq!(code("RequestDisallowedByPolicy"), user("PolicyRefused"));
        assert_eq!(
            code("TooManyRequests: retry after 17 s"),
            Some(("RateLimited".to_owned(), false))
        );
        assert_eq!(code("creating"), None, "it is on its way");
    }

    #[test]
    fn a_failure_without_words_has_the_code_of_its_kind() {
        let failed = json!({"type": "NetworkInfrastructureReady", "status": "False", "severity": "Error", "reason": "Failed", "message": "boom"});
        let expected = vec![("InfrastructureNotReady".to_owned(), false)];
        assert_eq!(errors(ObservedKind::named("AzureCluster"), failed), expected);
    }

    #[test]
    fn a_release_of_a_cluster_has_failed_once_it_was_tried() {
        let condition = |kind: &str| json!({"type": kind, "status": "False", "reason": "InstallFailed", "message": "no such chart"});
        let failed = vec![("AddOnNotReady".to_owned(), false)];
        assert_eq!(errors(ObservedKind::HelmRelease, condition("Released")), failed);
        assert_eq!(errors(ObservedKind::HelmRelease, condition("Ready")), [], "it is on its way");
    }

    #[test]
    fn what_holds_normally_is_no_error() {
        let paused = json!({"type": "Paused", "status": "False", "severity": "Error", "message": "QuotaExceeded"});
        assert_eq!(errors(ObservedKind::named("AzureCluster"), paused), []);
        let fine =
            json!({"type": "Ready", "status": "True", "message": "QuotaExceeded was mended"});
        assert_eq!(errors(ObservedKind::named("AzureCluster"), fine), []);
    }

    #[test]
    fn another_clusters_errors_are_not_its_own() {
        let mut listing = Listing::default();
        let condition = json!({"type": "Ready", "status": "False", "message": "QuotaExceeded"});
        listing.add(
            ObservedKind::named("AzureMachine"),
            [json!({"metadata": {"name": "x", "namespace": "b"}, "status": {"conditions": [condition]}})],
        );
        assert_eq!(of(&listing, &Name::parse("a").unwrap(), None), []);
    }

    #[test]
    fn a_folder_that_flux_cannot_apply_is_an_error() {
        let flux = |reason: &str| -> ObservedObject {
            let ready = json!({"type": "Ready", "status": "False", "reason": reason, "message": "admission webhook denied the request"});
            serde_json::from_value(
                json!({"metadata": {"name": "cluster-a"}, "status": {"conditions": [ready]}}),
            )
            .unwrap()
        };
        let name = Name::parse("a").unwrap();
        let found = of(&Listing::default(), &name, Some(&flux("ReconciliationFailed")));
        assert_eq!(found[0].code, "ApplyFailed");
        assert_eq!(
            found[0].message,
            "Kustomization cluster-a: admission webhook denied the request"
        );
        assert_eq!(of(&Listing::default(), &name, Some(&flux("DependencyNotReady"))), []);
    }

    #[test]
    fn every_code_is_told_once() {
        let mut listing = Listing::default();
        let machine = |name: &str| {
            let condition =
                json!({"type": "VMRunning", "status": "False", "message": "QuotaExceeded"});
            json!({"metadata": {"name": name, "namespace": "a"}, "status": {"conditions": [condition]}})
        };
        listing.add(ObservedKind::named("AzureMachine"), [machine("m-1"), machine("m-2")]);
        let found = of(&listing, &Name::parse("a").unwrap(), None);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].message, "AzureMachine m-1: QuotaExceeded");
    }
}
