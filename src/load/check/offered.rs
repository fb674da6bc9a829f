//! `invalid-version` on `supportedVersions`: an entry that can never mean anything.

use jiff::Timestamp;

use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::model::api::SupportedVersion;
use crate::model::tables::managed_versions;
use crate::model::{KubeVersion, Minor};

/// Checks the list in `carp.yaml`.
pub(super) fn check(listed: &[SupportedVersion], out: &mut Findings) {
    for (i, entry) in listed.iter().enumerate() {
        let path = FieldPath::keys("spec.supportedVersions").index(i);
        let version = &entry.version;
        if let Some(minor) = minor(version) {
            let range = managed_versions();
            let (min, max) = (Minor::from(range.min), Minor::from(range.max));
            if !(min..=max).contains(&minor) {
                let message =
                    format!("`{version}` is not a version that a managed cluster may have");
                let help = format!("supported: {min} to {max}");
                out.add(Code::InvalidVersion, path.key("version"), message, help);
            }
        }
        if listed[..i].iter().any(|other| other.version == *version) {
            let message = format!("`{version}` stands twice");
            out.add(Code::InvalidVersion, path.key("version"), message, "keep one of the two");
        }
        if let Some(text) = &entry.expires
            && text.parse::<Timestamp>().is_err()
        {
            let message = format!("`{text}` is not a time");
            let help = "write it like 2027-02-28T00:00:00Z";
            out.add(Code::InvalidValue, path.key("expires"), message, help);
        }
    }
}

/// The minor version of an entry. Its form is looked at with the structure of the document.
fn minor(version: &str) -> Option<Minor> {
    let patch = version.parse::<KubeVersion>().ok().map(Minor::from);
    patch.or_else(|| version.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{CARP, files_find, load_files};
    use super::*;

    #[test]
    fn an_entry_means_something_and_stands_once() {
        let carp = |list: &str| format!("{CARP}  supportedVersions: [{list}]\n");
        let finds = |list: &str, code: Code, path: &str| {
            files_find(&[("carp.yaml", &carp(list))], code, path);
        };
        let version = "spec.supportedVersions[0].version";
        finds("{version: v1.12}", Code::InvalidVersion, version);
        finds("{version: \"1.34\"}", Code::InvalidValue, version);
        let twice = "{version: v1.34}, {version: v1.34}";
        finds(twice, Code::InvalidVersion, "spec.supportedVersions[1].version");
        let tomorrow = "{version: v1.34, expires: tomorrow}";
        finds(tomorrow, Code::InvalidValue, "spec.supportedVersions[0].expires");
        let good = "{version: v1.34, expires: \"2027-02-28T00:00:00Z\", classification: Deprecated}, \
                    {version: v1.34.2}";
        let loaded = load_files(&[("carp.yaml", &carp(good))]);
        assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    }
}
