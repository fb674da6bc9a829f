//! `spec.git`, `spec.output` and `spec.observed`: how carp's commits are made, where they go, and whose
//! are read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How carp's commits are made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GitSettings {
    /// The name of the author of carp's commits.
    #[serde(default = "GitSettings::default_name")]
    pub author: String,
    /// The address of the author of carp's commits.
    #[serde(default = "GitSettings::default_email")]
    pub email: String,
    /// Signs every commit of carp with this key. Unset: none is signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing: Option<Signing>,
    /// Reads no input commit but one that is signed by one of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<Verify>,
    /// How what carp decides reaches the output branch. Default: `direct`.
    #[serde(default, skip_serializing_if = "WriteMode::is_direct")]
    pub write: WriteMode,
    /// With `write: pullRequest`: options for the push of a proposal (`git push -o`), by which GitLab opens a
    /// merge request: `merge_request.create`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub push_options: Vec<String>,
    /// How many pushes a minute the controller makes at most, on average; absent: as many as there are.
    /// What comes in between is brought together in the next turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 600))]
    pub push_budget: Option<u32>,
}

impl GitSettings {
    fn default_name() -> String {
        "carp".to_owned()
    }
    fn default_email() -> String {
        "carp@carp.dev".to_owned()
    }
}

impl Default for GitSettings {
    fn default() -> Self {
        let (author, email) = (Self::default_name(), Self::default_email());
        Self {
            author,
            email,
            signing: None,
            verify: None,
            write: WriteMode::Direct,
            push_options: Vec::new(),
            push_budget: None,
        }
    }
}

/// How what carp decides reaches the output branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WriteMode {
    /// carp pushes it there.
    #[default]
    Direct,
    /// carp keeps it on `branches.proposal`, and it counts when people have merged that.
    PullRequest,
}

impl WriteMode {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
    fn is_direct(&self) -> bool {
        *self == Self::Direct
    }
}

/// With what carp signs its commits. The key itself is on the machine that runs carp, never here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Signing {
    /// The kind of signature, as git's `gpg.format` has it.
    pub format: SigningFormat,
    /// Which key, as git's `user.signingKey` names it, which is the default: for `ssh` a file such as
    /// `~/.ssh/id_ed25519`, or a public key whose private half an ssh agent has; for `openpgp` an id,
    /// a fingerprint or an address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// Whose commits carp reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Verify {
    /// Lines of an SSH allowed-signers file, such as `alice@example.com ssh-ed25519 AAAA…`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_signers: Vec<String>,
    /// Public OpenPGP keys in their armour, as `gpg --armor --export alice@example.com` prints them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub openpgp_keys: Vec<String>,
}

/// The OpenPGP key of a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerKey {
    /// The name of the worker that signs its reports with the key.
    pub worker: String,
    /// Its public OpenPGP key in its armour, as `gpg --armor --export` prints it.
    pub key: String,
}

/// The kind of a signature, in git's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SigningFormat {
    /// By `ssh-keygen`.
    Ssh,
    /// By `gpg`.
    Openpgp,
}

/// Where carp writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputSettings {
    /// The repository that the output and the status branch are in, where it is not the fleet's own.
    pub url: String,
}

/// The workers' reports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ObservedSettings {
    /// The repository that the report branches are in, where it is not the fleet's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Reads no report but one that is signed by its worker: lines of an SSH allowed-signers file whose
    /// principals are names of workers, such as `we-1 ssh-ed25519 AAAA…`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_signers: Vec<String>,
    /// Reads no report but one that is signed by its worker: the OpenPGP key of each worker that signs with one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub openpgp_keys: Vec<WorkerKey>,
}
