//! The commit message: what changed, why, and from what.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use jiff::Timestamp;

use crate::diag::visible;
use crate::model::{
    Change, ClusterPlan, ClusterState, Decision, Deletion, DeletionStep, Digest, Drifted, Ending,
    Gate, Hold, Id, MoveProgress, Name, Plan, Previous, Progress, ReasonCode, count, paths,
};

/// How many lines of one sort, and how many names of one hold, a message lists before it counts the rest.
const MOST_LINES: usize = 50;

/// What a message speaks of.
#[derive(Clone, Copy, Debug)]
pub struct MessageInput<'a> {
    /// The decisions.
    pub plan: &'a Plan,
    /// What the output branch said.
    pub previous: &'a Previous,
    /// What changes there.
    pub changes: &'a [Change],
    /// The fleet's root in its repository.
    pub prefix: &'a str,
    /// What kept its last good folder.
    pub gates: &'a [Gate],
    /// What was edited by hand and is as it was again.
    pub set_back: &'a [Drifted],
    /// How many clusters wait in the whole fleet.
    pub pending: u64,
}

/// The message without trailers: a subject with counts, and a body that says why.
#[must_use]
pub fn commit_message(of: MessageInput<'_>) -> String {
    let MessageInput { plan, previous, prefix, gates, set_back, .. } = of;
    let mut lines = decision_lines(plan, previous);
    lines.extend(step_lines(plan, previous, gates));
    lines.extend(move_lines(plan));
    lines.extend(deletion_lines(plan));
    let mut out = subject(of);
    let mut sections = vec![lines];
    sections.push(plan.holds.iter().map(|hold| hold_line(hold, plan)).collect());
    sections.push(gates.iter().map(gate_line).collect());
    sections.push(set_back.iter().map(|drifted| set_back_line(drifted, prefix)).collect());
    for section in sections.iter().filter(|s| !s.is_empty()) {
        out.push('\n');
        for line in section.iter().take(MOST_LINES) {
            // A name of others, such as a file's, is one line whatever stands in it: it adds no trailer.
            let _ = writeln!(out, "{}", visible::line(line));
        }
        if section.len() > MOST_LINES {
            let _ = writeln!(out, "… and {} more", section.len() - MOST_LINES);
        }
    }
    out
}

/// A message with one more section of lines, such as what its updates do.
#[must_use]
pub fn with_lines(message: &str, lines: &[String], more: usize) -> String {
    let mut out = message.to_owned();
    if !lines.is_empty() {
        out.push('\n');
    }
    let left = lines.len().saturating_sub(MOST_LINES);
    for line in lines.iter().take(MOST_LINES) {
        let _ = writeln!(out, "{}", visible::line(line));
    }
    if left > 0 {
        let _ = writeln!(out, "… and {left} more");
    }
    if more > 0 {
        let _ = writeln!(out, "… and {}", count(more as u64, "more cluster"));
    }
    out
}

/// `carp: 3 workers, +2 -1 ~4 clusters`: those that are placed, whose deletion begins, and whose folder is another.
/// Whose last folder goes is none of these any more: `, 1 gone`.
fn subject(of: MessageInput<'_>) -> String {
    let MessageInput { plan, previous, pending, .. } = of;
    let (workers, touched) = touched(of);
    let is = |wanted: fn(&Decision) -> bool| -> BTreeSet<&str> {
        let all = plan.clusters.iter().filter(|(_, p)| wanted(&p.decision));
        all.map(|(name, _)| name.as_str()).collect()
    };
    let added = is(|d| matches!(d, Decision::Bind(_)));
    let going: BTreeSet<&str> = starting(plan, previous).map(Name::as_str).collect();
    let forgotten = is(|d| matches!(d, Decision::Forget));
    let gone = forgotten.intersection(&touched).count();
    let told = |name: &&&str| [&added, &going, &forgotten].iter().any(|set| set.contains(**name));
    let edited = touched.len() - touched.iter().filter(told).count();
    let (added, going) = (added.len(), going.len());
    let workers = count(workers.len() as u64, "worker");
    let plural = if added + going + edited == 1 { "" } else { "s" };
    let mut subject = format!("carp: {workers}, +{added} -{going} ~{edited} cluster{plural}");
    for (number, word) in [(gone as u64, "gone"), (pending, "pending")] {
        if number > 0 {
            let _ = write!(subject, ", {number} {word}");
        }
    }
    subject.push('\n');
    subject
}

/// The workers of which something changes, their own cluster's folder included, and the clusters whose folder does.
fn touched(of: MessageInput<'_>) -> (BTreeSet<&str>, BTreeSet<&str>) {
    let root = paths::in_repository(of.prefix, "");
    let known = |name: &&str| {
        of.plan.workers.contains_key(*name) || of.previous.workers.contains_key(*name)
    };
    let (mut workers, mut clusters) = (BTreeSet::new(), BTreeSet::new());
    for change in of.changes {
        let mut parts = change.path.strip_prefix(&root).unwrap_or(&change.path).split('/');
        match parts.next() {
            Some(paths::WORKERS) => {
                workers.extend(parts.next());
                let below = (parts.next() == Some(paths::CLUSTERS)).then(|| parts.next());
                clusters.extend(below.flatten());
            }
            Some(paths::CONTROL_PLANE) => workers.extend(parts.next().filter(known)),
            _ => {}
        }
    }
    (workers, clusters)
}

