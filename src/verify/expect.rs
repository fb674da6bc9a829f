//! What a policy test expects against what is planned.

use std::collections::BTreeSet;

use super::stage::{Stage, mistake, no_worker, place};
use crate::diag::{Code, Diagnostic, FieldPath};
use crate::load::PolicyTest;
use crate::model::api::Expectation;
use crate::model::{Decision, Name, Reason, ReasonCode};
use crate::plan::{self, Explanation, WorkerVerdict};

/// Checks everything that a test expects.
pub(super) fn check(test: &PolicyTest, stage: &Stage, found: &mut Vec<Diagnostic>) {
    let plan = plan::plan(&stage.input()).plan;
    if test.spec.expect.is_empty() {
        let message = format!("the test `{}` expects nothing", test.name);
        let help = "add what is expected: `- {cluster: NAME, worker: NAME}`";
        found.push(mistake(test, &FieldPath::keys("spec.expect"), message).help(help));
    }
    for (i, expected) in test.spec.expect.iter().enumerate() {
        let path = FieldPath::keys("spec.expect").index(i);
        let one = One { test, stage, expected, path };
        let Some((name, planned)) = plan.clusters.get_key_value(expected.cluster.as_str()) else {
            continue;
        };
        if one.makes_sense(found) {
            one.check(name, &planned.decision, found);
        }
    }
}

/// One expectation.
struct One<'a> {
    test: &'a PolicyTest,
    stage: &'a Stage,
    expected: &'a Expectation,
    path: FieldPath,
}

impl One<'_> {
    /// Whether it says something that can be.
    fn makes_sense(&self, found: &mut Vec<Diagnostic>) -> bool {
        let before = found.len();
        let expected = self.expected;
        let waits = expected.pending || !expected.reasons.is_empty();
        if !waits
            && expected.worker.is_none()
            && expected.policy.is_none()
            && expected.refused.is_empty()
        {
            let message = format!("nothing is expected of `{}`", expected.cluster);
            let help = "add `worker`, `pending: true`, `reasons`, `policy` or `refused`";
            found.push(mistake(self.test, &self.path, message).help(help));
        }
        if waits && let Some(worker) = &expected.worker {
            let cluster = &expected.cluster;
            let message = format!("`{cluster}` cannot wait and be on `{worker}` as well");
            let help = "keep one: `worker`, or `pending` and `reasons`";
            found.push(mistake(self.test, &self.path.key("worker"), message).help(help));
        }
        let refused = expected.refused.iter().enumerate();
        let refused = refused.map(|(i, r)| (self.path.key("refused").index(i), &r.worker));
        let named = expected.worker.iter().map(|worker| (self.path.clone(), worker));
        for (path, worker) in named.chain(refused) {
            if self.stage.worker(worker).is_none() {
                found.push(no_worker(self.test, &path.key("worker"), worker, self.stage));
            }
        }
        found.len() == before
    }

    /// The table is worked out only where something is said of it, or something does not hold.
    fn check(&self, name: &Name, decision: &Decision, found: &mut Vec<Diagnostic>) {
        let expected = self.expected;
        let told = || plan::explain_cluster(&self.stage.input(), name);
        if let Some(worker) = expected.worker.as_deref()
            && decision.worker().is_none_or(|there| there.as_str() != worker)
            && let Some(told) = told()
        {
            let message = format!("{}; `{worker}` is expected", went(name, decision));
            found.push(self.failed("worker", message, [why_not(&told, worker), summary(&told)]));
        }
        self.waits(name, decision, found);
        if expected.policy.is_none() && expected.refused.is_empty() {
            return;
        }
        let Some(told) = told() else { return };
        self.policy(name, &told, found);
        self.refused(name, &told, found);
    }

    fn waits(&self, name: &Name, decision: &Decision, found: &mut Vec<Diagnostic>) {
        let wanted: BTreeSet<ReasonCode> = self.expected.reasons.iter().copied().collect();
        if !self.expected.pending && wanted.is_empty() {
            return;
        }
        let field = if wanted.is_empty() { "pending" } else { "reasons" };
        match decision {
            Decision::Wait { reasons, .. } if wanted.is_empty() || *reasons == wanted => {}
            Decision::Wait { reasons, .. } => {
                let (came, wanted) = (words(reasons), words(&wanted));
                let message = format!("`{name}` waits for {came}; {wanted} is expected");
                let told = plan::explain_cluster(&self.stage.input(), name);
                found.push(self.failed(field, message, [told.and_then(|t| summary(&t)), None]));
            }
            decision => {
                let message = format!("{}; it is expected to wait", went(name, decision));
                let policy =
                    plan::explain_cluster(&self.stage.input(), name).and_then(|t| t.policy);
                let under = policy.map(|policy| format!("the policy `{policy}` applies to it"));
                found.push(self.failed(field, message, [under, None]));
            }
        }
    }

    fn policy(&self, name: &Name, told: &Explanation, found: &mut Vec<Diagnostic>) {
        let Some(wanted) = self.expected.policy.as_deref() else { return };
        if told.policy.as_ref().is_some_and(|policy| policy.as_str() == wanted) {
            return;
        }
        let applies = told.policy.as_ref().map_or("no policy".to_owned(), |p| format!("`{p}`"));
        let message = format!("{applies} applies to `{name}`; the policy `{wanted}` is expected");
        let weaker = told.lost.iter().find(|loss| loss.policy.as_str() == wanted);
        let why = match weaker {
            Some(loss) => format!("{applies} comes before `{wanted}`: {}", loss.to),
            None if self.stage.fleet.policies.contains_key(wanted) => {
                format!("the selector of `{wanted}` does not select `{name}`")
            }
            None => format!("there is no policy `{wanted}`"),
        };
        found.push(self.failed("policy", message, [Some(why), None]));
    }

    fn refused(&self, name: &Name, told: &Explanation, found: &mut Vec<Diagnostic>) {
        for (i, refusal) in self.expected.refused.iter().enumerate() {
            let worker = refusal.worker.as_str();
            let came: &[Reason] = match told.workers.get(worker) {
                Some(WorkerVerdict::Refused(reasons)) => reasons,
                _ => &[],
            };
            let codes: BTreeSet<ReasonCode> = came.iter().map(Reason::code).collect();
            let wanted: BTreeSet<ReasonCode> = refusal.reasons.iter().copied().collect();
            let holds = !codes.is_empty() && (wanted.is_empty() || codes == wanted);
            if holds {
                continue;
            }
            let message = if codes.is_empty() {
                format!("`{worker}` can take `{name}`; it is expected to refuse it")
            } else {
                let (came, wanted) = (words(&codes), words(&wanted));
                format!("`{worker}` refuses `{name}` for {came}; {wanted} is expected")
            };
            let path = self.path.key("refused").index(i).key("worker");
            let finding = Diagnostic::new(Code::PolicyTestFailed, message);
            let finding = finding.at(place(self.test, &path));
            found.push(match why_not(told, worker) {
                Some(why) => finding.help(why),
                None => finding,
            });
        }
    }

    fn failed(&self, field: &str, message: String, why: [Option<String>; 2]) -> Diagnostic {
        let finding = Diagnostic::new(Code::PolicyTestFailed, message);
        let finding = finding.at(place(self.test, &self.path.key(field)));
        let why: Vec<_> = why.into_iter().flatten().collect();
        if why.is_empty() { finding } else { finding.help(why.join("\n")) }
    }
}

