//! A plan for a terminal.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::super::findings::{self, SeverityTally};
use super::super::tables::{Cell, fit_last, table};
use super::super::wrap::to_width;
use super::super::{Palette, Tone, count};
use super::{
    Action, ChangeGroup, FileDiff, PlanView, WorkerLine, ack_command, against, certificate,
    deletions, gate_words, hold_words, limits, listed, moving, pool_lines, spent,
};
use crate::model::{Hold, HoldKind, Name, Plan, Work, thousands};

/// The plan as text.
#[must_use]
pub fn text(view: &PlanView<'_>, palette: Palette) -> String {
    let found = findings::text(&findings::folded_into_help(view.findings), palette);
    // Excerpts of files stand as they are.
    found + &to_width(&planned(view, palette), view.width)
}

fn planned(view: &PlanView<'_>, palette: Palette) -> String {
    let mut out = palette.paint(Tone::Strong, &headline(view)) + "\n";
    out.push_str(&against::text(view.against, palette));
    section(&mut out, &clusters(view, palette));
    section(&mut out, &workers(view, palette));
    section(&mut out, &pools(view, palette));
    section(&mut out, &view.form_words());
    section(&mut out, &steps(view, palette));
    section(&mut out, &limits::violations(view, palette));
    section(&mut out, &limits::text(view, palette));
    section(&mut out, &moving::text(view, palette));
    section(&mut out, &deletions::text(view, palette));
    section(&mut out, &certificate::text(view, palette));
    section(&mut out, &holds_text(&view.holds(), &view.proposal.plan, palette));
    section(&mut out, &gates(view, palette));
    section(&mut out, &spent::text(view, palette));
    section(&mut out, &footer(view, palette));
    out
}

fn section(out: &mut String, text: &str) {
    if !text.is_empty() {
        let _ = write!(out, "\n{text}");
    }
}

fn headline(view: &PlanView<'_>) -> String {
    let fleet = view.fleet();
    if view.proposal.stopped {
        return format!(
            "No plan for {fleet}: nothing can be decided, and nothing may be committed"
        );
    }
    if !view.proposal.has_changes() && view.held() == 0 {
        return format!("Plan for {fleet}: no changes; {} waiting", thousands(view.waiting));
    }
    let counts: Vec<_> = [Action::Create, Action::Move, Action::Update, Action::Delete]
        .iter()
        .map(|action| format!("{} to {}", thousands(view.count(*action)), action.name()))
        .collect();
    let nodes = view.nodes_words().map(|nodes| format!("; {nodes}")).unwrap_or_default();
    let gone = [view.forgotten_words(), view.workers_words()];
    let gone = gone.iter().flatten().fold(String::new(), |said, words| said + "; " + words);
    format!(
        "Plan for {fleet}: {}{gone}; {} waiting; {} held{nodes}",
        counts.join(", "),
        thousands(view.waiting),
        thousands(view.held())
    )
}

const fn tone(action: Action) -> Tone {
    match action {
        Action::Delete | Action::Move => Tone::Bad,
        Action::Create => Tone::Good,
        Action::Update | Action::Wait => Tone::Warn,
        Action::Forget => Tone::Faint,
    }
}

fn clusters(view: &PlanView<'_>, palette: Palette) -> String {
    if view.groups.is_empty() {
        return String::new();
    }
    let end = |workers: &BTreeSet<Name>| -> Cell {
        ChangeGroup::end(workers).unwrap_or_else(|| "-".to_owned()).into()
    };
    let row = |group: &ChangeGroup| {
        let action = Cell::toned(group.action.name(), tone(group.action));
        let why = limits::in_a_row(group).into();
        vec![group.who().into(), action, end(&group.from), end(&group.to), why]
    };
    let rows: Vec<_> = view.groups.iter().map(row).collect();
    fit_last(&["cluster", "action", "from", "to", "why"], &rows, view.width, palette)
}

fn workers(view: &PlanView<'_>, palette: Palette) -> String {
    let row = |worker: &WorkerLine| -> Vec<Cell> {
        vec![
            worker.who.clone().into(),
            worker.clusters.clone().into(),
            worker.files.to_string().into(),
        ]
    };
    let rows: Vec<_> = view.worker_lines(" -> ").iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    table(&["worker", "clusters", "files"], &rows, palette)
}

/// The workers that pools make and give up.
fn pools(view: &PlanView<'_>, palette: Palette) -> String {
    let mut out = String::new();
    for line in pool_lines(&view.proposal.plan) {
        let tone = if line.starts_with('+') { Tone::Good } else { Tone::Warn };
        let _ = writeln!(out, "{}", palette.paint(tone, &line));
    }
    out
}

/// The clusters on their way to another version, also those that only wait in this run.
fn steps(view: &PlanView<'_>, palette: Palette) -> String {
    let mut alike: BTreeMap<_, Vec<&Name>> = BTreeMap::new();
    for (name, step) in view.proposal.plan.versions() {
        let key = (step.waits.name(), step.words(), step.waits_words());
        alike.entry(key).or_default().push(name);
    }
    let mut out = String::new();
    for ((waits, words, why), names) in alike {
        let title = palette.paint(Tone::Warn, &format!("STEP {waits}"));
        let _ = writeln!(out, "{title}: {}, {words}\n  {why}", listed(&names));
    }
    out
}

