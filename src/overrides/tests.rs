//! Policies together: who applies, in which order, and what they may not do.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::diag::{Code, Diagnostics};
use crate::model::{
    Catalogue, Cluster, Digest, EditedObject, Fleet, Name, ObjectEdits, Override, Resources, Worker,
};

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn policy(of: &str, spec: Value) -> Override {
    let spec = serde_json::from_value(spec).unwrap();
    Override::new(name(of), format!("policies/{of}.yaml"), 0, spec)
}

fn labels(all: &[(&str, &str)]) -> BTreeMap<String, String> {
    all.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn cluster(of: &str, all: &[(&str, &str)]) -> Cluster {
    Cluster {
        name: name(of),
        tenant: "default".into(),
        labels: labels(all).into(),
        facts: Digest::of(b"c"),
        file: "fleet/c.yaml".into(),
        document: 0,
        spec: crate::model::api::ManagedClusterSpec::default().into(),
        demand: Resources::new(),
        catalogue: Catalogue::default(),
    }
}

fn fleet(policies: Vec<Override>) -> Fleet {
    let worker = Worker {
        name: name("w"),
        labels: labels(&[("zone", "1")]).into(),
        facts: Digest::of(b"w"),
        file: "fleet/w.yaml".into(),
        document: 0,
        spec: crate::model::api::WorkerSpec::default().into(),
        heartbeat_timeout_seconds: 1,
        made_by: None,
        catalogue: Catalogue::default(),
    };
    let overrides = policies.into_iter().map(|policy| (policy.name.clone(), Arc::new(policy)));
    Fleet {
        workers: [(name("w"), worker)].into(),
        overrides: overrides.collect(),
        ..Fleet::default()
    }
}

/// All Deployments, of whichever cluster.
fn deployments() -> Value {
    json!([{"apiVersion": "apps/v1", "kind": "Deployment"}])
}

fn label(key: &str, value: &str) -> Value {
    json!([{"labels": {"set": {key: value}}}])
}

fn object() -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "pay-app", "namespace": "pay"},
        "spec": {"replicas": 1},
    })
}

fn overrides(policies: Vec<Override>) -> Overrides {
    applying(&fleet(policies), &cluster("pay", &[]), &name("w")).unwrap()
}

fn edited(policies: Vec<Override>) -> Result<Option<EditedObject>, Diagnostics> {
    overrides(policies).edit(&[&object()]).map(|mut all| all.remove(0))
}

#[test]
fn who_has_a_policy_is_told_by_cluster_worker_and_flavor() {
    let applies = |more: Value| {
        let mut spec = json!({"objects": deployments(), "changes": label("a", "b")});
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let fleet = fleet(vec![policy("p", spec)]);
        let pay = cluster("pay", &[("tier", "gold")]);
        let on = |worker: &str| applying(&fleet, &pay, &name(worker)).map(|all| !all.is_empty());
        (on("w"), on("gone"))
    };
    let (yes, no) = (Some(true), Some(false));
    assert_eq!(applies(json!({})), (yes, yes));
    assert_eq!(applies(json!({"clusterSelector": {"matchLabels": {"tier": "gold"}}})), (yes, yes));
    assert_eq!(applies(json!({"clusterSelector": {"matchLabels": {"tier": "tin"}}})), (no, no));
    assert_eq!(applies(json!({"workerSelector": {"names": ["w"]}})), (yes, no));
    let zone = |zone: &str| json!({"workerSelector": {"matchLabels": {"zone": zone}}});
    assert_eq!(applies(zone("1")), (yes, None), "of a worker without a document nobody can tell");
    assert_eq!(applies(zone("2")), (no, None));
    let foreign = json!([{"apiVersion": "v1", "kind": "Pod"}]);
    assert_eq!(applies(json!({"objects": foreign})), (no, no), "its flavor has no such objects");
}

#[test]
fn the_last_one_has_the_last_word() {
    let of = |called: &str, priority: i32| {
        let spec =
            json!({"priority": priority, "objects": deployments(), "changes": label("by", called)});
        policy(called, spec)
    };
    let last = |all: Vec<Override>| {
        let edited = edited(all).unwrap().unwrap();
        let by: Vec<_> = edited.by.iter().map(Name::as_str).collect();
        (edited.value["metadata"]["labels"]["by"].as_str().unwrap().to_owned(), by.join(" "))
    };
    assert_eq!(last(vec![of("a", 0), of("b", 0)]), ("b".into(), "a b".into()));
    assert_eq!(last(vec![of("a", 1), of("b", 0)]), ("a".into(), "b a".into()));
    assert_eq!(last(vec![of("b", -1), of("a", 0), of("c", -2)]), ("a".into(), "c b a".into()));
}

#[test]
fn who_changes_nothing_is_not_named() {
    let same = policy(
        "same",
        json!({"objects": deployments(), "changes": [{"mergePatch": {"spec": {"replicas": 1}}}]}),
    );
    assert_eq!(edited(vec![same]), Ok(None));
    assert_eq!(edited(Vec::new()), Ok(None));
}

#[test]
fn no_policy_selects_by_what_another_wrote() {
    let first = policy("a", json!({"objects": deployments(), "changes": label("tier", "gold")}));
    let gold = json!([{"apiVersion": "apps/v1", "kind": "Deployment", "labels": {"tier": "gold"}}]);
    let second = policy("b", json!({"objects": gold, "changes": label("seen", "yes")}));
    let edited = edited(vec![first, second]).unwrap().unwrap();
    assert_eq!(edited.by, [name("a")]);
}

