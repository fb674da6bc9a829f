//! `matches-nothing`: a selector that selects nothing of the fleet as it is. Most are slips of the pen, and a
//! policy that selects nobody protects nobody.
//!
//! Where there is nothing to select yet nothing is told, nor of workers where a pool may make the one that is
//! meant. Terms of single clusters are not looked at: such a cluster waits, and says for what.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Code, Diagnostic, FieldPath, Place, suggest};
use crate::model::api::{
    ClusterSelector, Expression, LabelSelector, PlacementTerm, WorkerSelector,
};
use crate::model::{Fleet, Name, Policy};
use crate::plan;
use crate::verify::witnesses::{self, Witnesses};

/// A finding for each selector of a policy of the fleet's own.
pub(super) fn found(fleet: &Fleet, witnesses: &Witnesses) -> Vec<Diagnostic> {
    let own = fleet.policies.values().filter(|policy| policy.file.is_some());
    let mut found = Vec::new();
    for policy in own {
        if !fleet.clusters.is_empty() {
            found.extend(clusters(fleet, policy, &witnesses[&policy.name]));
        }
        if !fleet.workers.is_empty() && fleet.pools.is_empty() {
            found.extend(workers(fleet, policy));
        }
    }
    found
}

/// The selectors of clusters: whom the policy applies to, and whom its rules count.
fn clusters(fleet: &Fleet, policy: &Policy, witnesses: &[BTreeSet<Name>]) -> Vec<Diagnostic> {
    let selector = &policy.spec.cluster_selector;
    let mut selected = witnesses.iter().map(|clusters| !clusters.is_empty());
    if selected.next() == Some(false) {
        let message = format!("`{}` selects no cluster, so it has no effect", policy.name);
        let help = cluster_help(fleet, selector);
        return vec![finding(policy, FieldPath::keys("spec.clusterSelector"), message, help)];
    }
    let none = |(rule, counts): (_, bool)| (!counts).then_some(rule);
    let of_rules = witnesses::of_rules(policy).zip(selected).filter_map(none);
    let told = |(field, at, selector): (&'static str, usize, &LabelSelector)| {
        let path = FieldPath::keys(field).index(at).key("labelSelector");
        let message = "no cluster has these labels, so the rule counts none".to_owned();
        let help = help(fleet, &selector.match_labels, &selector.match_expressions);
        finding(policy, path, message, help)
    };
    of_rules.map(told).collect()
}

/// The terms on workers.
fn workers(fleet: &Fleet, policy: &Policy) -> Vec<Diagnostic> {
    let Some(affinity) = &policy.spec.affinity else { return Vec::new() };
    let base = FieldPath::keys("spec.affinity");
    let required = affinity.required.iter().enumerate();
    let required = required.map(|(at, term)| (base.key("required").index(at), term, true));
    let preferred = affinity.preferred.iter().enumerate();
    let preferred =
        preferred.map(|(at, p)| (base.key("preferred").index(at).key("term"), &p.term, false));
    let groups = affinity.groups.iter().enumerate().flat_map(|(group, of)| {
        let path = base.key("groups").index(group).key("required");
        of.required.iter().enumerate().map(move |(at, term)| (path.index(at), term, false))
    });
    let all = required.chain(preferred).chain(groups);
    let none = |term: &PlacementTerm| !fleet.workers.values().any(|w| plan::meets(term, w));
    let told = |(path, term, needed): (FieldPath, &PlacementTerm, bool)| {
        let then = if needed { "so its clusters fit nowhere" } else { "so it has no effect" };
        let help = of_labels(
            &term.match_labels,
            &term.match_expressions,
            fleet.workers.values().map(|worker| &*worker.labels),
        );
        finding(policy, path, format!("no worker meets this term, {then}"), help)
    };
    all.filter(|(_, term, _)| none(term)).map(told).collect()
}

