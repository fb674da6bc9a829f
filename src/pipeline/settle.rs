//! What the memo learns from a run: the state in which nothing that waits could be placed.

use super::Read;
use super::records::pending_lock;
use crate::model::{Memo, Settled, blob_id, lock_to_bytes};
use crate::plan::Planning;

/// Remembers that, with these workers and policies, exactly these clusters wait. A run skips them while
/// both are the same. That is true whether or not the plan is committed.
pub(super) fn remember(memo: &mut Memo, planning: &Planning, read: &Read) {
    let pending = blob_id(&lock_to_bytes(&pending_lock(read, &planning.plan)));
    memo.settled = Some(Settled { context: planning.context, pending });
}