/// What guards held, and what lets it through.
#[must_use]
pub fn holds_text(holds: &[Hold], plan: &Plan, palette: Palette) -> String {
    let mut out = String::new();
    for hold in holds {
        let words = hold_words(hold);
        let title = palette.paint(Tone::Bad, &format!("HELD {}", hold.kind.name()));
        let allowed = hold.allowed.map(|allowed| match hold.kind {
            // These count machines or clusters, and name objects.
            HoldKind::ObjectsRemoved | HoldKind::MachinesReplaced => {
                format!(" ({allowed} allowed)")
            }
            _ => format!(" ({} asked for, {allowed} allowed)", hold.names.len()),
        });
        let _ = writeln!(out, "{title}: {}{}", words.what, allowed.unwrap_or_default());
        let _ = writeln!(out, "  {}", listed(&plan.lines_of(hold)));
        let _ = writeln!(out, "  help: {}", words.remedy);
        if let Some(command) = ack_command(hold) {
            let _ = writeln!(out, "    {}", palette.paint(Tone::Strong, &command));
        }
    }
    out
}

fn gates(view: &PlanView<'_>, palette: Palette) -> String {
    let mut out = String::new();
    for (reason, names) in view.kept() {
        let title = palette.paint(Tone::Warn, &format!("KEPT {}", reason.name()));
        let _ = writeln!(out, "{title}: {}\n  {}", gate_words(reason), listed(&names));
    }
    out
}

fn footer(view: &PlanView<'_>, palette: Palette) -> String {
    let proposal = view.proposal;
    let valid =
        proposal.valid_until.map_or_else(|| "for ever".to_owned(), |t| format!("until {t}"));
    let mut lines = vec![
        ("tree", proposal.tree.to_string()),
        ("files", view.files.to_string()),
        ("valid", valid),
        ("work", work(proposal.work)),
    ];
    // What was not decided changes nothing, and is valid at no time.
    lines.retain(|(word, _)| !proposal.stopped || !["files", "valid"].contains(word));
    let tally = SeverityTally::of(view.findings.iter().map(|f| f.severity));
    if let Some(found) = findings::summary(tally, palette) {
        lines.push(("found", found));
    }
    let mut out = String::new();
    for (word, value) in lines {
        let _ = writeln!(out, "{} {value}", palette.paint(Tone::Faint, &format!("{word:<6}")));
    }
    out
}

/// What changes in the files.
#[must_use]
pub fn diffs_text(diffs: &[FileDiff], palette: Palette) -> String {
    let mut out = String::new();
    for diff in diffs {
        let _ = writeln!(out, "\n{}", palette.paint(Tone::Strong, &diff.path));
        for line in diff.text.lines() {
            let tone = match line.as_bytes().first() {
                Some(b'+') => Some(Tone::Good),
                Some(b'-') => Some(Tone::Bad),
                Some(b'@') => Some(Tone::Faint),
                _ => None,
            };
            let line = tone.map_or_else(|| line.to_owned(), |tone| palette.paint(tone, line));
            let _ = writeln!(out, "{line}");
        }
    }
    out
}

/// What was done, as one line.
pub(super) fn work(work: Work) -> String {
    let Work { blobs_parsed, clusters_planned, clusters_rendered, objects_written, .. } = work;
    format!(
        "{} parsed, {} planned, {} rendered, {} written",
        count(blobs_parsed, "file"),
        count(clusters_planned, "cluster"),
        thousands(clusters_rendered),
        count(objects_written, "object"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::{PlanView, sample};
    use super::*;

    #[test]
    fn a_plan_reads_from_what_changes_to_what_is_held() {
        let proposal = sample::proposal();
        let findings = findings::tests::findings();
        let view = PlanView::of(&proposal, "fleet-repo-example", "eu", &findings[..1]);
        insta::assert_snapshot!(text(&view, Palette::plain()));
    }

    #[test]
    fn on_a_terminal_no_line_is_wider() {
        let proposal = sample::proposal();
        let mut view = PlanView::of(&proposal, "fleet-repo-example", "eu", &[]);
        let whole = text(&view, Palette::plain());
        for width in [60, 80, 100] {
            view.width = Some(width);
            let fitted = text(&view, Palette::plain());
            let is_command = |line: &&str| line.trim_start().starts_with("carp ");
            let mut lines = fitted.lines().filter(|line| !is_command(line));
            assert!(lines.all(|line| line.chars().count() <= width), "{fitted}");
            let words = |text: &str| {
                let mut words: Vec<_> = text.split_whitespace().map(str::to_owned).collect();
                words.sort();
                words
            };
            let lost = words(&whole).into_iter().filter(|word| !words(&fitted).contains(word));
            assert_eq!(lost.filter(|word| word != "WHY").collect::<Vec<_>>(), [""; 0]);
        }
    }

    #[test]
    fn large_numbers_are_written_as_people_write_them() {
        let mut proposal = sample::proposal();
        proposal.counts.pending = 12_345;
        let mut view = PlanView::of(&proposal, "fleet", "", &[]);
        let change = view.clusters[0].clone();
        view.clusters
            .extend(vec![super::super::ClusterChange { action: Action::Create, ..change }; 10_000]);
        assert!(
            headline(&view).starts_with("Plan for demo: 10,002 to create, "),
            "{}",
            headline(&view)
        );
        assert!(headline(&view).contains("; 12,345 waiting; "), "{}", headline(&view));
        let files = super::super::FileCount { create: 1234, update: 0, delete: 99 };
        assert_eq!(files.to_string(), "+1,234 ~0 -99");
    }

    #[test]
    fn a_plan_without_changes_is_short() {
        let proposal = sample::unchanged();
        let view = PlanView::of(&proposal, "fleet-repo-example", "", &[]);
        insta::assert_snapshot!(text(&view, Palette::plain()), @r"
        Plan for demo: no changes; 0 waiting

        tree   4b825dc642cb6eb9a060e54bf8d69288fbee4904
        files  +0 ~0 -0
        valid  for ever
        work   0 files parsed, 0 clusters planned, 0 rendered, 0 objects written
        ");
    }
}
