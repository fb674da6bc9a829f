//! A plan as a comment on a pull request.
//!
//! GitHub takes 65,536 characters; this stays below 60,000. What does not fit is left out from the end:
//! first the diffs, then the findings, then the tables; never the counts or what is deleted and moved.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::super::findings::Finding;
use super::super::{count, len};
use super::{
    Action, ChangeGroup, PlanView, WorkerLine, ack_command, against, certificate, deletions,
    destructive, gate_words, hold_words, limits, listed, spent,
};
use crate::diag::Severity;
use crate::model::{GateReason, Hold, Name, Plan, thousands};

/// The most characters of a comment.
const BUDGET: usize = 60_000;
/// The most rows of a table.
const ROWS: usize = 30;
/// The most characters of a cell or a finding.
const CELL: usize = 300;

/// What changes in one file, as a unified diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    /// The path in the repository.
    pub path: String,
    /// The diff, without the two lines that name the file.
    pub text: String,
}

/// The comment. `diffs` may be empty; where they do not all fit, the first do.
#[must_use]
pub fn markdown(view: &PlanView<'_>, diffs: &[FileDiff], carp_version: &str) -> String {
    let footer = footer(view, carp_version);
    let mut out = head(view);
    // Room for the footer, and for a word on what was left out.
    let room = BUDGET - footer.chars().count() - 200;
    let mut left_out = 0;
    let moves = super::moving::markdown(view);
    let deletions = deletions::markdown(view);
    let limits = limits::markdown(view, cell);
    let spent = spent::markdown(view, cell);
    let (violations, gates) = (violations(view), gates(view));
    let tables =
        [clusters(view), workers(view), violations, limits, moves, deletions, gates, spent];
    let (shown, folded) = super::super::findings::folded(view.findings);
    let others: Vec<_> = shown.into_iter().filter(|found| !is_error(found)).collect();
    let mut found = findings(&others);
    for line in folded.iter().filter(|line| !line.starts_with("error")) {
        let _ = writeln!(found, "- {}", cell(line));
    }
    for part in tables.into_iter().chain([found]) {
        left_out += u64::from(!push(&mut out, &part, room));
    }
    let shown = push_diffs(&mut out, diffs, room);
    if left_out > 0 {
        let _ = writeln!(out, "\n{} left out: run `carp plan`.", count(left_out, "table"));
    }
    let all = diffs.len().max(view.telling);
    if shown < all {
        let _ = writeln!(
            out,
            "\n{shown} of {} shown: run `carp plan --diff`.",
            count(all as u64, "diff")
        );
    }
    out + &footer
}

/// Adds the first diffs as far as they fit, folded together into one line, and says how many they are.
fn push_diffs(out: &mut String, diffs: &[FileDiff], room: usize) -> usize {
    const FOLD: usize = 100;
    let room = room.saturating_sub(out.chars().count() + FOLD);
    let mut inner = String::new();
    let shown = diffs.iter().take_while(|diff| push(&mut inner, &details(diff), room)).count();
    if shown > 0 {
        let what = count(shown as u64, "diff");
        let _ = writeln!(out, "\n<details><summary>{what}</summary>\n{inner}\n</details>");
    }
    shown
}

/// Adds a part if it fits, and says whether it did.
fn push(out: &mut String, part: &str, room: usize) -> bool {
    let fits = out.chars().count() + part.chars().count() <= room;
    if fits {
        out.push_str(part);
    }
    fits
}

fn head(view: &PlanView<'_>) -> String {
    let n = |action| thousands(view.count(action));
    let deletes = n(Action::Delete);
    let delete = if view.count(Action::Delete) > 0 { "DELETE" } else { "delete" };
    let mut out = format!(
        "<!-- carp:plan fleet={} root={} -->\n### carp plan for `{}`\n\n",
        comment(view.fleet()),
        comment(if view.prefix.is_empty() { "." } else { view.prefix }),
        code(view.fleet()),
    );
    let nodes = view.nodes_words().map(|nodes| format!(" · {nodes}")).unwrap_or_default();
    let gone = [view.forgotten_words(), view.workers_words()];
    let gone = gone.iter().flatten().fold(String::new(), |said, words| said + " · " + words);
    let _ = writeln!(
        out,
        "**{} create · {} move · {deletes} {delete} · {} update{gone} · {} waiting · {} held{nodes}** over {} of {} \
         · {}",
        n(Action::Create),
        n(Action::Move),
        n(Action::Update),
        thousands(view.waiting),
        thousands(view.held()),
        view.workers.len(),
        count(view.proposal.counts.workers.values().sum(), "worker"),
        count(view.files.total(), "file"),
    );
    for line in against::lines(view.against) {
        let _ = writeln!(out, "\n{}", cell(&line));
    }
    for warning in view.warnings {
        let _ = writeln!(out, "\n> [!NOTE]\n> {}", cell(warning));
    }
    if view.proposal.stopped {
        out.push_str("\n> [!CAUTION]\n> Nothing can be decided, and nothing may be committed.\n");
    }
    out.push_str(&errors(view.findings));
    let form = view.form_words();
    if !form.is_empty() {
        let _ = write!(out, "\n{}", neutral(&form));
    }
    out.push_str(&destructive::markdown(view));
    out.push_str(&certificate::markdown(view));
    for hold in view.holds() {
        out.push_str(&held(&hold, &view.proposal.plan));
    }
    out
}