#[test]
fn what_fails_names_the_policy_the_object_and_the_field() {
    let changes = json!([{"labels": {"set": {"a": "b"}}}, {"jsonPatch": [{"op": "remove", "path": "/spec/x"}]}]);
    let found = edited(vec![policy("p", json!({"objects": deployments(), "changes": changes}))])
        .unwrap_err();
    let found = found.iter().next().unwrap();
    assert_eq!(found.code, Code::OverrideFailed);
    assert_eq!(found.message, "`p` cannot change Deployment pay-app: there is no `/spec/x`");
    let place = found.place.clone().unwrap();
    assert_eq!(place.file, "policies/p.yaml");
    assert_eq!(place.field.unwrap().to_string(), "spec.changes[1].jsonPatch[0].path");
}

#[test]
fn what_is_carps_own_is_refused() {
    for change in [
        json!({"mergePatch": {"metadata": {"namespace": "other"}}}),
        json!({"jsonPatch": [{"op": "move", "from": "/spec", "path": "/metadata/annotations"}]}),
        json!({"labels": {"set": {"carp.dev/tenant": "other"}}}),
    ] {
        let all = vec![policy("p", json!({"objects": deployments(), "changes": [change]}))];
        let found = edited(all).unwrap_err();
        assert_eq!(found.iter().next().unwrap().code, Code::OverrideRefused);
    }
}

#[test]
fn what_all_of_them_take_is_bounded() {
    let patch: Vec<_> =
        (0..100).map(|_| json!({"op": "test", "path": "/spec/replicas", "value": 1})).collect();
    let spec = json!({"objects": deployments(), "changes": [{"jsonPatch": patch}]});
    let all = overrides(vec![policy("p", spec)]);
    let (object, most) = (object(), bounds::MOST_STEPS / 100);
    assert!(all.edit(&vec![&object; most]).is_ok());
    let found = all.edit(&vec![&object; most + 1]).unwrap_err();
    assert!(found.iter().all(|d| d.message.contains("steps")), "{found:?}");
    let many = all.edit(&vec![&object; most * 3]).unwrap_err();
    assert_eq!(many.iter().count(), 10, "the first ones");
}

#[test]
fn what_a_policy_finds_to_do_is_known_part_by_part() {
    let objects = json!([
        {"apiVersion": "apps/v1", "kind": "Deployment"},
        {"apiVersion": "apps/v1", "kind": "Deployment", "name": "other"},
    ]);
    let changes = json!([
        {"image": {"tag": "v1"}},
        {"labels": {"set": {"a": "b"}}},
        {"args": {"container": "absent", "add": ["x"]}},
        {"jsonPatch": [{"op": "remove", "path": "/absent"}]},
    ]);
    let policy = policy("p", json!({"objects": objects, "changes": changes}));
    let found = effects(&policy, &[object()]);
    assert_eq!(found.selects, [true, false]);
    assert_eq!(found.changes, [false, true, false, true]);
}

/// A policy of one of the changes that say what is to be, whatever is.
fn any_policy() -> impl Strategy<Value = (i32, Value)> {
    let word = || prop::sample::select(vec!["a", "b", "c"]);
    let change = prop_oneof![
        (word(), word()).prop_map(|(key, value)| json!({"labels": {"set": {key: value}}})),
        word().prop_map(|key| json!({"labels": {"remove": [key]}})),
        (word(), word()).prop_map(|(key, value)| json!({"annotations": {"set": {key: value}}})),
        (word(), 0..3).prop_map(|(key, value)| json!({"mergePatch": {"spec": {key: value}}})),
        word().prop_map(|key| json!({"mergePatch": {"spec": {key: null}}})),
        (0..3).prop_map(
            |n| json!({"jsonPatch": [{"op": "replace", "path": "/spec/replicas", "value": n}]})
        ),
    ];
    let changes = prop::collection::vec(change, 1..4);
    (-1..2, changes).prop_map(|(priority, changes)| {
        (priority, json!({"priority": priority, "objects": deployments(), "changes": changes}))
    })
}

proptest! {
    /// However the policies are given, and however often the templates' object is changed, it comes out the same; and
    /// it is what each policy by itself makes of it, one after the other.
    #[test]
    fn order_and_idempotence(policies in prop::collection::vec(any_policy(), 1..5), turned in 0_usize..5) {
        let named = |(at, (_, spec)): (usize, &(i32, Value))| policy(&format!("p{at}"), spec.clone());
        let all: Vec<_> = policies.iter().enumerate().map(named).collect();
        let mut other = all.clone();
        other.rotate_left(turned % all.len());
        let whole = edited(all.clone()).unwrap();
        prop_assert_eq!(&edited(other).unwrap(), &whole);
        prop_assert_eq!(&edited(all.clone()).unwrap(), &whole);
        let mut one_by_one = object();
        let mut in_order = all;
        in_order.sort_by(|a, b| (a.spec.priority, &a.name).cmp(&(b.spec.priority, &b.name)));
        for policy in in_order {
            let alone = overrides(vec![policy.clone()]);
            if let Some(edited) = alone.edit(&[&one_by_one]).unwrap().remove(0) {
                one_by_one = edited.value;
            }
            let again = alone.edit(&[&one_by_one]).unwrap().remove(0);
            prop_assert!(again.is_none_or(|again| again.value == one_by_one), "once more changes nothing");
        }
        prop_assert_eq!(whole.map_or_else(object, |whole| whole.value), one_by_one);
    }
}
