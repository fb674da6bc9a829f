//! `unknown-location`: locations are compared by the table of locations, and a name that is not in it
//! would be far from everything.

use super::{CheckContext, Subject};
use crate::diag::suggest;
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::api::WorkerField;

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    match &subject.body.spec {
        DocumentSpec::ManagedCluster(c) => {
            one(&c.location, FieldPath::keys("spec.location"), scene, out);
        }
        DocumentSpec::Worker(w) => one(&w.location, FieldPath::keys("spec.location"), scene, out),
        _ => {}
    }
    for (path, term) in &subject.terms {
        for (i, location) in term.locations.iter().enumerate() {
            one(location, path.key("locations").index(i), scene, out);
        }
        for (path, location) in super::field_values(term, path, WorkerField::Location) {
            one(location, path, scene, out);
        }
    }
}

fn one(location: &str, path: FieldPath, scene: &CheckContext<'_>, out: &mut Findings) {
    let locations = scene.catalogue.locations();
    if !locations.contains_key(location) {
        let known = locations.keys().map(String::as_str);
        let help = suggest::help(location, known, "locations");
        let message = format!("`{location}` is not a location that carp knows");
        out.add(Code::UnknownLocation, path, message, help);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{
        CARP, POLICY, cluster, files_find, finds, load_files, worker,
    };
    use super::*;

    #[test]
    fn a_location_of_the_fleets_own_clouds_is_one() {
        let text = cluster("").replace("westeurope", "moon-1");
        let clouds = "locations: [{name: moon-1, geography: Moon}]\n";
        let files = [("carp.yaml", CARP), ("fleet/x.yaml", &*text)];
        let table = |text: &str| {
            let mut files = files.to_vec();
            files.push(("templates/clouds/AzurePublicCloud.yaml", text));
            load_files(&files)
        };
        let loaded = table(clouds);
        assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
        assert_eq!(loaded.fleet.clusters.len(), 1);
        // What cannot be read costs nobody a cluster: nothing of it loads, so nothing of it goes.
        let loaded = table("locations: 1\n");
        assert_eq!((loaded.fleet.clusters.len(), loaded.fleet.unloaded.len()), (0, 1));
    }

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
