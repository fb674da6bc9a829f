//! `matches-nothing` of `secrets.externalSecrets.keys`: a name that no worker has a Secret of, so that the entry is read by nobody,
//! and the Secret that was meant is made of another.

use crate::diag::{Code, Diagnostic, FieldPath, Place, suggest};
use crate::model::Fleet;
use crate::model::paths::FLEET_FILE;
use crate::render;

/// A finding for each such name. Where a pool may make the worker that has it, or none is there yet, nothing is told.
pub(super) fn found(fleet: &Fleet) -> Vec<Diagnostic> {
    let Some(settings) = fleet.spec.external_secrets() else { return Vec::new() };
    if settings.keys.is_empty() || fleet.workers.is_empty() || !fleet.unloaded.is_empty() {
        return Vec::new();
    }
    let names = render::names_of_stored_secrets(fleet);
    // Parameters of a pool's workers may name Secrets; without such workers nobody knows which.
    let is_made = |pool: &crate::model::Name| {
        fleet.workers.values().any(|w| w.made_by.as_ref().is_some_and(|made| made.pool == *pool))
    };
    if !fleet.pools.keys().all(is_made) {
        return Vec::new();
    }
    let unknown = settings.keys.iter().filter(|(name, _)| !names.contains(*name));
    let path = FieldPath::keys("spec.secrets.externalSecrets.keys");
    let told = |(name, entry): (&String, &String)| {
        let message =
            format!("no worker has a Secret `{name}`, so nobody reads the entry `{entry}`");
        let near = suggest::nearest(name, names.iter().map(String::as_str));
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let all = names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let all = if all.is_empty() { "none".to_owned() } else { all };
        Diagnostic::new(Code::MatchesNothing, message)
            .at(Place::field(FLEET_FILE, 0, path.key(name)).at_key())
            .help(format!("{near}the Secrets that are made of the store: {all}"))
    };
    unknown.map(told).collect()
}
