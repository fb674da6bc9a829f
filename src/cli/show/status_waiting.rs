//! Why clusters wait, below the tables of a status: a line for each reason, with the first of those that have it.

use std::collections::BTreeMap;

use super::first;
use super::status_view::{ClusterStatusRow, StatusView};
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Condition;
    use crate::model::api::ManagedClusterStatus;

    fn row(name: &str, status: ConditionStatus, message: &str) -> ClusterStatusRow {
        let placed = Condition {
            kind: ConditionType::Placed.name().to_owned(),
            status,
            reason: "NoWorkerFits".to_owned(),
            message: message.to_owned(),
            last_transition_time: None,
            observed_generation: None,
        };
        ClusterStatusRow {
            name: Name::parse(name).unwrap(),
            tenant: "shop".to_owned(),
            version: "v1.34.2".to_owned(),
            location: "westeurope".to_owned(),
            class: None,
            labels: [].into(),
            spec: None,
            status: ManagedClusterStatus {
                conditions: vec![placed],
                ..ManagedClusterStatus::default()
            },
        }
    }

    #[test]
    fn the_most_frequent_reason_comes_first_with_the_first_of_those_that_have_it() {
        let mut clusters: Vec<_> =
            (1..9).map(|n| row(&format!("c{n}"), ConditionStatus::False, "it is full")).collect();
        clusters.push(row("a", ConditionStatus::False, "it is closed"));
        clusters.push(row("b", ConditionStatus::True, "it is placed"));
        let view = StatusView {
            now: "2026-11-01T09:04:00Z".parse().unwrap(),
            warnings: Vec::new(),
            workers: Vec::new(),
            pools: Vec::new(),
            clusters,
        };
        assert_eq!(
            lines(&view),
            ["c1, c2, c3, c4, c5 and 3 more wait: it is full", "a waits: it is closed"]
        );
    }
}
