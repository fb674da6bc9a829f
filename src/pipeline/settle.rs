//! What the memo learns from a run: the state in which nothing that waits could be placed, how the placed
//! clusters count, and the trees in which all is as the locks say.

use super::read::{Read, root_of};
use super::writing::WrittenTree;
use crate::change;
use crate::model::{Clean, Counted, Memo, Settled, Snapshot, Store, StoreError};
use crate::plan::Planning;

/// Remembers that, with these workers and policies, exactly these clusters wait. The next run skips
/// them while both are the same. What this run left needs no survey where it found nothing to tell: all
/// that it wrote stands in the locks that it wrote.
pub(super) fn remember(
    snapshot: &Snapshot,
    store: &dyn Store,
    memo: &mut Memo,
    planning: &Planning,
    written: &WrittenTree,
    read: &Read,
) -> Result<(), StoreError> {
    let settled = |context| Settled { context, pending: written.pending };
    memo.settled = planning.context.map(settled);
    memo.counted = Counted::clone(&planning.counted);
    memo.clean = Clean::default();
    let previous = &read.previous;
    let survey = &read.drift.survey;
    let as_said = survey.drifted.is_empty() && survey.foreign.is_empty();
    if as_said && previous.damaged.is_empty() && read.drift.taken.is_empty() {
        let root = root_of(store, written.tree, &snapshot.input.prefix)?;
        let workers = planning.plan.workers.keys().cloned();
        change::remember(store, &root, workers, &mut memo.clean)?;
    }
    Ok(())
}
