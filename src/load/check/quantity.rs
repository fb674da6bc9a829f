//! `invalid-quantity`: there is no less than nothing of a resource. (That a quantity is one at all is
//! seen when the document's structure is checked.)

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::Resources;

pub(super) fn check(subject: &Subject<'_>, _: &CheckContext<'_>, out: &mut Findings) {
    let mut all = |field: &str, resources: &Resources| {
        for (resource, quantity) in resources.iter().filter(|(_, q)| q.is_negative()) {
            let message = format!("`{quantity}` of `{resource}` is less than nothing");
            let path = FieldPath::keys("spec").key(field).key(resource);
            out.add(Code::InvalidQuantity, path, message, "write 0 or more");
        }
    };
    match &subject.body.spec {
        DocumentSpec::Worker(w) => {
            all("capacity", &w.capacity);
            all("reserved", &w.reserved);
            all("ceiling", &w.ceiling);
        }
        DocumentSpec::WorkerOverlay(o) => {
            all("capacity", &o.capacity);
            all("reserved", &o.reserved);
        }
        DocumentSpec::ManagedClusterClass(c) => all("demand", &c.demand),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{class, finds, overlay, worker};
    use super::*;

    #[test]
    fn there_is_no_less_than_nothing() {
        finds(worker("capacity: -1\n  "), Code::InvalidQuantity, "spec.capacity.clusters");
        finds(
            worker("reserved: {memory: -1Gi}\n  "),
            Code::InvalidQuantity,
            "spec.reserved.memory",
        );
        let text = format!("{}---\n{}", worker(""), overlay("w1", "capacity: -1\n"));
        finds(text, Code::InvalidQuantity, "spec.capacity.clusters");
        finds(class("small", "demand: {cpu: -1}\n  "), Code::InvalidQuantity, "spec.demand.cpu");
    }

    #[test]
    fn a_quantity_is_one_of_kubernetes() {
        finds(worker("capacity: lots\n  "), Code::InvalidQuantity, "spec.capacity.clusters");
        finds(worker("capacity: {cpu: 1.5}\n  "), Code::WrongType, "spec.capacity.cpu");
    }
}
