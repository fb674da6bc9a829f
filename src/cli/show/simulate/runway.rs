//! How many more clusters of a class fit.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Serialize;

use super::super::tables::{Cell, table};
use super::super::wrap::wrap;
use super::super::{Palette, Tone};
use crate::model::ReasonCode;

/// The runway of one class for one tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunwayRow {
    /// The class; `None`: clusters without one.
    pub class: Option<String>,
    /// The tenant; `None` where the fleet lists none.
    pub tenant: Option<String>,
    /// As it is.
    pub now: RunwayCount,
    /// With the changes; left out without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub then: Option<RunwayCount>,
}

/// How many fit, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunwayCount {
    /// How many more.
    pub fits: u64,
    /// Whether that is only where counting ended.
    pub at_least: bool,
    /// Where they would go.
    pub rooms: Vec<RoomView>,
    /// What stops the next one.
    pub reasons: BTreeSet<ReasonCode>,
    /// What stops the next one, in one line.
    pub limit: Option<String>,
}

/// How many of them are where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RoomView {
    /// The workers' location.
    pub location: String,
    /// Their pool.
    pub pool: Option<String>,
    /// How many.
    pub fits: u64,
    /// How many of these only once workers have grown beyond their capacity.
    pub grown: u64,
    /// How many of these only on workers that the pool would make.
    pub made: u64,
}

impl RunwayCount {
    /// `12`, or `10000+`.
    pub(super) fn words(&self) -> String {
        format!("{}{}", self.fits, if self.at_least { "+" } else { "" })
    }

    /// `westeurope 8; eastus (gpu) 4, 2 of them on new workers`.
    pub(super) fn where_words(&self) -> String {
        let room = |room: &RoomView| {
            let pool = room.pool.as_ref().map(|pool| format!(" ({pool})")).unwrap_or_default();
            let grown = of_them(room.grown, room.fits, "once workers have grown");
            let made = of_them(room.made, room.fits, "on new workers");
            format!("{}{pool} {}{grown}{made}", room.location, room.fits)
        };
        self.rooms.iter().map(room).collect::<Vec<_>>().join("; ")
    }
}

/// `, 2 of them once workers have grown`, or ` on new workers` where all are so.
fn of_them(some: u64, all: u64, what: &str) -> String {
    match some {
        0 => String::new(),
        some if some == all => format!(" {what}"),
        some => format!(", {some} of them {what}"),
    }
}

/// For a terminal: how many fit and where, and below that what the next ones wait for.
pub(super) fn text(rows: &[RunwayRow], palette: Palette) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let tenants = rows.iter().any(|row| row.tenant.is_some());
    let changed = rows.iter().any(|row| row.then.is_some());
    let mut header = vec!["class"];
    header.extend(tenants.then_some("tenant"));
    header.push("fits");
    header.extend(changed.then_some("with"));
    header.push("where");
    let cells = |row: &RunwayRow| -> Vec<Cell> {
        let mut cells = vec![row.class_words().into()];
        cells.extend(tenants.then(|| row.tenant.as_deref().unwrap_or("-").into()));
        cells.push(row.now.words().into());
        cells.extend(row.then.as_ref().map(|then| then.words().into()));
        cells.push(row.count().where_words().into());
        cells
    };
    let cells: Vec<_> = rows.iter().map(cells).collect();
    let title = palette.paint(Tone::Strong, "Runway: how many more fit");
    let mut out = format!("{title}\n{}", table(&header, &cells, palette));
    let stopped = next_ones(rows);
    if !stopped.is_empty() {
        let _ = writeln!(out, "\n{}", palette.paint(Tone::Strong, "What stops the next one"));
    }
    for (sentence, who) in stopped {
        out.push_str(&wrap(&format!("{}: {sentence}", who.join(", ")), "  ", 4));
    }
    out
}

/// What stops the next one, with the rows of which it is said.
fn next_ones(rows: &[RunwayRow]) -> Vec<(String, Vec<String>)> {
    let mut alike: Vec<(String, Vec<String>)> = Vec::new();
    let mut known = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.count().reasons.is_empty()) {
        let sentence = ReasonCode::sentence(&row.count().reasons);
        let at = *known.entry(sentence.clone()).or_insert(alike.len());
        if at == alike.len() {
            alike.push((sentence, Vec::new()));
        }
        alike[at].1.push(row.words());
    }
    alike
}

impl RunwayRow {
    fn class_words(&self) -> &str {
        self.class.as_deref().unwrap_or("(none)")
    }

    /// `small of payments`.
    fn words(&self) -> String {
        let tenant = self.tenant.as_ref().map(|tenant| format!(" of {tenant}")).unwrap_or_default();
        format!("{}{tenant}", self.class_words())
    }

    /// With the changes, where there are any.
    fn count(&self) -> &RunwayCount {
        self.then.as_ref().unwrap_or(&self.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stops_the_next_one_is_a_sentence_for_all_of_which_it_is_said() {
        let row = |class: &str, reasons: &[ReasonCode]| RunwayRow {
            class: Some(class.to_owned()),
            tenant: Some("shop".to_owned()),
            now: RunwayCount {
                reasons: reasons.iter().copied().collect(),
                ..RunwayCount::default()
            },
            then: None,
        };
        let full = [ReasonCode::Capacity];
        let both = [ReasonCode::Capacity, ReasonCode::Cordoned];
        let rows = [row("large", &full), row("small", &both), row("tiny", &full), row("free", &[])];
        let told = text(&rows, Palette::plain());
        let (_, told) = told.split_once("What stops the next one\n").unwrap();
        let wanted = "  large of shop, tiny of shop: all workers have too little room (Capacity)\n  small of shop: \
                      some workers are cordoned, some have too little room (Cordoned,\n    Capacity)\n";
        assert_eq!(told, wanted);
        assert!(!text(&rows[3..], Palette::plain()).contains("stops"));
    }

    #[test]
    fn where_they_would_go_is_said_by_location_and_pool() {
        let room = |location: &str, pool: Option<&str>, [fits, grown, made]: [u64; 3]| RoomView {
            location: location.to_owned(),
            pool: pool.map(str::to_owned),
            fits,
            grown,
            made,
        };
        let rooms = vec![
            room("eastus", Some("gpu"), [4, 0, 2]),
            room("eastus", Some("us-more"), [20, 0, 20]),
            room("westeurope", None, [8, 3, 0]),
        ];
        assert_eq!(
            RunwayCount { rooms, ..RunwayCount::default() }.where_words(),
            "eastus (gpu) 4, 2 of them on new workers; eastus (us-more) 20 on new workers; \
             westeurope 8, 3 of them once workers have grown"
        );
    }
}