fn finding(policy: &Policy, path: FieldPath, message: String, help: Option<String>) -> Diagnostic {
    let file = policy.file.clone().unwrap_or_default();
    let help = help.unwrap_or_else(|| "mend it, or remove it".to_owned());
    Diagnostic::new(Code::MatchesNothing, message)
        .at(Place::field(file, policy.document, path))
        .help(help)
}

/// What was meant by a selector that selects no cluster.
pub(super) fn cluster_help(fleet: &Fleet, selector: &ClusterSelector) -> Option<String> {
    let known = fleet.clusters.keys().map(Name::as_str);
    of_names(known, &selector.names, "cluster")
        .or_else(|| help(fleet, &selector.match_labels, &selector.match_expressions))
}

/// What was meant by a selector that selects no worker.
pub(super) fn worker_help(fleet: &Fleet, selector: &WorkerSelector) -> Option<String> {
    let known = fleet.workers.keys().map(Name::as_str);
    let labels = fleet.workers.values().map(|worker| &*worker.labels);
    of_names(known, &selector.names, "worker")
        .or_else(|| of_labels(&selector.match_labels, &selector.match_expressions, labels))
}

/// What was meant by a name that nothing has.
fn of_names<'a>(
    known: impl Iterator<Item = &'a str> + Clone,
    names: &[String],
    what: &str,
) -> Option<String> {
    let unknown = names.iter().find(|name| known.clone().all(|other| other != name.as_str()))?;
    suggest::nearest(unknown, known).map(|near| format!("did you mean the {what} `{near}`?"))
}

fn help(
    fleet: &Fleet,
    labels: &BTreeMap<String, String>,
    expressions: &[Expression],
) -> Option<String> {
    of_labels(labels, expressions, fleet.clusters.values().map(|cluster| &*cluster.labels))
}

