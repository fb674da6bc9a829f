//! Whose change it is that the worker would refuse: a policy's, where a field that may not change is another one than
//! the templates make it; else the document's. A policy that had a part in the object and has none any more is named.

use std::collections::BTreeSet;

use super::change::{Forbidden, forbidden_changes};
use super::edits;
use super::folder_change::FolderChange;
use super::job::Job;
use super::object::Object;
use crate::model::{Name, OVERRIDDEN_BY};

impl Job {
    /// Changes of this folder that the worker would refuse. What a policy asks for has its place there; what the
    /// document does has none yet.
    #[must_use]
    pub fn forbidden_changes(&self, change: &FolderChange) -> Vec<Forbidden> {
        let catalogue = self.templates.catalogue();
        let mut found = forbidden_changes(change, catalogue);
        if found.iter().all(|found| found.frozen.is_none()) {
            return found;
        }
        let overridden = self.overridden_fields(change);
        for forbidden in &mut found {
            let Some((object, field)) = forbidden.frozen.clone() else { continue };
            let by = |all: &[Object]| all.iter().find(|o| o.key() == object).map(overriders);
            let (before, after) = (by(&change.last), by(&change.new));
            let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
            let asks = overridden.as_ref().is_none_or(|all| all.contains(&(object, field)));
            match (&self.edits, after.last()) {
                (Some(edits), Some(last)) if asks => {
                    let finding = edits::blamed(forbidden.finding.clone(), &**edits, Some(last));
                    forbidden.finding = finding;
                }
                _ => {
                    if let Some(gone) = before.iter().rfind(|name| !after.contains(name)) {
                        forbidden.finding.help = Some(format!(
                            "`{gone}` changed this object, and does so no more: bring that back, or make a cluster of \
                             another name and delete this one"
                        ));
                    }
                }
            }
        }
        found
    }

    /// The fields that may not change and that are others by the overrides; `None` where nobody can tell, because the
    /// templates alone make nothing that passes.
    fn overridden_fields(&self, change: &FolderChange) -> Option<BTreeSet<(String, String)>> {
        if self.edits.is_none() {
            return Some(BTreeSet::new());
        }
        let plain = Self { edits: None, ..self.clone() }.render().ok()?;
        let plain = FolderChange::between(&plain, &super::Files::new()).last;
        let differences = |last: &[Object], new: &[Object]| {
            let change = FolderChange { last: last.to_vec(), new: new.to_vec() };
            forbidden_changes(&change, self.templates.catalogue())
        };
        // A field that is set once is compared only where it was there: here either may have it.
        let both = [differences(&plain, &change.new), differences(&change.new, &plain)];
        Some(both.into_iter().flatten().filter_map(|found| found.frozen).collect())
    }
}

/// The policies that changed an object, in the order of their turns.
fn overriders(object: &Object) -> Vec<Name> {
    let annotations = object.value.pointer("/metadata/annotations");
    let by = annotations.and_then(|all| all.get(OVERRIDDEN_BY)?.as_str()).unwrap_or_default();
    by.split(", ").filter_map(|name| Name::parse(name).ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::super::fixture::fleet;
    use super::super::{Files, Templates, cluster_job};
    use super::*;
    use crate::diag::{Code, Diagnostics, Place};
    use crate::model::{EditedObject, Fleet, ObjectEdits};

    /// Policies that each put a text at a place of the `AzureCluster`, in turn.
    #[derive(Debug)]
    struct Sets(Vec<(&'static str, &'static str, &'static str)>);

    impl ObjectEdits for Sets {
        fn facts(&self) -> Value {
            json!(self.0)
        }

        fn edit(&self, objects: &[&Value]) -> Result<Vec<Option<EditedObject>>, Diagnostics> {
            let one = |object: &&Value| {
                (object["kind"] == "AzureCluster").then(|| {
                    let mut value = (*object).clone();
                    for (_, at, text) in &self.0 {
                        let (above, last) = at.rsplit_once('/').unwrap();
                        value.pointer_mut(above).unwrap()[last] = json!(text);
                    }
                    let by = self.0.iter().map(|(name, ..)| Name::parse(name).unwrap()).collect();
                    EditedObject { value, by }
                })
            };
            Ok(objects.iter().map(one).collect())
        }

        fn place(&self, by: &Name) -> Option<Place> {
            Some(Place::file(format!("policies/{by}.yaml")))
        }
    }

    fn job(fleet: &Fleet, sets: &[(&'static str, &'static str, &'static str)]) -> Job {
        let cluster = fleet.clusters.values().next().unwrap();
        let worker = Name::parse("wk-1").unwrap();
        let job = cluster_job(fleet, cluster, &worker, &Templates::built_in());
        if sets.is_empty() { job } else { job.with_edits(Arc::new(Sets(sets.to_vec()))) }
    }

    fn found(last: &Files, job: &Job) -> Vec<Forbidden> {
        job.forbidden_changes(&FolderChange::between(last, &job.render().unwrap()))
    }

    fn place(found: &Forbidden) -> Option<&str> {
        found.finding.place.as_ref().map(|place| place.file.as_str())
    }

    const LOCATION: &str = "/spec/location";

    #[test]
    fn what_a_policy_changes_is_told_at_the_last_one() {
        let fleet = fleet();
        let last = job(&fleet, &[]).render().unwrap();
        let edited = job(&fleet, &[("first", LOCATION, "x"), ("second", LOCATION, "northeurope")]);
        let found = found(&last, &edited);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].finding.code, Code::ImmutableField);
        assert_eq!(place(&found[0]), Some("policies/second.yaml"));
        let told = &found[0].finding.message;
        assert!(told.ends_with("westeurope to northeurope, as `second` changes it"), "{told}");
    }

    #[test]
    fn what_the_document_changes_is_told_there_whatever_else_a_policy_changes() {
        let before = fleet();
        let mut after = fleet();
        after.clusters.values_mut().for_each(|c| c.spec.location = "northeurope".into());
        let other = [("one", "/spec/additionalTags", "x")];
        for sets in [&other[..], &[]] {
            let found = found(&job(&before, sets).render().unwrap(), &job(&after, sets));
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(place(&found[0]), None);
            assert!(!found[0].finding.message.contains("`one`"), "{found:?}");
        }
    }

    #[test]
    fn a_policy_that_goes_is_named() {
        let fleet = fleet();
        let last = job(&fleet, &[("one", LOCATION, "northeurope")]).render().unwrap();
        let found = found(&last, &job(&fleet, &[]));
        assert_eq!(place(&found[0]), None);
        let help = found[0].finding.help.as_deref().unwrap_or_default();
        assert!(help.starts_with("`one` changed this object, and does so no more"), "{help}");
    }
}
