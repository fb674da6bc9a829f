//! Serving the queue.

use std::collections::BTreeSet;

use super::super::candidate::Request;
use super::super::pick::{SelectedWorker, Selection};
use super::super::pre_filter::Floor;
use super::super::pre_filter_state::PreFilterState;
use super::super::queue::Waiting;
use super::super::signature::AlikeNumber;
use super::line::Line;
use super::{PlanRun, QueueingHint, Refused};
use crate::model::{Name, ReasonCode};

impl<'a> PlanRun<'a> {
    /// Places what can be placed, always the first in the queue that fits, and returns what cannot. Stops
    /// before a cluster of this name would be placed.
    pub(in crate::plan) fn serve(&mut self, until: Option<&Name>) -> Vec<Refused<'a>> {
        self.sign();
        let queue = std::mem::take(&mut self.queue);
        self.bound.reserve(queue.len());
        self.states.expect(queue.len());
        let queue = queue.into_iter().map(|waiting| {
            let row = waiting.row.filter(|_| waiting.known);
            Refused::before(waiting, row.map(|row| row.reasons.clone()))
        });
        let (mut refused, mut stopped) = self.pass(queue, until);
        // What fits nowhere now may fit once a worker has grown.
        if !stopped && self.states.grow() {
            (refused, stopped) = self.pass(again(refused).into_iter(), until);
        }
        // What fits nowhere else is given to what pools are making, and waits there.
        if !stopped && self.states.reserve() {
            refused = self.pass(again(refused).into_iter(), until).0;
        }
        self.states.add_up();
        refused
    }

    /// Serves some clusters. Returns those that go on waiting, and whether it stopped before the one that
    /// it is to stop before.
    fn pass(
        &mut self,
        queue: impl Iterator<Item = Refused<'a>>,
        until: Option<&Name>,
    ) -> (Vec<Refused<'a>>, bool) {
        let mut refused = Line::default();
        for mut one in queue {
            let waiting = one.waiting;
            if one.alike().is_some_and(|alike| refused.join(waiting, alike)) {
                self.choice.note_known();
                continue;
            }
            let selection = self.select(&one);
            if let Selection::Refused = selection
                && let Some(before) = self.refused_before(waiting)
            {
                self.choice.note_known();
                refused.add(before);
                continue;
            }
            let pick = if let Selection::Selected(selected) = selection {
                Some(selected)
            } else {
                let request = self.request_in_queue(&waiting);
                if self.choice.is_out_of_reach(&request, &self.states) {
                    continue;
                }
                if one.known { self.retry_of(&mut one) } else { self.look(&mut one, &request) }
            };
            let Some(pick) = pick else {
                refused.add(one);
                continue;
            };
            if until == Some(&waiting.cluster.name) {
                return (refused.into_vec(), true);
            }
            self.bind(waiting, pick);
            if self.requeue_unblocked(&mut refused, until) {
                return (refused.into_vec(), true);
            }
        }
        while let Some((at, pick)) = self.first_that_fits(&mut refused) {
            let waiting = refused.remove_first(at);
            if until == Some(&waiting.cluster.name) {
                return (refused.into_vec(), true);
            }
            self.bind(waiting, pick);
        }
        (refused.into_vec(), false)
    }

    /// After a binding: places those that it lets in, always the first in the queue. Whether the cluster
    /// of this name is next.
    fn requeue_unblocked(&mut self, refused: &mut Line<'a>, until: Option<&Name>) -> bool {
        loop {
            let mut unblocked = self.unblocked_in_queue(refused);
            let next = loop {
                if unblocked.is_empty() {
                    return false;
                }
                let at = unblocked.remove(0);
                if let Some(pick) = refused.change(at, |one| self.retry_unblocked(one)).flatten() {
                    break (at, pick);
                }
            };
            // Those behind it are looked at after it, and their floors say no more that they rose.
            for at in unblocked {
                refused.change(at, |one| one.hint = QueueingHint::Any);
            }
            let waiting = refused.remove_first(next.0);
            if until == Some(&waiting.cluster.name) {
                return true;
            }
            self.bind(waiting, next.1);
        }
    }

    /// The refused clusters that the last binding may have let in.
    fn unblocked_in_queue(&mut self, refused: &mut Line<'a>) -> Vec<usize> {
        if refused.has_no_spread() {
            return Vec::new();
        }
        let last = self.states.counts.last_worker().and_then(|place| self.states.get_at(place));
        let Some(worker) = last.and_then(|candidate| candidate.worker) else { return Vec::new() };
        let rises = self.choice.rises(&self.states);
        let is_raised = std::mem::replace(&mut self.rises, rises) != rises;
        let has_risen = |one: &mut Refused<'a>| match &mut one.hint {
            QueueingHint::Any => true,
            QueueingHint::Floors(floors) => {
                for floor in &mut *floors {
                    floor.note(worker, &self.states.counts);
                }
                floors.iter().any(Floor::has_risen)
            }
            QueueingHint::Since(bindings) => {
                let since = *bindings;
                self.min_raised(one).is_none_or(|raised| raised > since)
            }
        };
        refused.of_spread(is_raised, has_risen)
    }

    /// What may let a cluster in that was just refused with what it meets.
    fn queueing_hint(
        &mut self,
        one: &Refused<'a>,
        pre_filter: &PreFilterState<'a>,
    ) -> QueueingHint<'a> {
        let watch = self.watch(one);
        watch.unwrap_or_else(|| QueueingHint::Floors(pre_filter.floors(&self.states.counts)))
    }

    /// At the end: the first that fits, those before it being brought up to date. There is none, for all
    /// that a binding lets in was placed after it; but nothing is left out on that ground.
    fn first_that_fits(&mut self, refused: &mut Line<'a>) -> Option<(usize, SelectedWorker)> {
        let found = refused.first(|one| self.retry_of(one));
        debug_assert!(found.is_none(), "a binding let one in, and nobody looked");
        found
    }

    /// Looks at a cluster again that may have been let in. Where it was not, it is brought up to date at the end.
    fn retry_unblocked(&mut self, one: &mut Refused<'a>) -> Option<SelectedWorker> {
        match self.select(one) {
            Selection::Selected(selected) => {
                one.hint = QueueingHint::Any;
                Some(selected)
            }
            Selection::Refused => {
                one.hint = self.watch(one).unwrap_or(QueueingHint::Any);
                None
            }
            Selection::Unknown => self.retry_of(one),
        }
    }

    /// Looks at a cluster again where something has changed on which its refusal stands.
    fn retry_of(&mut self, one: &mut Refused<'a>) -> Option<SelectedWorker> {
        let is_changed = self.changed_for(one) > one.compared;
        is_changed.then(|| self.retry(one, &self.request_in_queue(&one.waiting))).flatten()
    }

    fn retry(&mut self, one: &mut Refused<'a>, request: &Request<'a>) -> Option<SelectedWorker> {
        let now = self.states.counts.now();
        let pre_filter = self.choice.pre_filter(request, &self.states);
        let was = one
            .grounds
            .take()
            .unwrap_or_else(|| PreFilterState::of(request, &self.states, &self.before).grounds());
        let is = pre_filter.grounds();
        if was != is
            && let Some(selected) = self.choose(one, request, &pre_filter)
        {
            // Those that are like it were refused on other grounds than these.
            (one.grounds, one.hint) = (Some(was), QueueingHint::Any);
            return Some(selected);
        }
        one.compared = now;
        one.hint = self.queueing_hint(one, &pre_filter);
        one.grounds = Some(is);
        None
    }

    /// Looks at a cluster.
    fn look(&mut self, one: &mut Refused<'a>, request: &Request<'a>) -> Option<SelectedWorker> {
        let pre_filter = self.choice.pre_filter(request, &self.states);
        let pick = self.choose(one, request, &pre_filter);
        if pick.is_none() {
            one.compared = self.states.counts.now();
            one.grounds = Some(pre_filter.grounds());
            one.hint = self.queueing_hint(one, &pre_filter);
            self.note_refused(one);
        }
        pick
    }

    fn choose(
        &mut self,
        one: &mut Refused<'a>,
        request: &Request<'a>,
        pre_filter: &PreFilterState<'a>,
    ) -> Option<SelectedWorker> {
        match self.choice.choose(request, pre_filter, &self.states) {
            Ok(pick) => Some(pick),
            Err(reasons) => {
                one.reasons = reasons;
                one.placed = self.bindings;
                one.evaluated = true;
                None
            }
        }
    }
}

/// Those that were looked at, to be looked at anew: more is free than before. What is known of the others
/// was so with all that there is.
fn again<'a>(refused: Vec<Refused<'a>>) -> Vec<Refused<'a>> {
    let anew = |one: Refused<'a>| -> Refused<'a> {
        if one.evaluated { Refused::before(one.waiting, None) } else { one }
    };
    refused.into_iter().map(anew).collect()
}

impl<'a> Refused<'a> {
    /// A cluster of which nothing is known but, perhaps, why it waited before the first one was placed.
    pub(super) fn before(waiting: Waiting<'a>, reasons: Option<BTreeSet<ReasonCode>>) -> Self {
        Self {
            waiting,
            known: reasons.is_some(),
            reasons: reasons.unwrap_or_default(),
            placed: 0,
            evaluated: false,
            compared: 0,
            grounds: None,
            hint: QueueingHint::Any,
        }
    }

    /// With whom it is alike, where something is to be found out of it.
    pub(super) fn alike(&self) -> Option<AlikeNumber> {
        self.waiting.alike.filter(|_| !self.known)
    }
}
