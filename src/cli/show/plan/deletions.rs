//! Deletions under way, in words: which step each is in, what it waits for, and what only a person can end.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::super::{Palette, Tone};
use super::{PlanView, alike, listed};
use crate::model::{Deletion, DeletionStep, Ending, Name, Plan, Progress, Stuck};

/// What a run does about a deletion, in words; `None` for one that waits or begins.
#[must_use]
pub fn progress_words(deletion: &Deletion) -> Option<&'static str> {
    Some(match (deletion.progress, deletion.step) {
        (Progress::Begins | Progress::Waits, _) => return None,
        (Progress::Steps, _) => "reported gone; step D2: its add-ons go",
        (Progress::Cancelled, Some(DeletionStep::Orphan)) => "its document is back, so it is kept",
        (Progress::Cancelled, _) => "its document came back in time; its deletion is called off",
        (Progress::Ends(how), _) => match how {
            Ending::Deleted => "reported gone; step D3: its folder and record go",
            Ending::Orphaned => "let go of; it goes on running without carp",
            Ending::Abandoned => {
                "its deletion is abandoned; what is left of it on the worker is left behind"
            }
            Ending::Detached => "it is empty, and carp renders nothing for it any more",
        },
    })
}

/// What a deletion waits for, as one line.
#[must_use]
pub fn waiting_words(deletion: &Deletion) -> String {
    let before = |word: &str| deletion.missing.as_ref().map(|missing| format!("{word}{missing}"));
    let reporter = deletion.reporter.as_ref();
    let Some(step) = deletion.step else {
        // Nothing is committed that anybody could report.
        let by = reporter.map(|name| format!(" ({name})"));
        return format!("not begun{}{}", before(": ").unwrap_or_default(), by.unwrap_or_default());
    };
    let by = reporter.map(|name| format!(" to be reported by {name}"));
    format!("step {step:?}{}{}", by.unwrap_or_default(), before("; ").unwrap_or_default())
}

/// The command that abandons exactly this set.
fn abandon_command(set: &Stuck) -> String {
    format!("carp ack abandon --count {} --digest sha256:{}", set.names.len(), set.digest())
}

/// Who should report, and what abandoning leaves behind.
fn stuck_words(set: &Stuck) -> String {
    let by = set.reporter.as_ref().map_or("the control-plane cluster", Name::as_str);
    format!("deletions whose evidence {by} should report, and may never report")
}

/// What to know before a set is abandoned.
const ABANDON_HELP: &str = "if it is gone for ever, acknowledge that: folders and records go, their \
                                room is free, and what is left on it and in the cloud is left behind; \
                                where Flux still runs, see first that it applied what is committed";

/// The deletions that wait.
pub(super) fn waiting(plan: &Plan) -> impl Iterator<Item = (&Name, &Deletion)> {
    let all = plan.deletions().into_iter();
    // What is left behind of a cluster that was handed over is told with its move.
    let leaves = |name: &Name| plan.moved(name).is_some_and(|moved| moved.transfer.is_some());
    all.filter(move |(name, deletion)| deletion.progress == Progress::Waits && !leaves(name))
}

/// The most lines of deletions that wait; the rest is counted.
const LINES: usize = 5;

/// The deletions that wait, in words: those that wait for the same together.
fn waiting_lines(plan: &Plan) -> Vec<String> {
    alike(waiting(plan).map(|(name, deletion)| (name, waiting_words(deletion))), LINES)
}

/// The workers that people took out and whose own deletion begins, goes on or ends in this run, a line each.
/// What a pool gives up is told with the pool.
fn retiring(plan: &Plan) -> Vec<String> {
    let of_a_pool = |name: &Name| plan.pools.values().any(|pool| pool.spare.contains(name));
    let words = |(name, deletion): (&Name, &Deletion)| {
        let words = match deletion.progress {
            Progress::Begins => "its document is gone and it is empty; its own cluster goes",
            _ => progress_words(deletion)?,
        };
        Some(format!("{name}: {words}"))
    };
    let workers = plan.retirements.iter().filter(|(name, _)| !of_a_pool(name));
    workers.filter_map(words).collect()
}

/// For a terminal.
pub(super) fn text(view: &PlanView<'_>, palette: Palette) -> String {
    let plan = &view.proposal.plan;
    let mut out = String::new();
    let workers = retiring(plan);
    if !workers.is_empty() {
        let title = palette.paint(Tone::Bad, "WORKERS");
        let _ = writeln!(out, "{title}: being deleted");
        for line in workers {
            let _ = writeln!(out, "  {line}");
        }
    }
    let lines = waiting_lines(plan);
    if !lines.is_empty() {
        let title = palette.paint(Tone::Warn, "DELETING");
        let _ = writeln!(out, "{title}: the next step waits for evidence");
        for line in lines {
            let _ = writeln!(out, "  {line}");
        }
    }
    for set in Stuck::sets(plan.deletions()) {
        let title = palette.paint(Tone::Warn, "STUCK");
        let _ = writeln!(out, "{title}: {}\n  {}", stuck_words(&set), listed(&set.names));
        let command = palette.paint(Tone::Strong, &abandon_command(&set));
        let _ = writeln!(out, "  help: {ABANDON_HELP}\n    {command}");
    }
    out
}

