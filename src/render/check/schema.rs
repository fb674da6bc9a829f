//! `schema-refused`: each object is what the definition of its kind says, where the fleet has one: its schema, its fields
//! and its rules. An API server would say so long after the commit, and Flux would then apply nothing of the folder.

use super::super::job::Job;
use super::super::object::Object;
use crate::diag::{Code, Diagnostics};

pub(super) fn check(objects: &[Object], job: &Job) -> Diagnostics {
    let Some(schemas) = job.templates.schemas() else { return Diagnostics::default() };
    let of = |object: &Object| {
        let told = schemas.faults(&object.value).into_iter().map(|fault| {
            let message = format!("{object}: {}", fault.problem);
            job.finding(Code::SchemaRefused, &object.file, &message, &fault.help)
        });
        told.collect::<Vec<_>>()
    };
    objects.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::Value;

    use super::super::tests::{job, read};
    use super::*;
    use crate::model::{Digest, ObjectSchemas, SchemaFault};

    /// Definitions by which nothing may be called `bad`.
    #[derive(Debug)]
    struct NothingBad(&'static str);

    impl ObjectSchemas for NothingBad {
        fn digest(&self) -> Digest {
            Digest::of(self.0.as_bytes())
        }

        fn faults(&self, object: &Value) -> Vec<SchemaFault> {
            let fault =
                || SchemaFault { problem: "it is bad".to_owned(), help: "mend it".to_owned() };
            (object["metadata"]["name"] == "bad").then(fault).into_iter().collect()
        }
    }

    fn held(digest: &'static str) -> Job {
        let job = job();
        let templates = job.templates.clone().held_against(Arc::new(NothingBad(digest)));
        Job { templates, ..job }
    }

    #[test]
    fn what_is_refused_is_told_at_the_template() {
        let objects = read(
            "apiVersion: v1\nkind: A\nmetadata: {name: bad}\n---\napiVersion: v1\nkind: A\nmetadata: {name: fine}\n",
        );
        assert!(check(&objects, &job()).is_empty(), "nothing is known of its kind");
        let found = check(&objects, &held("one"));
        let told: Vec<_> = found.iter().collect();
        assert_eq!(told.len(), 1);
        assert_eq!(
            (told[0].code, told[0].message.as_str()),
            (Code::SchemaRefused, "A bad: it is bad")
        );
        assert_eq!(told[0].place.as_ref().unwrap().file, "templates/kamaji-capz/cluster.yaml");
    }

    #[test]
    fn other_definitions_are_another_key() {
        assert_eq!(held("one").key(), held("one").key());
        assert_ne!(held("one").key(), held("other").key());
        assert_ne!(held("one").key(), job().key());
    }
}
