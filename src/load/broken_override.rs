//! Override policies that are there and did not load: which clusters and workers wait for them.

use super::item::Item;
use super::kind::DocumentSpec;
use crate::diag::{Code, Diagnostic, Step};
use crate::model::api::{FleetSpec, OverrideTarget};
use crate::model::{BrokenOverride, Unloaded};

/// The fields that say whom a policy selects.
const SELECTORS: [&str; 3] = ["clusterSelector", "workerSelector", "target"];

/// What a document without effect may have overridden; `None` where it is something else. Where its selectors can be
/// read it is what they select, and all clusters and workers otherwise.
pub(super) fn of(item: &Item) -> Option<BrokenOverride> {
    if !item.may_override {
        return None;
    }
    let mut broken =
        BrokenOverride { file: item.findings.source.file.to_string(), ..BrokenOverride::default() };
    if let Some(DocumentSpec::OverridePolicy(spec)) = item.body.as_ref().map(|body| &body.spec)
        && are_selectors_sound(item)
    {
        broken.target = target(item, spec.target);
        broken.cluster_selector.clone_from(&spec.cluster_selector);
        broken.worker_selector.clone_from(&spec.worker_selector);
    }
    Some(broken)
}

/// Whether nothing is wrong with the selectors: with less of a list of names they would select less.
fn are_selectors_sound(item: &Item) -> bool {
    let paths = item.findings.list.iter().filter_map(|d| d.place.as_ref()?.field.as_ref());
    let in_selector = |step: &Step| matches!(step, Step::Key(key) if SELECTORS.contains(&&**key));
    paths.into_iter().all(|path| !path.0.get(1).is_some_and(in_selector))
}

/// Whose objects it changes. Where it does not say that of workers, and has a field that nobody knows, that may be the
/// one that was to say it.
fn target(item: &Item, said: OverrideTarget) -> Option<OverrideTarget> {
    let is_slip = |finding: &Diagnostic| {
        let field = finding.place.as_ref().and_then(|place| place.field.as_ref());
        finding.code == Code::UnknownField && field.is_none_or(|path| path.0.len() <= 2)
    };
    let may_be_other = said != OverrideTarget::Worker && item.findings.list.iter().any(is_slip);
    (!may_be_other).then_some(said)
}

/// The override policies that may be in files of which nothing could be read.
pub(super) fn of_files(spec: Option<&FleetSpec>, unloaded: &[Unloaded]) -> Vec<BrokenOverride> {
    let roots = spec.and_then(|spec| spec.roots.clone()).unwrap_or_default();
    let below = format!("{}/", roots.policies);
    let may_be = |whole: &&Unloaded| whole.is_anybodys() && whole.file.starts_with(&below);
    let broken =
        |whole: &Unloaded| BrokenOverride { file: whole.file.clone(), ..Default::default() };
    unloaded.iter().filter(may_be).map(broken).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{POLICY, load_fleet, override_policy};
    use crate::model::BrokenOverride;
    use crate::model::api::OverrideTarget;

    /// Whose selectors wait for a broken file: of names, or `all`.
    fn wait(text: &str) -> Vec<String> {
        let loaded = load_fleet(&[("policies/o.yaml", text)]);
        assert!(loaded.fleet.overrides.is_empty());
        let names = |broken: &BrokenOverride| match &broken.cluster_selector.names[..] {
            [] => "all".to_owned(),
            names => names.join(" "),
        };
        loaded.fleet.broken_overrides.iter().map(names).collect()
    }

    #[test]
    fn what_it_selects_waits_where_that_can_be_read() {
        let named = |changes: &str| {
            override_policy(changes).replace("spec:\n", "spec:\n  clusterSelector: {names: [a]}\n")
        };
        assert!(
            load_fleet(&[("policies/o.yaml", &named("{labels: {set: {a: b}}}"))])
                .fleet
                .broken_overrides
                .is_empty()
        );
        assert_eq!(wait(&named("{lables: {set: {a: b}}}")), ["a"]);
        assert_eq!(wait(&named("{}")), ["a"]);
        let half = named("{}").replace("names: [a]", "names: [a, \"b*\"]");
        assert_eq!(wait(&half), ["all"], "of its names one cannot be");
        let other = named("{}").replace("names: [a]", "nams: [a]");
        assert_eq!(wait(&other), ["all"]);
    }

    #[test]
    fn whose_objects_it_changes_is_not_guessed() {
        let target = |from: &str, to: &str| {
            let text = override_policy("{}").replace("spec:\n", "spec:\n  target: Worker\n");
            let loaded = load_fleet(&[("policies/o.yaml", &text.replace(from, to))]);
            loaded.fleet.broken_overrides[0].target
        };
        assert_eq!(target("", ""), Some(OverrideTarget::Worker));
        assert_eq!(target("  target: Worker\n", ""), Some(OverrideTarget::ManagedCluster));
        for slip in ["target: Wroker", "taget: Worker", "Target: Worker", "target: [Worker]"] {
            assert_eq!(target("target: Worker", slip), None, "{slip}");
        }
        assert_eq!(target("spec:", "target: Worker\nspec:"), Some(OverrideTarget::Worker));
        assert_eq!(target("spec:\n  target", "target: Worker\nspec:\n  # target"), None);
    }

    #[test]
    fn everybody_waits_for_what_cannot_be_read() {
        let text = override_policy("{labels: {set: {a: b}}}");
        for broken in [
            text.replace("spec:", "spec: ["),
            text.replace("kind: OverridePolicy", "kind: OverridePolcy"),
            text.replace("kind:", "kind: ["),
            text.replace("kind: OverridePolicy\n", ""),
            "- a\n".to_owned(),
            String::new(),
        ] {
            assert_eq!(wait(&broken), ["all"], "{broken}");
        }
        let misplaced = load_fleet(&[("fleet/o.yaml", &text)]);
        assert_eq!(misplaced.fleet.broken_overrides.len(), 1);
        let twice = load_fleet(&[("policies/a.yaml", &text), ("policies/b.yaml", &text)]);
        assert_eq!(twice.fleet.broken_overrides.len(), 2);
    }

    #[test]
    fn nobody_waits_for_what_is_something_else() {
        assert!(wait(&POLICY.replace("spec:", "spec: [")).is_empty());
        let broken = load_fleet(&[("fleet/a.yaml", "kind: Worker\nspec: [\n")]);
        assert!(broken.fleet.broken_overrides.is_empty());
    }
}
