//! What a drain does, as `carp drain` says it at once.

use std::fmt::Write as _;

use super::wrap::wrap;
use super::{count, len};
use crate::model::Name;

/// What becomes of the clusters on a worker that is drained.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrainedView {
    /// Those that stay, by why: the names, the reason, and its code.
    pub stay: Vec<(Vec<Name>, String, String)>,
    /// Those that leave.
    pub leave: Vec<Name>,
}

/// A paragraph for those that leave, and one for each reason to stay.
#[must_use]
pub fn text(view: &DrainedView) -> String {
    if view.stay.is_empty() && view.leave.is_empty() {
        return "no cluster is on it\n".to_owned();
    }
    let mut out = String::new();
    if !view.leave.is_empty() {
        let verb = if view.leave.len() == 1 { "leaves" } else { "leave" };
        let _ = writeln!(out, "\n{} {verb} it:", count(len(&view.leave), "cluster"));
        out.push_str(&wrap(&names(&view.leave), "  ", 2));
    }
    for (stay, why, code) in &view.stay {
        let verb = if stay.len() == 1 { "stays" } else { "stay" };
        let line = format!("{} {verb}: {why} ({code})", count(len(stay), "cluster"));
        let _ = write!(out, "\n{}", wrap(&line, "", 2));
        out.push_str(&wrap(&names(stay), "  ", 2));
    }
    out
}

fn names(all: &[Name]) -> String {
    let names: Vec<_> = all.iter().map(Name::as_str).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_is_named_with_its_reason() {
        let names = |all: &[&str]| all.iter().map(|n| Name::parse(n).unwrap()).collect::<Vec<_>>();
        let why = "their state is on the worker, and `onWorkerLoss` is not `Rebuild`";
        let stay = (names(&["pay-eu", "shop-eu"]), why.to_owned(), "NotMovable".to_owned());
        let view = DrainedView { stay: vec![stay], leave: names(&["dev-1"]) };
        insta::assert_snapshot!(text(&view), @r"

        1 cluster leaves it:
          dev-1

        2 clusters stay: their state is on the worker, and `onWorkerLoss` is not
          `Rebuild` (NotMovable)
          pay-eu, shop-eu
        ");
        assert_eq!(text(&DrainedView::default()), "no cluster is on it\n");
    }
}