fn starting<'a>(plan: &'a Plan, previous: &'a Previous) -> impl Iterator<Item = &'a Name> {
    plan.clusters.iter().filter_map(|(name, planned)| {
        let Decision::Delete { worker, .. } = &planned.decision else { return None };
        let row = previous.workers.get(worker)?.clusters.get(name)?;
        (row.state == ClusterState::Bound).then_some(name)
    })
}

fn decision_lines(plan: &Plan, previous: &Previous) -> Vec<String> {
    let starts: Vec<_> = starting(plan, previous).collect();
    let line = |(name, planned): (&Name, &ClusterPlan)| match &planned.decision {
        Decision::Bind(binding) => {
            let mut line = format!("bind {name} to {}", binding.worker);
            if let (Some(term), Some(second)) = (binding.decided_by, &binding.runner_up) {
                let _ = write!(line, " ({term}, before {second})");
            }
            Some(line)
        }
        Decision::Delete { worker, step: DeletionStep::Orphan } if starts.contains(&name) => {
            Some(format!("let go of {name} on {worker}: Flux is to leave it alone"))
        }
        Decision::Delete { worker, .. } if starts.contains(&name) => {
            Some(format!("begin the deletion of {name} on {worker}"))
        }
        Decision::Wait { reasons, .. } if !waited_alike(name, reasons, previous) => {
            Some(format!("{name} waits: {}", ReasonCode::sentence(reasons)))
        }
        Decision::Forget if previous.pending.clusters.contains_key(name) => {
            Some(format!("forget {name}, which was pending"))
        }
        Decision::Forget if planned.deletion.is_some() => None,
        Decision::Forget => Some(format!("forget {name}, of which nothing was made")),
        _ => None,
    };
    plan.clusters.iter().filter_map(line).collect()
}

/// The clusters whose folders come a step nearer to the desired version, or arrive there.
fn step_lines(plan: &Plan, previous: &Previous, gates: &[Gate]) -> Vec<String> {
    let kept: BTreeSet<&Name> = gates.iter().map(|gate| &gate.name).collect();
    let line = |(name, planned): (&Name, &ClusterPlan)| {
        let Decision::Keep { worker } = &planned.decision else { return None };
        let row = previous.workers.get(worker)?.clusters.get(name)?;
        let before = row.rendered_versions();
        match (&planned.version, &row.versions) {
            (Some(step), _) if step.versions != before => Some(format!("{name}: {}", step.words())),
            (None, Some(stepped)) => {
                Some(format!("{name}: the last step from {}", stepped.versions))
            }
            _ => None,
        }
        .filter(|_| !kept.contains(name))
    };
    plan.clusters.iter().filter_map(line).collect()
}

/// The moves that begin, arrive or are called off.
fn move_lines(plan: &Plan) -> Vec<String> {
    let line = |(name, planned): (&Name, &ClusterPlan)| {
        let moved = planned.moved.as_ref()?;
        let told = match (&planned.decision, moved.progress) {
            (_, MoveProgress::Leaves | MoveProgress::Starts) if !moved.advances() => return None,
            (Decision::Move { step, .. }, _) => moved.words(name, *step),
            (_, _) => moved.words(name, None),
        };
        Some(format!("{name} {told}"))
    };
    plan.clusters.iter().filter_map(line).collect()
}

/// What becomes of deletions that began earlier, and of workers.
fn deletion_lines(plan: &Plan) -> Vec<String> {
    let called_off = |name: &Name| {
        plan.moved(name).is_some_and(|moved| {
            moved.progress == MoveProgress::CalledOff || moved.transfer.is_some()
        })
    };
    let line = |(name, deletion): (&Name, &Deletion)| {
        if called_off(name) {
            return None;
        }
        let on = match &deletion.reporter {
            Some(worker) => format!(" on {worker}"),
            None => String::new(),
        };
        Some(match deletion.progress {
            Progress::Begins if plan.workers.contains_key(name) => {
                format!("begin the deletion of the worker {name}")
            }
            Progress::Begins | Progress::Waits => return None,
            Progress::Steps => format!("{name} is reported gone{on}: its add-ons go"),
            Progress::Cancelled => format!("call off the deletion of {name}{on}"),
            Progress::Ends(Ending::Deleted) => format!("the deletion of {name}{on} is complete"),
            Progress::Ends(Ending::Orphaned) => {
                format!("{name} is let go of{on}, and runs without carp")
            }
            Progress::Ends(Ending::Abandoned) => {
                format!("ABANDON the deletion of {name}{on}: what is left of it stays behind")
            }
            Progress::Ends(Ending::Detached) => {
                format!("the worker {name} is empty, and gets nothing any more")
            }
        })
    };
    plan.deletions().into_iter().filter_map(line).collect()
}

