//! `unknown-field` on `components`: a version of a component that carp does not install has no effect.

use std::collections::BTreeMap;

use super::{Scene, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::Spec;
use crate::load::suggest;
use crate::model::tables::components;

pub(super) fn check(subject: &Subject<'_>, _: &Scene<'_>, out: &mut Findings) {
    if let Spec::Worker(worker) = &subject.body.spec {
        known(&worker.components.0, &FieldPath::keys("spec.components"), out);
    }
}

/// Checks the names of components at a path.
pub(super) fn known(named: &BTreeMap<String, String>, path: &FieldPath, out: &mut Findings) {
    for name in named.keys().filter(|name| !components().contains_key(*name)) {
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
}
