//! Terms, groups and pools that are widened, to see what would be so.

use super::documents::EditedDocuments;
use crate::model::Name;
use crate::model::api::{AffinityGroup, ExpressionOperator, PlacementTerm, WorkerField};

/// Changes every required term, the policy's and the cluster's own.
pub(super) fn each_term(of: &mut EditedDocuments, change: impl Fn(&mut PlacementTerm)) {
    let policy = of.policy.iter_mut().filter_map(|p| p.spec.affinity.as_mut());
    let own = of.cluster.spec.placement.iter_mut().filter_map(|p| p.affinity.as_mut());
    policy.flat_map(|affinity| &mut affinity.required).for_each(&change);
    own.flat_map(|affinity| &mut affinity.required).for_each(&change);
}

/// Allows the values of a worker's field.
pub(super) fn field(of: &mut EditedDocuments, field: WorkerField, values: &[String]) {
    each_term(of, |term| {
        let list = match field {
            WorkerField::Location => &mut term.locations,
            WorkerField::Provider => &mut term.providers,
            WorkerField::Zone => &mut term.zones,
        };
        for value in values {
            widen(list, value);
        }
        for expression in term.match_fields.iter_mut().filter(|e| e.key == field) {
            match expression.operator {
                ExpressionOperator::In => expression.values.extend(values.iter().cloned()),
                ExpressionOperator::NotIn => expression.values.retain(|v| !values.contains(v)),
                ExpressionOperator::Exists | ExpressionOperator::DoesNotExist => {}
            }
        }
    });
}

/// Adds a last group in which there is that worker alone.
pub(super) fn group(of: &mut EditedDocuments, worker: &Name) {
    let names = vec![worker.to_string()];
    let term = PlacementTerm { names, ..PlacementTerm::default() };
    if let Some(affinity) = of.policy.iter_mut().find_map(|p| p.spec.affinity.as_mut()) {
        affinity.groups.push(AffinityGroup { name: worker.to_string(), required: vec![term] });
    }
}

/// Lets the policy and the cluster itself use a pool.
pub(super) fn pool(of: &mut EditedDocuments, pool: &str) {
    let of_policy = of.policy.iter_mut().map(|p| &mut p.spec.pools);
    let own = of.cluster.spec.placement.iter_mut().map(|p| &mut p.pools);
    for pools in of_policy.chain(own) {
        widen(pools, pool);
    }
}

/// Adds to a list that allows; an empty one allows everything already.
pub(super) fn widen(allowed: &mut Vec<String>, one: &str) {
    if !allowed.is_empty() && !allowed.iter().any(|a| a == one) {
        allowed.push(one.to_owned());
    }
}
