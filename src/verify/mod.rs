//! What `carp validate` looks at besides the documents themselves: the tests that people write of their
//! policies, policies that are as strong as each other where they meet or that select nothing, entries of a store
//! and documents that nobody reads, and acknowledgements that are spent.
//!
//! Nothing here changes a decision or a byte of the output: a test that fails is a finding.

mod expect;
mod overridden;
mod secret_keys;
mod spent;
mod stage;
mod ties;
mod unmatched;
mod witnesses;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::load::{self, PolicyTest};
use crate::model::{Fleet, Input, Name, Previous, Store, StoreError, TriedClusters, Verification};
use crate::render::Templates;
use crate::schemas::CrdSet;
use stage::Stage;

/// The most findings of policy tests that are told; of the others only how many there are.
const MOST: usize = 50;

/// What was verified.
#[derive(Clone, Debug, Default)]
pub struct Verified {
    /// All that was found.
    pub diagnostics: Diagnostics,
    /// How many policy tests ran.
    pub tests: usize,
    /// Whether policy tests were left out because something of the fleet did not load: what they would
    /// say is not what they mean.
    pub left_out: bool,
    /// The clusters of the fleet that policy tests speak of.
    pub staged: BTreeSet<Name>,
    /// Whether a selector selects no cluster.
    pub unmatched: bool,
    /// Some of the clusters that the selectors of each policy select.
    pub witnesses: BTreeMap<Name, Vec<BTreeSet<Name>>>,
    /// The clusters on which each override policy was tried.
    pub tried: BTreeMap<Name, TriedClusters>,
}

/// Verifies a fleet as it loaded: its policies, what nobody reads, and what is spent by `previous`.
///
/// # Errors
/// The store failed.
pub fn fleet(
    input: &Input,
    store: &dyn Store,
    fleet: &Fleet,
    previous: &Previous,
) -> Result<Verification, StoreError> {
    let verified = policies(input, store, fleet)?;
    let Verified { diagnostics: mut found, tests, left_out, staged, unmatched, witnesses, tried } =
        verified;
    let roots = fleet.spec.roots.clone().unwrap_or_default();
    found.extend(load::strays(input, store, &roots)?);
    found.extend(secret_keys::found(fleet));
    found.extend(spent::found(fleet, previous.fleet.as_ref()));
    Ok(Verification {
        findings: found.into_iter().collect(),
        tests,
        left_out,
        staged,
        clusters: fleet.clusters.len() as u64,
        workers: fleet.workers.len() as u64,
        unmatched,
        witnesses,
        tried,
    })
}

/// Verifies the policies of a fleet as it loaded.
///
/// # Errors
/// The store failed.
pub fn policies(input: &Input, store: &dyn Store, fleet: &Fleet) -> Result<Verified, StoreError> {
    let (tests, mut diagnostics) = load::policy_tests(input, store, fleet)?;
    let witnesses = witnesses::of(fleet);
    if fleet.is_unsure() {
        let left_out = !tests.is_empty();
        return Ok(Verified { diagnostics, left_out, witnesses, ..Verified::default() });
    }
    let staged = tests.iter().flat_map(stage::of_the_fleet).collect();
    let failures = tests.iter().flat_map(|test| run_test(test, fleet)).collect();
    diagnostics.extend(bounded(failures));
    diagnostics.extend(ties::found(fleet));
    diagnostics.extend(unmatched::found(fleet, &witnesses));
    let mut tried = BTreeMap::new();
    if !fleet.overrides.is_empty() {
        let templates = load::own_templates(input, store, fleet)?;
        let mut templates = Templates::built_in().with(&templates).0;
        let definitions = load::own_definitions(input, store, fleet)?;
        if !definitions.is_empty() {
            let root = fleet.spec.roots.clone().unwrap_or_default().crds;
            templates = templates.held_against(Arc::new(CrdSet::new(&root, &definitions)));
        }
        let (found, on) = overridden::found(fleet, &templates);
        diagnostics.extend(found);
        tried = on;
    }
    let unmatched = diagnostics.iter().any(|found| found.code == Code::MatchesNothing);
    Ok(Verified {
        diagnostics,
        tests: tests.len(),
        left_out: false,
        staged,
        unmatched,
        witnesses,
        tried,
    })
}

/// Runs a test: everything that does not hold.
fn run_test(test: &PolicyTest, fleet: &Fleet) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let stage = Stage::set(test, fleet, &mut found);
    // What a test gives wrongly is mended first; what it expects of that says nothing.
    if found.is_empty() {
        expect::check(test, &stage, &mut found);
    }
    found
}

fn bounded(mut failures: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let more = failures.len().saturating_sub(MOST);
    if more > 0 {
        failures.truncate(MOST);
        let message = format!("{more} more expectations of policy tests do not hold");
        let rest = Diagnostic::new(Code::PolicyTestFailed, message);
        failures.push(rest.help("mend the ones above first, and run `carp validate` again"));
    }
    failures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_failures_the_first_are_told_and_the_others_counted() {
        let failure = |n: usize| Diagnostic::new(Code::PolicyTestFailed, n.to_string());
        assert_eq!(bounded((0..MOST).map(failure).collect()).len(), MOST);
        let told = bounded((0..MOST + 7).map(failure).collect());
        assert_eq!(told.len(), MOST + 1);
        assert_eq!(told[MOST].message, "7 more expectations of policy tests do not hold");
    }
}
