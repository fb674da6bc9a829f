//! What stands after a look at everything.

use crate::model::{Baseline, Digest, KnownDocuments, Memo, Proposal, Snapshot, Store, StoreError};
use crate::pipeline;
use crate::verify;

/// The most findings of what is verified that are kept.
const MOST_FOUND: usize = 200;

/// What stands after a look at everything, with what `validate` verifies besides: nothing of that where it finds much, for
/// then it is found anew each time. `None` where something was changed.
pub(super) fn standing(
    snapshot: &Snapshot,
    reports: Digest,
    proposal: &Proposal,
    store: &dyn Store,
    memo: &Memo,
) -> Result<Option<(Baseline, KnownDocuments)>, StoreError> {
    let stands = pipeline::baseline(snapshot, reports, proposal, store, memo)?;
    let Some((baseline, documents)) = stands else { return Ok(None) };
    let verified = verify::fleet(&snapshot.input, store, &proposal.fleet, &proposal.previous);
    let verified = verified.ok().filter(|verified| verified.findings.len() <= MOST_FOUND);
    Ok(Some((Baseline { verified, ..baseline }, documents)))
}
