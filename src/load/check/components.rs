//! `unknown-field` on `components`: a version of a component that carp does not install has no effect.

use std::collections::BTreeMap;

use super::{CheckContext, Subject};
use crate::diag::suggest;
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::tables::components;
use crate::model::{Catalogue, is_known_release, oldest_release};

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    if let DocumentSpec::Worker(worker) = &subject.body.spec {
        let path = FieldPath::keys("spec.components");
        known(&worker.components.0, &path, &scene.catalogue, out);
        releases(&worker.components.0, &FieldPath::keys("spec.components"), out);
    }
}

/// Looks whether carp knows which Kubernetes versions a release supports: placement goes by it.
fn releases(named: &BTreeMap<String, String>, path: &FieldPath, out: &mut Findings) {
    for (name, release) in named.iter().filter(|(n, release)| !is_known_release(n, release)) {
        let message = format!("`{release}` is not a release of {name} that carp knows");
        let oldest = oldest_release(name).unwrap_or_default();
        let help = format!("take {oldest} or a newer one");
        out.add(Code::UnknownComponentRelease, path.key(name), message, help);
    }
}

/// Checks the names of components at a path.
pub(super) fn known(
    named: &BTreeMap<String, String>,
    path: &FieldPath,
    catalogue: &Catalogue,
    out: &mut Findings,
) {
    for name in named.keys().filter(|name| !catalogue.has_component(name)) {
        let message = format!("`{name}` is not a component that carp installs");
        let help = suggest::help(name, components().keys().map(String::as_str), "components");
        out.add_on_key(Code::UnknownField, path.key(name), message, help);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{finds, finds_nothing, worker};
    use super::*;

    #[test]
    fn a_component_is_one_that_carp_installs() {
        let text = worker("components: {kamajy: v1.0.0}\n  ");
        let found = finds(text, Code::UnknownField, "spec.components.kamajy");
        assert_eq!(found.help.as_deref(), Some("did you mean `kamaji`?"));
        finds_nothing(worker("components: {flux: v2.9.0}\n  "));
    }

    #[test]
    fn a_release_is_one_whose_versions_are_known() {
        let old = worker("components: {capi: v1.9.0}\n  ");
        let found = finds(old, Code::UnknownComponentRelease, "spec.components.capi");
        assert_eq!(found.help.as_deref(), Some("take v1.12.0 or a newer one"));
        let odd = worker("components: {kamaji: latest}\n  ");
        finds(odd, Code::UnknownComponentRelease, "spec.components.kamaji");
        finds_nothing(worker("components: {capi: v1.99.0, kamaji: 26.9.1-edge}\n  "));
    }
}
