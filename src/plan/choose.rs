//! One cluster against all workers.

use std::collections::BTreeSet;

use super::candidate::{Candidate, Request};
use super::counts::{Counts, NumberedParts};
use super::index::Index;
use super::pick::{Pick, Ranks, SelectedWorker, Selection};
use super::pre_filter_state::PreFilterState;
use super::worker_states::WorkerStates;
use super::{SearchMode, SoleWorker, filter, score};
use crate::model::{Cluster, Fleet, ReasonCode};

/// How many clusters of a run are compared with every worker before an index is worth its making.
const FEW: u64 = 4;

/// How the workers are found in a run: by the plain scan, or by the index, which says the same.
#[derive(Clone, Debug)]
pub(super) struct WorkerSearch<'a> {
    way: SearchMode,
    fleet: &'a Fleet,
    sole: Option<SoleWorker<'a>>,
    /// Where among the workers that one is, once that was asked.
    sole_place: Option<usize>,
    index: Option<Box<Index<'a>>>,
    expected: u64,
    asked: u64,
    indexed: u64,
}

impl<'a> WorkerSearch<'a> {
    /// For the clusters of a fleet.
    pub(super) fn of(fleet: &'a Fleet) -> Self {
        Self {
            way: SearchMode::default(),
            fleet,
            sole: None,
            sole_place: None,
            index: None,
            expected: 0,
            asked: 0,
            indexed: 0,
        }
    }

    /// Of one worker, where it is the only one.
    pub(super) fn among(self, sole: Option<SoleWorker<'a>>) -> Self {
        Self { sole, ..self }
    }

    /// In that way.
    pub(super) fn by(self, way: SearchMode) -> Self {
        Self { way, ..self }
    }

    /// For so many clusters, as far as that is known before the first one is looked at.
    pub(super) fn expect(&mut self, clusters: usize) {
        self.expected = clusters as u64;
    }

    /// Takes note of a cluster that is refused as another one was that is like it.
    pub(super) fn note_known(&mut self) {
        self.asked += 1;
        self.indexed += 1;
    }

    /// Whether there will be an index.
    pub(super) fn has_index(&self) -> bool {
        match self.way {
            SearchMode::Scan => false,
            SearchMode::Index => true,
            SearchMode::Either => self.asked.max(self.expected) >= FEW,
        }
    }

    /// How often a worker was looked for, and how often of that the index knew.
    pub(super) fn searched(&self) -> (u64, u64) {
        (self.asked, self.indexed)
    }

    /// Whether no worker takes a cluster, now or later in the run. That costs less to know than why, which nobody asks where there
    /// is one worker alone.
    pub(super) fn is_out_of_reach(
        &mut self,
        request: &Request<'_>,
        states: &WorkerStates<'a>,
    ) -> bool {
        let is_sole = |sole: &SoleWorker<'_>| sole.is_sole_by_rules(request, &states.counts);
        let Some(sole) = self.sole.filter(is_sole) else { return false };
        self.sole_place = self.sole_place.or_else(|| states.place(sole.worker));
        self.sole_place.is_none_or(|place| filter::refuses_for_good(request, states.at(place)))
    }