fn waited_alike(name: &Name, reasons: &BTreeSet<ReasonCode>, previous: &Previous) -> bool {
    previous.pending.clusters.get(name).is_some_and(|row| row.reasons == *reasons)
}

fn hold_line(hold: &Hold, plan: &Plan) -> String {
    let lines = plan.lines_of(hold);
    let named = lines.len().min(MOST_LINES);
    let more = match lines.len() - named {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (kind, words) = (hold.kind.name(), hold.words());
    format!("held {kind}: {words}: {}{more}", lines[..named].join(", "))
}

fn gate_line(gate: &Gate) -> String {
    format!("kept {}: {}: {}", gate.reason.name(), gate.reason.words(), gate.name)
}

fn set_back_line(drifted: &Drifted, prefix: &str) -> String {
    let path = paths::in_repository(prefix, &drifted.path);
    format!("SET BACK {path}, which was {} by hand", drifted.edit)
}

/// The trailers of an output commit, in their order: see `docs/formats.md`.
#[must_use]
pub fn trailers(
    input: Option<Id>,
    observed: Option<Id>,
    now: Timestamp,
    version: &str,
    plan: Digest,
) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    all.extend(input.map(|id| ("Carp-Input", id.to_string())));
    all.extend(observed.map(|id| ("Carp-Observed", id.to_string())));
    all.push(("Carp-Time", now.to_string()));
    all.push(("Carp-Version", version.to_owned()));
    all.push(("Carp-Plan", format!("sha256:{plan}")));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::HoldKind;

    #[test]
    fn the_title_counts_what_is_placed_edited_and_gone_each_once() {
        let name = |text: &str| Name::parse(text).unwrap();
        let bind = Decision::Bind(crate::model::Binding {
            worker: name("w1"),
            policy: None,
            decided_by: None,
            runner_up: None,
            group: None,
        });
        let mut plan = Plan::default();
        let keep = Decision::Keep { worker: name("w1") };
        for (cluster, decision) in [("new", bind), ("other", keep), ("gone", Decision::Forget)] {
            let demand = crate::model::Resources::new();
            let planned = ClusterPlan::new(decision, demand);
            plan.clusters.insert(name(cluster), planned);
        }
        let change = |path: &str| Change {
            path: path.to_owned(),
            kind: crate::model::ChangeKind::Update,
            before: None,
            after: None,
        };
        // The new one waits for its worker, so that nothing of it is rendered yet.
        let changes = [
            change("eu/workers/w1/clusters/other/cluster.yaml"),
            change("eu/workers/w1/clusters/gone/cluster.yaml"),
            change("eu/control-plane/fleet.lock"),
        ];
        let title = subject(MessageInput {
            plan: &plan,
            previous: &Previous::default(),
            changes: &changes,
            prefix: "eu",
            gates: &[],
            set_back: &[],
            pending: 0,
        });
        assert_eq!(title, "carp: 1 worker, +1 -0 ~1 clusters, 1 gone\n");
    }

    #[test]
    fn a_long_hold_names_the_first_and_counts_the_rest() {
        let names = (100..160).map(|i| format!("c{i}")).collect();
        let mut hold = Hold { kind: HoldKind::MassDeletion, names, allowed: Some(3) };
        let line = hold_line(&hold, &Plan::default());
        let words =
            "held MassDeletion: more deletions than `guards.maxDeletions` allows: c100, c101";
        assert!(line.starts_with(&format!("{words}, ")), "{line}");
        assert!(line.ends_with(", c149 and 10 more"), "{line}");
        hold.names.truncate(2);
        assert_eq!(hold_line(&hold, &Plan::default()), words);
    }

    #[test]
    fn lines_are_added_as_a_section_and_what_is_left_out_is_counted() {
        let lines: Vec<_> = (0..60).map(|n| format!("update c{n}: label a\nb")).collect();
        let message = with_lines("carp: x\n", &lines, 4000);
        assert!(message.starts_with("carp: x\n\nupdate c0: label a␊b\n"), "{message}");
        assert!(
            message.ends_with("update c49: label a␊b\n… and 10 more\n… and 4,000 more clusters\n")
        );
        assert_eq!(with_lines("carp: x\n", &[], 0), "carp: x\n");
    }

    #[test]
    fn a_name_of_others_is_one_line_and_shows_what_it_is() {
        let evil = Hold {
            kind: HoldKind::MassDeletion,
            names: vec!["a\n\nCarp-Input: 0000".to_owned(), "b\u{202e}c".to_owned()],
            allowed: None,
        };
        let plan = Plan { holds: vec![evil], ..Plan::default() };
        let message = commit_message(MessageInput {
            plan: &plan,
            previous: &Previous::default(),
            changes: &[],
            prefix: "",
            gates: &[],
            set_back: &[],
            pending: 0,
        });
        assert!(message.contains("a␊␊Carp-Input: 0000, b\u{fffd}c\n"), "{message}");
        assert!(!message.contains("\nCarp-Input"), "{message}");
    }
}
