//! `AzureMachineTemplate` (cluster-api-provider-azure v1.26.0, `internal/webhooks/azuremachine_validation.go` and
//! `azuremachinetemplate_webhook.go`): disks, identities, network interfaces. What makes it confidential, and
//! what it tells of its start, is in [`security`](super::security).

use serde_json::Value;

use super::rules;
use super::value::{at, has, list, no_resource_id, number, on, repeats, text};
use crate::pattern::DocumentPart;

const ULTRA: &str = "UltraSSD_LRS";
/// The kinds of disks (Azure's `armcompute.DiskStorageAccountTypes`).
const STORAGE: &[&str] = &[
    "PremiumV2_LRS",
    "Premium_LRS",
    "Premium_ZRS",
    "StandardSSD_LRS",
    "StandardSSD_ZRS",
    "Standard_LRS",
    ULTRA,
];
/// The sizes of data disks, in GiB.
const DATA: std::ops::RangeInclusive<i64> = 4..=32767;
/// The places of data disks.
const LUNS: std::ops::RangeInclusive<i64> = 0..=63;
/// The largest disk of an operating system, in GiB.
const LARGEST: i64 = 2048;

rules! {
    "says no operating system", "spec: {template: {spec: {osDisk: {osType: null}}}}" =>
        |o| text(o, "/osDisk/osType").is_empty();
    "has a disk of the operating system that is not from 1 to 2048 GiB",
        "spec: {template: {spec: {osDisk: {diskSizeGB: 4096}}}}" =>
        |o| number(o, "/osDisk/diskSizeGB")
            .is_some_and(|size| !(1..=LARGEST).contains(&size));
    "has a disk of the operating system of the kind UltraSSD_LRS",
        "spec: {template: {spec: {osDisk: {cachingType: None, managedDisk: {storageAccountType: UltraSSD_LRS}}}}}" =>
        |o| text(o, "/osDisk/managedDisk/storageAccountType") == ULTRA;
    "has a disk of an unknown kind",
        "spec: {template: {spec: {osDisk: {managedDisk: {storageAccountType: Premium}}}}}" =>
        |o| disks(o).filter_map(|disk| disk.get("managedDisk")).any(unknown_storage);
    "has a disk with an unknown cache",
        "spec: {template: {spec: {osDisk: {cachingType: Some}}}}" =>
        |o| disks(o).any(|disk| {
            !matches!(text(disk, "/cachingType"), "" | "None" | "ReadOnly" | "ReadWrite")
        });
    "has a cache before a disk of the kind UltraSSD_LRS",
        "spec: {template: {spec: {dataDisks: [{nameSuffix: a, diskSizeGB: 4, lun: 0, cachingType: ReadOnly, managedDisk: {storageAccountType: UltraSSD_LRS}}]}}}" =>
        |o| disks(o).any(|disk| text(disk, "/managedDisk/storageAccountType") == ULTRA
            && !matches!(text(disk, "/cachingType"), "" | "None"));
    "encrypts a local disk with a key of its own",
        "spec: {template: {spec: {osDisk: {diffDiskSettings: {option: Local}, managedDisk: {storageAccountType: Premium_LRS, diskEncryptionSet: {id: x}}}}}}" =>
        |o| has(o, "/osDisk/diffDiskSettings")
            && has(o, "/osDisk/managedDisk/diskEncryptionSet");
    "says a place of a disk that is not local",
        "spec: {template: {spec: {osDisk: {diffDiskSettings: {placement: CacheDisk}}}}}" =>
        |o| has(o, "/osDisk/diffDiskSettings/placement")
            && text(o, "/osDisk/diffDiskSettings/option") != "Local";
    "has a data disk that is not from 4 to 32767 GiB",
        "spec: {template: {spec: {dataDisks: [{nameSuffix: a, diskSizeGB: 3, lun: 0}]}}}" =>
        |o| data(o).iter().any(|d| number(d, "/diskSizeGB").is_none_or(|s| !DATA.contains(&s)));
    "has a data disk without a name", "spec: {template: {spec: {dataDisks: [{diskSizeGB: 4, lun: 0}]}}}" =>
        |o| data(o).iter().any(|disk| text(disk, "/nameSuffix").is_empty());
    "has two data disks of one name",
        "spec: {template: {spec: {dataDisks: [{nameSuffix: a, diskSizeGB: 4, lun: 0}, {nameSuffix: a, diskSizeGB: 4, lun: 1}]}}}" =>
        |o| repeats(data(o).iter().map(|disk| text(disk, "/nameSuffix")));
    "has a data disk whose place is not from 0 to 63",
        "spec: {template: {spec: {dataDisks: [{nameSuffix: a, diskSizeGB: 4, lun: 64}]}}}" =>
        |o| data(o).iter().any(|d| number(d, "/lun").is_some_and(|lun| !LUNS.contains(&lun)));
    "has two data disks at one place",
        "spec: {template: {spec: {dataDisks: [{nameSuffix: a, diskSizeGB: 4, lun: 0}, {nameSuffix: b, diskSizeGB: 4, lun: 0}]}}}" =>
        |o| {
            let luns: Vec<_> =
                data(o).iter().filter_map(|d| number(d, "/lun")).map(|l| l.to_string()).collect();
            repeats(luns.iter().map(String::as_str))
        };
    "lists identities and does not say UserAssigned",
        "spec: {template: {spec: {identity: SystemAssigned}}}" =>
        |o| identity(o) != "UserAssigned" && !identities(o).is_empty();
    "says UserAssigned and lists no identity",
        "spec: {template: {spec: {userAssignedIdentities: null}}}" =>
        |o| identity(o) == "UserAssigned" && identities(o).is_empty();
    "has an identity that is no resource's id",
        "spec: {template: {spec: {userAssignedIdentities: [{providerID: nodes}]}}}" =>
        |o| identities(o).iter().map(|i| text(i, "/providerID"))
            .any(|id| !id.is_empty() && no_resource_id(id));
    "has a role and no identity of the system's",
        "spec: {template: {spec: {systemAssignedIdentityRole: {definitionID: d, scope: s}}}}" =>
        |o| identity(o) != "SystemAssigned" && has(o, "/systemAssignedIdentityRole");
    "has a role of which it does not say what and where",
        "spec: {template: {spec: {identity: SystemAssigned, userAssignedIdentities: null, systemAssignedIdentityRole: {scope: s}}}}" =>
        |o| has(o, "/systemAssignedIdentityRole") && ["definitionID", "scope"]
            .iter().any(|f| text(o, &format!("/systemAssignedIdentityRole/{f}")).is_empty());
    "names the role assignment, which every machine must have one of",
        "spec: {template: {spec: {roleAssignmentName: 11111111-1111-1111-1111-111111111111}}}" =>
        |o| ["/roleAssignmentName", "/systemAssignedIdentityRole/name"]
            .iter().any(|field| !text(o, field).is_empty());
    "has network interfaces and a subnet",
        "spec: {template: {spec: {subnetName: a, networkInterfaces: [{privateIPConfigs: 1}]}}}" =>
        |o| !interfaces(o).is_empty() && has(o, "/subnetName");
    "has network interfaces and says itself whether they are accelerated",
        "spec: {template: {spec: {acceleratedNetworking: true, networkInterfaces: [{privateIPConfigs: 1}]}}}" =>
        |o| !interfaces(o).is_empty() && has(o, "/acceleratedNetworking");
    "has a network interface without an address",
        "spec: {template: {spec: {networkInterfaces: [{privateIPConfigs: 0}]}}}" =>
        |o| interfaces(o).iter().any(|n| number(n, "/privateIPConfigs").is_some_and(|c| c < 1));
    "has a reserved capacity that is no resource's id",
        "spec: {template: {spec: {capacityReservationGroupID: mine}}}" =>
        |o| has(o, "/capacityReservationGroupID")
            && no_resource_id(text(o, "/capacityReservationGroupID"));
    "has extensions and lets none work",
        "spec: {template: {spec: {disableExtensionOperations: true, vmExtensions: [{name: a}]}}}" =>
        |o| on(o, "/disableExtensionOperations")
            && !list(o, "/vmExtensions").is_empty();
}

