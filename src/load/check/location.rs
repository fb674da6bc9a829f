//! `unknown-location`: locations are compared by the table of locations, and a name that is not in it
//! would be far from everything.

use super::{CheckContext, Subject};
use crate::diag::suggest;
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::api::WorkerField;
use crate::model::tables::locations;

pub(super) fn check(subject: &Subject<'_>, _: &CheckContext<'_>, out: &mut Findings) {
    match &subject.body.spec {
        DocumentSpec::ManagedCluster(c) => one(&c.location, FieldPath::keys("spec.location"), out),
        DocumentSpec::Worker(w) => one(&w.location, FieldPath::keys("spec.location"), out),
        _ => {}
    }
    for (path, term) in subject.terms() {
        for (i, location) in term.locations.iter().enumerate() {
            one(location, path.key("locations").index(i), out);
        }
        for (path, location) in super::field_values(term, &path, WorkerField::Location) {
            one(location, path, out);
        }
    }
}

fn one(location: &str, path: FieldPath, out: &mut Findings) {
    if !locations().contains_key(location) {
        let known = locations().keys().map(String::as_str);
        let help = suggest::help(location, known, "locations");
        let message = format!("`{location}` is not a location that carp knows");
        out.add(Code::UnknownLocation, path, message, help);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{POLICY, cluster, files_find, finds, worker};
    use super::*;

    #[test]
    fn a_location_is_in_the_table() {
        let text = cluster("").replace("westeurope", "west-europe");
        let found = finds(text, Code::UnknownLocation, "spec.location");
        assert_eq!(found.help.as_deref(), Some("did you mean `westeurope`?"));
        finds(worker("").replace("westeurope", "atlantis"), Code::UnknownLocation, "spec.location");
        let policy = POLICY.replace("locations: [westeurope]", "locations: [westeurope, mars]");
        let path = "spec.affinity.required[0].locations[1]";
        files_find(&[("policies/p.yaml", &policy)], Code::UnknownLocation, path);
    }
}
