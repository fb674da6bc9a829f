//! Matching a placement term with a worker.

use crate::model::api::PlacementTerm;
use crate::model::{Reason, Worker};

/// Adds a reason for each part of the term that the worker fails.
pub(super) fn failures(term: &PlacementTerm, worker: &Worker, reasons: &mut Vec<Reason>) {
    let name = worker.name.as_str();
    if !term.names.is_empty() && !term.names.iter().any(|n| n == name) {
        reasons.push(Reason::AffinityName);
    }
    if term.exclude.iter().any(|n| n == name) {
        reasons.push(Reason::AffinityExcluded);
    }
    if !term.locations.is_empty() && !term.locations.contains(&worker.spec.location) {
        reasons.push(Reason::AffinityLocation { location: worker.spec.location.clone() });
    }
    let labels = term.match_labels.iter().filter(|(k, v)| worker.labels.get(*k) != Some(v));
    let expressions = term.match_expressions.iter().filter(|e| !e.matches(&worker.labels));
    let keys = labels.map(|(key, _)| key).chain(expressions.map(|e| &e.key));
    reasons.extend(keys.map(|key| Reason::AffinityLabels { key: key.clone() }));
}

/// Whether the worker meets the term.
pub(super) fn meets(term: &PlacementTerm, worker: &Worker) -> bool {
    let mut reasons = Vec::new();
    failures(term, worker, &mut reasons);
    reasons.is_empty()
}