fn data(spec: DocumentPart<'_>) -> &[Value] {
    list(spec, "/dataDisks")
}

fn disks(spec: DocumentPart<'_>) -> impl Iterator<Item = &Value> {
    at(spec, "/osDisk").into_iter().chain(data(spec))
}

/// Whether a managed disk is of no kind that Azure has.
fn unknown_storage(disk: &Value) -> bool {
    !STORAGE.contains(&text(disk, "/storageAccountType"))
}

fn identity(spec: DocumentPart<'_>) -> &str {
    text(spec, "/identity")
}

fn identities(spec: DocumentPart<'_>) -> &[Value] {
    list(spec, "/userAssignedIdentities")
}

fn interfaces(spec: DocumentPart<'_>) -> &[Value] {
    list(spec, "/networkInterfaces")
}

#[cfg(test)]
pub(super) const GOOD: &str = r"
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureMachineTemplate
metadata: {name: a-np0-1, namespace: a}
spec:
  template:
    spec:
      vmSize: Standard_D4s_v5
      osDisk: {osType: Linux, diskSizeGB: 128, managedDisk: {storageAccountType: Premium_LRS}}
      dataDisks: [{nameSuffix: etcddisk, diskSizeGB: 256, lun: 0}]
      identity: UserAssigned
      userAssignedIdentities:
      - {providerID: 'azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/n'}
";
