//! `override-conflict`: two policies of equal priority that change the same field of objects of the same clusters or workers. The
//! greater name has the last word, which nobody should have to know.

use crate::diag::{Code, Diagnostic, Diagnostics, FieldPath, Place};
use crate::model::api::{ObjectSelector, OverrideChange};
use crate::model::{Cluster, Fleet, Name, Override};

/// The most findings: whoever has so many mends the first ones and sees the rest.
const MOST: usize = 20;

/// Looks at every two policies as they loaded.
pub(in crate::load) fn check(fleet: &Fleet, out: &mut Diagnostics) {
    let all: Vec<&Override> = fleet.overrides.values().map(|policy| &**policy).collect();
    let mut found = 0;
    for (at, one) in all.iter().enumerate() {
        for other in all.iter().skip(at + 1).filter(|o| o.spec.priority == one.spec.priority) {
            let Some(field) = same_field(one, other) else { continue };
            let both = common(fleet, one, other).map(|cluster| &cluster.name);
            let Some(of) = both.or_else(|| common_worker(fleet, one, other)) else { continue };
            out.push(conflict(one, other, &field, of));
            found += 1;
            if found == MOST {
                return;
            }
        }
    }
}

/// A field that both change, of objects that both may select.
fn same_field(one: &Override, other: &Override) -> Option<String> {
    let may_meet = |a: &ObjectSelector| other.spec.objects.iter().any(|b| meets(a, b));
    if !one.spec.objects.iter().any(may_meet) {
        return None;
    }
    let writes = |of: &Override| {
        let all = of.spec.changes.iter().flat_map(OverrideChange::writes);
        all.map(std::borrow::Cow::into_owned).collect::<Vec<_>>()
    };
    let (ours, theirs) = (writes(one), writes(other));
    let meet = |a: &String, b: &String| {
        let within = |above: &str, below: &str| {
            below.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        // What is added after the last item is beside what others add there.
        !a.ends_with("/-") && !b.ends_with("/-") && (within(a, b) || within(b, a))
    };
    ours.into_iter().find(|a| theirs.iter().any(|b| meet(a, b)))
}

/// Whether an object may be selected by both. Of names with a star nobody can tell in general.
fn meets(a: &ObjectSelector, b: &ObjectSelector) -> bool {
    let plain = |selector: &ObjectSelector| selector.name.clone().filter(|n| !n.contains('*'));
    let names_meet = match (plain(a), plain(b)) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    };
    let apart = |(key, value): (&String, &String)| b.labels.get(key).is_some_and(|v| v != value);
    a.api_version == b.api_version && a.kind == b.kind && names_meet && !a.labels.iter().any(apart)
}

/// A cluster that both select, on workers that both may select.
fn common<'f>(fleet: &'f Fleet, one: &Override, other: &Override) -> Option<&'f Cluster> {
    let (a, b) = (&one.spec.worker_selector, &other.spec.worker_selector);
    let both = |worker: &crate::model::Worker| {
        let selects = |selector: &crate::model::api::WorkerSelector| {
            selector.selects(&worker.name, Some(&worker.labels)) != Some(false)
        };
        selects(a) && selects(b)
    };
    let on_any = a.is_empty() && b.is_empty();
    if !on_any && !fleet.workers.values().any(both) {
        return None;
    }
    fleet.clusters.values().find(|cluster| {
        let selects = |policy: &Override| policy.selects_cluster(&cluster.name, &cluster.labels);
        selects(one) && selects(other)
    })
}

/// A worker whose own objects both select.
fn common_worker<'f>(fleet: &'f Fleet, one: &Override, other: &Override) -> Option<&'f Name> {
    let mut workers = fleet.workers.values();
    let both = workers.find(|worker| one.selects_worker(worker) && other.selects_worker(worker));
    both.map(|worker| &worker.name)
}

fn conflict(one: &Override, last: &Override, field: &str, of: &Name) -> Diagnostic {
    let place = |policy: &Override| {
        Place::field(&*policy.file, policy.document, FieldPath::keys("spec.changes"))
    };
    let message = format!(
        "`{}` and `{}` both change {} for `{}`, with equal priority: `{}` has the last word",
        one.name,
        last.name,
        if field.starts_with('/') { format!("`{field}`") } else { format!("the {field}") },
        of,
        last.name
    );
    Diagnostic::new(Code::OverrideConflict, message)
        .at(place(one))
        .related(place(last), "this one has the last word")
        .help(
            "give the one that is to count a higher `priority`, or let only one of them change it",
        )
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{cluster, load_fleet, override_policy, worker};

    fn told(a: &str, b: &str) -> Vec<String> {
        let b = b.replace("name: o\n", "name: p\n");
        let files = [
            ("fleet/c.yaml", &*cluster("")),
            ("fleet/w.yaml", &*worker("")),
            ("policies/a.yaml", a),
            ("policies/b.yaml", &*b),
        ];
        let loaded = load_fleet(&files);
        assert_eq!(loaded.fleet.overrides.len(), 2, "{:?}", loaded.diagnostics);
        loaded.diagnostics.into_iter().map(|d| d.message).collect()
    }

    #[test]
    fn two_that_change_one_field_are_told_of() {
        let a = override_policy("{mergePatch: {spec: {replicas: 2}}}");
        let b = override_policy("{jsonPatch: [{op: replace, path: /spec/replicas, value: 3}]}");
        assert_eq!(
            told(&a, &b),
            [
                "`o` and `p` both change `/spec/replicas` for `pay-eu`, with equal priority: `p` has the last word"
            ]
        );
        let whole = override_policy("{jsonPatch: [{op: replace, path: /spec, value: {}}]}");
        assert_eq!(told(&a, &whole).len(), 1, "what it lies in");
        let image = |tag: &str| override_policy(&format!("{{image: {{tag: {tag}}}}}"));
        assert!(told(&image("v1"), &image("v2"))[0].contains("the image of *: tag"));
    }

    #[test]
    fn those_that_do_not_meet_are_not() {
        let a = override_policy("{mergePatch: {spec: {replicas: 2}}}");
        let spec = |more: &str| a.replace("spec:\n", &format!("spec:\n  {more}\n"));
        let object = |more: &str| {
            a.replace("kind: Deployment\n", &format!("kind: Deployment\n    {more}\n"))
        };
        for other in [
            spec("priority: 1"),
            spec("clusterSelector: {names: [other]}"),
            spec("workerSelector: {names: [other]}"),
            a.replace("replicas", "paused"),
        ] {
            assert!(told(&a, &other).is_empty(), "{other}");
        }
        assert!(told(&object("name: a"), &object("name: b")).is_empty());
        assert!(told(&object("labels: {a: b}"), &object("labels: {a: c}")).is_empty());
        assert_eq!(told(&object("name: a"), &object("name: \"*\"")).len(), 1);
        let add = override_policy("{jsonPatch: [{op: add, path: /spec/list/-, value: 1}]}");
        assert!(told(&add, &add).is_empty(), "both add an item");
    }
}