/// What was meant by a label that nobody has.
fn of_labels<'a>(
    labels: &BTreeMap<String, String>,
    expressions: &[Expression],
    there: impl Iterator<Item = &'a BTreeMap<String, String>>,
) -> Option<String> {
    let mut known: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (key, value) in there.flatten() {
        known.entry(key).or_default().insert(value);
    }
    let keys = labels.keys().chain(expressions.iter().map(|expression| &expression.key));
    for key in keys {
        if !known.contains_key(key.as_str()) {
            let near = suggest::nearest(key, known.keys().copied());
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Some(format!("nothing here has the label `{key}`{near}"));
        }
    }
    let wrong = |(key, value): &(&String, &String)| {
        known.get(key.as_str()).is_some_and(|values| !values.contains(value.as_str()))
    };
    let (key, value) = labels.iter().find(wrong)?;
    let values = known.get(key.as_str())?.iter().copied();
    Some(suggest::help(value, values, &format!("the values of `{key}` here")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load;
    use crate::model::{Input, Memo, Store, Vouching};
    use crate::store::MemoryStore;

    const FLEET: &str =
        "apiVersion: carp.dev/v1alpha1\nkind: Fleet\nmetadata: {name: test}\nspec: {}\n";

    /// The findings of a fleet of one cluster and one worker with this policy: where, and what helps.
    fn told(policy: &str, more: &str) -> Vec<(String, String)> {
        let head = "apiVersion: carp.dev/v1alpha1\nkind: ";
        let cluster = format!(
            "{head}ManagedCluster\nmetadata: {{name: pay, labels: {{env: prod}}}}\nspec: {{version: v1.34.2, \
             location: eastus, deletionPolicy: Delete, flavor: kind}}\n"
        );
        let worker = format!(
            "{head}Worker\nmetadata: {{name: w1, labels: {{tier: gold}}}}\nspec: {{version: v1.34.2, \
             location: eastus, flavor: attached, capacity: {{clusters: 5}}}}\n{more}"
        );
        let policy = format!("{head}PlacementPolicy\nmetadata: {{name: p}}\nspec: {policy}\n");
        let store = MemoryStore::default();
        let files = [
            ("carp.yaml", FLEET.to_owned()),
            ("fleet/c.yaml", cluster),
            ("fleet/w.yaml", worker),
            ("policies/p.yaml", policy),
        ];
        let tree = tree(&store, &files);
        let input = Input {
            tree,
            prefix: String::new(),
            commit: None,
            rewound_from: None,
            vouching: Vouching::default(),
        };
        let fleet = load::load(&input, &store, &mut Memo::default()).unwrap().fleet;
        assert_eq!((fleet.clusters.len(), fleet.workers.len()), (1, 1), "{:?}", fleet.unloaded);
        let field = |d: &Diagnostic| d.place.as_ref().unwrap().field.as_ref().unwrap().to_string();
        let found = super::found(&fleet, &witnesses::of(&fleet));
        found.iter().map(|d| (field(d), d.help.clone().unwrap())).collect()
    }

    fn tree(store: &dyn Store, files: &[(&str, String)]) -> crate::model::Id {
        use crate::model::{Dir, Entry, EntryKind};
        let mut root = Dir::default();
        let mut folders: BTreeMap<&str, Dir> = BTreeMap::new();
        for (path, text) in files {
            let id = store.put_blob(text.as_bytes()).unwrap();
            let entry = Entry { kind: EntryKind::File, id };
            match path.split_once('/') {
                Some((folder, name)) => folders.entry(folder).or_default().insert(name, entry),
                None => root.insert(path, entry),
            }
        }
        for (name, dir) in folders {
            let id = store.put_dir(&dir).unwrap();
            root.insert(name, Entry { kind: EntryKind::Dir, id });
        }
        store.put_dir(&root).unwrap()
    }

    fn one(policy: &str) -> (String, String) {
        let all = told(policy, "");
        assert_eq!(all.len(), 1, "{all:?}");
        all.into_iter().next().unwrap()
    }

    #[test]
    fn a_policy_for_nobody_is_told_with_what_was_meant() {
        let (at, help) = one("{clusterSelector: {matchLabels: {env: prd}}}");
        assert_eq!((at.as_str(), help.as_str()), ("spec.clusterSelector", "did you mean `prod`?"));
        let (_, help) = one("{clusterSelector: {matchLabels: {enw: prod}}}");
        assert_eq!(help, "nothing here has the label `enw`; did you mean `env`?");
        let (_, help) = one("{clusterSelector: {names: [pai]}}");
        assert_eq!(help, "did you mean the cluster `pay`?");
        assert_eq!(told("{clusterSelector: {matchLabels: {env: prod}}}", ""), []);
        assert_eq!(told("{}", ""), []);
    }

    #[test]
    fn a_rule_that_counts_nobody_and_a_term_that_no_worker_meets_are_told() {
        let apart = "{antiAffinity: [{topologyKey: carp.dev/worker, labelSelector: {matchLabels: {env: tst}}}]}";
        let (at, help) = one(apart);
        assert_eq!(at, "spec.antiAffinity[0].labelSelector");
        assert_eq!(help, "the values of `env` here: prod");
        let (at, help) = one("{affinity: {required: [{matchLabels: {tier: glod}}]}}");
        assert_eq!(
            (at.as_str(), help.as_str()),
            ("spec.affinity.required[0]", "did you mean `gold`?")
        );
        let preferred = "{affinity: {preferred: [{weight: 1, term: {locations: [westus]}}]}}";
        let (at, _) = one(preferred);
        assert_eq!(at, "spec.affinity.preferred[0].term");
        assert_eq!(told("{affinity: {required: [{matchLabels: {tier: gold}}]}}", ""), []);
    }

    #[test]
    fn of_workers_that_a_pool_may_make_nothing_is_told() {
        let pool = "---\napiVersion: carp.dev/v1alpha1\nkind: WorkerPool\nmetadata: {name: more}\nspec: {min: 0, \
                    max: 2, locations: [eastus], template: {spec: {version: v1.34.2, location: eastus, flavor: kind, \
                    capacity: {clusters: 5}}}}\n";
        let term = "{affinity: {preferred: [{weight: 1, term: {matchLabels: {tier: glod}}}]}}";
        assert_eq!(told(term, "").len(), 1);
        assert_eq!(told(term, pool), []);
    }
}
