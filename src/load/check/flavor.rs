//! `unknown-flavor`: a flavor is a folder of templates, and each is for one kind.

use super::{Scene, Subject};
use crate::diag::suggest;
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::Spec;
use crate::model::{ATTACHED_FLAVOR, DEFAULT_CLUSTER_FLAVOR, DEFAULT_WORKER_FLAVOR, KIND_FLAVOR};

/// The flavors of a `ManagedCluster`.
const CLUSTER_FLAVORS: &[&str] = &[DEFAULT_CLUSTER_FLAVOR, KIND_FLAVOR];
/// The flavors of a Worker.
const WORKER_FLAVORS: &[&str] = &[DEFAULT_WORKER_FLAVOR, ATTACHED_FLAVOR, KIND_FLAVOR];

pub(super) fn check(subject: &Subject<'_>, _: &Scene<'_>, out: &mut Findings) {
    let (flavor, known, what) = match &subject.body.spec {
        Spec::ManagedCluster(c) => (&c.flavor, CLUSTER_FLAVORS, "a ManagedCluster"),
        Spec::ManagedClusterClass(c) => (&c.flavor, CLUSTER_FLAVORS, "a ManagedCluster"),
        Spec::Worker(w) => (&w.flavor, WORKER_FLAVORS, "a Worker"),
        _ => return,
    };
    if let Some(flavor) = flavor.as_deref().filter(|f| !known.contains(f)) {
        let message = format!("`{flavor}` is not a flavor of {what}");
        let help = suggest::help(flavor, known.iter().copied(), "flavors");
        out.add(Code::UnknownFlavor, FieldPath::keys("spec.flavor"), message, help);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{class, cluster, finds, finds_nothing, worker};
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
}