fn went(name: &Name, decision: &Decision) -> String {
    match decision {
        Decision::Keep { worker } | Decision::Delete { worker, .. } => {
            format!("`{name}` stays on `{worker}`")
        }
        Decision::Move { from, binding, .. } => {
            format!("`{name}` moves from `{from}` to `{}`", binding.worker)
        }
        Decision::Bind(binding) => format!("`{name}` goes to `{}`", binding.worker),
        Decision::Wait { reasons, .. } => format!("`{name}` waits for {}", words(reasons)),
        Decision::Forget => format!("`{name}` is forgotten"),
    }
}

fn words(codes: &BTreeSet<ReasonCode>) -> String {
    codes.iter().map(|code| format!("{code:?}")).collect::<Vec<_>>().join(", ")
}

/// Why a worker is not the one: it refuses, or another one comes before it.
fn why_not(told: &Explanation, worker: &str) -> Option<String> {
    match told.workers.get_key_value(worker)? {
        (_, WorkerVerdict::Refused(reasons)) => {
            let why: Vec<_> = reasons.iter().map(ToString::to_string).collect();
            Some(format!("`{worker}` refuses it: {}", why.join("; ")))
        }
        (name, WorkerVerdict::Fits(_)) => {
            let (winner, term, margin) = told.before(name)?;
            Some(format!("`{winner}` comes before `{worker}` by {term}: {margin}"))
        }
    }
}

fn summary(told: &Explanation) -> Option<String> {
    let waits = matches!(told.planned.decision, Decision::Wait { .. });
    told.summary.clone().filter(|_| waits)
}
