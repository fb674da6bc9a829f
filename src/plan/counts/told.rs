//! The counts as the context has them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};

use super::{Counts, GroupPart, PartCounts, Parts, Usage};
use crate::model::Resources;
use crate::plan::group::{self, AntiAffinityTerm, Group};
use crate::plan::policy::Policies;

impl<'a> Counts<'a> {
    /// What decisions can depend on: the counts that the policies ask for, those that these rows ask for,
    /// what keeps newcomers away, and what the tenants take.
    pub(in crate::plan) fn context<'s>(
        &'s self,
        policies: &Policies<'a>,
        rows: impl Iterator<Item = Group<'a>>,
    ) -> CountsContext<'s> {
        let of_policies = policies.all().flat_map(|policy| {
            let spread = group::spread_of(policy).map(|(_, group)| group);
            spread.chain(group::anti_affinity_of(policy).map(|term| term.group))
        });
        let asked: BTreeSet<Group<'a>> = of_policies.chain(rows).collect();
        let places = asked.iter().filter_map(|group| self.asked.place(group)).collect();
        let tenants = self.tenants.iter().map(|(tenant, usage)| (*tenant, usage));
        let tenants: BTreeMap<&str, &Usage<'_>> = tenants.collect();
        CountsContext {
            groups: count_rows(self.asked.groups(), &self.groups, Some(&places)),
            keepers: count_rows(self.asked.anti_affinity(), &self.keepers, None),
            tenants: tenants.into_iter().map(|(t, u)| (t, &u.total, &u.locations)).collect(),
        }
    }
}

/// The values of a part, and how many clusters there are by the place of the worker, of which the context has all in that order.
struct PartRow<'s>(&'s [&'s str], &'s PartCounts<'s>);

impl Serialize for PartRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.0, ByWorker(self.1)).serialize(serializer)
    }
}

struct ByWorker<'s>(&'s PartCounts<'s>);

impl Serialize for ByWorker<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // There may be as many parts as clusters, so nothing is put together for those that are on one worker.
        if self.0.workers().nth(1).is_none() {
            return serializer.collect_seq(self.0.workers());
        }
        let by_place: BTreeMap<usize, usize> = self.0.workers().collect();
        serializer.collect_seq(by_place)
    }
}

/// A group or rule, and its parts.
type CountRow<'s, K> = (&'s K, Vec<PartRow<'s>>);

/// The counts as the context has them.
#[derive(Serialize)]
pub(in crate::plan) struct CountsContext<'s> {
    groups: Vec<CountRow<'s, Group<'s>>>,
    keepers: Vec<CountRow<'s, AntiAffinityTerm<'s>>>,
    tenants: Vec<(&'s str, &'s Resources, &'s BTreeMap<&'s str, Resources>)>,
}

/// The counts by group or rule, of those at these places.
fn count_rows<'s, 'a, K>(
    rules: &'s [K],
    parts: &'s Parts<'a>,
    places: Option<&BTreeSet<usize>>,
) -> Vec<CountRow<'s, K>> {
    let asked = |place: &usize| places.is_none_or(|places| places.contains(place));
    let told = parts.iter().filter(|((place, _), part)| asked(place) && !part.is_empty());
    let mut sorted: Vec<(&GroupPart<'a>, &PartCounts<'a>)> = told.collect();
    sorted.sort_unstable_by_key(|(part, _)| *part);
    let part = |(part, counts): &(&'s GroupPart<'a>, &'s PartCounts<'a>)| PartRow(&part.1, counts);
    let by_rule = sorted.chunk_by(|one, other| one.0.0 == other.0.0);
    by_rule.map(|of| (&rules[of[0].0.0], of.iter().map(part).collect())).collect()
}
