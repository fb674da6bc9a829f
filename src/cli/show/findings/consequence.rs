//! One cause, one error: what is wrong, held or kept only because something else is wrong is told with that.

use std::collections::{BTreeMap, BTreeSet};

use super::super::first;
use super::Finding;
use crate::diag::{Code, Severity};
use crate::model::{Gate, GateReason, Hold, HoldKind, Name, Proposal, Unloaded, count};

/// How many names stand in a line.
const NAMES: usize = 5;

/// The findings with those that follow from others as notes: what many say alike once, with how many they are; and that
/// `carp.yaml` did not load as what follows from the first mistake in it.
pub(super) fn told_once(findings: Vec<Finding>) -> Vec<Finding> {
    let follows = |finding: &Finding| finding.code == Code::ClassNotLoaded;
    let mut alike: BTreeMap<String, u64> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| follows(finding)) {
        *alike.entry(finding.message.clone()).or_default() += 1;
    }
    let told = |mut finding: Finding| {
        if !follows(&finding) {
            return Some(finding);
        }
        finding.severity = Severity::Note;
        // The first of them stands for all; the others were counted with it.
        match alike.remove(&finding.message)? {
            1 => {}
            many => {
                finding.message =
                    format!("{}, and {} have it", finding.message, count(many, "cluster"));
                (finding.spot, finding.help) = (None, None);
            }
        }
        Some(finding)
    };
    without_broken(findings.into_iter().filter_map(told).collect())
}

fn without_broken(mut findings: Vec<Finding>) -> Vec<Finding> {
    let is_broken = |finding: &Finding| finding.code == Code::FleetBroken;
    while let Some(at) = findings.iter().position(is_broken) {
        let file = findings[at].spot.as_ref().map(|spot| spot.file.clone());
        let is_cause = |other: &Finding| other.severity == Severity::Error && !is_broken(other);
        let in_it = |other: &Finding| other.spot.as_ref().map(|spot| &spot.file) == file.as_ref();
        let own = findings.iter().position(|other| is_cause(other) && in_it(other));
        let Some(cause) = own.or_else(|| findings.iter().position(is_cause)) else { break };
        let message = findings[at].message.clone();
        findings[cause].consequence = Some(message);
        findings.remove(at);
    }
    findings
}

/// The findings, the first of those for which something did not load with what follows for the plan: whose last good
/// output is kept, and what does not begin.
#[must_use]
pub fn with_what_follows(mut findings: Vec<Finding>, proposal: &Proposal) -> Vec<Finding> {
    let unloaded = &proposal.fleet.unloaded;
    let is_cause = |finding: &Finding| {
        let place = finding.spot.as_ref().map(|spot| &spot.place);
        let in_it = |whole: &Unloaded| {
            place.is_some_and(|place| {
                place.file == whole.file && whole.document.is_none_or(|at| at == place.document)
            })
        };
        finding.severity == Severity::Error && unloaded.iter().any(in_it)
    };
    let causes = findings.iter().filter(|finding| is_cause(finding)).count();
    if let Some(cause) = findings.iter_mut().find(|finding| is_cause(finding)) {
        // Why nothing can be decided may stand there already.
        let before = cause.consequence.take();
        let lines: Vec<_> = before.into_iter().chain(what_follows(proposal, causes)).collect();
        cause.consequence = (!lines.is_empty()).then(|| lines.join("; "));
    }
    let reasons: BTreeSet<_> = proposal.gates.iter().map(|gate| gate.reason).collect();
    for reason in reasons {
        kept(&mut findings, &proposal.gates, reason);
    }
    findings
}

/// Whose last good output is kept for what was found wrong with it: a line of the first of these findings.
fn kept(findings: &mut [Finding], gates: &[Gate], reason: GateReason) {
    let codes = codes(gates, reason);
    let is_cause =
        |finding: &Finding| finding.severity == Severity::Error && codes.contains(&finding.code);
    let causes = findings.iter().filter(|finding| is_cause(finding)).count();
    let names = names(gates, reason);
    if let Some(cause) = findings.iter_mut().find(|finding| is_cause(finding)) {
        let until =
            if causes == 1 { "until it is mended" } else { "until all of these are mended" };
        let line = format!("{until}, {}", keeps(&names));
        let before = cause.consequence.take().map(|before| format!("{before}; "));
        cause.consequence = Some(before.unwrap_or_default() + &line);
    }
}

