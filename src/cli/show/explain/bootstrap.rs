//! The steps that bring a worker up, as text.

use std::fmt::Write as _;

use serde::Serialize;

use super::super::wrap::wrap;
use super::super::{Palette, Tone};

/// One step from nothing to a worker with clusters that run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepView {
    /// What happens.
    pub step: String,
    /// The cluster that the objects are on.
    pub on: String,
    /// The objects that do it, each as `Kind namespace/name`.
    pub objects: Vec<String>,
    /// The steps that it waits for.
    pub after: Vec<String>,
    /// What keeps it from ever happening; empty where nothing does.
    pub missing: Vec<String>,
    /// The parameter that leaves it to the fleet; `None` where it is carp's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own: Option<String>,
}

/// How many objects of a step are shown by name.
const FEW: usize = 3;

/// The steps in their order, each with what it waits for.
pub(super) fn text(steps: &[StepView], palette: Palette) -> String {
    if steps.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", palette.paint(Tone::Strong, "What brings it up, in order:"));
    for (at, StepView { step, on, objects, after, missing, own }) in (1..).zip(steps) {
        let _ = writeln!(out, "{at:>3}. {step}, on {on}");
        let more = objects.len().saturating_sub(FEW);
        let mut shown = objects[..objects.len() - more].join(", ");
        if more > 0 {
            let _ = write!(shown, " and {more} more");
        }
        if !objects.is_empty() {
            out.push_str(&wrap(&shown, "     ", 7));
        }
        if let Some(parameter) = own {
            let line = format!("the fleet brings it: `{parameter}` in its parameters is `own`");
            out.push_str(&wrap(&line, "     ", 7));
        }
        if !after.is_empty() {
            out.push_str(&wrap(&format!("after {}", after.join(", ")), "     ", 7));
        }
        for missing in missing {
            let line = format!("missing: {missing}");
            out.push_str(&wrap(&palette.paint(Tone::Bad, &line), "     ", 7));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_shows_its_objects_what_it_waits_for_and_what_is_missing() {
        let step = |name: &str, after: &[&str], missing: &[&str]| StepView {
            step: name.into(),
            on: "hub".into(),
            objects: vec![format!("Thing wk/{name}"); if missing.is_empty() { 5 } else { 0 }],
            after: after.iter().map(|&a| a.into()).collect(),
            missing: missing.iter().map(|&m| m.into()).collect(),
            own: None,
        };
        let own = StepView {
            step: "pod network".into(),
            on: "hub".into(),
            after: vec!["network".into()],
            own: Some("addOns.cni".into()),
            ..StepView::default()
        };
        let steps = [
            step("network", &[], &[]),
            step("machines", &["network"], &["there is no Thing"]),
            own,
        ];
        insta::assert_snapshot!(text(&steps, Palette::plain()), @r"

        What brings it up, in order:
          1. network, on hub
             Thing wk/network, Thing wk/network, Thing wk/network and 2 more
          2. machines, on hub
             after network
             missing: there is no Thing
          3. pod network, on hub
             the fleet brings it: `addOns.cni` in its parameters is `own`
             after network
        ");
        assert_eq!(text(&[], Palette::plain()), "");
    }
}
