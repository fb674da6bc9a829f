//! `unused-template`: a file of the fleet's own templates that nothing reads. A folder with a misspelled name
//! replaces nothing, and nobody would notice.

use super::engine::Texts;
use crate::diag::{Code, Diagnostic, Diagnostics, Place, suggest};
use crate::model::{Catalogue, Flavor, FlavorKind, azure_cloud, cloud_of, parameters_of};

/// The template that makes a cluster.
const CLUSTER: &str = "cluster.yaml";

/// The findings for the fleet's own files `own`, among all texts.
pub(super) fn check<'a>(
    own: impl Iterator<Item = &'a String>,
    texts: &Texts,
    flavors: &Catalogue,
    built_in: &[&str],
) -> Diagnostics {
    let unused = own.filter(|name| !is_used(name, texts, flavors, built_in));
    unused.map(|name| finding(name, flavors, built_in)).collect()
}

fn is_used(name: &str, texts: &Texts, flavors: &Catalogue, built_in: &[&str]) -> bool {
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    // Of a flavor whose manifest cannot be read that is told, and its templates are its own still.
    let may_be = |kind: &FlavorKind| flavors.may_be(folder, *kind);
    let kinds = [FlavorKind::ManagedCluster, FlavorKind::Worker];
    let is_flavors = file == CLUSTER && kinds.iter().any(may_be);
    let quoted = [format!("\"{name}\""), format!("'{name}'")];
    let names = |text: &str| quoted.iter().any(|quoted| text.contains(quoted));
    let others = texts.iter().filter(|(other, _)| other.as_str() != name);
    built_in.contains(&name)
        || is_flavors
        || file == "flavor.yaml" && !folder.is_empty()
        || folder == "providers" && flavors.flavors().any(|(_, flavor)| named(flavor, file))
        || folder == "definitions"
            && flavors.definitions().any(|(of, _)| file.strip_suffix(".yaml") == Some(of))
        || cloud_of(name).is_some_and(|cloud| holds_machines(cloud, flavors))
        || parameters_of(name).is_some_and(|file| includes(file, flavors))
        || others.map(|(_, text)| text).any(|text| names(text))
}

/// Whether a flavor names the provider that a file declares.
fn named(flavor: &Flavor, file: &str) -> bool {
    flavor.providers.iter().any(|name| file.strip_suffix(".yaml") == Some(name))
}

/// Whether a flavor has the parameters that a file declares.
fn includes(file: &str, flavors: &Catalogue) -> bool {
    let mut all = flavors.flavors().flat_map(|(_, flavor)| &flavor.parameters.include);
    all.any(|include| include == file)
}

/// Whether a cloud is that of a flavor's machines.
fn holds_machines(cloud: &str, flavors: &Catalogue) -> bool {
    azure_cloud(cloud).is_some()
        || flavors.flavors().any(|(_, flavor)| flavor.provider.as_deref() == Some(cloud))
}

fn finding(name: &str, flavors: &Catalogue, built_in: &[&str]) -> Diagnostic {
    let place = Place::file(format!("templates/{name}"));
    let near = suggest::nearest(name, built_in.iter().copied());
    let help = near.map_or_else(
        || {
            let all: Vec<_> = flavors.flavors().map(|(name, _)| name).collect();
            format!(
                "a flavor's folder has a flavor.yaml; the flavors are {}. `carp templates list` shows all files",
                all.join(", ")
            )
        },
        |near| format!("did you mean `{near}`?"),
    );
    let message = "no template is read from here, and none includes it";
    Diagnostic::new(Code::UnusedTemplate, message).at(place).help(help)
}

#[cfg(test)]
mod tests {
    use super::super::Templates;
    use super::*;

    fn findings(files: &[(&str, &str)]) -> Vec<Diagnostic> {
        let own = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        let (_, found) = Templates::built_in().with(&own.collect());
        found.iter().cloned().collect()
    }

    #[test]
    fn a_file_that_nothing_reads_is_told() {
        let found = findings(&[("kamaji_capz/cluster.yaml", "a: 1\n")]);
        assert_eq!(found[0].code, Code::UnusedTemplate);
        assert_eq!(found[0].help.as_deref(), Some("did you mean `kamaji-capz/cluster.yaml`?"));
        let found = findings(&[("notes.md", "words\n")]);
        assert!(found[0].help.as_deref().is_some_and(|help| help.contains("kamaji-capz")));
    }

    #[test]
    fn what_is_replaced_included_or_a_flavors_own_is_read() {
        let manifest = "kind: Worker\nmobility: None\nobjects: []\n";
        let found = findings(&[
            ("parts/pools.yaml", "a: 1\n"),
            ("components/platform.yaml", "a: 1\n"),
            ("own/flavor.yaml", manifest),
            ("own/cluster.yaml", "{% include \"own/part.yaml\" %}\n"),
            ("own/part.yaml", "a: 1\n"),
            ("own/tests/one.yaml", "expect: []\n"),
            ("clouds/AzurePublicCloud.yaml", "locations: []\n"),
        ]);
        assert_eq!(found, []);
        let found = findings(&[("clouds/moon.yaml", "locations: []\n")]);
        assert_eq!(found[0].code, Code::UnusedTemplate, "no flavor has machines there");
    }
}
