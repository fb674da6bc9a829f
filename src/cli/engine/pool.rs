//! An explanation of a pool, as commands show it.

use super::super::show::count;
use super::super::show::{ExplainView, MemberRow, WaitRow};
use crate::model::{Name, Pending, Pool, PoolState, amount};
use crate::plan::{PoolExplanation, PoolMember, PoolVerdict};

/// What the pool has, and why it grows and shrinks or does not.
pub(super) fn view(pool: &Pool, told: &PoolExplanation) -> ExplainView {
    let spec = &pool.spec;
    let there = told.workers.values().filter(|member| !member.row.leaving).count();
    let workers = count(there as u64, "worker");
    ExplainView {
        object: format!("pool/{}", pool.name),
        state: format!("{workers} (min {}, max {})", spec.min, spec.max),
        members: told.workers.iter().map(member).collect(),
        waiting: told.waiting.iter().map(wait).collect(),
        notes: notes(pool, told, there),
        ..ExplainView::default()
    }
}

fn member((name, member): (&Name, &PoolMember)) -> MemberRow {
    MemberRow {
        worker: name.to_string(),
        ordinal: member.row.ordinal,
        location: member.row.location.clone(),
        clusters: member.clusters,
        state: state(member),
    }
}

/// What a worker is, with since when and until when.
fn state(member: &PoolMember) -> String {
    let since = |words: &str| match &member.fact {
        Some((fact, Some(until))) => format!("{words} since {}, until {until} at most", fact.since),
        Some((fact, None)) => format!("{words} since {}", fact.since),
        None => words.to_owned(),
    };
    let is = |state: PoolState| member.fact.as_ref().is_some_and(|(fact, _)| fact.state == state);
    match member.pending {
        _ if member.row.leaving => "on its way out".to_owned(),
        None | Some(Pending::Awaited) if member.made => "made by this run".to_owned(),
        Some(Pending::Awaited) => since("being made"),
        Some(Pending::Overdue) => since("not running in time"),
        None if member.clusters == 0 && is(PoolState::Spare) => {
            since("empty for long enough to go,")
        }
        None if member.clusters == 0 && is(PoolState::Empty) => match &member.fact {
            Some((fact, Some(until))) => {
                format!("empty since {}, may go from {until} on", fact.since)
            }
            _ => since("empty"),
        },
        None => "running".to_owned(),
    }
}

fn wait((cluster, because): &(Name, PoolVerdict)) -> WaitRow {
    WaitRow { cluster: cluster.to_string(), because: because.to_string() }
}

fn notes(pool: &Pool, told: &PoolExplanation, there: usize) -> Vec<String> {
    let spec = &pool.spec;
    let each = spec.template.spec.capacity.iter().map(|(name, of)| amount(*of, name));
    let each: Vec<_> = each.collect();
    let mut notes = vec![match each.as_slice() {
        [] => "what a worker of it takes is not known: the template has no `capacity`".to_owned(),
        all => format!("each worker takes {}", all.join(", ")),
    }];
    notes.push(match &told.limit {
        Some(limit) => format!("makes none: {limit}"),
        None if told.waiting.is_empty() => {
            format!("makes none now, for no cluster waits; the next one would be {}", next(told))
        }
        None => format!("the next one would be {}", next(told)),
    });
    notes.extend(gives_up(pool, told, there));
    if told.more_waiting > 0 {
        let more = count(told.more_waiting as u64, "more cluster");
        notes.push(format!(
            "{more} behind these in the queue; `carp explain cluster/NAME` tells of each"
        ));
    }
    notes
}

/// When it gives workers up; nothing where there are none.
fn gives_up(pool: &Pool, told: &PoolExplanation, there: usize) -> Option<String> {
    let spec = &pool.spec;
    if there == 0 {
        return None;
    }
    Some(if told.keeps_all {
        "gives none up while something did not load".to_owned()
    } else if there <= spec.min as usize {
        format!("gives none up: it has its least (min {})", spec.min)
    } else {
        let cool_down = spec.cool_down.as_deref().unwrap_or("1h");
        format!(
            "gives up one at a time that has been empty for {cool_down} (coolDown), down to {}",
            spec.min
        )
    })
}

/// `us-more-4 in eastus`, for each place where it may be.
fn next(told: &PoolExplanation) -> String {
    let each: Vec<_> = told.next.iter().map(|(at, name)| format!("{name} in {at}")).collect();
    match each.as_slice() {
        [] => "none: `namePattern` gives no name".to_owned(),
        all => all.join(", or "),
    }
}
