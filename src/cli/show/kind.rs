//! What `carp kind apply` did, as text.

use super::tables::{Cell, table};
use super::{Palette, Tone};
use crate::kind::Applied;

/// A table of the clusters; below it, what could not be read.
#[must_use]
pub fn text(applied: &Applied, palette: Palette) -> String {
    let rows: Vec<Vec<Cell>> = applied
        .rows
        .iter()
        .map(|row| {
            let state = match (row.failed, row.state.as_str()) {
                (true, state) => Cell::toned(state, Tone::Bad),
                (false, "Ready") => Cell::toned("Ready", Tone::Good),
                (false, state) => Cell::from(state),
            };
            let [namespace, name, cluster] =
                [&row.namespace, &row.name, &row.cluster].map(|text| Cell::from(text.as_str()));
            vec![namespace, name, cluster, state, Cell::from(row.message.as_str())]
        })
        .collect();
    let mut text = if rows.is_empty() && !applied.interrupted {
        "no cluster is asked for\n".to_owned()
    } else {
        table(&["namespace", "name", "cluster", "state", "message"], &rows, palette)
    };
    if applied.interrupted {
        text.push_str("\ntold to stop before all was done\n");
    }
    if !applied.broken.is_empty() {
        text.push_str("\nnot read, so nothing is deleted:\n");
        text.extend(applied.broken.iter().map(|broken| format!("  {broken}\n")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::AppliedCluster;

    #[test]
    fn a_row_is_a_cluster_and_what_could_not_be_read_stands_below() {
        let row = |name: &str, state: &str, message: &str| AppliedCluster {
            namespace: "default".to_owned(),
            name: name.to_owned(),
            cluster: format!("{name}-seed"),
            state: state.to_owned(),
            message: message.to_owned(),
            failed: !message.is_empty(),
        };
        let applied = Applied {
            rows: vec![row("a", "Ready", ""), row("b", "ImagePullFailed", "failed to pull image")],
            broken: vec!["clusters/c/cluster.yaml: a KINDCluster without a name".to_owned()],
            interrupted: true,
        };
        insta::assert_snapshot!(text(&applied, Palette::plain()));
        assert_eq!(text(&Applied::default(), Palette::plain()), "no cluster is asked for\n");
    }
}
