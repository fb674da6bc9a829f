//! The clusters of a lost worker that nothing names: they stay there, and why.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::super::plan::listed;
use super::super::{Palette, Tone, count};
use crate::model::Name;

/// Some clusters of a lost worker that stay there for the same reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The worker.
    pub worker: Name,
    /// The clusters, by name.
    pub clusters: Vec<Name>,
    /// Which policy's `failover` names them later, and from when on; `None`: no policy of theirs has one.
    pub failover: Option<(Name, Timestamp)>,
}

/// For a terminal.
pub(super) fn text(all: &[Left], palette: Palette) -> String {
    let mut out = String::new();
    for left in all {
        let title = palette.paint(Tone::Warn, &format!("LOST {}", left.worker));
        let one = left.clusters.len() == 1;
        let stay = if one { "stays" } else { "stay" };
        let clusters = count(left.clusters.len() as u64, "cluster");
        let names = listed(&left.clusters);
        let why = match &left.failover {
            Some((policy, from)) => {
                format!("until {from}, the `failover.grace` of policy {policy}")
            }
            None => format!(
                "for no policy of {} has `failover`",
                if one { "its own" } else { "theirs" }
            ),
        };
        let _ = writeln!(out, "{title}: {clusters} {stay} there ({names}), {why}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_a_line() {
        let name = |text: &str| Name::parse(text).unwrap();
        let left = |clusters: &[&str], failover| Left {
            worker: name("we-1"),
            clusters: clusters.iter().map(|text| name(text)).collect(),
            failover,
        };
        let from = "2026-11-01T10:30:00Z".parse().unwrap();
        let all = [left(&["a", "b"], None), left(&["c"], Some((name("production"), from)))];
        insta::assert_snapshot!(text(&all, Palette::plain()), @r"
        LOST we-1: 2 clusters stay there (a, b), for no policy of theirs has `failover`
        LOST we-1: 1 cluster stays there (c), until 2026-11-01T10:30:00Z, the `failover.grace` of policy production
        ");
    }
}
