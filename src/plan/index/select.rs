//! Decisions by signature: the best worker for a cluster without asking a rule, and without a pre-filter state.
//!
//! It says which worker takes a cluster, or that none does. Whatever it does not know, and why no worker takes one, is left to
//! the pre-filter state.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::cluster_rules::{ApartRule, ClusterRules, DomainsOfClass, SpreadRule};
use super::keys::RequestKey;
use super::rooms::NumberedDemand;
use super::tallies::{NumberedDomains, What};
use super::{Index, is_known};
use crate::model::api::SpreadConstraint;
use crate::model::{Cluster, topology};
use crate::plan::candidate::Request;
use crate::plan::counts::{NumberedParts, RuleOwnerPlace};
use crate::plan::filter::MEMBERSHIP;
use crate::plan::group::{AntiAffinityTerm, Group, Values};
use crate::plan::lookup::LookupMap;
use crate::plan::pick::Selection;
use crate::plan::quota;
use crate::plan::worker_states::WorkerStates;

/// What is known of a signature.
#[derive(Clone, Debug, Default)]
pub(super) enum KnownRules<'a> {
    /// Nobody asked yet.
    #[default]
    Nothing,
    /// The rules are left to the pre-filter state.
    Unsuited,
    /// The rules.
    Rules(Box<ClusterRules<'a>>),
}

/// How many places of workers the rules of a signature take about as much room as.
const ROOM: usize = 64;

