//! Findings on what was rendered: what the folders of many clusters have in common comes once.

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{Fleet, Name};

/// The findings of a run on its folders.
#[derive(Default)]
pub(super) struct FolderFindings {
    /// Each with the cluster or worker whose folder it is on; `None` where it is on no such folder.
    all: Vec<(Option<Name>, Diagnostic)>,
}

impl FolderFindings {
    /// Adds a finding on the folder of a cluster or worker.
    pub(super) fn on(&mut self, name: &Name, finding: Diagnostic) {
        self.all.push((Some(name.clone()), finding));
    }

    /// Adds a finding that is on no folder of a cluster or worker.
    pub(super) fn push(&mut self, finding: Diagnostic) {
        self.all.push((None, finding));
    }

    /// The findings, in the order in which they were found, without those that are `known` already. A
    /// finding on a template names one cluster that it was seen on, and says how many others there are.
    pub(super) fn told(self, known: &Diagnostics, fleet: &Fleet) -> Diagnostics {
        let mut groups: Vec<(Vec<Name>, Diagnostic)> = Vec::new();
        let mut seen = BTreeMap::new();
        for (name, finding) in self.all.into_iter().filter(|(_, d)| known.iter().all(|k| k != d)) {
            let at = *seen.entry(likeness(name.as_ref(), &finding)).or_insert(groups.len());
            if at == groups.len() {
                groups.push((Vec::new(), finding));
            }
            groups[at].0.extend(name);
        }
        groups.into_iter().map(|(names, finding)| told(names, finding, fleet)).collect()
    }
}

/// The finding as it would be on any other folder.
fn likeness(name: Option<&Name>, finding: &Diagnostic) -> Diagnostic {
    let mut like = finding.clone();
    if let Some(name) = name {
        like.message = like.message.replace(name.as_str(), "\0");
    }
    like
}

fn told(mut names: Vec<Name>, mut finding: Diagnostic, fleet: &Fleet) -> Diagnostic {
    // One of a worker's folders may be named twice. A finding in a desired file names its own, but for one in a policy
    // that changes many folders.
    names.dedup();
    let is_shared = |place: &crate::diag::Place| {
        place.field.is_none() || fleet.overrides.values().any(|policy| policy.file == place.file)
    };
    let is_of_many = finding.place.as_ref().is_none_or(is_shared);
    if let Some(first) = names.first().filter(|_| is_of_many) {
        let kind = if fleet.workers.contains_key(first) { "worker" } else { "cluster" };
        let more = match names.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        finding.message = format!("{} ({kind} {first}{more})", finding.message);
    }
    finding
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Code, FieldPath, Place};

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    fn messages(found: FolderFindings, known: &Diagnostics) -> Vec<String> {
        found.told(known, &Fleet::default()).into_iter().map(|d| d.message).collect()
    }

    #[test]
    fn what_a_template_does_to_many_clusters_comes_once() {
        let mut found = FolderFindings::default();
        let place = || Place::file("templates/f/cluster.yaml").at(2, 1);
        for cluster in ["a1", "b2", "c3"] {
            let message = format!("Pod {cluster}-x is refused");
            let finding = Diagnostic::new(Code::RenderedRefused, message).at(place());
            found.on(&name(cluster), finding);
        }
        let other = Diagnostic::new(Code::RenderedRefused, "another").at(place());
        found.on(&name("b2"), other);
        let wanted = ["Pod a1-x is refused (cluster a1 and 2 more)", "another (cluster b2)"];
        assert_eq!(messages(found, &Diagnostics::default()), wanted);
    }

    #[test]
    fn what_is_known_or_in_the_own_document_is_told_as_it_is() {
        let mut found = FolderFindings::default();
        let broken = Diagnostic::new(Code::TemplateFailed, "cannot be read");
        found.on(&name("a"), broken.clone());
        let place = Place::field("fleet/a.yaml", 0, FieldPath::keys("spec.version"));
        found.on(&name("a"), Diagnostic::new(Code::VersionSkew, "back").at(place));
        found.push(Diagnostic::new(Code::OutputCollision, "there"));
        assert_eq!(messages(found, &[broken].into_iter().collect()), ["back", "there"]);
    }
}
