//! What the memo learns from a run: the state in which nothing that waits could be placed.

use super::Read;
use super::output::Written;
use super::records::pending_lock;
use crate::model::{Memo, Settled, blob_id, lock_to_bytes};
use crate::plan::Planning;

/// Remembers that, with these workers and policies, exactly these clusters wait. The next run skips
/// them while both are the same.
pub(super) fn remember(memo: &mut Memo, planning: &Planning, written: &Written, read: &Read) {
    if !written.collided {
        let pending = blob_id(&lock_to_bytes(&pending_lock(read, &planning.plan)));
        memo.settled = Some(Settled { context: planning.context, pending });
    }
}
