//! `invalid-value` on `heartbeatTimeout`: a duration longer than nothing, after which a silent worker
//! is no longer taken for ready.

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::load::resolve::seconds;

pub(super) fn check(subject: &Subject<'_>, _: &CheckContext<'_>, out: &mut Findings) {
    let DocumentSpec::Worker(worker) = &subject.body.spec else { return };
    if let Some(text) = worker.heartbeat_timeout.as_deref().filter(|t| seconds(t).is_none()) {
        let message = format!("`{text}` is not a duration");
        let help = "write hours, minutes and seconds, such as 1h, 90m or 1h30m";
        let path = FieldPath::keys("spec.heartbeatTimeout");
        out.add(Code::InvalidValue, path, message, help);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{finds, finds_nothing, worker};
    use super::*;

    #[test]
    fn a_timeout_is_a_duration() {
        for bad in ["\"\"", "1d", "0s", "soon", "\"60\""] {
            let text = worker(&format!("heartbeatTimeout: {bad}\n  "));
            finds(text, Code::InvalidValue, "spec.heartbeatTimeout");
        }
        finds_nothing(worker("heartbeatTimeout: 1h30m\n  "));
    }
}
