//! `unknown-worker`: an overlay is laid over the Worker of its name; without one it would cordon or
//! drain nothing, which its author would not see.

use super::{CheckContext, Subject};
use crate::diag::suggest;
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    let name = &subject.body.name;
    if !matches!(subject.body.spec, DocumentSpec::WorkerOverlay(_))
        || scene.worker_names.contains(name)
    {
        return;
    }
    let known: Vec<_> = scene.worker_names.iter().map(String::as_str).collect();
    let message = format!("there is no Worker `{name}` to lay the overlay over");
    let help = suggest::help(name, known, "workers");
    out.add(Code::UnknownWorker, FieldPath::keys("metadata.name"), message, help);
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{finds, load_fleet, overlay, worker};
    use super::*;

    #[test]
    fn an_overlay_has_its_worker() {
        let text = format!("{}---\n{}", worker(""), overlay("w2", "unschedulable: true\n"));
        let found = finds(text, Code::UnknownWorker, "metadata.name");
        assert_eq!(found.help.as_deref(), Some("did you mean `w1`?"));
    }

    #[test]
    fn a_worker_whose_overlay_did_not_load_does_not_load_either() {
        let broken = overlay("w1", "unschedulable: maybe\n");
        let fleet = load_fleet(&[("fleet/w.yaml", &worker("")), ("fleet/o.yaml", &broken)]).fleet;
        assert!(fleet.workers.is_empty(), "a cordon that cannot be read is not lifted");
        let kinds: Vec<_> = fleet.unloaded.iter().map(|u| u.kind.as_deref()).collect();
        assert_eq!(kinds, [Some("WorkerOverlay"), Some("Worker")]);
    }
}