/// The rules by which folders are kept for one reason, as far as the reason does not speak for itself.
fn codes(gates: &[Gate], reason: GateReason) -> BTreeSet<Code> {
    let of = gates.iter().filter(|gate| gate.reason == reason);
    of.flat_map(|gate| &gate.findings).map(|found| found.code).collect()
}

fn names(gates: &[Gate], reason: GateReason) -> Vec<&Name> {
    gates.iter().filter(|gate| gate.reason == reason).map(|gate| &gate.name).collect()
}

fn keeps(names: &[&Name]) -> String {
    let (keep, their) = if names.len() == 1 { ("keeps", "its") } else { ("keep", "their") };
    format!("{} {keep} {their} last good output", first(names, NAMES))
}

/// What is said of clusters whose deletion or move is held.
const NO_DELETION: &str = "neither deleted nor moved";
/// What is said where placements are held.
const NO_PLACEMENT: &str = "nothing new is placed";

fn what_follows(proposal: &Proposal, causes: usize) -> Option<String> {
    let kept = names(&proposal.gates, GateReason::NotLoaded);
    let held = |kind| {
        let mut holds = proposal.plan.holds.iter();
        let held = holds.find(|hold| hold.kind == kind).filter(|hold| follows(proposal, hold))?;
        Some((first(&held.names, NAMES), held.names.len()))
    };
    let mut parts = Vec::new();
    if !kept.is_empty() {
        parts.push(keeps(&kept));
    }
    if let Some((names, number)) = held(HoldKind::DeletionsHeld) {
        let are = if number == 1 { "is" } else { "are" };
        parts.push(format!("{names} {are} {NO_DELETION}"));
    }
    if let Some((names, number)) = held(HoldKind::PlacementsHeld) {
        let wait = if number == 1 { "waits" } else { "wait" };
        parts.push(format!("{NO_PLACEMENT}: {names} {wait}"));
    }
    let until =
        if causes == 1 { "until it is mended" } else { "until all that did not load is mended" };
    (!parts.is_empty()).then(|| format!("{until}, {}", parts.join("; ")))
}

/// Whether a hold follows from nothing but that something did not load. A lock that is lost, and what was edited by hand
/// and stays, hold a deletion too: then it is told by itself, with all that may be its cause.
fn follows(proposal: &Proposal, hold: &Hold) -> bool {
    let previous = &proposal.previous;
    let kept = &previous.kept;
    let named: BTreeSet<&str> = hold.names.iter().map(String::as_str).collect();
    let is_worker = |name: &&&str| !proposal.plan.clusters.contains_key(**name);
    let worker_kept = |name: &&str| {
        kept.control_plane || kept.workers.contains(*name) || kept.made.contains(*name)
    };
    let cluster_kept =
        |(name, worker): (&Name, &Name)| named.contains(name.as_str()) && kept.holds(name, worker);
    hold.kind != HoldKind::DeletionsHeld
        || (previous.damaged.is_empty()
            && !named.iter().filter(is_worker).any(worker_kept)
            && !previous.placements().any(cluster_kept))
}

/// Whether a hold is told as what follows from a finding.
#[must_use]
pub fn tells_hold(findings: &[Finding], kind: HoldKind) -> bool {
    let words = match kind {
        HoldKind::DeletionsHeld => NO_DELETION,
        HoldKind::PlacementsHeld => NO_PLACEMENT,
        _ => return false,
    };
    findings
        .iter()
        .filter_map(|finding| finding.consequence.as_deref())
        .any(|line| line.contains(words))
}

