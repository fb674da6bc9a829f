//! What the demonstration shows: placements, the commit, and what to try next.

use std::fmt::Write as _;

use super::tables::{Cell, table};
use super::wrap::{WIDTH, to_width};
use super::{Palette, Tone, count};

/// What the demonstration made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DemoView {
    /// The folder that it is in, as it is seen from the current folder.
    pub folder: String,
    /// The clusters that were placed: cluster, tenant, worker, why.
    pub placed: Vec<[String; 4]>,
    /// The clusters that wait: cluster, tenant, the reason in words.
    pub waiting: Vec<[String; 3]>,
    /// What was committed: branch, short commit, subject.
    pub commits: Vec<[String; 3]>,
    /// How many files the output commit has.
    pub files: u64,
    /// Some of its paths, worth a look.
    pub paths: Vec<String>,
    /// Commands to try, each with what it shows.
    pub next: Vec<(String, String)>,
}

/// The demonstration's last words.
#[must_use]
pub fn text(view: &DemoView, palette: Palette) -> String {
    let title = |text: &str| palette.paint(Tone::Strong, text);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{}",
        title(&format!("Placed {}", count(super::len(&view.placed), "cluster")))
    );
    let rows: Vec<Vec<Cell>> = view
        .placed
        .iter()
        .map(|[cluster, tenant, worker, why]| {
            let worker = Cell::toned(worker.as_str(), Tone::Good);
            vec![cluster.as_str().into(), tenant.as_str().into(), worker, why.as_str().into()]
        })
        .collect();
    out.push_str(&table(&["cluster", "tenant", "worker", "why"], &rows, palette));
    for [cluster, tenant, why] in &view.waiting {
        let waits = palette.paint(Tone::Warn, &format!("{cluster} waits"));
        let line = format!("\n{waits} (tenant {tenant}): {why}");
        out.push_str(&to_width(&line, Some(WIDTH)));
    }
    let _ = writeln!(out, "\n{}", title("Committed"));
    for [branch, commit, subject] in &view.commits {
        let _ = writeln!(out, "  {branch}  {commit}  {subject}");
    }
    let _ = writeln!(out, "\n{}, among them:", count(view.files, "file"));
    for path in &view.paths {
        let _ = writeln!(out, "  {path}");
    }
    let _ = writeln!(out, "\n{}", title("Try next"));
    for (command, shows) in &view.next {
        let _ = writeln!(out, "  {}\n      {shows}", palette.paint(Tone::Good, command));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_lead_on() {
        let s = |text: &str| text.to_owned();
        let view = DemoView {
            folder: s("carp-demo"),
            placed: vec![[
                s("pay-eu"),
                s("payments"),
                s("we-1"),
                s("before ne-1 by location distance"),
            ]],
            waiting: vec![[s("ml"), s("shop"), s("0/4 workers are available.")]],
            commits: vec![[s("carp/rendered"), s("1234abcd"), s("carp: +1 clusters")]],
            files: 93,
            paths: vec![s("workers/we-1/clusters/pay-eu/cluster.yaml")],
            next: vec![(s("carp explain cluster/ml --fleet carp-demo/fleet"), s("why it waits"))],
        };
        insta::assert_snapshot!(text(&view, Palette::plain()), @r"
        Placed 1 cluster
        CLUSTER   TENANT     WORKER   WHY
        pay-eu    payments   we-1     before ne-1 by location distance

        ml waits (tenant shop): 0/4 workers are available.

        Committed
          carp/rendered  1234abcd  carp: +1 clusters

        93 files, among them:
          workers/we-1/clusters/pay-eu/cluster.yaml

        Try next
          carp explain cluster/ml --fleet carp-demo/fleet
              why it waits
        ");
    }
}