    /// What a cluster meets that depends on what is placed.
    pub(super) fn pre_filter(
        &mut self,
        request: &Request<'a>,
        states: &WorkerStates<'a>,
    ) -> PreFilterState<'a> {
        match self.index() {
            Some(index) => index.pre_filter(request, states),
            None => PreFilterState::of(request, states, &states.counts),
        }
    }

    /// What is known of a cluster with a signature without asking any worker, by what one asks for that is like it.
    pub(super) fn select(
        &mut self,
        request: &Request<'a>,
        signed: (&'a Cluster, usize),
        parts: NumberedParts<'_>,
        states: &WorkerStates<'a>,
    ) -> Selection {
        let Some(index) = self.index() else { return Selection::Unknown };
        let selection = index.select(request, signed, parts, states);
        if matches!(selection, Selection::Selected(_)) {
            self.asked += 1;
            self.indexed += 1;
        }
        selection
    }

    /// Takes note of a worker that has just been given a cluster with a signature.
    pub(super) fn take(&mut self, place: usize, signature: usize, states: &WorkerStates<'a>) {
        if let Some(index) = &mut self.index {
            index.take(place, signature, states);
        }
    }

    /// After how many bindings a domain may have opened last to a cluster with a signature, where that is known.
    pub(super) fn min_raised(
        &mut self,
        signature: usize,
        parts: NumberedParts<'_>,
        states: &WorkerStates<'a>,
    ) -> Option<u64> {
        self.index()?.min_raised(signature, parts, states)
    }

    /// A refused cluster with a signature waits for the fewest to rise; `false` where it is not known of which constraint.
    pub(super) fn watch(
        &mut self,
        signature: usize,
        parts: NumberedParts<'_>,
        states: &WorkerStates<'a>,
    ) -> bool {
        self.index().is_some_and(|index| index.watch(signature, parts, states))
    }

    /// A number that is another than before where a domain may have opened to a refused cluster that waits for that.
    pub(super) fn rises(&mut self, states: &WorkerStates<'a>) -> u64 {
        self.index().map_or(0, |index| index.rises(states))
    }

    /// Picks the best of the workers that can take a cluster, with what it meets; none can for these
    /// reasons.
    pub(super) fn choose(
        &mut self,
        request: &Request<'a>,
        pre_filter: &PreFilterState<'a>,
        states: &WorkerStates<'a>,
    ) -> Result<SelectedWorker, BTreeSet<ReasonCode>> {
        if let Some(sole) = self.sole.filter(|sole| sole.is_sole_for(request, pre_filter)) {
            let workers = states.get(sole.worker).into_iter();
            let pick = choose_among(&request.within(pre_filter), workers);
            return pick.map(|pick| SelectedWorker::of(&pick, states));
        }
        let told = self.index().and_then(|index| index.choose(request, pre_filter, states));
        self.asked += 1;
        self.indexed += u64::from(told.is_some());
        told.unwrap_or_else(|| {
            let pick = choose(&request.within(pre_filter), states);
            pick.map(|pick| SelectedWorker::of(&pick, states))
        })
    }

    /// The index, where it is worth its making.
    fn index(&mut self) -> Option<&mut Index<'a>> {
        let wanted = self.has_index();
        if wanted && self.index.is_none() {
            self.index = Index::new(self.fleet).map(Box::new);
        }
        self.index.as_deref_mut().filter(|_| wanted)
    }
}

impl SoleWorker<'_> {
    /// Whether no other worker can take a cluster: nothing that those read is another. What is on this worker may now be in
    /// another domain, and what its tenant has left is counted over all workers.
    fn is_sole_for(&self, request: &Request<'_>, pre_filter: &PreFilterState<'_>) -> bool {
        let is_alone = pre_filter.spread.is_empty() && pre_filter.apart.is_empty();
        is_alone && self.is_as_it_was(request)
    }

    /// Whether that is so whatever the cluster meets: it meets nothing.
    pub(super) fn is_sole_by_rules(&self, request: &Request<'_>, counts: &Counts<'_>) -> bool {
        let is_alone = request.spread().next().is_none()
            && request.anti_affinity().next().is_none()
            && counts.existing_anti_affinity(&request.info()).next().is_none();
        is_alone && self.is_as_it_was(request)
    }

    fn is_as_it_was(&self, request: &Request<'_>) -> bool {
        let is_another = Some(&request.cluster.name) == self.cluster
            || request.policy.is_some_and(|policy| Some(&policy.name) == self.policy);
        let is_of_groups = request.groups().next().is_some();
        !is_another && !is_of_groups && request.quota.is_none()
    }
}

/// The plain scan, which says what is right.
pub(super) fn choose(
    request: &Request<'_>,
    states: &WorkerStates<'_>,
) -> Result<Pick, BTreeSet<ReasonCode>> {
    choose_among(request, states.considered())
}

fn choose_among<'c, 'a: 'c>(
    request: &Request<'_>,
    candidates: impl Iterator<Item = &'c Candidate<'a>>,
) -> Result<Pick, BTreeSet<ReasonCode>> {
    let mut ranks = Ranks::default();
    let mut codes = BTreeSet::new();
    let mut reasons = Vec::new();
    let mut workers = 0_usize;
    for candidate in candidates {
        workers += 1;
        reasons.clear();
        filter::refuse(request, candidate, &mut reasons);
        match candidate.worker {
            Some(worker) if reasons.is_empty() => {
                ranks.add(score::rank(request, candidate, worker));
            }
            _ => codes.extend(reasons.iter().map(crate::model::Reason::code)),
        }
    }
    if workers == 0 {
        codes.insert(ReasonCode::NoWorkers);
    }
    ranks.into_pick().ok_or(codes)
}
