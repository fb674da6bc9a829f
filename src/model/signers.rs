//! Who may sign what carp reads, as `carp.yaml` says and `fleet.lock` keeps it.

use serde::{Deserialize, Serialize};

use super::api::{FleetSpec, WorkerKey};
use super::{AllowedSigner, Name, OpenpgpKey};

/// Those whose signature is good for one thing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// By SSH.
    pub ssh: Vec<AllowedSigner>,
    /// By OpenPGP.
    pub openpgp: Vec<OpenpgpKey>,
}

impl Allowed {
    /// Whether there is nobody.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ssh.is_empty() && self.openpgp.is_empty()
    }
}

/// Who may sign what carp reads: lines of an SSH allowed-signers file, and OpenPGP keys in their armour.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Signers {
    /// Input commits; none: they need no signature.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input: Vec<String>,
    /// Reports; none: they need no signature.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observed: Vec<String>,
    /// Input commits, by OpenPGP.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input_openpgp: Vec<String>,
    /// Reports, by OpenPGP.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observed_openpgp: Vec<WorkerKey>,
    /// Acknowledgements; none: they need no signature.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acknowledgements: Vec<String>,
    /// Whether whoever acknowledges must be another than whoever brought what is acknowledged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub two_person: bool,
}

impl Signers {
    /// What `carp.yaml` asks for.
    #[must_use]
    pub fn of(spec: &FleetSpec) -> Self {
        let verify = spec.git.as_ref().and_then(|git| git.verify.as_ref());
        let observed = spec.observed.as_ref();
        let asked = spec.acknowledgements.as_ref();
        Self {
            input: verify.map(|v| v.allowed_signers.clone()).unwrap_or_default(),
            observed: observed.map(|o| o.allowed_signers.clone()).unwrap_or_default(),
            input_openpgp: verify.map(|v| v.openpgp_keys.clone()).unwrap_or_default(),
            observed_openpgp: observed.map(|o| o.openpgp_keys.clone()).unwrap_or_default(),
            acknowledgements: asked.map(|a| a.allowed_signers.clone()).unwrap_or_default(),
            two_person: asked.is_some_and(|a| a.two_person),
        }
    }

    /// Who may sign input commits; `load` has refused what is no signer.
    #[must_use]
    pub fn of_input(&self) -> Allowed {
        Allowed {
            ssh: self.input.iter().filter_map(|l| AllowedSigner::parse(l).ok()).collect(),
            openpgp: self.input_openpgp.iter().filter_map(|k| OpenpgpKey::parse(k).ok()).collect(),
        }
    }

    /// Who may sign the reports of a worker.
    #[must_use]
    pub fn of_worker(&self, worker: &Name) -> Allowed {
        let own = |line: &String| {
            let signer = AllowedSigner::parse(line).ok().filter(|signer| signer.names(worker))?;
            AllowedSigner::parse(&signer.line_for(worker)).ok()
        };
        let keys = self.observed_openpgp.iter().filter(|key| key.worker == worker.as_str());
        Allowed {
            ssh: self.observed.iter().filter_map(own).collect(),
            openpgp: keys.filter_map(|key| OpenpgpKey::parse(&key.key).ok()).collect(),
        }
    }

    /// Who may sign acknowledgements.
    #[must_use]
    pub fn of_acknowledgements(&self) -> Allowed {
        let lines = self.acknowledgements.iter();
        let ssh = lines.filter_map(|l| AllowedSigner::parse(l).ok()).collect();
        Allowed { ssh, openpgp: Vec::new() }
    }

    /// Whether acknowledgements need a signature.
    #[must_use]
    pub fn ask_of_acknowledgements(&self) -> bool {
        !self.acknowledgements.is_empty()
    }

    /// Whether input commits need a signature.
    #[must_use]
    pub fn ask_of_input(&self) -> bool {
        !self.input.is_empty() || !self.input_openpgp.is_empty()
    }

    /// Whether reports need a signature.
    #[must_use]
    pub fn ask_of_reports(&self) -> bool {
        !self.observed.is_empty() || !self.observed_openpgp.is_empty()
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.ask_of_input() && !self.ask_of_reports() && !self.ask_of_acknowledgements()
    }
}
