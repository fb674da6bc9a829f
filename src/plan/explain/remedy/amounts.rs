//! The amounts of changes: raised once more, raised for others too, and cut to what was taken.

use crate::model::{Name, Quantity, Resources, Worker};
use crate::plan::assign::PlanRun;
use crate::plan::explain::Fix;
use crate::plan::pre_filter_state::PreFilterState;

/// Adds changes to a set; whether one of them is a further raise of what the set raises already.
pub(super) fn join(fixes: &mut Vec<Fix>, more: &[Fix]) -> bool {
    let mut again = false;
    for fix in more {
        if fixes.iter_mut().any(|known| raise(known, fix)) {
            again = true;
        } else if !fixes.contains(fix) {
            fixes.push(fix.clone());
        }
    }
    fixes.sort();
    again
}

/// Raises an amount by what another change raises it; whether both are about the same.
fn raise(known: &mut Fix, more: &Fix) -> bool {
    match (known, more) {
        (
            Fix::Grow { worker, resource, by } | Fix::Declare { worker, resource, amount: by },
            Fix::Grow { worker: same, resource: of, by: more },
        )
        | (
            Fix::RaiseCeiling { worker, resource, by },
            Fix::RaiseCeiling { worker: same, resource: of, by: more },
        ) if worker == same && resource == of => *by = by.plus(*more),
        (
            Fix::RaiseQuota { tenant, location, resource, by },
            Fix::RaiseQuota { tenant: same, location: at, resource: of, by: more },
        ) if tenant == same && location == at && resource == of => *by = by.plus(*more),
        (Fix::RaiseMaxSkew { key, to }, Fix::RaiseMaxSkew { key: same, to: more })
            if key == same =>
        {
            *to = (*to).max(*more);
        }
        _ => return false,
    }
    true
}

/// What those take that come first.
#[derive(Clone, Debug, Default)]
pub(super) struct QueueAhead {
    /// How many there are.
    pub(super) count: u32,
    /// What they take.
    pub(super) takes: Resources,
    /// What those of the same tenant take of them, in all and at the cluster's location.
    pub(super) of_tenant: Resources,
    pub(super) of_location: Resources,
}

/// Raises what a set raises by as much as those ahead could take.
pub(super) fn widen(fixes: &mut [Fix], ahead: &QueueAhead) {
    let of = |all: &Resources, resource: &String| crate::plan::amounts::of(all, resource);
    for fix in fixes {
        match fix {
            Fix::Grow { resource, by, .. }
            | Fix::RaiseCeiling { resource, by, .. }
            | Fix::Declare { resource, amount: by, .. } => {
                *by = by.plus(of(&ahead.takes, resource));
            }
            Fix::RaiseQuota { location, resource, by, .. } => {
                let all = if location.is_some() { &ahead.of_location } else { &ahead.of_tenant };
                *by = by.plus(of(all, resource));
            }
            Fix::RaiseMaxSkew { to, .. } => *to = to.saturating_add(ahead.count),
            _ => {}
        }
    }
}

/// Changes cut down to amounts that are no larger than what is needed. `needed` says how much that is, of
/// a change; `None` where it is not known.
pub(super) fn cut(fixes: &[Fix], needed: impl Fn(&Fix) -> Option<Quantity>) -> Vec<Fix> {
    let cut = |fix: &Fix| {
        let mut fix = fix.clone();
        let needed = needed(&fix).filter(|needed| *needed > Quantity::ZERO);
        match (&mut fix, needed) {
            (
                Fix::Grow { by, .. }
                | Fix::RaiseCeiling { by, .. }
                | Fix::Declare { amount: by, .. }
                | Fix::RaiseQuota { by, .. },
                Some(needed),
            ) => *by = needed.min(*by),
            (Fix::RaiseMaxSkew { to, .. }, Some(needed)) => {
                let needed = u32::try_from(needed.thousandths() / 1000).unwrap_or(u32::MAX);
                *to = needed.min(*to);
            }
            _ => {}
        }
        fix
    };
    fixes.iter().map(cut).collect()
}

/// By how much the domain of a cluster's worker is ahead of the one that has the fewest.
pub(super) fn skew(run: &PlanRun<'_>, name: &Name, key: &str) -> Option<u64> {
    let worker = run.clusters.get(name)?.decision.worker()?;
    let worker: &Worker = run.states.get(worker)?.worker?;
    let request = run.request_of(name)?;
    let pre_filter = PreFilterState::of(&request, &run.states, &run.states.counts);
    let over = pre_filter.spread.iter().filter(|scene| scene.refuses && scene.key == key);
    let ahead = over.filter_map(|scene| {
        let count = scene.count(crate::model::topology::domain(scene.key, worker)?)?;
        Some(count.saturating_sub(scene.min()))
    });
    ahead.max()
}
