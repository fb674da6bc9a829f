//! No folder holds one object twice: Flux would refuse the whole path.

use std::collections::BTreeSet;

use super::super::job::Job;
use super::super::object::Object;
use crate::diag::{Code, Diagnostics};

pub(super) fn check(objects: &[Object], job: &Job) -> Diagnostics {
    let mut seen = BTreeSet::new();
    let twice = objects.iter().filter(|o| !seen.insert((scope(o), o.identity())));
    twice
        .map(|o| {
            let message = format!("{o} is there twice");
            let help = "give one of the two another name, or render it once";
            job.finding(Code::RenderedInvalid, &o.file, &message, help)
        })
        .collect()
}

/// Files below `bootstrap/` go to another cluster.
fn scope(object: &Object) -> bool {
    object.file.starts_with("bootstrap/")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{job, messages, read};
    use super::*;

    #[test]
    fn one_object_stands_once() {
        let one = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a}\n";
        let other = one.replace("name: x", "name: z");
        let found = |text: String| messages(check, &text, Code::RenderedInvalid);
        assert_eq!(found(format!("{one}---\n{one}")), ["ConfigMap x is there twice"]);
        assert!(found(format!("{one}---\n{other}")).is_empty());
    }

    #[test]
    fn what_goes_to_another_cluster_may_have_the_same_name() {
        let one = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a}\n";
        let mut objects = read(&format!("{one}---\n{one}"));
        objects[1].file = "bootstrap/sync.yaml".to_owned();
        assert!(check(&objects, &job()).is_empty());
    }
}
