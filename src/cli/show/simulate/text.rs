//! A what-if for a terminal.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::super::findings;
use super::super::plan::{LOST, gate_words, holds_text, is_long, kept, listed, stays_text};
use super::super::tables::{Cell, table};
use super::super::{Palette, Tone};
use super::{
    ClusterDifference, ClusterStanding, SimulateView, WorkerDifference, left, rebalance, runway,
};
use crate::model::{Name, Quantity, ReasonCode};

/// The most clusters that a table lists.
const MOST_ROWS: usize = 50;

/// What would be otherwise, as text.
#[must_use]
pub fn text(view: &SimulateView<'_>, palette: Palette) -> String {
    let mut sections = vec![
        findings::text(view.findings, palette).trim_end().to_owned(),
        headline(view, palette),
        added(view),
        clusters(view, palette),
        workers(view, palette),
        waiting(view, palette),
        moving(view, palette),
        left::text(view.left, palette),
        view.request.map(|request| rebalance::text(request, palette)).unwrap_or_default(),
        holds_text(&view.holds(), &view.after.plan, palette),
        let_through(view, palette),
        gates(view, palette),
        runway::text(view.runway, palette),
        footer(view, palette),
    ];
    sections.retain(|section| !section.trim().is_empty());
    let sections: Vec<_> = sections.iter().map(|section| section.trim_end()).collect();
    sections.join("\n\n") + "\n"
}

fn headline(view: &SimulateView<'_>, palette: Palette) -> String {
    let fleet = &view.before.fleet.name;
    let mut what = view.changes.to_vec();
    what.extend(view.later.map(|time| format!("at {time}")));
    let asked = if what.is_empty() { "no change".to_owned() } else { what.join(", ") };
    let mut line = format!("What if, for {fleet}: {asked}");
    if view.is_the_same() && view.findings.is_empty() {
        line.push_str("\nNothing would be otherwise.");
    }
    if view.after.stopped && !view.before.stopped {
        line.push_str("\nNothing could be committed.");
    }
    palette.paint(Tone::Strong, &line)
}

/// The clusters that were added, each lot in a line: they are alike.
fn added(view: &SimulateView<'_>) -> String {
    let mut out = String::new();
    for (words, names) in view.added {
        let mut ends: BTreeMap<(bool, String), usize> = BTreeMap::new();
        for name in names {
            let standing = ClusterStanding::of(view.after.plan.clusters.get(name));
            let end = match &standing {
                ClusterStanding::On(worker) => (false, format!("to {worker}")),
                ClusterStanding::Waits(reasons) => {
                    (true, format!("wait: {}", ReasonCode::sentence(reasons)))
                }
                _ => (true, "do not load".to_owned()),
            };
            *ends.entry(end).or_default() += 1;
        }
        let ends: Vec<_> = ends.iter().map(|((_, end), count)| format!("{count} {end}")).collect();
        let _ = writeln!(out, "{words}: {}", ends.join("; "));
    }
    out
}

fn clusters(view: &SimulateView<'_>, palette: Palette) -> String {
    let added: BTreeSet<&Name> = view.added.iter().flat_map(|(_, names)| names).collect();
    let all: Vec<_> = view.clusters().into_iter().filter(|c| !added.contains(&c.name)).collect();
    if all.is_empty() {
        return String::new();
    }
    let rows: Vec<_> = all.iter().take(MOST_ROWS).map(row).collect();
    let mut out = table(&["cluster", "without", "with", "why"], &rows, palette);
    if all.len() > MOST_ROWS {
        let _ = writeln!(out, "… and {} more", all.len() - MOST_ROWS);
    }
    out
}

fn row(cluster: &ClusterDifference) -> Vec<Cell> {
    // What each worker has against it stands below.
    let waits = matches!(cluster.after, ClusterStanding::Waits(_)) && is_long(&cluster.why);
    let why = if waits { "no worker takes it" } else { cluster.why.as_str() };
    let tone = match (&cluster.before, &cluster.after) {
        (_, ClusterStanding::On(_)) if cluster.before.worker().is_none() => Tone::Good,
        (ClusterStanding::Waits(_), _) => Tone::Warn,
        _ => Tone::Bad,
    };
    vec![
        cluster.name.to_string().into(),
        cluster.before.words().into(),
        Cell::toned(cluster.after.words(), tone),
        why.into(),
    ]
}

fn workers(view: &SimulateView<'_>, palette: Palette) -> String {
    let all = view.workers();
    if all.is_empty() {
        return String::new();
    }
    let amounts = |of: &Option<(u64, Option<Quantity>)>| match of {
        None => "-".to_owned(),
        Some((clusters, capacity)) => {
            let capacity = capacity.map_or_else(|| "?".to_owned(), |c| c.to_string());
            format!("{clusters} of {capacity}")
        }
    };
    let row = |w: &WorkerDifference| -> Vec<Cell> {
        vec![w.name.to_string().into(), amounts(&w.before).into(), amounts(&w.after).into()]
    };
    let rows: Vec<_> = all.iter().map(row).collect();
    table(&["worker", "clusters without", "with"], &rows, palette)
}

fn waiting(view: &SimulateView<'_>, palette: Palette) -> String {
    let mut out = String::new();
    for (name, summary) in view.summaries {
        let title = palette.paint(Tone::Warn, &format!("WAITS {name}"));
        let _ = writeln!(out, "{title}: {summary}");
    }
    out
}

/// Why what leaves its worker loses what is in it, and what is named and stays.
fn moving(view: &SimulateView<'_>, palette: Palette) -> String {
    let is_lost = |name: &Name| view.after.plan.moved(name).is_none_or(|m| m.transfer.is_none());
    let moves = |after: &ClusterStanding| matches!(after, ClusterStanding::Moving { .. });
    let moves = view.clusters().iter().any(|c| moves(&c.after) && is_lost(&c.name));
    let mut out = String::new();
    if moves {
        let _ = writeln!(out, "{}: {LOST}", palette.paint(Tone::Warn, "MOVING"));
    }
    out + &stays_text(view.stays().iter(), palette)
}

fn let_through(view: &SimulateView<'_>, palette: Palette) -> String {
    let mut out = String::new();
    for hold in view.let_through() {
        let title = palette.paint(Tone::Good, &format!("NO LONGER HELD {}", hold.kind.name()));
        let _ = writeln!(out, "{title}: {}", hold.lines().join(", "));
    }
    out
}

fn gates(view: &SimulateView<'_>, palette: Palette) -> String {
    let (mut out, gates) = (String::new(), view.gates());
    for (reason, names) in kept(&gates) {
        let title = palette.paint(Tone::Warn, &format!("KEPT {}", reason.name()));
        let _ = writeln!(out, "{title}: {}\n  {}", gate_words(reason), listed(&names));
    }
    out
}

fn footer(view: &SimulateView<'_>, palette: Palette) -> String {
    let tree = palette.paint(Tone::Faint, "tree  ");
    let note = "nothing was written";
    let (before, after) = (view.before.tree, view.after.tree);
    if before == after {
        return format!("{tree} {after}, as without the changes; {note}");
    }
    format!("{tree} {after}; without the changes {before}; {note}")
}
