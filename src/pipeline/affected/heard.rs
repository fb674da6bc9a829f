//! What the reports that changed may change: the clusters of which they say something else than is folded.

use std::collections::{BTreeMap, BTreeSet};

use super::super::read::{HeardReports, Read};
use crate::diag::Diagnostics;
use crate::load;
use crate::model::{Digest, FoldedReport, Name, Report, ReportsSince, Snapshot, Store, StoreError};
use crate::plan;

/// The workers whose reports changed, as they were known before.
#[derive(Clone, Default)]
pub(super) struct Heard {
    /// What is folded of each.
    pub(super) last: BTreeMap<Name, FoldedReport>,
    /// What each says now.
    reports: BTreeMap<Name, Report>,
    /// The clusters of which the reports say something else.
    pub(super) clusters: BTreeSet<Name>,
}

impl Heard {
    /// Reads what changed; `None` where a worker was never heard of, or its report cannot be used. The agent on the
    /// control plane's cluster, `hub`, speaks of workers: where it says something else of one, that is `None`, too.
    pub(super) fn read(
        snapshot: &Snapshot,
        store: &dyn Store,
        since: &ReportsSince,
        hub: Option<&str>,
    ) -> Result<Option<Self>, StoreError> {
        let Some(changed) = &since.changed else { return Ok(None) };
        let workers = changed.keys().cloned().collect();
        let prefix = &snapshot.input.prefix;
        let (last, found) = load::folded(store, snapshot.status, prefix, Some(&workers))?;
        let (reports, refused) = load::known_reports(changed, |_| true);
        let all_read = last.len() == workers.len() && reports.len() == workers.len();
        if !all_read || !found.is_empty() || !refused.is_empty() {
            return Ok(None);
        }
        let mut clusters = BTreeSet::new();
        for (worker, report) in &reports {
            let otherwise = plan::clusters_said_otherwise(&last[worker], report);
            if hub == Some(worker.as_str()) && !otherwise.is_empty() {
                return Ok(None);
            }
            clusters.extend(otherwise);
        }
        Ok(Some(Self { last, reports, clusters }))
    }

    /// These reports, beside what is folded of `workers`.
    pub(super) fn among(
        &self,
        workers: &BTreeSet<Name>,
        snapshot: &Snapshot,
        store: &dyn Store,
    ) -> Result<(HeardReports, Diagnostics), StoreError> {
        let others = workers.iter().filter(|name| !self.last.contains_key(*name));
        let others = others.cloned().collect();
        let prefix = &snapshot.input.prefix;
        let (standing, found) = load::folded(store, snapshot.status, prefix, Some(&others))?;
        let (last, said) = (self.last.clone(), Some(self.reports.clone()));
        let said = said.filter(|reports| !reports.is_empty());
        Ok((HeardReports { last, said, standing, is_part: true, ..HeardReports::default() }, found))
    }

    /// Those of which something else is folded now; `None` where one of them is another host to decisions.
    pub(super) fn folded_anew(&self, read: &Read) -> Option<BTreeSet<Name>> {
        let mut anew = BTreeSet::new();
        for (name, before) in &self.last {
            let after = read.observed.workers.get(name)?;
            if !plan::is_same_host(before, after) {
                return None;
            }
            anew.extend((before != after).then(|| name.clone()));
        }
        Some(anew)
    }

    /// The digest of what all workers say, where it was `before`.
    pub(super) fn reported(&self, before: Digest, read: &Read) -> Digest {
        let both = |(name, last): (&Name, &FoldedReport)| {
            let next = read.observed.workers.get(name);
            next.map_or(Digest::NONE, |next| last.digest().with(next.digest()))
        };
        self.last.iter().map(both).fold(before, Digest::with)
    }
}
