//! What came of replaying past commits.

use std::fmt::Write as _;

use serde::Serialize;

use super::{Palette, Tone, count};

/// The version of the JSON form.
pub const REPLAY_SCHEMA: u32 = 1;

/// The most paths that are shown of one commit.
const MOST_PATHS: usize = 20;

/// What came of each commit, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayView {
    /// Whether a range was asked for.
    #[serde(skip)]
    pub is_range: bool,
    /// The version of carp that replayed.
    pub version: String,
    /// The commits.
    pub commits: Vec<ReplayRow>,
}

/// One commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayRow {
    /// The commit.
    pub commit: String,
    /// The first line of its message.
    pub subject: String,
    /// Its tree.
    pub tree: String,
    /// The version of carp that made it, where that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_version: Option<String>,
    /// What it names; left out where it is none of carp's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_from: Option<CommitInputs>,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: ReplayOutcome,
}

/// What a commit was made from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommitInputs {
    /// The input commit.
    pub input: String,
    /// The status commit with the folded reports.
    pub observed: Option<String>,
    /// The time.
    pub time: Option<String>,
    /// The version of carp.
    pub version: Option<String>,
    /// The digest of the decisions.
    pub plan: Option<String>,
    /// The output commit that it stands on; `null` for a first run, and where that could not be found.
    pub output: Option<String>,
}

/// What came of a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "camelCase")]
pub enum ReplayOutcome {
    /// The same tree by the same decisions.
    #[serde(rename_all = "camelCase")]
    Same {
        /// Whether it is the first of the two commits of a run, with what changed only its form.
        form_only: bool,
    },
    /// Something else.
    Differs(DiffersView),
    /// What it was made from is not here.
    Missing {
        /// What.
        what: String,
        /// What to do.
        help: Option<String>,
    },
    /// There is nothing to replay.
    Skipped {
        /// Why.
        why: String,
    },
}

/// How a replay came out otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffersView {
    /// The tree of the replay.
    #[serde(rename = "replayedTree")]
    pub tree: String,
    /// The digest of the replayed decisions, where that differs.
    #[serde(rename = "replayedPlan")]
    pub plan: Option<String>,
    /// The files that differ.
    pub paths: Vec<PathView>,
    /// Whether the replay may not commit anything.
    pub stopped: bool,
    /// Why not.
    pub because: Vec<String>,
}

/// A file that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PathView {
    /// The path in the repository.
    pub path: String,
    /// Where it is: `commit`, `replay`, or `both` with other bytes.
    #[serde(rename = "in")]
    pub only_in: String,
}

impl ReplayView {
    /// Whether everything that carp made was made again, and that was something.
    #[must_use]
    pub fn proves(&self) -> bool {
        let skipped = |row: &&ReplayRow| matches!(row.outcome, ReplayOutcome::Skipped { .. });
        let same = |row: &ReplayRow| matches!(row.outcome, ReplayOutcome::Same { .. });
        let all = self.commits.iter().filter(|row| !skipped(row)).all(same);
        all && (self.is_range || self.commits.iter().any(same))
    }

    fn tally(&self) -> String {
        let of =
            |is: fn(&ReplayOutcome) -> bool| self.commits.iter().filter(|c| is(&c.outcome)).count();
        let skipped = of(|o| matches!(o, ReplayOutcome::Skipped { .. }));
        let rows = super::len(&self.commits);
        let mut words = vec![format!(
            "{} of {} came out the same",
            of(|o| matches!(o, ReplayOutcome::Same { .. })),
            count(rows, "commit")
        )];
        let differ = of(|o| matches!(o, ReplayOutcome::Differs(_)));
        let missing = of(|o| matches!(o, ReplayOutcome::Missing { .. }));
        for (number, what) in [
            (differ, "came out otherwise"),
            (missing, "cannot be replayed here"),
            (skipped, "skipped"),
        ] {
            if number > 0 {
                words.push(format!("{number} {what}"));
            }
        }
        words.join("; ")
    }
}

/// What came of it, as text.
#[must_use]
pub fn text(view: &ReplayView, palette: Palette) -> String {
    let mut out = String::new();
    for row in &view.commits {
        if let Some(other) = &row.other_version {
            let line = format!(
                "{} was made by carp {other}, and this is carp {}",
                short(&row.commit),
                view.version
            );
            let _ = writeln!(out, "{}", palette.paint(Tone::Warn, &line));
        }
        let (word, tone) = match &row.outcome {
            ReplayOutcome::Same { .. } => ("ok", Tone::Good),
            ReplayOutcome::Differs(_) => ("differs", Tone::Bad),
            ReplayOutcome::Missing { .. } => ("missing", Tone::Bad),
            ReplayOutcome::Skipped { .. } => ("skipped", Tone::Faint),
        };
        let word = palette.paint(tone, &format!("{word:<8}"));
        let _ = writeln!(out, "{word} {}  {}", short(&row.commit), row.subject);
        for line in details(row, view.is_range) {
            let _ = writeln!(out, "  {line}");
        }
    }
    if view.is_range {
        let _ = writeln!(out, "{}", palette.paint(Tone::Strong, &view.tally()));
    }
    out
}

/// The first twelve digits of an id, as Git shows commits.
fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

fn details(row: &ReplayRow, is_range: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if !is_range && let Some(from) = &row.made_from {
        lines.extend(inputs(from, matches!(row.outcome, ReplayOutcome::Missing { .. })));
    }
    match &row.outcome {
        ReplayOutcome::Same { form_only } => {
            if *form_only {
                lines.push("its form only; the next commit is the rest of the run".to_owned());
            }
            if !is_range {
                lines.push(format!("tree     {}", row.tree));
                let plan = row.made_from.as_ref().and_then(|from| from.plan.as_ref());
                lines.extend(plan.map(|plan| format!("plan     {plan}")));
            }
        }
        ReplayOutcome::Differs(how) => lines.extend(differences(row, how)),
        ReplayOutcome::Missing { what, help } => {
            lines.push(format!("not here: {what}"));
            lines.extend(help.iter().map(|help| format!("help: {help}")));
        }
        ReplayOutcome::Skipped { why } => lines.push(why.clone()),
    }
    lines
}

