//! The workers of a plan, as lines.

use std::collections::BTreeMap;

use super::{FileCount, PlanView, WorkerChange};
use crate::model::{Name, Progress, Reason, WorkerState, count, thousands};

/// So many workers stand each on a line of its own.
const EACH: usize = 5;

/// A line: a worker, or all of them.
pub(super) struct WorkerLine {
    /// The worker, or how many there are.
    pub(super) who: String,
    /// How many clusters before and after, of how many that it can have.
    pub(super) clusters: String,
    /// The files that change.
    pub(super) files: FileCount,
}

impl PlanView<'_> {
    /// The workers that change, with a word between before and after; many are one line.
    pub(super) fn worker_lines(&self, to: &str) -> Vec<WorkerLine> {
        let one = |w: &WorkerChange| {
            let capacity = w.capacity.map_or_else(|| "?".to_owned(), |c| c.to_string());
            let clusters = format!("{}{to}{} of {capacity}", w.before, w.after);
            WorkerLine { who: w.name.to_string(), clusters, files: w.files }
        };
        let mut lines: Vec<_> = match self.workers.len() {
            ..=EACH => self.workers.iter().map(one).collect(),
            many => {
                let sum = |of: fn(&WorkerChange) -> u64| self.workers.iter().map(of).sum::<u64>();
                let (before, after) = (sum(|w| w.before), sum(|w| w.after));
                let files = FileCount {
                    create: sum(|w| w.files.create),
                    update: sum(|w| w.files.update),
                    delete: sum(|w| w.files.delete),
                };
                let who = count(many as u64, "worker");
                vec![WorkerLine {
                    who,
                    clusters: format!("{}{to}{}", thousands(before), thousands(after)),
                    files,
                }]
            }
        };
        lines.extend(self.leaving());
        if self.control_plane.total() > 0 {
            let (who, clusters) = ("(control plane)".to_owned(), "-".to_owned());
            lines.push(WorkerLine { who, clusters, files: self.control_plane });
        }
        lines
    }

    /// The workers that are empty and whose own deletion begins, or goes a step on. Their own folders say nothing
    /// of it: what changes is the control plane's.
    fn leaving(&self) -> impl Iterator<Item = WorkerLine> {
        let plan = &self.proposal.plan;
        let goes = |name: &&Name| {
            let deletion = plan.retirements.get(*name);
            deletion.is_some_and(|deletion| deletion.progress != Progress::Waits)
        };
        let retiring = plan.workers.iter().filter(|(_, p)| p.state == WorkerState::Retiring);
        let told = |name: &&Name| self.workers.iter().any(|worker| worker.name == **name);
        retiring.map(|(name, _)| name).filter(goes).filter(move |name| !told(name)).map(|name| {
            let clusters = "being removed".to_owned();
            WorkerLine { who: name.to_string(), clusters, files: FileCount::default() }
        })
    }

    /// The placed clusters whose policy would not place them there now, by why.
    pub(super) fn violations(&self) -> BTreeMap<String, Vec<&Name>> {
        let mut alike: BTreeMap<String, Vec<_>> = BTreeMap::new();
        for (name, reasons) in self.proposal.plan.violations() {
            let words: Vec<_> = reasons.iter().map(Reason::to_string).collect();
            alike.entry(words.join("; ")).or_default().push(name);
        }
        alike
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::model::{Deletion, DeletionStep, Resources, WorkerPlan};

    #[test]
    fn an_empty_worker_whose_deletion_begins_stands_in_the_table() {
        let mut proposal = sample::unchanged();
        let name = Name::parse("w7").unwrap();
        let worker = WorkerPlan {
            state: WorkerState::Retiring,
            capacity: Resources::new(),
            reserved: Resources::new(),
            ceiling: Resources::new(),
            allocated: Resources::new(),
            clusters: 0,
            pending: None,
        };
        proposal.plan.workers.insert(name.clone(), worker);
        let lines = |progress| {
            let deletion =
                Deletion { reporter: None, step: Some(DeletionStep::D1), progress, missing: None };
            let mut proposal = proposal.clone();
            proposal.plan.retirements.insert(name.clone(), deletion);
            let view = PlanView::of(&proposal, "", "", &[]);
            let lines = view.worker_lines(" -> ").into_iter();
            lines.map(|line| format!("{}: {}", line.who, line.clusters)).collect::<Vec<_>>()
        };
        assert!(lines(Progress::Begins).contains(&"w7: being removed".to_owned()));
        assert!(!lines(Progress::Waits).contains(&"w7: being removed".to_owned()));
    }
}
