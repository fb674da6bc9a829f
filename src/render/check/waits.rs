//! No objects of Flux wait for each other in a circle: none of them is ever ready, and nothing of them is applied
//! (kustomize-controller v1.9.4, helm-controller v1.6.3, `checkDependencies`, which ask for what is ready and find no circle).
//! What waits for itself is told with the other rules of its kind.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::job::Job;
use super::super::object::Object;
use super::super::path::at;
use crate::diag::{Code, Diagnostics};

/// The kinds that wait, each for its own.
const KINDS: [&str; 2] = ["Kustomization", "HelmRelease"];

/// The kind, the namespace and the name of what waits.
type Dependent<'a> = (&'a str, &'a str, &'a str);

pub(super) fn check(objects: &[Object], job: &Job) -> Diagnostics {
    let own = |o: &&Object| KINDS.contains(&o.kind()) && o.group().ends_with(".toolkit.fluxcd.io");
    let all: BTreeMap<Dependent<'_>, &Object> = objects
        .iter()
        .filter(own)
        .map(|object| ((object.kind(), object.namespace(), object.name()), object))
        .collect();
    let mut findings = Diagnostics::default();
    let mut told = BTreeSet::new();
    for (own, object) in &all {
        if told.contains(own) {
            continue;
        }
        let circle: Vec<_> =
            reached(*own, &all).into_iter().filter(|o| reached(*o, &all).contains(own)).collect();
        if circle.len() > 1 {
            let names: Vec<_> = circle.iter().map(|(_, _, name)| *name).collect();
            let message =
                format!("{object} is never ready: {} wait for each other", names.join(", "));
            let help = "let one of them not wait";
            findings.push(job.finding(Code::RenderedInvalid, &object.file, &message, help));
        }
        told.extend(circle);
    }
    findings
}

/// All that something waits for, and that waits in turn.
fn reached<'a>(
    from: Dependent<'a>,
    all: &BTreeMap<Dependent<'a>, &'a Object>,
) -> BTreeSet<Dependent<'a>> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some((kind, namespace, name)) = open.pop() {
        let Some(object) = all.get(&(kind, namespace, name)) else { continue };
        let others = at(&object.value, "/spec/dependsOn").and_then(Value::as_array);
        for other in others.into_iter().flatten() {
            let text = |field: &str| at(other, field).and_then(Value::as_str);
            let Some(name) = text("/name") else { continue };
            let next = (kind, text("/namespace").unwrap_or(namespace), name);
            if all.contains_key(&next) && seen.insert(next) {
                open.push(next);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::super::tests::messages;
    use super::*;

    fn found(all: &[(&str, &str)]) -> Vec<String> {
        let one = |(name, waits): &(&str, &str)| {
            format!(
                "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n\
                 metadata: {{name: {name}, namespace: n}}\nspec: {{dependsOn: [{waits}]}}\n"
            )
        };
        let text: String = all.iter().map(one).collect();
        messages(check, &text, Code::RenderedInvalid)
    }

    #[test]
    fn a_circle_is_told_once() {
        let circle = [("a", "{name: c}"), ("b", "{name: a}"), ("c", "{name: b, namespace: n}")];
        assert_eq!(found(&circle), ["Kustomization a is never ready: a, b, c wait for each other"]);
        let beside = [circle[0], circle[1], circle[2], ("d", "{name: a}, {name: away}")];
        assert_eq!(found(&beside).len(), 1);
    }

    #[test]
    fn a_line_comes_to_an_end() {
        assert!(found(&[("a", ""), ("b", "{name: a}"), ("c", "{name: a}, {name: b}")]).is_empty());
        assert!(found(&[("a", "{name: b, namespace: m}"), ("b", "{name: a}")]).is_empty());
        assert!(found(&[("a", "{name: a}")]).is_empty(), "told with the rules of its kind");
    }
}
