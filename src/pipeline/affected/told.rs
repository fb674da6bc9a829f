//! What is told of a fleet that stands, and was told before: the same findings, the same holds.

use std::collections::BTreeSet;

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::model::{Baseline, Name};

/// Whether nothing is found but what was found before, and of the files that differ all of that: where its document stands
/// now, and where its line is, was not seen. `edited`: a document says something else.
pub(super) fn is_the_same(
    baseline: &Baseline,
    found: &Diagnostics,
    (differing, edited): (&BTreeSet<String>, bool),
) -> bool {
    stands(&baseline.findings.iter().collect(), &found.iter().collect(), (differing, edited))
}

fn stands(
    known: &BTreeSet<&Diagnostic>,
    found: &BTreeSet<&Diagnostic>,
    (differing, edited): (&BTreeSet<String>, bool),
) -> bool {
    let is_asked =
        |finding: &Diagnostic| is_of(finding, differing) || (names_clusters(finding) && edited);
    let mut of_changed = known.iter().filter(|finding| is_asked(finding));
    found.is_subset(known) && of_changed.all(|finding| found.contains(finding))
}

/// Whether a finding of the whole fleet names clusters, so that a change of any may change it.
fn names_clusters(finding: &Diagnostic) -> bool {
    finding.code == Code::VersionExpires
}

/// Whether a finding is in one of these files, or speaks of one.
pub(super) fn is_of(finding: &Diagnostic, files: &BTreeSet<String>) -> bool {
    let related = finding.related.iter().map(|(place, _)| place);
    finding.place.iter().chain(related).any(|place| files.contains(&place.file))
}

/// Whether findings of no file are known, which reports may have caused.
pub(super) fn of_no_file(baseline: &Baseline) -> bool {
    baseline.findings.iter().any(|finding| finding.place.is_none())
}

/// Whether somebody has too much, so that what stands in their folders was not read. Any change may end that.
pub(super) fn is_too_much(baseline: &Baseline) -> bool {
    baseline.findings.iter().any(|finding| finding.code == Code::TooMuch)
}

/// Whether any of these is on its way, or something is told of it.
pub(super) fn is_busy<'a>(baseline: &Baseline, mut names: impl Iterator<Item = &'a Name>) -> bool {
    names.any(|name| baseline.busy.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Place;

    #[test]
    fn what_names_clusters_is_asked_again_when_any_changes() {
        let expires =
            Diagnostic::new(Code::VersionExpires, "v1.33 expires, and clusters have it: a")
                .at(Place::file("carp.yaml"));
        let other = Diagnostic::new(Code::ExampleFleet, "x").at(Place::file("carp.yaml"));
        let is_the_same = |known: &[&Diagnostic], found: &[&Diagnostic], changed: &[&str]| {
            let (known, found) = (known.iter().copied(), found.iter().copied());
            let files = changed.iter().map(|&file| file.to_owned()).collect();
            stands(&known.collect(), &found.collect(), (&files, !changed.is_empty()))
        };
        let (none, a): (&[&Diagnostic], &[&str]) = (&[], &["fleet/a.yaml"]);
        assert!(is_the_same(&[&expires], none, &[]), "nothing changed, so nothing was asked");
        assert!(is_the_same(&[&expires], &[&expires], a), "the cluster that has it is another");
        assert!(!is_the_same(&[&expires], none, a), "the cluster was upgraded: nobody has it");
        assert!(!is_the_same(none, &[&expires], a), "a cluster has it now");
        assert!(is_the_same(&[&other], none, a), "a finding of another file stands");
    }
}
