//! What a change causes: the plan with it, without all that the plan without it says as well.

use std::collections::BTreeMap;

use crate::diag::{Code, Diagnostic, Diagnostics, Place};
use crate::model::{ClusterPlan, Deletion, Progress, Proposal};

/// How much there is that a change did not cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Others {
    /// Files that a run without the change would write.
    pub files: u64,
    /// Deletions under way.
    pub deletions: u64,
    /// What guards hold, and folders that stay as they were.
    pub held: u64,
    /// Findings.
    pub findings: u64,
}

/// Leaves in a plan what the plan before it does not say, and counts the rest.
#[must_use]
pub fn caused(mut after: Proposal, before: &Proposal) -> (Proposal, Others) {
    let mut others = Others { files: before.changes.len() as u64, ..Others::default() };
    let mut found = std::mem::take(&mut after.diagnostics).into_iter().collect::<Vec<_>>();
    for finding in &mut found {
        on_what_is_new(finding, before);
    }
    after.diagnostics.extend(found);
    let known: Vec<Diagnostic> = before.diagnostics.iter().cloned().collect();
    let (found, new) = new_findings(&after.diagnostics, &known);
    others.findings = found;
    after.diagnostics = new;

    let held = after.plan.holds.len() + after.gates.len();
    after.plan.holds.retain(|hold| !before.plan.holds.contains(hold));
    after.gates.retain(|gate| !before.gates.contains(gate));
    others.held = (held - after.plan.holds.len() - after.gates.len()) as u64;

    let waits = |proposal: &Proposal| {
        let all = proposal.plan.deletions().into_iter();
        all.filter(|(_, deletion)| deletion.progress == Progress::Waits).count()
    };
    let waiting = waits(&after);
    let plan = &mut after.plan;
    for (name, planned) in &mut plan.clusters {
        if let Some(known) = before.plan.clusters.get(name) {
            leave_new(planned, known);
        }
    }
    let known = &before.plan.retirements;
    plan.retirements.retain(|name, deletion| known.get(name).is_none_or(|k| is_new(deletion, k)));
    plan.pools.retain(|name, pool| before.plan.pools.get(name) != Some(pool));
    after.survey.drifted.retain(|drifted| !before.survey.drifted.contains(drifted));
    others.deletions = (waiting - waits(&after)) as u64;
    (after, others)
}

/// Of two documents of one name the one that the change adds is at fault.
fn on_what_is_new(finding: &mut Diagnostic, before: &Proposal) {
    let fleet = &before.fleet;
    let clusters = fleet.clusters.values().map(|of| (&of.file, of.document));
    let policies = fleet.policies.values().filter_map(|of| Some((of.file.as_ref()?, of.document)));
    let classes = fleet.classes.values().map(|of| (&of.file, of.document));
    let was_there = |place: &Place| {
        let mut all = clusters.clone().chain(policies.clone()).chain(classes.clone());
        all.any(|(file, document)| *file == place.file && document == place.document)
    };
    if finding.code != Code::DuplicateName {
        return;
    }
    if let (Some(place), [(other, word)]) = (&mut finding.place, finding.related.as_mut_slice())
        && was_there(place)
        && !was_there(other)
    {
        std::mem::swap(place, other);
        "this one was there before".clone_into(word);
    }
}

/// Leaves of what is said of a cluster what the plan before does not say.
fn leave_new(planned: &mut ClusterPlan, known: &ClusterPlan) {
    planned.deletion.take_if(|of| known.deletion.as_ref().is_some_and(|k| !is_new(of, k)));
    planned.moved.take_if(|of| known.moved.as_ref() == Some(of));
    planned.stay.take_if(|of| known.stay.as_ref() == Some(of));
    planned.version.take_if(|of| known.version.as_ref() == Some(of));
    if planned.violations == known.violations {
        planned.violations = Box::default();
    }
}

/// Whether a deletion is another than the plan before says. What the run before begins is under way in this one.
fn is_new(deletion: &Deletion, known: &Deletion) -> bool {
    deletion.progress != Progress::Waits && deletion != known
}

/// How many findings are known, and those that are not. Of a finding that was there once and is there twice
/// one is new.
#[must_use]
pub fn new_findings(found: &Diagnostics, known: &[Diagnostic]) -> (u64, Diagnostics) {
    let mut left: BTreeMap<String, u64> = BTreeMap::new();
    for diagnostic in known {
        *left.entry(key(diagnostic)).or_default() += 1;
    }
    let (mut number, mut new) = (0, Diagnostics::default());
    for diagnostic in found {
        match left.get_mut(&key(diagnostic)).filter(|left| **left > 0) {
            Some(left) => {
                *left -= 1;
                number += 1;
            }
            None => new.push(diagnostic.clone()),
        }
    }
    (number, new)
}

/// What makes two findings the same: not where in the text they stand, for other people's lines move that.
fn key(diagnostic: &Diagnostic) -> String {
    let place = diagnostic.place.as_ref();
    let file = place.map_or("", |place| place.file.as_str());
    let field = place.and_then(|place| place.field.as_ref()).map(ToString::to_string);
    let Diagnostic { code, message, .. } = diagnostic;
    format!("{} {file} {} {message}", code.name(), field.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(message: &str, document: usize) -> Diagnostic {
        let place = Place { document, ..Place::file("fleet/a.yaml") };
        Diagnostic { place: Some(place), ..Diagnostic::new(Code::UnknownField, message) }
    }

    #[test]
    fn a_finding_that_moved_is_known_and_a_second_one_is_new() {
        let mut after = Diagnostics::default();
        after.extend([found("no field `x`", 3), found("no field `x`", 4), found("other", 0)]);
        let (known, new) = new_findings(&after, &[found("no field `x`", 0)]);
        let new: Vec<_> = new.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!((known, new), (1, vec!["no field `x`", "other"]));
    }
}
