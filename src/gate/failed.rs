//! The templates did not render, or what they made did not pass a check.

use super::Objection;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::model::GateReason;

/// What is said of a folder of which nothing came but findings: whether the templates failed or a check of
/// what they made.
#[must_use]
pub fn not_made(found: Diagnostics) -> Objection {
    let template = |d: &Diagnostic| matches!(d.code, Code::TemplateFailed | Code::TemplateBudget);
    let reason =
        if found.iter().any(template) { GateReason::RenderFailed } else { GateReason::CheckFailed };
    Objection { reason, findings: found.into_iter().collect() }
}

/// Objects to a step of a deletion, whose folder is the last good one with less in it: whatever was found,
/// it is the flavor's own templates that could not be made less.
#[must_use]
pub fn not_rendered(found: Diagnostics) -> Objection {
    Objection { reason: GateReason::RenderFailed, findings: found.into_iter().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(codes: &[Code]) -> Diagnostics {
        codes.iter().map(|code| Diagnostic::new(*code, "x")).collect()
    }

    #[test]
    fn one_template_that_failed_is_a_render_that_failed() {
        let reason = |codes: &[Code]| not_made(found(codes)).reason;
        assert_eq!(reason(&[Code::RenderedRefused]), GateReason::CheckFailed);
        assert_eq!(
            reason(&[Code::RenderedRefused, Code::TemplateFailed]),
            GateReason::RenderFailed
        );
        assert_eq!(reason(&[Code::TemplateBudget]), GateReason::RenderFailed);
    }

    #[test]
    fn a_step_that_was_not_made_is_never_a_check() {
        let objection = not_rendered(found(&[Code::RenderedRefused]));
        assert_eq!(objection.reason, GateReason::RenderFailed);
        assert_eq!(objection.findings.len(), 1);
    }
}
