//! The data stores of a worker: a table, and a cell of the table of workers.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Palette;
use super::tables::{Cell, table};
use crate::model::Quantity;
use crate::model::api::DataStoreStatus;

/// A data store of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DataStoreRow {
    /// What is known of it.
    #[serde(flatten)]
    pub status: DataStoreStatus,
    /// When snapshots of it are taken; absent where none are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshots: Option<String>,
    /// Its labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// How many clusters are in each, as a cell: `default 3, gold 1`.
pub(super) fn cell(stores: &[DataStoreStatus]) -> String {
    let each: Vec<_> = stores.iter().map(|s| format!("{} {}", s.name, s.clusters)).collect();
    each.join(", ")
}

/// What is known of each, with an empty line above; nothing where there are none.
pub(super) fn known(stores: &[DataStoreStatus], palette: Palette) -> String {
    let rows: Vec<_> = stores.iter().map(facts).collect();
    below(&["data store", "clusters", "quota"], &rows, palette)
}

/// What is known of each and what its worker wants of it, with an empty line above; nothing where there are none.
pub(super) fn text(stores: &[DataStoreRow], palette: Palette) -> String {
    let row = |store: &DataStoreRow| -> Vec<Cell> {
        let labels = store.labels.iter().map(|(key, value)| format!("{key}={value}"));
        let labels: Vec<_> = labels.collect();
        let mut row = facts(&store.status);
        row.push(store.snapshots.as_deref().unwrap_or("none").into());
        row.push(labels.join(",").into());
        row
    };
    let rows: Vec<_> = stores.iter().map(row).collect();
    below(&["data store", "clusters", "quota", "snapshots", "labels"], &rows, palette)
}

fn facts(store: &DataStoreStatus) -> Vec<Cell> {
    let quota = store.quota.map(gibibytes).unwrap_or_default();
    vec![store.name.as_str().into(), store.clusters.to_string().into(), quota.into()]
}

fn below(header: &[&str], rows: &[Vec<Cell>], palette: Palette) -> String {
    if rows.is_empty() { String::new() } else { format!("\n{}", table(header, rows, palette)) }
}

/// Bytes in gibibytes, to a tenth: `6.4Gi`.
fn gibibytes(bytes: Quantity) -> String {
    let tenths = (bytes.thousandths() / 1000 * 10 + (1 << 29)) >> 30;
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{whole}Gi"),
        (whole, tenth) => format!("{whole}.{tenth}Gi"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_store_has_a_line() {
        let row = |name: &str, clusters, quota: Option<i64>, gold: bool| DataStoreRow {
            status: DataStoreStatus {
                name: name.into(),
                clusters,
                quota: quota.map(Quantity::units),
            },
            snapshots: gold.then(|| "0 */6 * * *".into()),
            labels: gold.then(|| ("tier".into(), "gold".into())).into_iter().collect(),
        };
        let rows = [
            row("default", 3, Some(8 << 30), false),
            row("gold", 1, Some(6_871_947_673), true),
            row("old", 1, None, false),
        ];
        insta::assert_snapshot!(text(&rows, Palette::plain()), @r"

        DATA STORE   CLUSTERS   QUOTA   SNAPSHOTS     LABELS
        default      3          8Gi     none          -
        gold         1          6.4Gi   0 */6 * * *   tier=gold
        old          1          -       none          -
        ");
        let known_of = rows.map(|row| row.status);
        assert_eq!(cell(&known_of), "default 3, gold 1, old 1");
        assert_eq!(known(&[], Palette::plain()), "");
    }
}
