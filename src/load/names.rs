//! Who has a name, by the locks of the output branch: a placed cluster its tenant, a cluster that waits its
//! tenant, and the workers theirs.

use std::collections::BTreeMap;

use super::kind::Kind;
use crate::model::{Digest, Name, PoolLock, Previous};

/// The names that are held.
#[derive(Debug, Default)]
pub(super) struct HeldNames<'a> {
    previous: Option<&'a Previous>,
    /// The tenants of the placed clusters, those on their way out among them.
    placed: BTreeMap<&'a str, &'a str>,
}

/// Who has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) kind: Kind,
    /// The digest of the document; `None` where the locks do not know it.
    pub(super) facts: Option<Digest>,
}

impl<'a> HeldNames<'a> {
    pub(super) fn of(previous: &'a Previous) -> Self {
        let rows = previous.workers.values().flat_map(|lock| &lock.clusters);
        let placed = rows.map(|(name, row)| (name.as_str(), row.row.tenant.as_str())).collect();
        Self { previous: Some(previous), placed }
    }

    /// The tenant of a placed cluster.
    pub(super) fn placed(&self, name: &str) -> Option<&'a str> {
        self.placed.get(name).copied()
    }

    /// The tenant of a cluster that waits.
    pub(super) fn waiting(&self, name: &str) -> Option<&'a str> {
        let row = self.previous?.pending.clusters.get(name)?;
        Some(&row.row.tenant)
    }

    /// Whether a worker of that name is recorded.
    pub(super) fn is_worker(&self, name: &str) -> bool {
        self.previous.is_some_and(|previous| {
            let made = previous.fleet.as_ref().is_some_and(|lock| lock.workers.contains_key(name));
            made || previous.workers.contains_key(name) || previous.pool_of(name).is_some()
        })
    }

    /// Who has a name, and of which document that was made.
    pub(super) fn holder(&self, name: &str) -> Option<Holder> {
        let previous = self.previous?;
        let of = |kind, facts| Some(Holder { kind, facts });
        let mut rows = previous.workers.values().filter_map(|lock| lock.clusters.get(name));
        let placed = rows.next().map(|row| row.facts);
        if let Some(facts) = placed.or_else(|| previous.pending.clusters.get(name).map(|r| r.facts))
        {
            return of(Kind::ManagedCluster, Some(facts));
        }
        let facts = previous.workers.get(name).map(|lock| lock.facts);
        if self.is_worker(name) { of(Kind::Worker, facts) } else { None }
    }

    /// Whether anybody has the name.
    pub(super) fn is_held(&self, name: &str) -> bool {
        self.placed(name).is_some() || self.waiting(name).is_some() || self.is_worker(name)
    }

    /// What is remembered of the pools.
    pub(super) fn pools(&self) -> impl Iterator<Item = (&'a Name, &'a PoolLock)> {
        self.previous.into_iter().flat_map(Previous::pools)
    }
}
