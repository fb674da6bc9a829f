//! What a pool has, and who waits.

use std::fmt::Write as _;

use serde::Serialize;

use super::super::tables::{Cell, table};
use super::super::wrap::wrap;
use super::super::{Palette, Tone};
use super::ExplainView;

/// A worker of a pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberRow {
    /// The worker.
    pub worker: String,
    /// Its ordinal.
    pub ordinal: u64,
    /// Where it is.
    pub location: String,
    /// How many clusters it has, or wait for it.
    pub clusters: u64,
    /// What is so of it, and since when.
    pub state: String,
}

/// A cluster that waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitRow {
    /// The cluster.
    pub cluster: String,
    /// Why the pool makes no worker for it.
    pub because: String,
}

/// The pool's workers as a table, and those that wait, with what is said of them alike said once.
pub(super) fn text(view: &ExplainView, palette: Palette) -> String {
    let mut out = String::new();
    if !view.members.is_empty() {
        let row = |member: &MemberRow| -> Vec<Cell> {
            vec![
                member.worker.as_str().into(),
                member.ordinal.to_string().into(),
                member.location.as_str().into(),
                member.clusters.to_string().into(),
                member.state.as_str().into(),
            ]
        };
        let rows: Vec<_> = view.members.iter().map(row).collect();
        out.push('\n');
        out.push_str(&table(
            &["worker", "ordinal", "location", "clusters", "state"],
            &rows,
            palette,
        ));
    }
    if !view.waiting.is_empty() {
        let title = palette.paint(Tone::Strong, "It makes no worker for these that wait:");
        let _ = writeln!(out, "\n{title}");
        let mut alike: Vec<(&str, Vec<&str>)> = Vec::new();
        for WaitRow { cluster, because } in &view.waiting {
            match alike.iter_mut().find(|(words, _)| words == because) {
                Some((_, names)) => names.push(cluster),
                None => alike.push((because, vec![cluster])),
            }
        }
        for (because, names) in alike {
            let names = super::super::first(&names, super::NAMES);
            out.push_str(&wrap(&format!("{names}: {because}"), "  ", 4));
        }
    }
    out
}
