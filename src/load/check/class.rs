//! `unknown-class`, `class-not-loaded`: a cluster's class exists and has loaded; without it nobody knows how
//! large the cluster is.

use super::{CheckContext, Subject};
use crate::diag::suggest;
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    let DocumentSpec::ManagedCluster(cluster) = &subject.body.spec else { return };
    let Some(class) = cluster.class.as_ref().filter(|c| !scene.classes.contains_key(*c)) else {
        return;
    };
    let path = FieldPath::keys("spec.class");
    if scene.class_names.contains(class) {
        let message = format!("the class `{class}` did not load");
        let help = format!("mend the ManagedClusterClass `{class}` first");
        out.add(Code::ClassNotLoaded, path, message, help);
    } else {
        let known: Vec<_> = scene.class_names.iter().map(String::as_str).collect();
        let message = format!("there is no class `{class}`");
        out.add(Code::UnknownClass, path, message, suggest::help(class, known, "classes"));
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{class, cluster, files_find, finds, load_fleet};
    use super::*;

    #[test]
    fn a_class_exists() {
        let text = format!("{}---\n{}", class("small", ""), cluster("class: smal\n  "));
        let found = files_find(&[("fleet/x.yaml", &text)], Code::UnknownClass, "spec.class");
        assert_eq!(found.help.as_deref(), Some("did you mean `small`?"));
        finds(cluster("class: small\n  "), Code::UnknownClass, "spec.class");
    }

    #[test]
    fn a_class_whose_kind_is_a_slip_of_the_pen_did_not_load() {
        let broken = class("small", "").replace("ManagedClusterClass", "ManagedClusterKlass");
        let text = format!("{broken}---\n{}", cluster("class: small\n  "));
        files_find(&[("fleet/x.yaml", &text)], Code::UnknownKind, "kind");
        files_find(&[("fleet/x.yaml", &text)], Code::ClassNotLoaded, "spec.class");
    }

    #[test]
    fn a_cluster_of_a_class_that_did_not_load_does_not_load() {
        let broken = class("small", "demand: {clusters: -1}\n  ");
        let text = format!("{broken}---\n{}", cluster("class: small\n  "));
        let found = files_find(&[("fleet/x.yaml", &text)], Code::ClassNotLoaded, "spec.class");
        assert!(found.message.contains("did not load"));
        let fleet = load_fleet(&[("fleet/x.yaml", &text)]).fleet;
        assert!(fleet.clusters.is_empty() && fleet.classes.is_empty());
        assert!(fleet.holds_placements());
    }
}
