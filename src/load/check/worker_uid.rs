//! `invalid-value` on `workerUID`: a text as Kubernetes has it in `metadata.uid`. An empty one would match
//! no report.

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;

/// The longest that is taken for one, in bytes. Kubernetes' own are UUIDs, of 36.
const LONGEST: usize = 128;

pub(super) fn check(subject: &Subject<'_>, _: &CheckContext<'_>, out: &mut Findings) {
    let DocumentSpec::Worker(worker) = &subject.body.spec else { return };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    let is_one = |uid: &str| !uid.is_empty() && uid.len() <= LONGEST && uid.chars().all(plain);
    if worker.worker_uid.as_deref().is_some_and(|uid| !is_one(uid)) {
        let message = "this is not a UID".to_owned();
        let help = "write what `kubectl get namespace kube-system -o jsonpath={.metadata.uid}` prints on the \
                    worker, or leave the field out";
        out.add(Code::InvalidValue, FieldPath::keys("spec.workerUID"), message, help);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{finds, finds_nothing, worker};
    use super::*;

    #[test]
    fn an_identity_is_a_uid() {
        for bad in ["\"\"", "a b", "\"a\\nb\""] {
            let text = worker(&format!("workerUID: {bad}\n  "));
            finds(text, Code::InvalidValue, "spec.workerUID");
        }
        finds_nothing(worker("workerUID: 5d0c0f1e-0001-4000-8000-000000000001\n  "));
    }
}
