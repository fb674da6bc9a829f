//! Moves under way and what is named and stays, in words.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::super::{Palette, Tone};
use super::{PlanView, alike, listed};
use crate::model::{
    Blocker, ClusterPlan, Decision, Move, MoveCause, MoveProgress, Name, Plan, Stay, thousands,
};

/// What every move costs.
pub(in crate::cli::show) const LOST: &str =
    "what is in these clusters is lost: each is made anew, and empty";

/// What a hand-over costs.
const HANDED_OVER: &str =
    "these clusters go to another worker as they are; nothing in them is lost";

/// The most lines of one sort; the rest is counted.
const LINES: usize = 5;

/// The moves that began and did not arrive, in words: those that go the same way together. `handed_over`: of the
/// clusters that go as they are, and not of those that are made anew.
fn moves(plan: &Plan, handed_over: bool) -> Vec<String> {
    let under_way = |moved: &Move| {
        matches!(moved.progress, MoveProgress::Begins | MoveProgress::Leaves)
            && moved.transfer.is_some() == handed_over
    };
    let words = |name: &Name, planned: &ClusterPlan| {
        let Decision::Move { step, .. } = planned.decision else { return None };
        let moved = planned.moved.as_ref().filter(|moved| under_way(moved))?;
        Some(moved.words(name, step))
    };
    let moves = plan.clusters.iter();
    alike(moves.filter_map(|(name, planned)| Some((name, words(name, planned)?))), LINES)
}

/// What is named and stays, by worker, by what names it and by why it stays.
fn stays<'a>(all: impl Iterator<Item = (&'a Name, &'a Stay)>) -> Vec<String> {
    let mut groups: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for (name, stay) in all {
        let key = (&stay.worker, stay.cause, &stay.blocker);
        groups.entry(key).or_default().push(name.to_string());
    }
    let line = |((worker, cause, blocker), names): ((&Name, MoveCause, &Blocker), Vec<String>)| {
        let (code, why) = (blocker.name(), blocker.of_clusters(names.len()));
        format!("{worker} {}; {}: {why} ({code})", cause.words(), listed(&names))
    };
    let more = groups.values().skip(LINES).map(Vec::len).sum::<usize>();
    let mut lines: Vec<_> = groups.into_iter().take(LINES).map(line).collect();
    if more > 0 {
        lines.push(format!("and {} more", thousands(more as u64)));
    }
    lines
}

/// For a terminal.
pub(super) fn text(view: &PlanView<'_>, palette: Palette) -> String {
    let plan = &view.proposal.plan;
    section(&moves(plan, false), "MOVING", LOST, palette)
        + &section(&moves(plan, true), "HANDING OVER", HANDED_OVER, palette)
        + &stays_text(plan.stays(), palette)
}

/// What is named and stays, for a terminal.
pub(in crate::cli::show) fn stays_text<'a>(
    all: impl Iterator<Item = (&'a Name, &'a Stay)>,
    palette: Palette,
) -> String {
    section(&stays(all), "STAYS", "these are named and do not move", palette)
}

fn section(lines: &[String], title: &str, what: &str, palette: Palette) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut out = format!("{}: {what}\n", palette.paint(Tone::Warn, title));
    for line in lines {
        let _ = writeln!(out, "  {line}");
    }
    out
}

/// For a comment on a pull request.
pub(super) fn markdown(view: &PlanView<'_>) -> String {
    let plan = &view.proposal.plan;
    let mut out = String::new();
    let sections = [
        (
            moves(plan, false),
            "**Moving**: what is in these clusters is lost: each is made anew, and empty",
        ),
        (
            moves(plan, true),
            "**Handing over**: these clusters go to another worker as they are; nothing in them is lost",
        ),
        (stays(plan.stays()), "**Staying**: these are named and do not move"),
    ];
    for (lines, title) in sections.into_iter().filter(|(lines, _)| !lines.is_empty()) {
        let _ = writeln!(out, "\n{title}\n");
        for line in lines {
            let _ = writeln!(out, "- {line}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::model::{Binding, DeletionStep, Resources};

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    #[test]
    fn a_move_says_what_is_lost_and_a_cluster_that_stays_says_why() {
        let mut proposal = sample::unchanged();
        let binding = Binding {
            worker: name("w2"),
            policy: None,
            decided_by: None,
            runner_up: None,
            group: None,
        };
        let (from, cause) = (name("w1"), MoveCause::Drain);
        let progress = MoveProgress::Begins;
        let step = Some(DeletionStep::D1);
        let decision = Decision::Move { from: from.clone(), step, binding: binding.into() };
        let (to, demand) = (name("w2"), crate::model::Resources::new());
        let moved =
            Move { from: from.clone(), to, cause, progress, demand, awaited: true, transfer: None };
        let plan = &mut proposal.plan;
        let planned = ClusterPlan {
            moved: Some(Box::new(moved)),
            ..ClusterPlan::new(decision, Resources::new())
        };
        plan.clusters.insert(name("a"), planned);
        for held in ["b", "c"] {
            let blocker = Blocker::NotMovable;
            let stay = Stay { worker: from.clone(), cause, blocker };
            let keep = Decision::Keep { worker: from.clone() };
            let planned = ClusterPlan {
                stay: Some(Box::new(stay)),
                ..ClusterPlan::new(keep, Resources::new())
            };
            plan.clusters.insert(name(held), planned);
        }
        let view = PlanView::of(&proposal, "fleet", "", &[]);
        insta::assert_snapshot!(text(&view, Palette::plain()), @r"
        MOVING: what is in these clusters is lost: each is made anew, and empty
          a: leaves w1, which is drained: it is deleted there (step D1), and once that is reported a new, empty cluster is made on w2
        STAYS: these are named and do not move
          w1 is drained; b, c: their state is on the worker, and `onWorkerLoss` is not `Rebuild` (NotMovable)
        ");
        assert!(markdown(&view).contains("- a: leaves w1"));
    }
}
