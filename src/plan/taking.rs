//! What a cluster takes by coming to a worker: there, and of what its tenant is granted.

use std::borrow::Cow;

use super::amounts;
use crate::model::Resources;

/// What a cluster takes by coming to a worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taking<'r> {
    /// What it takes on that worker.
    pub(super) there: &'r Resources,
    /// What it takes on the worker that it leaves: of its tenant's quota it takes that already, and what
    /// it takes in the end is no more than the larger of the two.
    pub(super) elsewhere: Option<&'r Resources>,
}

impl<'r> Taking<'r> {
    /// What a cluster takes that is nowhere else.
    pub(super) const fn all(there: &'r Resources) -> Self {
        Self { there, elsewhere: None }
    }

    /// What a cluster takes that leaves another worker.
    pub(super) const fn besides(there: &'r Resources, elsewhere: &'r Resources) -> Self {
        Self { there, elsewhere: Some(elsewhere) }
    }

    /// What it takes of its tenant's quota, besides what it takes elsewhere.
    pub(super) fn of_quota(self) -> Cow<'r, Resources> {
        match self.elsewhere {
            Some(elsewhere) => Cow::Owned(amounts::beyond(self.there, elsewhere)),
            None => Cow::Borrowed(self.there),
        }
    }
}
