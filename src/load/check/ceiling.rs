//! `invalid-ceiling`: a worker grows from what it has, so a ceiling is never below the capacity, and there
//! is none of a resource that the worker does not say it has.

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;

pub(super) fn check(subject: &Subject<'_>, _: &CheckContext<'_>, out: &mut Findings) {
    let DocumentSpec::Worker(worker) = &subject.body.spec else { return };
    for (resource, ceiling) in &worker.ceiling {
        let path = FieldPath::keys("spec.ceiling").key(resource);
        match worker.capacity.get(resource) {
            Some(capacity) if capacity <= ceiling => {}
            Some(capacity) => {
                let message = format!(
                    "the ceiling of `{resource}` is {ceiling}, below the capacity {capacity}"
                );
                let help = format!("write {capacity} or more, or remove the line");
                out.add(Code::InvalidCeiling, path, message, help);
            }
            None => {
                let message = format!("there is a ceiling of `{resource}`, and no capacity");
                let help = format!("say under `capacity` how much `{resource}` the worker has now");
                out.add_on_key(Code::InvalidCeiling, path, message, help);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{finds, finds_nothing, worker};
    use super::*;

    #[test]
    fn a_ceiling_is_not_below_the_capacity() {
        let below = worker("capacity: 50\n  ceiling: 40\n  ");
        finds(below, Code::InvalidCeiling, "spec.ceiling.clusters");
        finds_nothing(worker("capacity: 50\n  ceiling: 50\n  "));
        finds_nothing(worker("capacity: {clusters: 50, memory: 9Gi}\n  ceiling: 80\n  "));
    }

    #[test]
    fn what_grows_is_there() {
        let text = worker("capacity: 50\n  ceiling: {memory: 1Gi}\n  ");
        finds(text, Code::InvalidCeiling, "spec.ceiling.memory");
    }
}