/// Whether that folders were kept is told as what follows from a finding.
#[must_use]
pub fn tells_kept(findings: &[Finding], gates: &[Gate], reason: GateReason) -> bool {
    let codes = codes(gates, reason);
    let tells = |found: &Finding| found.consequence.is_some() && codes.contains(&found.code);
    (reason == GateReason::NotLoaded && tell(findings)) || findings.iter().any(tells)
}

fn tell(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.consequence.is_some())
}

#[cfg(test)]
mod tests {
    use super::super::tests::findings;
    use super::*;
    use crate::diag::Diagnostic;

    #[test]
    fn a_broken_class_is_one_error_whatever_has_it() {
        let of = |class: &str| Finding {
            code: Code::ClassNotLoaded,
            message: format!("the class `{class}` did not load"),
            ..findings().remove(1)
        };
        let cause = findings().remove(0);
        let mut all = vec![cause.clone(), of("small")];
        let told = told_once(all.clone());
        assert_eq!(told[0], cause);
        assert_eq!((told[1].severity, told[1].spot.is_some()), (Severity::Note, true));
        all.extend([of("large"), of("small"), of("small")]);
        let told = told_once(all);
        let messages: Vec<_> = told[1..].iter().map(|finding| finding.message.as_str()).collect();
        let wanted = "the class `small` did not load, and 3 clusters have it";
        assert_eq!(messages, [wanted, "the class `large` did not load"]);
    }

    #[test]
    fn that_the_fleet_did_not_load_follows_from_the_first_mistake_in_it() {
        let [elsewhere, cause, later] = [1, 1, 2].map(|at| findings().remove(at));
        let elsewhere = Finding { spot: None, ..elsewhere };
        let broken = Finding {
            code: Code::FleetBroken,
            message: "nothing can be decided".to_owned(),
            ..cause.clone()
        };
        let told = told_once(vec![elsewhere.clone(), broken.clone(), cause.clone(), later.clone()]);
        let consequence = Some("nothing can be decided".to_owned());
        assert_eq!(
            told,
            [elsewhere.clone(), Finding { consequence: consequence.clone(), ..cause }, later]
        );
        let told = told_once(vec![broken.clone(), elsewhere.clone()]);
        assert_eq!(told, [Finding { consequence, ..elsewhere }], "a template that cannot be read");
        assert_eq!(told_once(vec![broken.clone()]), [broken], "alone it is an error of its own");
    }

    #[test]
    fn whose_output_is_kept_is_a_line_of_what_is_wrong_with_it() {
        let found = findings().remove(2);
        let other = Finding { code: Code::TemplateFailed, ..found.clone() };
        let mut proposal = super::super::super::plan::sample::proposal();
        let gate = |text: &str| Gate {
            name: Name::parse(text).unwrap(),
            reason: GateReason::CheckFailed,
            findings: vec![Diagnostic::new(found.code, "the same")],
        };
        proposal.gates = vec![gate("a"), gate("b")];
        let told = with_what_follows(vec![other.clone(), found.clone()], &proposal);
        assert_eq!(told[0].consequence, None, "another rule");
        let line = "until it is mended, a, b keep their last good output";
        assert_eq!(told[1].consequence.as_deref(), Some(line));
        assert!(tells_kept(&told, &proposal.gates, GateReason::CheckFailed));
        assert!(!tells_kept(&told, &proposal.gates, GateReason::RenderFailed));
        assert!(!tells_kept(&[found, other], &proposal.gates, GateReason::CheckFailed));
    }