/// For a comment on a pull request.
pub(super) fn markdown(view: &PlanView<'_>) -> String {
    let plan = &view.proposal.plan;
    let all = waiting_lines(plan);
    let mut out = String::new();
    for line in retiring(plan) {
        let _ = writeln!(out, "\n> [!WARNING]\n> **Worker being deleted**: {line}");
    }
    if !all.is_empty() {
        out.push_str("\n**Being deleted**: the next step waits for evidence\n\n");
        for line in all {
            let _ = writeln!(out, "- {line}");
        }
    }
    for set in Stuck::sets(plan.deletions()) {
        let command = abandon_command(&set);
        let _ = writeln!(
            out,
            "\n> [!NOTE]\n> **Stuck**: {}: {}\n>\n> {ABANDON_HELP}\n>\n> ```sh\n> {command}\n> ```",
            stuck_words(&set),
            listed(&set.names)
        );
    }
    out
}

/// For a program.
pub(super) fn json(plan: &Plan) -> (Value, Value) {
    let deletion = |(name, deletion): (&Name, &Deletion)| {
        let ending = match deletion.progress {
            Progress::Ends(how) => Some(format!("{how:?}")),
            _ => None,
        };
        let progress = match deletion.progress {
            Progress::Begins => "Begins",
            Progress::Waits => "Waits",
            Progress::Steps => "Steps",
            Progress::Ends(_) => "Ends",
            Progress::Cancelled => "Cancelled",
        };
        json!({
            "name": name,
            "reporter": deletion.reporter,
            "step": deletion.step,
            "progress": progress,
            "ending": ending,
            "missing": deletion.missing.as_ref().map(|missing| missing.code().name()),
            "why": deletion.missing.as_ref().map(ToString::to_string),
        })
    };
    let stuck =
        |set: Stuck| json!({"reporter": set.reporter, "names": set.names, "digest": set.digest()});
    let sets = Stuck::sets(plan.deletions());
    (plan.deletions().into_iter().map(deletion).collect(), sets.into_iter().map(stuck).collect())
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::model::{ClusterPlan, Decision, Missing, Proposal, Resources};

    #[test]
    fn a_worker_that_begins_to_go_is_told() {
        let told = view_of(Progress::Begins, Some(Missing::NotApplied));
        let words = "old: its document is gone and it is empty; its own cluster goes";
        let wanted = format!(
            "WORKERS: being deleted\n  {words}\n\n> [!WARNING]\n> **Worker being deleted**: {words}\n"
        );
        assert_eq!(told, wanted);
        let ends = view_of(Progress::Ends(Ending::Detached), None);
        assert_eq!(ends.matches("renders nothing for it any more").count(), 2, "{ends}");
    }

    fn deletion(progress: Progress, missing: Option<Missing>) -> Deletion {
        let (reporter, step) = (Name::parse("w1").ok(), Some(DeletionStep::D1));
        Deletion { reporter, step, progress, missing }
    }

    /// What is said of the deletion of a worker's own cluster.
    fn view_of(progress: Progress, missing: Option<Missing>) -> String {
        let mut plan = sample::unchanged().plan;
        plan.retirements.insert(Name::parse("old").unwrap(), deletion(progress, missing));
        told(plan)
    }

    /// What is said of the deletion of a cluster.
    fn view_of_cluster(progress: Progress, missing: Option<Missing>) -> String {
        let mut plan = sample::unchanged().plan;
        let planned = ClusterPlan {
            deletion: Some(Box::new(deletion(progress, missing))),
            ..ClusterPlan::new(Decision::Forget, Resources::new())
        };
        plan.clusters.insert(Name::parse("old").unwrap(), planned);
        told(plan)
    }

    fn told(plan: Plan) -> String {
        let proposal = Proposal { plan, ..sample::unchanged() };
        let view = PlanView::of(&proposal, "fleet", "", &[]);
        format!("{}{}", text(&view, Palette::plain()), markdown(&view))
    }

    #[test]
    fn a_deletion_that_waits_says_for_what() {
        let missing = Missing::StillThere(["Cluster".to_owned()].into());
        let waits = "step D1 to be reported by w1; still there: Cluster";
        let text = format!(
            "DELETING: the next step waits for evidence\n  old: {waits}\n\n**Being deleted**: the next step \
             waits for evidence\n\n- old: {waits}\n"
        );
        assert_eq!(view_of(Progress::Waits, Some(missing)), text);
    }

    #[test]
    fn a_deletion_that_may_never_go_on_comes_with_its_command() {
        let told = view_of(Progress::Waits, Some(Missing::Silent));
        let digest = crate::model::Digest::of_names(["old"]);
        let command = format!("carp ack abandon --count 1 --digest sha256:{digest}\n");
        assert_eq!(told.matches(&command).count(), 2, "{told}");
        assert!(told.contains("STUCK: deletions whose evidence w1 should report"), "{told}");
        assert!(told.contains("**Stuck**"), "{told}");
    }

    #[test]
    fn a_deletion_that_begins_or_ends_does_not_wait() {
        assert_eq!(view_of_cluster(Progress::Begins, Some(Missing::NotApplied)), "");
        assert_eq!(view_of_cluster(Progress::Ends(Ending::Deleted), None), "");
    }
}
