//! Group: which group of the policy's affinity the worker is in. Earlier is better, before anything else:
//! so the groups are tried in turn, each alone.

use crate::model::Worker;
use crate::plan::candidate::Request;
use crate::plan::depends_on::DependsOn;
use crate::plan::term;

pub(super) const READS: &[DependsOn] = term::GROUP_READS;

/// The place of the group, from 0; `None` for a policy without groups.
pub(super) fn of(request: &Request<'_>, worker: &Worker) -> Option<usize> {
    term::group(request, worker).map(|(at, _)| at)
}