    #[test]
    fn what_follows_from_what_did_not_load_is_a_line_of_its_error() {
        let name = |text: &str| Name::parse(text).unwrap();
        let found = findings().remove(1);
        let place = found.spot.as_ref().unwrap().place.clone();
        let whole = |file: &str| Unloaded {
            file: file.to_owned(),
            document: Some(place.document),
            kind: None,
            name: None,
            blocks_placements: false,
            tenants: Vec::new(),
        };
        let mut proposal = super::super::super::plan::sample::proposal();
        (proposal.plan.holds, proposal.gates) = (Vec::new(), Vec::new());
        let follows = |proposal: &Proposal, findings: Vec<Finding>| {
            let told = with_what_follows(findings, proposal);
            told.into_iter().map(|finding| finding.consequence).collect::<Vec<_>>()
        };
        proposal.fleet.unloaded = vec![whole(&place.file)];
        assert_eq!(follows(&proposal, vec![found.clone()]), [None], "nothing is held or kept");
        let gate = |text: &str| Gate {
            name: name(text),
            reason: GateReason::NotLoaded,
            findings: Vec::new(),
        };
        proposal.gates = vec![gate("a")];
        let words = "until it is mended, a keeps its last good output";
        assert_eq!(follows(&proposal, vec![found.clone()]), [Some(words.to_owned())]);
        proposal.gates.push(gate("b"));
        let hold = |kind, names: &[&str]| Hold {
            kind,
            names: names.iter().map(|&text| text.to_owned()).collect(),
            allowed: None,
        };
        proposal.plan.holds = vec![
            hold(HoldKind::DeletionsHeld, &["c", "d"]),
            hold(HoldKind::PlacementsHeld, &["e"]),
        ];
        let other = Finding { spot: None, ..found.clone() };
        let words = "until all that did not load is mended, a, b keep their last good output; c, d are neither \
                     deleted nor moved; nothing new is placed: e waits";
        let told = with_what_follows(vec![other.clone(), found.clone(), found.clone()], &proposal);
        let lines: Vec<_> = told.iter().map(|finding| finding.consequence.as_deref()).collect();
        assert_eq!(lines, [None, Some(words), None], "the first of them has it");
        assert!(
            tells_hold(&told, HoldKind::DeletionsHeld)
                && tells_kept(&told, &proposal.gates, GateReason::NotLoaded)
        );
        assert!(!tells_hold(&told, HoldKind::MassDeletion));
        proposal.fleet.unloaded = vec![whole("fleet/other.yaml")];
        assert_eq!(follows(&proposal, vec![found]), [None], "no finding is its cause");
        let kept = Some("until it is mended, a keeps its last good output".to_owned());
        let of_another = Finding { consequence: kept, ..other.clone() };
        assert!(!tells_hold(&[of_another], HoldKind::DeletionsHeld), "a line of something else");
        assert!(!tells_hold(&[other], HoldKind::DeletionsHeld));
    }

    #[test]
    fn a_hold_with_another_cause_is_told_by_itself() {
        let name = |text: &str| Name::parse(text).unwrap();
        let hold = Hold {
            kind: HoldKind::DeletionsHeld,
            names: vec!["c".to_owned(), "w9".to_owned()],
            allowed: None,
        };
        let mut proposal = super::super::super::plan::sample::unchanged();
        let mut planned = super::super::super::plan::sample::proposal().plan.clusters;
        let (_, planned) = planned.pop_first().unwrap();
        proposal.plan.clusters.insert(name("c"), planned);
        assert!(follows(&proposal, &hold));
        proposal.previous.kept.clusters.insert(name("d"));
        assert!(follows(&proposal, &hold), "what is kept of another");
        let mut by_edit = proposal.clone();
        by_edit.previous.kept.workers.insert(name("w9"));
        assert!(!follows(&by_edit, &hold), "a worker's folder");
        let mut by_edit = proposal.clone();
        by_edit.previous.kept.control_plane = true;
        assert!(!follows(&by_edit, &hold), "the files where a worker would be taken out");
        let of_cluster = Hold { names: vec!["c".to_owned()], ..hold.clone() };
        assert!(follows(&by_edit, &of_cluster), "no cluster's files are there");
        proposal.previous.damaged.push(crate::model::Damage {
            lock: crate::model::LockName::Fleet,
            why: "it is gone".to_owned(),
        });
        assert!(!follows(&proposal, &of_cluster), "a lock that is lost");
        let placements = Hold { kind: HoldKind::PlacementsHeld, ..of_cluster };
        assert!(follows(&proposal, &placements), "which holds no placement");
    }
}