impl<'a> Index<'a> {
    /// What is known of a cluster with this signature and these parts of groups. The request may be that of another one with
    /// this signature.
    pub(in crate::plan) fn select(
        &mut self,
        request: &Request<'a>,
        (cluster, signature): (&'a Cluster, usize),
        parts: NumberedParts<'_>,
        states: &WorkerStates<'a>,
    ) -> Selection {
        self.renew(states);
        if !states.have_documents() {
            return Selection::Unknown;
        }
        if self.rules.len() <= signature {
            self.rules.resize_with(signature + 1, KnownRules::default);
        }
        if matches!(self.rules[signature], KnownRules::Nothing) {
            let new = self.cluster_rules(request, states).map(Box::new);
            self.classes.kept += ROOM;
            self.rules[signature] = new.map_or(KnownRules::Unsuited, KnownRules::Rules);
        }
        let KnownRules::Rules(rules) = &mut self.rules[signature] else {
            return Selection::Unknown;
        };
        if !quota::refusals(request, &states.counts).is_empty() {
            return Selection::Refused;
        }
        let open = &mut self.open;
        open.clear();
        if !rules.is_plain() {
            open.resize(self.classes.list[rules.class].domains.samples.len(), Some(0));
        }
        for (rule, part) in rules.spread.iter_mut().zip(parts.spread) {
            let Some(part) = *part else { return Selection::Unknown };
            rule.close(open, part, &mut self.tallies, states);
        }
        let mut apart_by_worker = Vec::new();
        for (rule, part) in rules.apart.iter().zip(parts.apart) {
            let part = states.counts.of_rule(rule.owner, *part, cluster);
            let Some(part) = part else { continue };
            if !rule.close(open, part) {
                apart_by_worker.push(part);
            }
        }
        let accept = |place: usize| apart_by_worker.iter().all(|part| part.on(place) == 0);
        let accept = (!apart_by_worker.is_empty()).then_some(&accept as &dyn Fn(usize) -> bool);
        let demand = NumberedDemand { number: rules.demand, amounts: request.demand() };
        let open = (!open.is_empty()).then_some(&**open);
        let found = self.classes.best(rules.class, demand, open, accept, states);
        found.into_selected().map_or(Selection::Refused, Selection::Selected)
    }

    /// Takes note of a worker that has just been given a cluster with this signature.
    pub(in crate::plan) fn take(
        &mut self,
        place: usize,
        signature: usize,
        states: &WorkerStates<'a>,
    ) {
        if let Some(KnownRules::Rules(rules)) = self.rules.get(signature) {
            self.classes.rooms.take(place, rules.demand, states);
        }
    }

    /// After how many bindings a domain may have opened last that a constraint refuses to a cluster with this signature; `None`
    /// where the pre-filter state is to say.
    pub(in crate::plan) fn min_raised(
        &mut self,
        signature: usize,
        parts: NumberedParts<'_>,
        states: &WorkerStates<'a>,
    ) -> Option<u64> {
        let KnownRules::Rules(rules) = self.rules.get_mut(signature)? else { return None };
        let refusing = rules.spread.iter_mut().zip(parts.spread).filter(|(rule, _)| rule.refuses);
        let mut raised = 0;
        for (rule, part) in refusing {
            raised = rule.min_raised((*part)?, &mut self.tallies, states).max(raised);
        }
        Some(raised)
    }

    /// A cluster with this signature waits for the fewest to rise of what its constraints count; `false` where the pre-filter state is
    /// to say which ones.
    pub(in crate::plan) fn watch(
        &mut self,
        signature: usize,
        parts: NumberedParts<'_>,
        states: &WorkerStates<'a>,
    ) -> bool {
        let Some(KnownRules::Rules(rules)) = self.rules.get_mut(signature) else { return false };
        let refusing = rules.spread.iter_mut().zip(parts.spread).filter(|(rule, _)| rule.refuses);
        for (rule, part) in refusing {
            let Some(part) = *part else { return false };
            self.watched.add(part, rule.tally(part, &mut self.tallies, states));
        }
        true
    }

    /// A number that is another than before where a domain may have opened to one that waits.
    pub(in crate::plan) fn rises(&mut self, states: &WorkerStates<'a>) -> u64 {
        self.watched.rises(&mut self.tallies, states)
    }

    /// What the rules are for clusters like this one; `None` where they are left to the pre-filter state.
    fn cluster_rules(
        &mut self,
        request: &Request<'a>,
        states: &WorkerStates<'a>,
    ) -> Option<ClusterRules<'a>> {
        if !is_known(request, states) || !self.by_worker.is_empty() {
            return None;
        }
        let constraints: Vec<_> = request.spread().collect();
        let apart = anti_affinity(request, states)?;
        if constraints.iter().any(|(_, group)| states.counts.place(group).is_none()) {
            return None;
        }
        let of_workers = |key: &str| key == topology::WORKER;
        if constraints.iter().any(|(rule, _)| of_workers(&rule.topology_key))
            || apart.iter().any(|(_, term)| of_workers(term.key) && !term.refuses)
        {
            return None;
        }
        let key = self.keys.of(request);
        let members = key.only(self.columns.mask(&MEMBERSHIP));
        let columns = &mut self.columns;
        self.tallies.members(members, || columns.membership(&MEMBERSHIP, key, request, states));
        let of_spread = constraints.iter().map(|(rule, _)| &*rule.topology_key);
        let domains = of_spread.chain(apart.iter().map(|(_, term)| term.key));
        let domains: BTreeSet<&str> = domains.filter(|key| !of_workers(key)).collect();
        let domains: Vec<&str> = domains.into_iter().collect();
        let key = self.keys.within(key, &domains);
        let class = self.class(key, request, &domains, states);
        let apart = apart.into_iter().map(|(owner, term)| ApartRule {
            refuses: term.refuses,
            owner,
            domains: (!of_workers(term.key)).then(|| self.domains(class, term.key, states)),
        });
        let apart = apart.collect();
        let spread = self.spread_rules(request, &constraints, (members, class), states);
        Some(ClusterRules { demand: key.demand(), class, spread, apart })
    }