fn held(hold: &Hold, plan: &Plan) -> String {
    let words = hold_words(hold);
    let lines = plan.lines_of(hold);
    let names: Vec<_> = lines.iter().take(ROWS).map(|n| format!("`{}`", code(n))).collect();
    let mut out =
        format!("\n> [!WARNING]\n> **{}**: {}: {}", hold.kind.name(), words.what, names.join(", "));
    if lines.len() > ROWS {
        let _ = write!(out, " ({ROWS} of {} shown)", lines.len());
    }
    let _ = writeln!(out, "\n>\n> {}", words.remedy);
    if let Some(command) = ack_command(hold) {
        let _ = writeln!(out, ">\n> ```sh\n> {command}\n> ```");
    }
    out
}

fn clusters(view: &PlanView<'_>) -> String {
    let end = |workers: &BTreeSet<Name>| {
        ChangeGroup::end(workers).map_or_else(String::new, |n| format!("`{n}`"))
    };
    let row = |group: &ChangeGroup| {
        let who = match group.clusters.as_slice() {
            [only] => format!("`{only}`"),
            _ => group.who(),
        };
        let action = group.action.name().to_owned();
        [who, action, end(&group.from), end(&group.to), cell(limits::in_a_row(group))]
    };
    let rows: Vec<_> = view.groups.iter().take(ROWS).map(row).collect();
    rows_of(["cluster", "action", "from", "to", "why"], &rows, view.groups.len())
}

fn workers(view: &PlanView<'_>) -> String {
    let row = |line: &WorkerLine| {
        let who = if line.who.contains(' ') { line.who.clone() } else { format!("`{}`", line.who) };
        [who, line.clusters.clone(), line.files.to_string()]
    };
    let lines = view.worker_lines(" → ");
    let rows: Vec<_> = lines.iter().map(row).collect();
    rows_of(["worker", "clusters", "files"], &rows, rows.len())
}

fn violations(view: &PlanView<'_>) -> String {
    let row = |(why, names): (String, Vec<&Name>)| [cell(&listed(&names)), cell(&why)];
    let rows: Vec<_> = view.violations().into_iter().map(row).collect();
    let shown = &rows[..rows.len().min(ROWS)];
    rows_of(["stays, and its policy would not place it there now", "why"], shown, rows.len())
}

fn gates(view: &PlanView<'_>) -> String {
    let row = |(reason, names): (GateReason, Vec<&Name>)| {
        [cell(&listed(&names)), reason.name().to_owned(), gate_words(reason).to_owned()]
    };
    let rows: Vec<_> = view.kept().into_iter().map(row).collect();
    rows_of(["kept as it was", "why", "that is"], &rows, rows.len())
}

fn rows_of<const N: usize>(header: [&str; N], rows: &[[String; N]], of: usize) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut out = format!("\n| {} |\n|{}\n", header.join(" | "), " --- |".repeat(N));
    for row in rows {
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
    if rows.len() < of {
        let _ = writeln!(out, "\n{} of {of} shown", rows.len());
    }
    out
}

/// What is wrong, each once with what to do and what follows: it stands before all that is planned.
fn errors(findings: &[Finding]) -> String {
    let errors: Vec<_> = findings.iter().filter(|found| is_error(found)).cloned().collect();
    let errors = super::super::findings::folded_into_help(&errors);
    if errors.is_empty() {
        return String::new();
    }
    let mut out = String::from("\n> [!CAUTION]\n");
    for finding in errors.iter().take(ROWS) {
        let help = finding.help.as_ref().map(|help| format!(" ({})", cell(help)));
        let _ = writeln!(out, "> - {}{}", one(finding), help.unwrap_or_default());
        if let Some(follows) = &finding.consequence {
            let _ = writeln!(out, ">   - {}", cell(follows));
        }
    }
    if errors.len() > ROWS {
        let _ = writeln!(out, ">\n> {ROWS} of {} shown", count(len(&errors), "error"));
    }
    out
}

fn is_error(finding: &Finding) -> bool {
    finding.severity == Severity::Error
}

