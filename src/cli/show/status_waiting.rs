//! Why clusters wait, below the tables of a status: a line for each reason, with the first of those that have it.

use std::collections::BTreeMap;

use super::plan::first;
use super::status::{ClusterStatusRow, StatusView};
use crate::model::{ConditionStatus, ConditionType, Name};

/// How many names stand in a line, and how many lines there are.
const NAMES: usize = 5;
const LINES: usize = 10;

/// `a, b and 3 more wait: all workers have too little room (Capacity)`; the most frequent reason first.
pub(super) fn lines(view: &StatusView) -> Vec<String> {
    let mut alike: BTreeMap<&str, Vec<&Name>> = BTreeMap::new();
    for row in &view.clusters {
        if let Some(why) = why(row) {
            alike.entry(why).or_default().push(&row.name);
        }
    }
    let mut alike: Vec<_> = alike.into_iter().collect();
    alike.sort_by_key(|(why, names)| (std::cmp::Reverse(names.len()), *why));
    let rest: usize = alike.iter().skip(LINES).map(|(_, names)| names.len()).sum();
    let line = |(why, names): &(&str, Vec<&Name>)| {
        let verb = if names.len() == 1 { "waits" } else { "wait" };
        format!("{} {verb}: {why}", first(names, NAMES))
    };
    let mut lines: Vec<_> = alike.iter().take(LINES).map(line).collect();
    if rest > 0 {
        lines.push(format!("{} more for other reasons", super::count(rest as u64, "cluster")));
    }
    lines
}

/// What the condition says of a cluster that no worker takes.
fn why(row: &ClusterStatusRow) -> Option<&str> {
    let mut conditions = row.status.conditions.iter();
    let placed = conditions.find(|c| c.kind == ConditionType::Placed.name())?;
    let waits = placed.status == ConditionStatus::False && !placed.message.is_empty();
    waits.then_some(placed.message.as_str())
}