    fn spread_rules(
        &mut self,
        request: &Request<'a>,
        constraints: &[(&'a SpreadConstraint, Group<'a>)],
        (members, class): (RequestKey, usize),
        states: &WorkerStates<'a>,
    ) -> Vec<SpreadRule<'a>> {
        let refusing = constraints.iter().filter(|(rule, _)| rule.when_unsatisfiable.refuses());
        let needed: Vec<&str> = refusing.map(|(rule, _)| &*rule.topology_key).collect();
        let info = request.info();
        let rule = |(rule, group): &(&'a SpreadConstraint, Group<'a>)| SpreadRule {
            refuses: rule.when_unsatisfiable.refuses(),
            max_skew: u64::from(rule.max_skew),
            itself: u64::from(group.has(&info)),
            domains: self.domains(class, &rule.topology_key, states).0,
            what: What {
                members,
                topology: &rule.topology_key,
                needed: needed.clone(),
                group: *group,
                values: Values::default(),
            },
            tallies: LookupMap::default(),
        };
        constraints.iter().map(rule).collect()
    }

    /// The domains that a key makes of the domains of a class, and of all workers.
    fn domains(
        &mut self,
        class: usize,
        key: &'a str,
        states: &WorkerStates<'a>,
    ) -> (DomainsOfClass, Rc<NumberedDomains<'a>>) {
        let all = self.tallies.domains(key, states);
        let samples = &self.classes.list[class].domains.samples;
        let new = || samples.iter().map(|place| all.of[*place]).collect();
        let of_class = self.domains.entry((class, key)).or_insert_with(new);
        (Rc::clone(of_class), all)
    }
}

/// The rules of anti-affinity that are about a cluster, with who has them; `None` where one is not counted.
fn anti_affinity<'a>(
    request: &Request<'a>,
    states: &WorkerStates<'a>,
) -> Option<Vec<(RuleOwnerPlace, AntiAffinityTerm<'a>)>> {
    let (counts, info) = (&states.counts, request.info());
    let own = request.anti_affinity();
    let own = own.map(|term| Some((RuleOwnerPlace::Own(counts.place(&term.group)?), term)));
    let placed = counts.anti_affinity_with(&info);
    let placed: Vec<_> =
        placed.map(|(rule, term)| Some((RuleOwnerPlace::Placed(rule), term))).collect();
    own.chain(placed).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plan::laws::{Seen, todays_steps};
    use crate::plan::pre_filter_state::PreFilterState;
    use crate::plan::{SearchMode, cycle};

    /// The fewest in a domain, by each constraint that refuses workers to a cluster.
    fn fewest(request: &Request<'_>, states: &WorkerStates<'_>) -> Vec<u64> {
        let state = PreFilterState::of(request, states, &states.counts);
        let refusing = state.spread.iter().filter(|spread| spread.refuses);
        refusing.map(|spread| spread.counts.values().copied().min().unwrap_or(0)).collect()
    }

    #[test]
    fn the_fewest_are_seen_to_rise_when_the_pre_filter_state_has_more() {
        let (raised, same) = <(Seen, Seen)>::default();
        todays_steps(|world, _| {
            let input = world.input();
            let mut run = cycle::begin(&input).by(SearchMode::Index);
            run.sign();
            let Some(mut index) = Index::new(&world.fleet) else { return Ok(()) };
            let queue: Vec<_> = run.alike().collect();
            let mut states = run.states.clone();
            let mut was = Vec::new();
            for (cluster, alike, parts) in &queue {
                let request = run.request(cluster);
                index.select(&request, (cluster, alike.signature()), *parts, &states);
                index.min_raised(alike.signature(), *parts, &states);
                was.push(fewest(&request, &states));
            }
            for (cluster, alike, parts) in &queue {
                let request = run.request(cluster);
                let signed = (*cluster, alike.signature());
                let selection = index.select(&request, signed, *parts, &states);
                let Selection::Selected(selected) = selection else { continue };
                states.assume(selected.place(), request.info(), *parts, &cluster.demand);
                index.take(selected.place(), alike.signature(), &states);
                for ((other, alike, parts), was) in queue.iter().zip(&mut was) {
                    let now = fewest(&run.request(other), &states);
                    let is_more = now.iter().zip(&*was).any(|(now, was)| now > was);
                    *was = now;
                    if let Some(at) = index.min_raised(alike.signature(), *parts, &states) {
                        let is_raised = at == states.counts.now();
                        prop_assert_eq!(is_raised, is_more, "{}", other.name);
                        if is_more { raised.note(1) } else { same.note(1) }
                    }
                }
            }
            Ok(())
        });
        raised.at_least_of(100);
        same.at_least_of(1000);
    }
}