/// A finding in a line: its severity, its code, where it is, and what it says.
fn one(finding: &Finding) -> String {
    let at = finding.spot.as_ref().map_or_else(String::new, |spot| {
        let line = spot.position.map_or_else(String::new, |p| format!(":{}:{}", p.line, p.column));
        format!(" `{}{line}`", code(&spot.file))
    });
    format!("**{}** `{}`{at}: {}", finding.severity, finding.code, cell(&finding.message))
}

fn findings(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return String::new();
    }
    let mut out = String::from("\n");
    for finding in findings.iter().take(ROWS) {
        let _ = writeln!(out, "- {}", one(finding));
    }
    if findings.len() > ROWS {
        let _ = writeln!(out, "\n{ROWS} of {} shown", count(len(findings), "finding"));
    }
    out
}

fn details(diff: &FileDiff) -> String {
    let fence = fence(&diff.text);
    let path = cell(&diff.path);
    // A mention in a fence notifies nobody, so the diff stays as it is and can be copied.
    let text = diff.text.trim_end_matches('\n');
    format!("\n<details><summary>{path}</summary>\n\n{fence}diff\n{text}\n{fence}\n\n</details>\n")
}

/// A fence that is longer than any run of backticks in the text.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

fn footer(view: &PlanView<'_>, carp_version: &str) -> String {
    let proposal = view.proposal;
    let valid = proposal.valid_until.map(|t| format!(" · valid until {t}")).unwrap_or_default();
    format!("\ntree `{}`{valid} · carp {carp_version}\n", proposal.tree)
}

/// Text in a cell or a list: no markup of its own, no mention, one line, bounded.
fn cell(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = line.chars().take(CELL).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    neutral(&short.replace('&', "&amp;").replace('<', "&lt;").replace('|', "\\|"))
}

/// Text between backticks.
fn code(text: &str) -> String {
    neutral(&text.replace(['`', '\n', '\r'], "'"))
}

/// Text in an HTML comment, which `--` would end.
fn comment(text: &str) -> String {
    text.replace("--", "- -").replace(['<', '>', '\n'], "")
}

/// Nobody is notified by what a file says: a zero-width space after each `@`.
fn neutral(text: &str) -> String {
    text.replace('@', "@\u{200b}")
}

#[cfg(test)]
mod tests {
    use super::super::super::findings::tests::findings;
    use super::super::sample;
    use super::*;

    fn diff(text: &str) -> FileDiff {
        FileDiff { path: "workers/w1/clusters/pay/cluster.yaml".into(), text: text.into() }
    }

    #[test]
    fn the_comment_has_counts_cautions_tables_and_diffs() {
        let proposal = sample::proposal();
        let findings = findings();
        let view = PlanView::of(&proposal, "fleet-repo-example", "eu", &findings);
        let diffs = [diff("@@ -1 +1 @@\n-size: 1\n+size: 2 # ```` four\n")];
        insta::assert_snapshot!(markdown(&view, &diffs, "1.2.3"));
    }

    #[test]
    fn a_fence_is_longer_than_any_run_of_backticks() {
        assert_eq!(fence("no ticks"), "```");
        assert_eq!(fence("a ```` b `` c"), "`````");
    }

    #[test]
    fn nothing_in_it_notifies_or_breaks_the_table() {
        assert_eq!(cell("a|b <x> @team\nc"), "a\\|b &lt;x> @\u{200b}team c");
        assert!(cell(&"x".repeat(500)).chars().count() <= CELL + 1);
        assert_eq!(comment("a-->b"), "a- -b");
    }

    #[test]
    fn it_stays_within_the_budget_and_never_drops_what_is_deleted() {
        let proposal = sample::proposal();
        let view = PlanView::of(&proposal, "fleet-repo-example", "eu", &[]);
        let diffs = vec![diff(&"+ é\n".repeat(4000)); 9];
        let comment = markdown(&view, &diffs, "1.2.3");
        assert!(comment.chars().count() <= BUDGET, "{}", comment.chars().count());
        assert!(comment.contains("3 of 9 diffs shown"));
        assert!(comment.contains("deletes cluster `old`"));
        assert_eq!(
            comment.matches("```diff").count(),
            comment.matches("\n```\n\n</details>").count()
        );
    }

    #[test]
    fn diffs_that_were_not_even_made_are_counted() {
        let proposal = sample::proposal();
        let mut view = PlanView::of(&proposal, "fleet-repo-example", "eu", &[]);
        view.telling = 5001;
        let comment = markdown(&view, &vec![diff("+ x\n"); 200], "1.2.3");
        assert!(comment.contains("200 of 5,001 diffs shown: run `carp plan --diff`."), "{comment}");
    }

    #[test]
    fn a_long_table_says_how_much_of_it_is_shown() {
        let rows = vec![["x".to_owned()]; 30];
        assert!(rows_of(["h"], &rows, 45).ends_with("\n30 of 45 shown\n"));
    }
}
