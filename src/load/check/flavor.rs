//! `unknown-flavor`: a flavor is a folder of templates, and each is for one kind.

use super::{CheckContext, Subject};
use crate::diag::suggest;
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::FlavorKind;

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    let (flavor, kind, what) = match &subject.body.spec {
        DocumentSpec::ManagedCluster(c) => {
            (&c.flavor, FlavorKind::ManagedCluster, "a ManagedCluster")
        }
        DocumentSpec::ManagedClusterClass(c) => {
            (&c.flavor, FlavorKind::ManagedCluster, "a ManagedCluster")
        }
        DocumentSpec::Worker(w) => (&w.flavor, FlavorKind::Worker, "a Worker"),
        _ => return,
    };
    let catalogue = &scene.catalogue;
    if let Some(flavor) = flavor.as_deref().filter(|name| !catalogue.may_be(name, kind)) {
        let message = format!("`{flavor}` is not a flavor of {what}");
        let help = suggest::help(flavor, catalogue.names(kind), "flavors");
        out.add(Code::UnknownFlavor, FieldPath::keys("spec.flavor"), message, help);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{
        CARP, class, cluster, files_find, finds, finds_nothing, load_files, worker,
    };
    use super::*;

    #[test]
    fn a_flavor_is_one_of_its_kind() {
        finds(cluster("flavor: attached\n  "), Code::UnknownFlavor, "spec.flavor");
        finds(worker("flavor: kamaji-capz\n  "), Code::UnknownFlavor, "spec.flavor");
        finds(class("small", "flavor: eks\n  "), Code::UnknownFlavor, "spec.flavor");
        finds_nothing(worker("flavor: attached\n  "));
        finds_nothing(cluster("flavor: kamaji-capz\n  "));
        finds_nothing(cluster("flavor: kind\n  "));
        finds_nothing(worker("flavor: kind\n  "));
    }

    #[test]
    fn a_flavor_of_the_fleets_own_templates_is_one() {
        let manifest = "kind: ManagedCluster\nmobility: None\nobjects: []\n";
        let own = cluster("flavor: moon\n  ");
        let (file, at) = ("fleet/x.yaml", "templates/moon/flavor.yaml");
        let loaded = load_files(&[("carp.yaml", CARP), (file, &own), (at, manifest)]);
        assert!(!loaded.diagnostics.has_errors(), "{:?}", loaded.diagnostics);
        assert_eq!(loaded.fleet.clusters.len(), 1);
        let worker = worker("flavor: moon\n  ");
        files_find(&[(file, &*worker), (at, manifest)], Code::UnknownFlavor, "spec.flavor");
        // What cannot be read costs nobody a cluster: it loads, and its last good folder stays.
        let loaded = load_files(&[("carp.yaml", CARP), (file, &own), (at, "kind: [")]);
        assert_eq!(loaded.fleet.clusters.len(), 1);
    }
}
