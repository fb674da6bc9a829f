//! Domains of workers: what a topology key makes of a worker.

use super::Worker;

/// What the keys of carp's own domains begin with. Every other key is that of a label.
pub const PREFIX: &str = "carp.dev/";

/// The key by which every worker is a domain of its own.
pub const WORKER: &str = "carp.dev/worker";

/// The keys of carp's own domains. Zones are not among them: a worker has nodes in several, so it would
/// be in no one domain.
pub const KEYS: [&str; 6] = [
    WORKER,
    "carp.dev/location",
    "carp.dev/geography",
    "carp.dev/provider",
    "carp.dev/flavor",
    "carp.dev/pool",
];

/// The domain that a worker is in; `None` where it is in none: it has no such label, or is in no pool.
#[must_use]
pub fn domain<'a>(key: &str, worker: &'a Worker) -> Option<&'a str> {
    match key.strip_prefix(PREFIX) {
        None => worker.labels.get(key).map(String::as_str),
        Some("worker") => Some(worker.name.as_str()),
        Some("location") => Some(&worker.spec.location),
        Some("geography") => {
            let location = worker.catalogue.locations().get(&worker.spec.location);
            Some(location.map_or(&*worker.spec.location, |location| &location.geography))
        }
        Some("provider") => worker.provider(),
        Some("flavor") => Some(worker.flavor()),
        Some("pool") => worker.spec.pool.as_deref(),
        Some(_) => None,
    }
}

/// Whether a key is one of carp's own domains, or would be.
#[must_use]
pub fn is_field(key: &str) -> bool {
    key.starts_with(PREFIX)
}

/// The key as people say it: `location`, or `label zone`.
#[must_use]
pub fn spoken(key: &str) -> String {
    key.strip_prefix(PREFIX).map_or_else(|| format!("label {key}"), str::to_owned)
}
