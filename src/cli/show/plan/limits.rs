//! What a plan leaves at its limits, and who waits: the same in every form.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::super::{Palette, Tone, count};
use super::{Action, ChangeGroup, PlanView, listed};
use crate::change::Used;
use crate::model::{Decision, Name, ReasonCode};
use crate::pipeline::nodes_words;

/// The most lines of one sort; the rest is counted.
const LINES: usize = 3;
/// So many characters of a reason stand in a row of a table; of more stands below it that the cluster waits.
const IN_A_ROW: usize = 60;

/// What a row of a table says of why something changes: of a cluster that waits for many things that it waits.
pub(super) fn in_a_row(group: &ChangeGroup) -> &str {
    let short = group.action != Action::Wait || !is_long(&group.why);
    if short { &group.why } else { "no worker takes it; what each has against it stands below" }
}

/// Whether why a cluster waits is too long for a row of a table.
#[must_use]
pub(in crate::cli::show) fn is_long(why: &str) -> bool {
    why.chars().count() > IN_A_ROW
}

impl PlanView<'_> {
    /// Who waited before and waits for the same, by what for. Who begins to wait is among the changes, and
    /// what a change did not cause is left out.
    pub(super) fn waits(&self) -> BTreeMap<String, Vec<&Name>> {
        let mut alike: BTreeMap<String, Vec<&Name>> = BTreeMap::new();
        if self.against.is_some() {
            return alike;
        }
        let told: BTreeSet<&Name> = self.clusters.iter().map(|change| &change.name).collect();
        for (name, planned) in &self.proposal.plan.clusters {
            let Decision::Wait { reasons, .. } = &planned.decision else { continue };
            if !told.contains(name) {
                alike.entry(ReasonCode::sentence(reasons)).or_default().push(name);
            }
        }
        for (reasons, names) in &self.proposal.pending.0 {
            alike.entry(ReasonCode::sentence(reasons)).or_default().extend(names);
        }
        alike
    }

    /// Who waits for what, with those who begin to wait for more than a row of a table holds.
    fn waits_below(&self) -> BTreeMap<String, Vec<&Name>> {
        let mut alike = self.waits();
        let begin = self.clusters.iter().filter(|change| change.action == Action::Wait);
        for change in begin.filter(|change| is_long(&change.why)) {
            alike.entry(change.why.clone()).or_default().push(&change.name);
        }
        for names in alike.values_mut() {
            names.sort();
        }
        alike
    }

    /// By how many nodes the fleet grows: in updates and in clusters that are placed.
    pub(super) fn nodes(&self) -> i64 {
        let updates = self.clusters.iter().filter_map(|change| change.update.as_ref());
        let created = self.clusters.iter().filter(|change| change.action == Action::Create);
        let of_new = created.filter_map(|change| {
            let cluster = self.proposal.fleet.clusters.get(&change.name)?;
            let pools = cluster.spec.node_pools.iter();
            let nodes = |pool: &crate::model::api::NodePool| {
                pool.replicas.or_else(|| pool.autoscale.as_ref().map(|scale| scale.min))
            };
            Some(pools.filter_map(nodes).map(i64::from).sum::<i64>())
        });
        updates.map(|update| update.nodes).sum::<i64>() + of_new.sum::<i64>()
    }

    /// By how many nodes the fleet grows, in words; `None` where it does not.
    pub(super) fn nodes_words(&self) -> Option<String> {
        Some(self.nodes()).filter(|nodes| *nodes != 0).map(nodes_words)
    }

    /// What is at its limit: a title, what that means, and lines.
    fn limits(&self) -> Vec<(&'static str, &'static str, Vec<String>)> {
        let line = |(who, used): (&str, &Vec<Used>)| {
            let used: Vec<_> = used.iter().map(ToString::to_string).collect();
            format!("{who}: {}", used.join(", "))
        };
        let over = self.pressure.overcommitted.iter();
        let quotas = self.pressure.quotas.iter();
        let waits = self.waits_below().into_iter();
        let all = [
            (
                "OVERCOMMITTED",
                "more is on these workers than they can have; it stays, and nothing new comes",
                over.map(|(name, used)| line((name.as_str(), used))).collect::<Vec<_>>(),
            ),
            (
                "QUOTA",
                "nothing is left of the quota of these tenants",
                quotas.map(|(tenant, used)| line((tenant, used))).collect(),
            ),
            (
                "WAITING",
                "no worker takes these; `carp explain cluster/NAME` says what would help",
                waits.map(|(why, names)| format!("{}: {why}", listed(&names))).collect(),
            ),
        ];
        all.into_iter().filter(|(_, _, lines)| !lines.is_empty()).collect()
    }
}

/// The first lines, and how many more there are.
fn first(lines: &[String]) -> Vec<String> {
    let mut shown: Vec<_> = lines.iter().take(LINES).cloned().collect();
    if lines.len() > LINES {
        shown.push(format!("and {} more", lines.len() - LINES));
    }
    shown
}

/// For a terminal.
pub(super) fn text(view: &PlanView<'_>, palette: Palette) -> String {
    let mut out = String::new();
    for (title, what, lines) in view.limits() {
        let _ = writeln!(out, "{}: {what}", palette.paint(Tone::Warn, title));
        for line in first(&lines) {
            let _ = writeln!(out, "  {line}");
        }
    }
    out
}

