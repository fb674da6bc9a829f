//! What a hold means and what lets it through, and why a folder was kept as it was.

use std::collections::BTreeMap;

use super::super::first;
use crate::model::{Gate, GateReason, Hold, HoldKind, Name, Plan, WorkerState, thousands};

/// A hold in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoldWords {
    /// What is held, and why.
    pub what: &'static str,
    /// What lets it through; where an acknowledgement does, its command is shown besides.
    pub remedy: &'static str,
}

/// The words for a guard.
#[must_use]
pub const fn hold_words(hold: &Hold) -> HoldWords {
    let remedy = match hold.kind {
        HoldKind::MassDeletion | HoldKind::MassMove => {
            "if exactly these are meant, acknowledge them"
        }
        HoldKind::DeletionsHeld => "mend what is named above",
        HoldKind::PlacementsHeld => "mend the errors above",
        HoldKind::DeletionPolicyUnset => {
            "bring the document back with `deletionPolicy: Delete`, let that be applied, then remove it; a \
             new name is another cluster, for carp renames nothing"
        }
        HoldKind::WorkerInUse => {
            "bring the document back, or remove its clusters first; a new name is another worker, for carp \
             renames nothing"
        }
        HoldKind::NameStillDeleting => {
            "wait: at the end of the deletion it is made anew; or take another name"
        }
        HoldKind::Rewind => "if the rewind is meant, acknowledge it",
        HoldKind::RootChanged => {
            "move them there too; what is to go is removed in a commit of its own"
        }
        HoldKind::Drifted => {
            "ask the author, then revert the edit there, or set `drift: overwrite` where that removes nothing"
        }
        HoldKind::FailoverBreaker => {
            "find out why their reports stopped; a worker that is lost for ever can be drained"
        }
        HoldKind::ObjectsRemoved => {
            "bring them back in the template, class or policy that lost them; if exactly these are to go, \
             acknowledge them"
        }
        HoldKind::MachinesReplaced => {
            "change fewer of them at a time, or allow more; if exactly these are meant, acknowledge them"
        }
        HoldKind::InputNotVerified => {
            "let an allowed signer commit on top of it: `git commit -S --allow-empty`, then push"
        }
    };
    HoldWords { what: hold.words(), remedy }
}

/// Why a folder keeps its last good content, in words. What to do stands with the findings.
#[must_use]
pub const fn gate_words(reason: GateReason) -> &'static str {
    reason.words()
}

/// The folders that were kept, by reason: one cause mostly keeps many.
#[must_use]
pub fn kept(gates: &[Gate]) -> BTreeMap<GateReason, Vec<&Name>> {
    let mut kept = BTreeMap::<_, Vec<_>>::new();
    for gate in gates {
        kept.entry(gate.reason).or_default().push(&gate.name);
    }
    kept
}

/// Names for a line: the first ones, and how many more there are.
#[must_use]
pub fn listed(names: &[impl ToString]) -> String {
    first(names, 20)
}

/// A line for all of which the same is said, in the order of their names; the most lines there are, then how many
/// more are told of nowhere else.
#[must_use]
pub(super) fn alike<'a>(
    said: impl IntoIterator<Item = (&'a Name, String)>,
    most: usize,
) -> Vec<String> {
    let mut groups: Vec<(String, Vec<&Name>)> = Vec::new();
    let mut known = BTreeMap::new();
    for (name, words) in said {
        let at = *known.entry(words.clone()).or_insert(groups.len());
        match groups.get_mut(at) {
            Some((_, names)) => names.push(name),
            None => groups.push((words, vec![name])),
        }
    }
    let more: usize = groups.iter().skip(most).map(|(_, names)| names.len()).sum();
    let line = |(words, names): &(String, Vec<&Name>)| format!("{}: {words}", listed(names));
    let mut lines: Vec<_> = groups.iter().take(most).map(line).collect();
    if more > 0 {
        lines.push(format!("and {} more", thousands(more as u64)));
    }
    lines
}

/// The command that acknowledges exactly this hold; `None` where none can.
#[must_use]
pub fn ack_command(hold: &Hold) -> Option<String> {
    let of = hold.kind.acknowledged_by()?;
    Some(format!("carp ack {of} --count {} --digest sha256:{}", hold.names.len(), hold.digest()))
}

/// What pools of workers do, a line each.
#[must_use]
pub fn pool_lines(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, pool) in &plan.pools {
        lines.extend(pool.made.iter().map(|worker| format!("+ worker {worker} (pool {name})")));
        let goes = |worker: &&Name| {
            plan.workers.get(*worker).is_none_or(|plan| plan.state == WorkerState::Retiring)
        };
        let spare = pool.spare.iter().filter(goes);
        lines.extend(spare.map(|worker| format!("- worker {worker} (pool {name}, empty)")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_ends_in_a_number() {
        assert_eq!(listed(&["a", "b"]), "a, b");
        assert!(listed(&vec!["a"; 23]).ends_with("a, a and 3 more"));
    }

    #[test]
    fn what_is_said_alike_is_said_once() {
        let names = ["a", "b", "c", "d"].map(|name| Name::parse(name).unwrap());
        let said = || names.iter().zip(["waits", "goes", "waits", "stays"].map(str::to_owned));
        assert_eq!(alike(said(), 5), ["a, c: waits", "b: goes", "d: stays"]);
        assert_eq!(alike(said(), 1), ["a, c: waits", "and 2 more"]);
    }

    #[test]
    fn the_command_names_exactly_the_set() {
        let names = vec!["a".to_owned(), "b".to_owned()];
        let mut hold = Hold { kind: HoldKind::MassDeletion, names, allowed: Some(1) };
        let digest = crate::model::Digest::of_names(["a", "b"]);
        let wanted = format!("carp ack deletions --count 2 --digest sha256:{digest}");
        assert_eq!(ack_command(&hold), Some(wanted));
        hold.kind = HoldKind::WorkerInUse;
        assert_eq!(ack_command(&hold), None);
    }
}
