//! The workers that can take a cluster.

use super::super::tables::{Cell, table};
use super::super::wrap::{WIDTH, wrap};
use super::super::{Palette, Tone, count};
use super::{ExplainRow, ExplainView};

/// How many workers that would take a cluster are shown: whoever asks why it is where it is asks for the best of them.
const FITS: usize = 20;

/// The workers that would take it, best first, and how many there are besides. The one that it is on is among them.
pub(super) fn text(view: &ExplainView, palette: Palette) -> String {
    let fit: Vec<_> = view.rows.iter().filter(|r| r.refused.is_empty()).collect();
    let (best, others) = fit.split_at(fit.len().min(FITS));
    let is_on = |row: &&&ExplainRow| view.on.as_deref() == Some(row.worker.as_str());
    let shown: Vec<_> = best.iter().chain(others.iter().find(is_on)).copied().collect();
    let mut out = terms(view, &shown, palette);
    if fit.len() > shown.len() {
        let more = count((fit.len() - shown.len()) as u64, "more worker");
        out.push_str(&wrap(&format!("and {more} can take it: `-o json` has all"), "", 2));
    }
    out
}

/// Workers with their terms as columns; where that is too wide, a line each.
fn terms(view: &ExplainView, shown: &[&ExplainRow], palette: Palette) -> String {
    let Some(first) = shown.first() else { return String::new() };
    let mut header = vec!["worker"];
    header.extend(first.terms.iter().map(|(name, _)| name.as_str()));
    let rows: Vec<Vec<Cell>> = shown
        .iter()
        .map(|row| {
            let is_winner = view.winner.as_deref() == Some(row.worker.as_str());
            let name = if is_winner {
                Cell::toned(row.worker.as_str(), Tone::Good)
            } else {
                row.worker.as_str().into()
            };
            std::iter::once(name).chain(row.terms.iter().map(|(_, v)| v.as_str().into())).collect()
        })
        .collect();
    let plain = table(&header, &rows, Palette::plain());
    if plain.lines().all(|line| line.chars().count() <= WIDTH) {
        return format!("\n{}", table(&header, &rows, palette));
    }
    let mut out = "\nworkers that can take it, best first:\n".to_owned();
    for row in shown {
        let terms: Vec<_> =
            row.terms.iter().map(|(term, value)| format!("{term} {value}")).collect();
        out.push_str(&wrap(&format!("{}: {}", row.worker, terms.join(", ")), "  ", 4));
    }
    out
}