/// For a comment on a pull request. `cell` makes text safe for it.
pub(super) fn markdown(view: &PlanView<'_>, cell: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    for (title, what, lines) in view.limits() {
        let _ = writeln!(out, "\n**{title}**: {what}\n");
        for line in first(&lines) {
            let _ = writeln!(out, "- {}", cell(&line));
        }
    }
    out
}

/// For programs: all of them.
pub(super) fn json(view: &PlanView<'_>) -> (Value, Value) {
    let value = |who: (&str, &str), used: &Vec<Used>| -> Vec<Value> {
        let one = |used: &Used| {
            json!({
                who.0: who.1,
                "resource": used.resource,
                "location": used.location,
                "used": used.used,
                "of": used.of,
            })
        };
        used.iter().map(one).collect()
    };
    let over = view.pressure.overcommitted.iter();
    let over = over.flat_map(|(name, used)| value(("worker", name.as_str()), used));
    let quotas = view.pressure.quotas.iter();
    let quotas = quotas.flat_map(|(tenant, used)| value(("tenant", tenant), used));
    (over.collect(), quotas.collect())
}

/// The violations for a terminal: two lines for each of the first reasons.
pub(super) fn violations(view: &PlanView<'_>, palette: Palette) -> String {
    let all = view.violations();
    let mut out = String::new();
    let title = palette.paint(Tone::Warn, "VIOLATED");
    for (why, names) in all.iter().take(LINES) {
        let _ = writeln!(out, "{title}: {why}; they stay\n  {}", listed(names));
    }
    let more: usize = all.values().skip(LINES).map(Vec::len).sum();
    if more > 0 {
        let reasons = count((all.len() - LINES) as u64, "other reason");
        let _ = writeln!(out, "{title}: {} for {reasons}", count(more as u64, "more cluster"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::change::Pressure;
    use crate::model::Quantity;

    fn used(resource: &str) -> Vec<Used> {
        let (used, of) = (Quantity::units(8), Quantity::units(5));
        vec![Used { resource: resource.to_owned(), location: None, used, of }]
    }

    #[test]
    fn what_is_at_its_limit_and_who_waits_stands_in_every_form() {
        let mut proposal = sample::proposal();
        let reasons = [ReasonCode::Capacity, ReasonCode::Taint].into();
        sample::wait_before(&mut proposal, "huge", reasons);
        let mut view = PlanView::of(&proposal, "fleet", "eu", &[]);
        let worker = Name::parse("w1").unwrap();
        view.pressure = Pressure {
            overcommitted: [(worker, used("clusters"))].into(),
            quotas: [("shop".to_owned(), used("cpu"))].into(),
        };
        let told = text(&view, Palette::plain());
        for line in [
            "  w1: 8 of 5 clusters\n",
            "  shop: 8 of 5 cpu\n",
            "  huge: some workers have too little room, some have a taint that is not tolerated (Capacity, Taint)\n",
        ] {
            assert!(told.contains(line), "{told}");
        }
        let told = markdown(&view, str::to_owned);
        for line in [
            "- w1: 8 of 5 clusters\n",
            "- shop: 8 of 5 cpu\n",
            "- huge: some workers have too little room, some have a taint that is not tolerated (Capacity, Taint)\n",
        ] {
            assert!(told.contains(line), "{told}");
        }
        let (over, quotas) = json(&view);
        assert_eq!((&over[0]["worker"], &over[0]["resource"]), (&json!("w1"), &json!("clusters")));
        assert_eq!((&quotas[0]["tenant"], &quotas[0]["used"]), (&json!("shop"), &json!("8")));
    }

    #[test]
    fn who_begins_to_wait_for_many_things_is_told_below_the_table() {
        let proposal = sample::proposal();
        let mut view = PlanView::of(&proposal, "fleet", "eu", &[]);
        let row = |view: &PlanView<'_>| {
            let waits = view.groups.iter().find(|group| group.action == Action::Wait);
            waits.map(in_a_row).map(str::to_owned).unwrap()
        };
        assert_eq!(row(&view), "no worker takes it; what each has against it stands below");
        let below = "  huge: some workers have too little room, some have a taint that is not tolerated (Capacity, Taint)\n";
        assert!(
            text(&view, Palette::plain()).ends_with(below),
            "{}",
            text(&view, Palette::plain())
        );
        let short = "all workers have too little room (Capacity)";
        for why in view.groups.iter_mut().map(|group| &mut group.why) {
            short.clone_into(why);
        }
        for why in view.clusters.iter_mut().map(|change| &mut change.why) {
            short.clone_into(why);
        }
        assert_eq!((row(&view).as_str(), text(&view, Palette::plain()).as_str()), (short, ""));
    }

    #[test]
    fn many_of_a_sort_are_three_and_a_number() {
        let lines: Vec<_> = (0..9).map(|n| n.to_string()).collect();
        assert_eq!(first(&lines), ["0", "1", "2", "and 6 more"]);
        assert_eq!(first(&lines[..3]), ["0", "1", "2"]);
    }
}
