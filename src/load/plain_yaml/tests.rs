//! What is written plainly is what the writer of YAML writes.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use super::super::yaml::{emit_any, emit_yaml};
use super::*;

/// A type in the order of its fields, with what carp's have.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Sample {
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<i64>,
    api_version: Phase,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    list: Vec<Inner>,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
    texts: Vec<String>,
    map: BTreeMap<String, Inner>,
}

#[derive(Clone, Debug, Serialize)]
struct Inner {
    #[serde(skip_serializing_if = "Option::is_none")]
    word: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truth: bool,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    values: BTreeMap<String, Value>,
}

#[derive(Clone, Copy, Debug, Serialize)]
enum Phase {
    Ready,
    No,
}

/// Texts that a writer may have to quote, and others.
const TEXTS: &str = r#"a ; a-b ; v1.34.1 ; sha256:0ab ; 10m ; 1.30 ; 1 ; 0x1 ; 1e3 ; on ; No ; null ; ~ ; y ; a: b ; a: ; :a ; - a
        --a=b ; a b ; #a ; a #b ; ./a ; 2026-11-01T09:00:00Z ; {a} ; [a] ; &a ; *a ; !a ; %a ; @a ; `a` ; "a" ; 'a' ; a'b ; a, b ; | ; >
        ? ; = ; << ; --- ; ... ; é ; ${a} ; a\\b ; 1:30 ; .inf ; +1 ; -1 ; 0o7 ; 1_000 ; true ; x: 'y' ; 12 of 40 are ready"#;

fn text() -> impl Strategy<Value = String> {
    let lines = TEXTS.lines().flat_map(|line| line.split(" ; ")).map(str::trim);
    let others = ["", " a", "a ", "a\nb", "a\n", "a\tb"];
    let long = "word ".repeat(40).trim_end().to_owned();
    let all = lines.chain(others).map(str::to_owned).chain([long]);
    prop::sample::select(all.collect::<Vec<_>>())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        6 => text().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(json!(null)),
        1 => Just(json!(1.5)),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let map = prop::collection::btree_map(text(), inner.clone(), 0..3);
        prop_oneof![
            map.prop_map(|map| json!(map)),
            prop::collection::vec(inner, 0..3).prop_map(Value::from),
        ]
    })
}

fn inner() -> impl Strategy<Value = Inner> {
    let values = prop::collection::btree_map(text(), value(), 0..3);
    (prop::option::of(text()), any::<bool>(), values).prop_map(|(word, truth, values)| Inner {
        word,
        truth,
        values,
    })
}

fn sample() -> impl Strategy<Value = Sample> {
    let few = 0..3_usize;
    let maps = prop::collection::btree_map(text(), inner(), few.clone());
    let rest = prop::collection::btree_map(text(), value(), few.clone());
    let lists = (prop::collection::vec(inner(), few.clone()), prop::collection::vec(text(), few));
    let phase = prop::sample::select(vec![Phase::Ready, Phase::No]);
    (text(), any::<Option<i64>>(), phase, lists, rest, maps).prop_map(
        |(kind, count, api_version, (list, texts), rest, map)| Sample {
            kind,
            count,
            api_version,
            list,
            rest,
            texts,
            map,
        },
    )
}

#[test]
fn the_types_of_carp_are_plain() {
    let inner = Inner {
        word: Some("a b".to_owned()),
        truth: true,
        values: [("m".to_owned(), json!(1))].into(),
    };
    let sample = Sample {
        kind: "K".to_owned(),
        count: Some(-1),
        api_version: Phase::Ready,
        list: vec![inner.clone(), inner.clone()],
        rest: [("z".to_owned(), json!({"a": ["b", {"c": "on"}]}))].into(),
        texts: vec!["1".to_owned(), "x".to_owned()],
        map: [("key".to_owned(), inner)].into(),
    };
    let text = write(&sample, &|text| emit_any(&text)).unwrap();
    assert_eq!(text, emit_any(&sample));
    assert!(text.contains("\n- word: a b\n  truth: true\n  values:\n    m: 1\n"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]
    #[test]
    fn the_text_is_the_one_of_the_writer(sample in sample()) {
        prop_assert_eq!(emit_yaml(&sample), emit_any(&sample));
    }
}
