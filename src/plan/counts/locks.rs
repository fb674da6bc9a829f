//! Counting the rows of the workers' locks.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Member;
use super::asked::RuleGroups;
use super::here::Here;
use crate::model::{Cluster, ClusterRow, ClusterState, IndexRow, Name, Resources, WorkerLock};
use crate::plan::PlanInput;
use crate::plan::deletion::Deletions;
use crate::plan::group::ClusterInfo;
use crate::plan::occupancy::there;
use crate::plan::ongoing::{Ongoing, ongoing};
use crate::plan::taking::Taking;

/// The locks of the last run.
pub(super) struct Locks<'a, 'r> {
    input: &'r PlanInput<'a>,
    deletions: &'r Deletions,
    asked: &'r RuleGroups<'a>,
    ongoing: BTreeMap<&'a Name, Ongoing<'a>>,
    /// What the clusters that move take where they are.
    leaving: BTreeMap<&'a Name, &'a Resources>,
    /// The places that are kept for them.
    kept: Vec<(ClusterInfo<'a>, &'a Resources)>,
}

impl<'a, 'r> Locks<'a, 'r> {
    pub(super) fn new(
        input: &'r PlanInput<'a>,
        deletions: &'r Deletions,
        asked: &'r RuleGroups<'a>,
    ) -> Self {
        let ongoing = ongoing(input);
        Self { input, deletions, asked, ongoing, leaving: BTreeMap::new(), kept: Vec::new() }
    }

    /// Whether everything that the lock lists counts, each as its row says.
    pub(super) fn is_as_it_says(&self, worker: &'a Name, lock: &'a WorkerLock) -> bool {
        let mut rows = there(self.input, worker, lock, self.deletions);
        let is_as_its_row_says = |(name, row): (&'a Name, &'a ClusterRow)| {
            let moves = row.state == ClusterState::Reserved || self.ongoing.contains_key(name);
            !moves && self.document(name, row).is_none_or(|cluster| is_alike(cluster, row))
        };
        let mut found = 0;
        rows.all(|row| {
            found += 1;
            is_as_its_row_says(row)
        }) && found == lock.clusters.len()
    }

    /// Counts the clusters of a lock that hold their place.
    pub(super) fn count(&mut self, worker: &'a Name, lock: &'a WorkerLock) -> Here<'a> {
        let mut here = Here::default();
        for (name, row) in there(self.input, worker, lock, self.deletions) {
            let (info, own) = match self.document(name, row) {
                Some(cluster) => (ClusterInfo::of(cluster), cluster.spec.own_anti_affinity()),
                None => (recorded(name, &row.row), &*row.row.anti_affinity),
            };
            here.come(self.asked, &Member { info, policy: self.asked.policy(&info), own });
            if row.state == ClusterState::Reserved {
                self.kept.push((info, &row.demand));
                continue;
            }
            if self.ongoing.contains_key(name) {
                self.leaving.insert(name, &row.demand);
            }
            here.take(&info, &row.demand);
        }
        here
    }

    /// What the clusters that move will take more than they take where they are.
    pub(super) fn kept(self) -> impl Iterator<Item = (ClusterInfo<'a>, Cow<'a, Resources>)> {
        let leaving = self.leaving;
        self.kept.into_iter().map(move |(info, there)| {
            let taking = Taking { there, elsewhere: leaving.get(info.name).copied() };
            (info, taking.of_quota())
        })
    }

    /// The document by which a row counts. One that moves is on its way to what its document says, on both
    /// workers alike.
    fn document(&self, name: &Name, row: &ClusterRow) -> Option<&'a Cluster> {
        let stays = row.state == ClusterState::Bound || self.ongoing.contains_key(name);
        self.input.fleet.clusters.get(name).filter(|_| stays)
    }
}

/// Whether a document and a row say the same of what rules read.
fn is_alike(cluster: &Cluster, row: &ClusterRow) -> bool {
    let row = &row.row;
    cluster.labels == row.labels
        && cluster.tenant == row.tenant
        && cluster.spec.location == row.location
        && cluster.spec.own_anti_affinity() == row.anti_affinity
}

/// What rules read of a row.
fn recorded<'a>(name: &'a Name, row: &'a IndexRow) -> ClusterInfo<'a> {
    ClusterInfo { name, labels: &row.labels, tenant: &row.tenant, location: &row.location }
}
