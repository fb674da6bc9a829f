//! Matching a placement term with a worker.

use std::collections::BTreeSet;

use super::candidate::Request;
use super::depends_on::DependsOn;
use crate::model::api::{ExpressionOperator, FieldExpression, PlacementTerm, WorkerField};
use crate::model::{Reason, Worker};

/// What a term of a policy or cluster reads.
pub(super) const READS: &[DependsOn] = &[
    DependsOn::Wishes,
    DependsOn::Policies,
    DependsOn::Name,
    DependsOn::Location,
    DependsOn::Provider,
    DependsOn::Zones,
    DependsOn::Labels,
];

/// What the groups of a policy's affinity read.
pub(super) const GROUP_READS: &[DependsOn] = &[
    DependsOn::Group,
    DependsOn::Wishes,
    DependsOn::Policies,
    DependsOn::Name,
    DependsOn::Location,
    DependsOn::Provider,
    DependsOn::Zones,
    DependsOn::Labels,
];

/// A part of a term that a worker fails.
enum FailedPart<'t> {
    /// Its name is none of those given.
    Name,
    /// Its name is excluded.
    Excluded,
    /// What it has of a field is not asked for.
    Field(WorkerField),
    /// Its label of that key is another, or there is none.
    Label(&'t String),
}

/// The parts of the term that the worker fails, in the order of the reasons. Whoever asks for the first one only makes no reason.
fn failed<'t>(term: &'t PlacementTerm, worker: &'t Worker) -> impl Iterator<Item = FailedPart<'t>> {
    let name = worker.name.as_str();
    let is_another = !term.names.is_empty() && !term.names.iter().any(|n| n == name);
    let is_excluded = term.exclude.iter().any(|n| n == name);
    let named = is_another.then_some(FailedPart::Name).into_iter();
    let named = named.chain(is_excluded.then_some(FailedPart::Excluded));
    let fields = WorkerField::ALL.iter().copied().filter(|field| !allows(term, *field, worker));
    let labels = term.match_labels.iter().filter(|(k, v)| worker.labels.get(*k) != Some(v));
    let expressions = term.match_expressions.iter().filter(|e| !e.matches(&worker.labels));
    let keys = labels.map(|(key, _)| key).chain(expressions.map(|e| &e.key));
    named.chain(fields.map(FailedPart::Field)).chain(keys.map(FailedPart::Label))
}

/// Adds a reason for each part of the term that the worker fails.
pub(super) fn failures(term: &PlacementTerm, worker: &Worker, reasons: &mut Vec<Reason>) {
    reasons.extend(failed(term, worker).map(|part| match part {
        FailedPart::Name => Reason::AffinityName,
        FailedPart::Excluded => Reason::AffinityExcluded,
        FailedPart::Field(field) => field_reason(term, field, worker),
        FailedPart::Label(key) => Reason::AffinityLabels { key: key.into() },
    }));
}

/// Whether the worker meets the term.
#[must_use]
pub fn meets(term: &PlacementTerm, worker: &Worker) -> bool {
    failed(term, worker).next().is_none()
}

/// The first group of the policy's affinity that the worker is in, of those that may be used: its place
/// among all of them, and its name.
pub(super) fn group<'a>(request: &Request<'a>, worker: &Worker) -> Option<(usize, &'a str)> {
    let mut groups = request.groups();
    let found = groups.find(|(_, group)| group.required.iter().all(|term| meets(term, worker)));
    found.map(|(at, group)| (at, group.name.as_str()))
}

/// The list of a term that names values of a field; an empty one allows all.
pub(super) fn list(term: &PlacementTerm, field: WorkerField) -> &[String] {
    match field {
        WorkerField::Location => &term.locations,
        WorkerField::Provider => &term.providers,
        WorkerField::Zone => &term.zones,
    }
}

/// Whether all that the term says of a field holds. Nothing is looked up where it says nothing.
fn allows(term: &PlacementTerm, field: WorkerField, worker: &Worker) -> bool {
    let list = list(term, field);
    let mut expressions = term.match_fields.iter().filter(|e| e.key == field).peekable();
    if list.is_empty() && expressions.peek().is_none() {
        return true;
    }
    let values = worker.values(field);
    let listed = list.is_empty() || values.iter().any(|value| list.iter().any(|l| l == value));
    listed && expressions.all(|expression| expression.matches(&values))
}

fn field_reason(term: &PlacementTerm, field: WorkerField, worker: &Worker) -> Reason {
    match field {
        WorkerField::Location => Reason::AffinityLocation {
            location: worker.spec.location.as_str().into(),
            wanted: wanted(term, field),
        },
        WorkerField::Provider => Reason::AffinityProvider {
            provider: worker.provider().map(Into::into),
            wanted: wanted(term, field),
        },
        WorkerField::Zone => Reason::AffinityZone {
            zones: worker.zones().into_iter().map(Into::into).collect(),
            wanted: wanted(term, field),
        },
    }
}

/// The values of a field that a term names as good; none where it names only what is not.
fn wanted<T: for<'a> From<&'a String>>(term: &PlacementTerm, field: WorkerField) -> Vec<T> {
    let is_in = |e: &&FieldExpression| e.key == field && e.operator == ExpressionOperator::In;
    let expressions = term.match_fields.iter().filter(is_in).flat_map(|e| &e.values);
    let all = list(term, field).iter().chain(expressions);
    let good = |value: &&String| {
        let listed = list(term, field);
        let mut expressions = term.match_fields.iter().filter(|e| e.key == field);
        (listed.is_empty() || listed.contains(*value))
            && expressions.all(|expression| expression.matches(&[value.as_str()]))
    };
    let good: BTreeSet<&String> = all.filter(good).collect();
    good.into_iter().map(T::from).collect()
}
