//! Kubernetes versions.

use std::fmt;
use std::str::FromStr;

/// A Kubernetes version, written `v1.34.2`. Cluster API wants the leading `v` and the patch: its
/// MachineDeployment webhook adds a missing `v`, which Flux would then see as drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KubeVersion {
    /// The major version: 1.
    pub major: u32,
    /// The minor version.
    pub minor: u32,
    /// The patch.
    pub patch: u32,
}

/// A text is not a Kubernetes version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a version like v1.34.2")]
pub struct VersionError(pub String);

impl FromStr for KubeVersion {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || VersionError(text.to_owned());
        let mut parts = text.strip_prefix('v').ok_or_else(wrong)?.split('.');
        let mut number = || -> Option<u32> {
            let digits = parts.next()?;
            let plain = digits == "0" || !digits.starts_with('0');
            let plain = plain && digits.bytes().all(|b| b.is_ascii_digit());
            plain.then(|| digits.parse().ok()).flatten()
        };
        let version = match (number(), number(), number()) {
            (Some(major), Some(minor), Some(patch)) => Self { major, minor, patch },
            _ => return Err(wrong()),
        };
        if parts.next().is_some() { Err(wrong()) } else { Ok(version) }
    }
}

impl fmt::Display for KubeVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_full_form_is_a_version() {
        assert_eq!("v1.34.2".parse::<KubeVersion>().unwrap().to_string(), "v1.34.2");
        for bad in ["1.34.2", "v1.34", "v1.34.2-rc.1", "v1.034.2", "v1.34.+2", "v1.34.2.1", ""] {
            assert!(bad.parse::<KubeVersion>().is_err(), "{bad}");
        }
        let parse = |text: &str| text.parse::<KubeVersion>().unwrap();
        assert!(parse("v1.9.0") < parse("v1.10.0"));
    }
}