fn inputs(from: &CommitInputs, is_missing: bool) -> Vec<String> {
    let mut lines = vec![format!("input    {}", from.input)];
    let observed = from.observed.as_deref().unwrap_or("nothing was reported");
    lines.push(format!("observed {observed}"));
    lines.extend(from.time.iter().map(|time| format!("time     {time}")));
    lines.extend(from.version.iter().map(|version| format!("carp     {version}")));
    if !is_missing {
        let output = from.output.as_deref().unwrap_or("nothing; it is the first run");
        lines.push(format!("output   {output}"));
    }
    lines
}

fn differences(row: &ReplayRow, how: &DiffersView) -> Vec<String> {
    let mut lines = Vec::new();
    if how.stopped {
        lines.push("the replay may not commit anything:".to_owned());
        lines.extend(how.because.iter().map(|why| format!("  {why}")));
    } else {
        lines.push(format!("tree     {} in the commit, {} in the replay", row.tree, how.tree));
    }
    let said = row.made_from.as_ref().and_then(|from| from.plan.as_deref()).unwrap_or("none");
    lines.extend(
        how.plan.iter().map(|plan| format!("plan     {said} in the commit, {plan} in the replay")),
    );
    for path in how.paths.iter().take(MOST_PATHS) {
        let word = match path.only_in.as_str() {
            "commit" => "only in the commit",
            "replay" => "only in the replay",
            _ => "other bytes",
        };
        lines.push(format!("  {}: {word}", path.path));
    }
    if how.paths.len() > MOST_PATHS {
        lines.push(format!("  … and {} more", how.paths.len() - MOST_PATHS));
    }
    lines
}

/// What came of it, as JSON with a final newline.
#[must_use]
pub fn json(view: &ReplayView) -> String {
    super::versioned(REPLAY_SCHEMA, view)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(outcome: ReplayOutcome) -> ReplayRow {
        let from = CommitInputs {
            input: "1".repeat(40),
            time: Some("2026-11-01T09:00:00Z".into()),
            version: Some("0.1.0".into()),
            plan: Some("sha256:ab".into()),
            output: Some("2".repeat(40)),
            ..CommitInputs::default()
        };
        ReplayRow {
            commit: "3".repeat(40),
            subject: "carp: 1 worker, +1 -0 ~0 clusters".into(),
            tree: "4".repeat(40),
            other_version: None,
            made_from: Some(from),
            outcome,
        }
    }

    fn view(is_range: bool, commits: Vec<ReplayRow>) -> ReplayView {
        ReplayView { is_range, version: "0.2.0".into(), commits }
    }

    fn differs() -> ReplayOutcome {
        let path =
            |path: &str, only_in: &str| PathView { path: path.into(), only_in: only_in.into() };
        let paths = vec![
            path("workers/w1/carp.lock", "both"),
            path("workers/w1/clusters/a/cluster.yaml", "commit"),
            path("workers/w2/clusters/a/cluster.yaml", "replay"),
        ];
        let tree = "5".repeat(40);
        ReplayOutcome::Differs(DiffersView {
            tree,
            plan: Some("sha256:cd".into()),
            paths,
            ..DiffersView::default()
        })
    }

    #[test]
    fn one_commit_comes_with_what_it_was_made_from() {
        let view = view(false, vec![row(ReplayOutcome::Same { form_only: false })]);
        assert!(view.proves());
        insta::assert_snapshot!(text(&view, Palette::plain()));
    }

    #[test]
    fn another_version_is_said_first_and_the_paths_that_differ() {
        let row = ReplayRow { other_version: Some("0.1.0".into()), ..row(differs()) };
        let view = view(false, vec![row]);
        assert!(!view.proves());
        insta::assert_snapshot!(text(&view, Palette::plain()));
    }

    #[test]
    fn of_a_range_each_commit_is_a_line() {
        let missing = ReplayOutcome::Missing {
            what: "the input commit 7".into(),
            help: Some("fetch".into()),
        };
        let by_hand = ReplayOutcome::Skipped { why: "not by carp".into() };
        let stopped = ReplayOutcome::Differs(DiffersView {
            stopped: true,
            because: vec!["error[fleet-broken]: no".into()],
            ..DiffersView::default()
        });
        let rows = [ReplayOutcome::Same { form_only: true }, by_hand, missing, stopped].map(row);
        insta::assert_snapshot!(text(&view(true, rows.into()), Palette::plain()));
    }

    #[test]
    fn a_commit_of_others_proves_nothing_and_is_no_flaw_of_a_range() {
        let by_hand = || row(ReplayOutcome::Skipped { why: "not by carp".into() });
        assert!(!view(false, vec![by_hand()]).proves());
        assert!(view(true, vec![by_hand()]).proves());
    }

    #[test]
    fn the_json_form_says_the_verdict() {
        let value = |view| serde_json::from_str::<serde_json::Value>(&json(view)).unwrap();
        let told = value(&view(false, vec![row(differs())]));
        assert_eq!(
            (&told["schemaVersion"], &told["commits"][0]["verdict"]),
            (&1.into(), &"differs".into())
        );
        assert_eq!(told["commits"][0]["paths"][1]["in"], "commit");
        assert_eq!(told["commits"][0]["madeFrom"]["input"], "1".repeat(40));
    }
}
