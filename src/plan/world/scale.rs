//! Growing in the words of the tests: ceilings.

use crate::model::Quantity;
use crate::model::api::WorkerSpec;

/// Reads what a worker says of how it grows; whether the word was one of those.
pub(super) fn worker(spec: &mut WorkerSpec, key: &str, value: &str) -> bool {
    let resource = match key.split_once(':').unwrap_or((key, "clusters")) {
        ("ceiling", resource) => resource,
        _ => return false,
    };
    let amount = value.parse().unwrap_or_else(|_| panic!("`{value}` is no number"));
    spec.ceiling.insert(resource.to_owned(), Quantity::units(amount));
    true
}
