//! A rebalance that is proposed: each move with its gain, and how to request exactly these.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::super::tables::{Cell, table};
use super::super::{Palette, Tone};
use crate::simulate::RebalanceOffer;

/// For a terminal.
pub(super) fn text(request: &RebalanceOffer, palette: Palette) -> String {
    let title = palette.paint(Tone::Strong, "REBALANCE");
    let (most, gain) = (request.terms.most, request.terms.gain);
    let Some(command) = request.command() else {
        return format!("{title}: no move that may begin now gains {gain} percent points\n");
    };
    let rows: Vec<Vec<Cell>> = request
        .moves
        .iter()
        .map(|moved| {
            let names = [&moved.cluster, &moved.from, &moved.to];
            let mut row: Vec<Cell> = names.map(|name| name.to_string().into()).into();
            row.push(moved.gain.to_string().into());
            row
        })
        .collect();
    let mut out = format!("{title}: at most {most}, of at least {gain} percent points each\n");
    out.push_str(&table(&["cluster", "from", "to", "gain"], &rows, palette));
    let command = palette.paint(Tone::Strong, &command);
    let _ = writeln!(out, "  to begin exactly these moves:\n    {command}");
    out
}

/// For a program.
pub(super) fn value(request: &RebalanceOffer) -> Value {
    let row = |moved: &crate::model::Rebalanced| json!({"name": moved.cluster, "from": moved.from, "to": moved.to, "gain": moved.gain});
    json!({
        "most": request.terms.most,
        "gain": request.terms.gain,
        "moves": request.moves.iter().map(row).collect::<Value>(),
        "digest": request.digest,
        "command": request.command(),
    })
}
