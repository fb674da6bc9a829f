//! Where the definitions of kinds (`CustomResourceDefinition`s) that a component brings are published.

use serde::Deserialize;

use super::flavor::{FlavorFault, read_manifest};
use crate::diag::FieldPath;

/// What stands for the version in an address.
const VERSION: &str = "{version}";
/// Where releases are whose files are found by their names.
const GITHUB: &str = "github.com";

/// A file below `templates/definitions/`, which is called as the component.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DefinitionsManifest {
    /// The component's version where neither a Worker nor carp's table nor a flavor says one.
    #[serde(default)]
    pub version: Option<String>,
    /// The files of YAML with the definitions; `{version}` stands for the component's version.
    pub addresses: Vec<String>,
    /// The names of those that are wanted; all where there is none.
    #[serde(default)]
    pub only: Vec<String>,
}

/// Reads the text of such a file.
///
/// # Errors
/// It is not YAML, has a field that means nothing, or an address that is none.
pub(super) fn read_definitions(text: &str) -> Result<DefinitionsManifest, FlavorFault> {
    let read: DefinitionsManifest = read_manifest(text)?;
    if read.addresses.is_empty() {
        let message = "there is no address of a file with the definitions";
        return Err(FlavorFault::at(FieldPath::keys("addresses"), message));
    }
    address_fault(&read.addresses, "addresses").map_or(Ok(read), Err)
}

/// The first address that is none.
pub(super) fn address_fault(addresses: &[String], field: &'static str) -> Option<FlavorFault> {
    let message = |address: &String| {
        let other = address.replace(VERSION, "");
        if !address.starts_with("https://") && !address.starts_with("http://") {
            Some(format!("`{address}` is no address: it begins with `https://`"))
        } else if other.contains(['{', '}', '@', '?', '#', ' ']) {
            Some(format!(
                "`{address}` has more than a host, a path and `{VERSION}`: it is a file that everybody may read"
            ))
        } else if other.split('/').skip(2).any(|part| part == "." || part == "..")
            || other.contains(":///")
        {
            Some(format!(
                "`{address}` has no host, or leads up: write the path of the file as it is"
            ))
        } else if !address.contains(VERSION) {
            Some(format!("`{address}` has no `{VERSION}`: it would say the same of every release"))
        } else {
            None
        }
    };
    addresses.iter().enumerate().find_map(|(nth, address)| {
        Some(FlavorFault::at(FieldPath::keys(field).index(nth), message(address)?))
    })
}

/// The addresses for a version.
#[must_use]
pub fn addresses_of<'a>(
    addresses: impl IntoIterator<Item = &'a String>,
    version: &str,
) -> Vec<String> {
    addresses.into_iter().map(|address| address.replace(VERSION, version)).collect()
}

/// The file of a release that the manifests of a provider name, as clusterctl finds it (Cluster API,
/// `cmd/clusterctl/client/config/providers_client.go`); `None` where they are elsewhere than on GitHub.
pub(super) fn release_file(manifests: &str) -> Option<String> {
    let parts: Vec<_> = manifests.split('/').collect();
    let [GITHUB, owner, repository, file] = parts[..] else { return None };
    Some(format!("https://{GITHUB}/{owner}/{repository}/releases/download/{VERSION}/{file}.yaml"))
}

#[cfg(test)]
mod tests {
    use super::super::{CapiProvider, Catalogue};
    use super::*;

    fn fault(text: &str) -> String {
        read_definitions(text).unwrap_err().message
    }

    #[test]
    fn an_address_is_of_a_file_that_everybody_may_read_and_has_its_version() {
        let fine = "addresses: ['https://x.example.com/v{version}/crds.yaml']\n";
        let read = read_definitions(fine).unwrap();
        assert_eq!(
            addresses_of(&read.addresses, "1.2.3"),
            ["https://x.example.com/v1.2.3/crds.yaml"]
        );
        let said = |address: &str| fault(&format!("addresses: ['{address}']\n"));
        assert!(said("x.example.com/{version}").contains("begins with `https://`"));
        assert!(said("file:///etc/{version}").contains("begins with `https://`"));
        assert!(said("https://x.example.com/crds.yaml").contains("has no `{version}`"));
        for up in ["https:///etc/{version}", "https://../{version}", "https://x/../{version}"] {
            assert!(said(up).contains("leads up"), "{up}");
        }
        for more in ["https://a:b@x/{version}", "https://x/{version}?t=1", "https://x/{name}"] {
            assert!(said(more).contains("more than a host"), "{more}");
        }
        assert!(fault("addresses: []\n").contains("there is no address"));
        assert!(fault("address: x\n").contains("unknown field"), "a slip of the pen");
    }

    #[test]
    fn a_release_file_is_found_by_the_manifests_of_a_provider() {
        let own = |rest: &str| {
            let text = format!(
                "kind: CoreProvider\nname: moon\nnamespace: moon\ncomponent: moon\nimage: r/m\n{rest}"
            );
            let files = [("providers/moon.yaml", text.as_str())];
            Catalogue::with(files).provider("moon").map(CapiProvider::published)
        };
        assert_eq!(
            own("manifests: github.com/moon/base/core-components\n").unwrap(),
            ["https://github.com/moon/base/releases/download/{version}/core-components.yaml"]
        );
        assert_eq!(own("manifests: git.example.com/moon/base\n").unwrap(), [""; 0]);
        let said = "manifests: r/m\ndefinitions: ['https://moon.example.com/{version}.yaml']\n";
        assert_eq!(own(said).unwrap(), ["https://moon.example.com/{version}.yaml"]);
        assert_eq!(own("manifests: r/m\ndefinitions: [moon]\n"), None, "the file cannot be read");
    }

    #[test]
    fn a_file_is_of_a_component_whose_version_is_known() {
        let own = |name: &str, version: &str| {
            let text = format!("{version}addresses: ['https://x.example.com/{{version}}.yaml']\n");
            let path = format!("definitions/{name}.yaml");
            let all = Catalogue::with([(path.as_str(), text.as_str())]);
            let told = all.broken().next().map(|(_, fault)| fault.message.clone());
            (all.has_component(name), told)
        };
        assert_eq!(own("moon", "version: v1\n"), (true, None));
        assert_eq!(own("flux", ""), (true, None));
        let (known, told) = own("moon", "");
        assert!(!known && told.unwrap().contains("no component `moon`"));
    }

    #[test]
    fn every_provider_that_is_built_in_has_its_release_file() {
        for provider in Catalogue::default().providers() {
            assert_eq!(provider.published().len(), 1, "{}", provider.name);
        }
        assert!(Catalogue::default().definitions().count() > 3);
    }
}
