//! The counts as the context has them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Counts, Parts};
use crate::model::{Name, Resources};
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
        let places = asked.iter().filter_map(|group| self.asked.place(group));
        let groups = places.map(|place| (&self.asked.groups()[place], &self.groups[place]));
        let keepers = self.asked.anti_affinity().iter().zip(&self.keepers);
        CountsContext {
            groups: groups.flat_map(|(group, parts)| rows_of(group, parts)).collect(),
            keepers: keepers.flat_map(|(term, parts)| rows_of(term, parts)).collect(),
            tenants: self.tenants.iter().map(|(t, u)| (*t, &u.total, &u.locations)).collect(),
        }
    }
}

/// A group or rule, the values of a part of it, and how many clusters there are by worker.
type CountRow<'s, K> = (&'s K, &'s [&'s str], Vec<(&'s Name, usize)>);

/// The counts as the context has them.
#[derive(Serialize)]
pub(in crate::plan) struct CountsContext<'s> {
    groups: Vec<CountRow<'s, Group<'s>>>,
    keepers: Vec<CountRow<'s, AntiAffinityTerm<'s>>>,
    tenants: Vec<(&'s str, &'s Resources, &'s BTreeMap<&'s str, Resources>)>,
}

fn rows_of<'s, K>(of: &'s K, parts: &'s Parts<'_>) -> impl Iterator<Item = CountRow<'s, K>> {
    parts.iter().filter(|(_, part)| !part.there.is_empty()).map(move |(values, part)| {
        let by_worker = part.there.iter().map(|(worker, names)| (*worker, names.len()));
        (of, values.as_slice(), by_worker.collect())
    })
}
