//! Every filter, test, function and operator that a template has, each against a bomb. The names are the
//! environment's own, so one that a new minijinja brings fails here until it is looked at.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;

use super::engine::{self, Texts, environment, render};
use crate::diag::Code;

/// Filters that can make much of little, each with a use that would.
const BOMBS: &[(&str, &str)] = &[
    ("batch", "[1] | batch(900000000, 0)"),
    ("block", "name | block(900000000)"),
    ("format", "'%900000000d' | format(1)"),
    ("indent", "name | indent(900000000)"),
    ("join", "range(90000) | join('y' * 100000)"),
    ("map", "range(90000) | map('string') | map('indent', 1000000, true) | list"),
    ("replace", "('x' * 1000000) | replace('x', 'y' * 1000)"),
    ("slice", "[1] | slice(900000000, 0)"),
    ("sum", "('a ' * 200000) | split | sum(start='')"),
    ("tojson", "list | tojson(900000000)"),
];
/// Filters that make no more than their arguments, whatever these are: with what they need besides a value.
const WITH: &[(&str, &str)] = &[
    ("attr", "'k'"),
    ("chain", "[1]"),
    ("default", "1"),
    ("groupby", "'k'"),
    ("rejectattr", "'k'"),
    ("selectattr", "'k'"),
    ("zip", "[1]"),
];
/// Filters that look at no more than the length, the kind or the truth of a value, so they take one of any size.
const NO_LOOK: &[&str] =
    &["abs", "attr", "bool", "count", "d", "default", "float", "int", "length", "round"];
/// Characters of which `escape` and `tojson` make six: `\u003c`.
const FACTOR: usize = 6;
/// A little more than a value: brackets, commas and quotes around it.
const SLACK: usize = 1 << 10;
/// What one bomb may take while it is stopped: all that a rendering may spend, and half as much beside it.
const MOST_MEMORY: u64 = 96 << 20;

/// The names that the environment has under a heading, as its own debug form lists them.
fn names(heading: &str) -> BTreeSet<String> {
    let told = format!("{:?}", environment());
    let list = told.split(&format!("{heading}: [")).nth(1).unwrap().split(']').next().unwrap();
    let names: BTreeSet<_> =
        list.split(", ").map(|name| name.trim_matches('"').to_owned()).collect();
    assert!(names.len() > 20, "{heading}: {names:?}");
    names
}

fn rendered(text: &str) -> Result<String, Code> {
    let mut env = environment();
    engine::add(&mut env, "t", text).ok().unwrap();
    let texts = Texts::from([("t".to_owned(), Arc::from(text))]);
    let context = json!({"name": "a\nb", "list": [1, "x", {"k": "v"}], "map": {"k": "v"}});
    render(&env, &texts, "t", &context).map_err(|d| d.code)
}

/// What rendering came to, and that it took little memory to come to it.
fn in_little_memory(text: &str) -> Result<String, Code> {
    let mut came_to = Ok(String::new());
    let took = allocation_counter::measure(|| came_to = rendered(text));
    assert!(took.bytes_max < MOST_MEMORY, "{text}: {} bytes at once", took.bytes_max);
    came_to
}

/// A use of a filter: with the arguments that it needs.
fn used(filter: &str) -> String {
    let with = WITH.iter().find(|(name, _)| *name == filter);
    with.map_or_else(|| filter.to_owned(), |(_, with)| format!("{filter}({with})"))
}

#[test]
fn every_filter_is_bounded_against_a_bomb_or_makes_little() {
    let filters = names("filters");
    for (name, bomb) in BOMBS {
        assert!(filters.contains(*name), "{name} is no filter any more");
        let bomb = format!("{{{{ ({bomb}) | length }}}}");
        assert_eq!(in_little_memory(&bomb), Err(Code::TemplateBudget), "{bomb}");
    }
    for name in filters.iter().filter(|name| BOMBS.iter().all(|(bomb, _)| bomb != name)) {
        let used = used(name);
        for value in ["'<' * 10000", "'a b\\n' * 3000", "list * 300", "map", "12345", "'ΐ' * 3000"]
        {
            let length = |value: &str| -> Option<usize> {
                rendered(&format!("{{{{ ({value}) | string | length }}}}")).ok()?.parse().ok()
            };
            let (taken, made) = (length(value).unwrap(), length(&format!("({value}) | {used}")));
            let most = FACTOR * taken + SLACK;
            assert!(made.is_none_or(|made| made <= most), "{value} | {used}: {made:?} of {taken}");
        }
    }
}

#[test]
fn no_filter_looks_through_a_list_without_end() {
    for name in names("filters") {
        let bomb = format!("{{{{ ([0] * 90000000) | {} }}}}", used(&name));
        let came_to = in_little_memory(&bomb);
        if NO_LOOK.contains(&name.as_str()) {
            let small = came_to.as_ref().is_ok_and(|text| text.len() < 20);
            assert!(small || came_to.is_err(), "{bomb}: {came_to:?}");
        } else {
            assert!(came_to.is_err(), "{bomb}: {came_to:?}");
        }
    }
}

#[test]
fn every_test_only_says_yes_or_no() {
    let none = "defined undefined none safe escaped boolean odd even number integer int float string \
                sequence iterable mapping lower upper true false filter test";
    for name in names("tests") {
        let argument = if none.split_whitespace().any(|n| n == name) { "" } else { "('x' * 9)" };
        if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let said = in_little_memory(&format!("{{{{ ('x' * 900000) is {name}{argument} }}}}"));
            assert!(
                matches!(said.as_deref(), Ok("true" | "false") | Err(Code::TemplateFailed)),
                "{name}: {said:?}"
            );
        }
    }
}

#[test]
fn every_function_is_bounded() {
    let env = environment();
    let functions: BTreeSet<_> = env.globals().map(|(name, _)| name.to_owned()).collect();
    let expected = ["dict", "namespace", "range"].map(str::to_owned);
    assert_eq!(functions, expected.into(), "look whether the new one can make much of little");
    assert_eq!(in_little_memory("{{ range(900000000) | length }}"), Err(Code::TemplateFailed));
    for function in ["dict", "namespace"] {
        let made = in_little_memory(&format!("{{{{ {function}(map) | string | length }}}}"));
        assert_eq!(made.as_deref(), Ok("10"), "{function}: no more than it was given");
    }
}

/// Of two values an operator makes no more than both of them, and `*` no more than minijinja lets it. What many steps
/// make of that is bounded by `measure`.
#[test]
fn one_step_of_an_operator_makes_no_more_than_it_gets() {
    for (value, made) in [
        ("a ~ a", Ok("800000")),
        ("a + a", Ok("800000")),
        ("([a] + [a]) | length", Ok("2")),
        ("a[1:]", Ok("399999")),
        ("a * 2", Ok("800000")),
        ("a * 1000000", Err(Code::TemplateBudget)),
        ("(list * 1000000000)", Err(Code::TemplateBudget)),
        ("(9 ** 9) ** 90", Err(Code::TemplateFailed)),
    ] {
        let length = if value.ends_with("length") { "" } else { " | length" };
        let text = format!("{{% set a = 'x' * 400000 %}}{{{{ ({value}){length} }}}}");
        assert_eq!(in_little_memory(&text).as_deref(), made.as_ref().copied(), "{value}");
    }
}
