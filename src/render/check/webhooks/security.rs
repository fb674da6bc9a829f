//! `AzureMachineTemplate`: confidential machines, keys and what is told of a start (cluster-api-provider-azure
//! v1.26.0, `internal/webhooks/azuremachine_validation.go`, `ValidateConfidentialCompute`, `ValidateSSHKey` and
//! `ValidateDiagnostics`).

use super::rules;
use super::value::{below, has, on, text};
use crate::pattern::DocumentPart;

const DISK: &str = "/osDisk/managedDisk/securityProfile";
const PROFILE: &str = "/securityProfile";
const BOOT: &str = "/diagnostics/boot";
/// The encryption that takes in the machine's own state.
const WHOLE: &str = "DiskWithVMGuestState";

rules! {
    "encrypts its disk as a confidential machine does, and is none",
        "spec: {template: {spec: {securityProfile: {uefiSettings: {vTpmEnabled: true}}, osDisk: {managedDisk: {securityProfile: {securityEncryptionType: VMGuestStateOnly}}}}}}" =>
        |o| is_encrypted(o) && text(below(o, PROFILE), "/securityType") != "ConfidentialVM";
    "is confidential without a vTPM",
        "spec: {template: {spec: {securityProfile: {securityType: ConfidentialVM}, osDisk: {managedDisk: {securityProfile: {securityEncryptionType: VMGuestStateOnly}}}}}}" =>
        |o| is_encrypted(o) && !on(below(o, PROFILE), "/uefiSettings/vTpmEnabled");
    "encrypts its state twice",
        "spec: {template: {spec: {securityProfile: {encryptionAtHost: true}, osDisk: {managedDisk: {securityProfile: {securityEncryptionType: DiskWithVMGuestState}}}}}}" =>
        |o| is_whole(o) && on(below(o, PROFILE), "/encryptionAtHost");
    "encrypts its state without a secure boot",
        "spec: {template: {spec: {securityProfile: {uefiSettings: {vTpmEnabled: true}}, osDisk: {managedDisk: {securityProfile: {securityEncryptionType: DiskWithVMGuestState}}}}}}" =>
        |o| is_whole(o) && has(below(o, PROFILE), "/uefiSettings")
            && !on(below(o, PROFILE), "/uefiSettings/secureBootEnabled");
    "has a key for its state, which it does not encrypt",
        "spec: {template: {spec: {osDisk: {managedDisk: {securityProfile: {diskEncryptionSet: {id: x}}}}}}}" =>
        |o| has(below(o, DISK), "/diskEncryptionSet")
            && text(below(o, DISK), "/securityEncryptionType") != WHOLE;
    "has an SSH key that is not in base64", "spec: {template: {spec: {sshPublicKey: 'ssh-rsa AAAA'}}}" =>
        |o| !is_base64(text(o, "/sshPublicKey"));
    "tells of its start to an account of which it does not say where",
        "spec: {template: {spec: {diagnostics: {boot: {storageAccountType: UserManaged}}}}}" =>
        |o| text(below(o, BOOT), "/storageAccountType") == "UserManaged"
            && text(below(o, BOOT), "/userManaged/storageAccountURI").is_empty();
    "tells of its start to an account that it does not use",
        "spec: {template: {spec: {diagnostics: {boot: {storageAccountType: Managed, userManaged: {storageAccountURI: u}}}}}}" =>
        |o| ["Managed", "Disabled"].contains(&text(below(o, BOOT), "/storageAccountType"))
            && has(below(o, BOOT), "/userManaged/storageAccountURI");
}

/// Whether the disk is encrypted, where the machine has a profile to hold that against.
fn is_encrypted(object: DocumentPart<'_>) -> bool {
    has(object, PROFILE) && has(below(object, DISK), "/securityEncryptionType")
}

fn is_whole(object: DocumentPart<'_>) -> bool {
    has(object, PROFILE) && text(below(object, DISK), "/securityEncryptionType") == WHOLE
}

fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/".contains(&b))
}
