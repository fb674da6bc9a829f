//! What templates keep, join and nest, each against a bomb; and that what is measured comes to the same.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::engine::{self, Texts, environment};
use super::fixture;
use super::measure::MOST_OPERATORS;
use super::{Templates, cluster_job};
use crate::diag::{Code, Diagnostic};

/// What a rendering may take at once: twice of what its filters go through, and one value that an operator made.
const MOST_MEMORY: u64 = 256 << 20;

fn rendered(text: &str) -> Result<String, Box<Diagnostic>> {
    let mut env = environment();
    let other = "o".repeat(500_000);
    let mut texts = Texts::new();
    for (name, text) in [("t", text), ("other", other.as_str())] {
        texts.insert(name.to_owned(), Arc::from(text));
        engine::add(&mut env, name, text).map_err(|why| engine::not_added(&why, name, &texts))?;
    }
    let context = json!({"name": "a", "list": [1, "x"], "map": {"k": "v"}, "no": false});
    engine::render(&env, &texts, "t", &context)
}

/// What it comes to, and that it takes little memory to come to it, on the small stack of a thread.
fn came_to(text: &str) -> Result<String, Code> {
    let text = text.to_owned();
    let run = move || {
        let mut came_to = Ok(String::new());
        let took = allocation_counter::measure(|| came_to = rendered(&text).map_err(|d| d.code));
        (came_to, took.bytes_max)
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap();
    let (came_to, most) = thread.join().unwrap();
    assert!(most < MOST_MEMORY, "{most} bytes at once");
    came_to
}

fn times(count: usize, text: &str) -> String {
    text.repeat(count)
}

#[test]
fn what_a_template_keeps_and_joins_is_bounded() {
    let raw = "r".repeat(20_000);
    for text in [
        format!("{{% set x = 'xxxx' %}}{}", times(40, "{% set x = x ~ x %}\n")),
        format!("{{% set x = 'xxxx' %}}{}", times(40, "{% set x = x + x %}\n")),
        format!("{{% set x = ['x'] %}}{}{{{{ x }}}}", times(40, "{% set x = x + x %}\n")),
        format!("{{% set x = 'x' %}}{}", times(40, "{% set x = [x, x] %}\n")),
        format!("{{% set x = 'x' %}}{}{{{{ x ~ '' }}}}", times(40, "{% set x = {'a': x, 'b': x} %}\n")),
        format!("{{% set x = 'x' %}}{}{{{{ x ~ '' }}}}", times(40, "{% set x = (x, x) %}\n")),
        format!("{{% set x, y = 'x', 'y' %}}{}", times(60, "{% set x, y = x ~ y, y ~ x %}\n")),
        "{% set ns = namespace(x=[]) %}{% for i in range(2000) %}\
         {% set ns.x = ns.x + ['x' * 1000000 ~ i] %}{% endfor %}"
            .to_owned(),
        format!("{{% set x = [{}] %}}", times(200, "'x' * 100000000, ")),
        format!("{{{{ [{}] | length }}}}", times(200, "'x' * 100000000, ")),
        "{% set n = 100000000 %}{% set x = n * 'x' %}".to_owned(),
        "{% set n = 100000000 %}{% set x = [n, n] * n %}".to_owned(),
        format!("{{% macro m({}) %}}{{% endmacro %}}{{{{ m() }}}}", (0..99).fold(String::new(), |mut all, i| {
            let _ = write!(all, "a{i}='x' * 100000000, ");
            all
        })),
        format!("{{% set x %}}{{% for i in range(90000) %}}{raw}{{% endfor %}}{{% endset %}}"),
        "{% set x %}{% for i in range(90000) %}{% include 'other' %}{% endfor %}{% endset %}".to_owned(),
        "{% set x %}{% for i in range(9000) %}{% include ['none', 'other'] %}{% endfor %}{% endset %}".to_owned(),
        format!("{{% macro m() %}}{raw}{{% endmacro %}}{{% set x %}}{{% for i in range(90000) %}}{{{{ m() }}}}{{% endfor %}}{{% endset %}}"),
        format!("{{% filter upper %}}{{% for i in range(90000) %}}{raw}{{% endfor %}}{{% endfilter %}}"),
        format!("{{% set x %}}{{% for i in range(90) recursive %}}{raw}{{% if loop.depth < 9 %}}{{{{ loop(range(90)) }}}}{{% endif %}}{{% endfor %}}{{% endset %}}"),
        "{% set all = range(9999)|list %}{% for i in all %}{% if -1 in all %}{% endif %}{% endfor %}".to_owned(),
        "{% set all = range(9999)|list %}{% for i in all %}{% if all == all + [] %}{% endif %}{% endfor %}".to_owned(),
        "{% set all = range(9999)|list %}{% for i in all %}{% if i is in(all) %}{% endif %}{% endfor %}".to_owned(),
    ] {
        let shown: String = text.chars().take(90).collect();
        assert_eq!(came_to(&text), Err(Code::TemplateBudget), "{shown}");
    }
}

#[test]
fn what_nests_or_turns_in_a_circle_ends_in_a_bound() {
    let loops = |body: &str| {
        format!(
            "{{% set ns = namespace(l=[1], i=0) %}}{{% for i in range(5000) %}}{body}{{% endfor %}}{{{{ ns.l }}}}"
        )
    };
    for body in [
        "{% set ns.l = [ns.l] %}",
        "{% set ns.l = (ns.l, 1) %}",
        "{% set ns.l = {'a': ns.l} %}",
        "{% set ns.l = dict(a=ns.l) %}",
        "{% set ns.l = [ns.l] | list %}",
        "{% set ns.l = ns.l | batch(1, 0) %}",
        "{% set ns.l = ns.l | zip([1]) %}",
        "{% set ns.l = ns %}",
        "{% set ns.l = [ns] %}",
        "{% set ns.l = namespace(l=ns.l) %}",
    ] {
        let came_to = came_to(&loops(body));
        let ends = [Err(Code::TemplateBudget), Err(Code::TemplateFailed)];
        assert!(ends.contains(&came_to), "{body}: {came_to:?}");
    }
    // These go on for as long as there are steps, and are as they were in the end.
    for body in [
        "{% set ns.l = ns.l[:1] %}",
        "{% set ns.l = ns.l * 1 %}",
        "{% set ns.l = ns.l | chain([]) %}",
        "{% set ns.l = ns.l + [] %}",
        "{% set ns.l = ns.l | reverse %}",
    ] {
        assert_eq!(came_to(&loops(body)).as_deref(), Ok("[1]"), "{body}");
    }
}

#[test]
fn a_tag_has_no_more_levels_than_are_walked() {
    let tag = |begin: &str, more: &str, count: usize, end: &str| {
        format!("a\n {{{{ {begin}{}{end} }}}}\n", times(count, more))
    };
    let kinds: [(&str, &str, &str); 12] = [
        ("name", " ~ name", ""),
        ("1", " + 1", ""),
        ("name", "|string", ""),
        ("map", ".k", ""),
        ("list", "[0]", ""),
        ("name", "()", ""),
        ("", "not ", "no"),
        ("", "-", "1"),
        ("no", " or no", ""),
        ("1", " if no else 1", ""),
        ("no", " is defined", ""),
        ("1", " == 1", ""),
    ];
    for (begin, more, end) in kinds {
        let refused = rendered(&tag(begin, more, 40_000, end)).unwrap_err();
        assert_eq!(refused.code, Code::TemplateBudget, "{more}");
        assert_eq!(refused.place.unwrap().position.unwrap().line, 2, "{more}");
        // What is as long as it may be takes no more stack than there is, whatever it comes to.
        let _ = came_to(&tag(begin, more, 80, end));
        let _ = came_to(&tag(begin, more, MOST_OPERATORS / 2 - 1, end));
        let _ = came_to(&tag(begin, more, MOST_OPERATORS - 1, end));
    }
    let chained = |count| format!("{{% if no %}}{}{{% endif %}}", times(count, "{% elif no %}"));
    assert_eq!(rendered(&chained(40_000)).unwrap_err().code, Code::TemplateBudget);
    let within = format!("{}{{% endif %}}", times(30, &chained(20).replace("{% endif %}", "")));
    assert_eq!(rendered(&within).unwrap_err().code, Code::TemplateBudget);
    assert_eq!(came_to(&chained(MOST_OPERATORS)).as_deref(), Ok(""));
    assert_eq!(came_to(&times(300, &chained(2))).as_deref(), Ok(""));
    // Statements have a bound of minijinja's own.
    for (begin, more, end) in [
        ("", "{% if no %}", "{% endif %}"),
        ("", "{% for x in list %}", "{% endfor %}"),
        ("", "{{ [[[", ""),
    ] {
        let _ = came_to(&format!("{begin}{}{end}", times(40_000, more)));
        let _ = came_to(&format!("{begin}{}{}", times(140, more), times(140, end)));
    }
}

/// Line and column are those of the text that somebody wrote.
#[test]
fn what_fails_is_told_where_it_was_written() {
    let told = |text: &str| {
        let found = rendered(text).unwrap_err();
        let position = found.place.unwrap().position.unwrap();
        (found.message, position.line, position.column)
    };
    let undefined = "the template does not render: `nope` is undefined".to_owned();
    let text = "a\n{% set x = (name ~ 'y') ~ name %}{{ [x ~ x] | length }} {{ nope }}\n";
    assert_eq!(told(text), (undefined.clone(), 2, 60));
    let text =
        "{% set x = name ~ name %}\n{% for i in list + list %}x{{ i ~ x }}{{ nope }}{% endfor %}";
    assert_eq!(told(text), (undefined, 2, 42));
    assert_eq!(told("{% set x = name ~ name %}\n{% if %}").1, 2);
    let found = told("{% set x = name %}\n{{ ( 'x' * 1048000 ) ~ x * 1000 }}");
    assert_eq!((found.1, found.0.contains("1 MiB")), (2, true), "{found:?}");
}

/// Every form of an expression in every place, with brackets and blanks about it.
#[test]
fn a_measured_template_comes_to_the_same() {
    let values = [
        "(name)",
        "( name ~ 'y' ) ~ name",
        "-(1) + 2",
        "1 - -2",
        "(1, 2)",
        "[name ~ 'a', 1]",
        "{'a': name ~ 'b'}",
        "(name if no else 'z') ~ 'q'",
        "name ~ ('a' if not no else 'b')",
        "(name is not defined) == no",
        "(1 not in list) ~ 'x'",
        "not (name ~ 'x') in list",
        "not no and (name ~ 'x')",
        "list[0:1] + [3]",
        "(list + [2])[1:]",
        "(list + [2]) | length",
        "'a' 'b' ~ 'c'",
        "'x' * 3 ~ 'y'",
        "2 ** 3 ** 1",
        "range(3) | list + [1]",
        "name|upper ~ name",
        "[1, 2] + list == [1, 2, 1, 'x']",
        "1 < 2 < 3",
        "dict(a=name ~ 'x', b=1).a",
        "(name ~ 'x') is eq(name ~ 'x')",
        "name is eq 'a'",
        "(list|first) ~ (list|last)",
        "none ~ true",
        "(name) ~ ((name) ~ (name))",
        "map.k ~ map['k']",
        "[[1, 2], [3]] | map('length') | list",
        "(x, y) if no else (list, map)",
        "nothing | default('d' ~ 'e')",
        "nothing is defined or name ~ ''",
    ];
    for value in values {
        for place in [
            "{{ @ }}",
            "{% set x = @ %}{{ x }}",
            "{% set ns = namespace() %}{% set ns.x = @ %}{{ ns.x }}",
            "{% with x = @ %}{{ x }}{% endwith %}",
            "{% for i in [@] %}t{{ i }}{% endfor %}",
            "{% for i in [1] if @ %}t{{ i }}{% else %}e{% endfor %}",
            "{% macro m(x, y=@) %}{{ x }}{{ y }}{% endmacro %}{{ m(@) }}{{ m(x=@) }}",
            "{% if @ %}y{% endif %}",
            "{% set x | replace('y', 'z') %}{{ @ }}{% endset %}{{ x }}",
            "{{ [@, @] | tojson }}{{ (@) ~ (@) }}",
        ] {
            let text = place.replace('@', value);
            assert_eq!(rendered(&text).map_err(|d| d.message), plainly(&text), "{text}");
        }
    }
}

/// What minijinja itself makes of a template.
fn plainly(text: &str) -> Result<String, String> {
    let mut env = environment();
    let texts = Texts::from([("t".to_owned(), Arc::from(text))]);
    engine::offer(&mut env, texts.clone());
    let context = json!({"name": "a", "list": [1, "x"], "map": {"k": "v"}, "no": false});
    engine::render(&env, &texts, "t", &context).map_err(|d| d.message)
}

/// Copies of the built-in templates in a fleet make what these make.
#[test]
fn the_built_in_templates_come_to_the_same() {
    let own: BTreeMap<_, _> = Templates::built_in_files()
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .collect();
    let (own, found) = Templates::built_in().with(&own);
    assert!(!found.has_errors(), "{found:?}");
    let fleet = fixture::fleet();
    let (worker, cluster) = (&fleet.workers["wk-1"], &fleet.clusters["pay-eu"]);
    let files = |templates: &Templates| {
        cluster_job(&fleet, cluster, &worker.name, templates).render().unwrap()
    };
    assert_eq!(files(&own), files(&Templates::built_in()));
}

/// An expression of any kind, with operators and filters that make more of what there is.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "x",
        "y",
        "ns.x",
        "ns.y",
        "1",
        "'x' * 1000000",
        "[1] * 1000000",
        "list",
        "map",
        "range(90000)",
        "ns",
        "'%900000000d'",
        "m(x)",
        "loop",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(4, 24, 3, |inner| {
        let pair = (inner.clone(), inner.clone());
        let operators = vec!["~", "+", "*", "in", "==", "and", "or", "<"];
        let filters = vec![
            "list", "join(x)", "map('string')", "replace('x', y)", "tojson", "batch(3, 0)", "zip(x)", "chain(y)",
            "length", "sort", "unique", "indent(1000)", "string", "items", "dictsort", "reverse", "format(x)", "sum",
        ];
        prop_oneof![
            4 => (pair.clone(), prop::sample::select(operators)).prop_map(|((a, b), op)| format!("({a}) {op} ({b})")),
            3 => (inner.clone(), prop::sample::select(filters)).prop_map(|(a, filter)| format!("({a})|{filter}")),
            2 => pair.clone().prop_map(|(a, b)| format!("[{a}, {b}]")),
            1 => pair.clone().prop_map(|(a, b)| format!("{{'a': {a}, 'b': {b}}}")),
            1 => pair.clone().prop_map(|(a, b)| format!("({a}, {b})")),
            1 => pair.prop_map(|(a, b)| format!("({a} if {b} else {a})")),
            1 => inner.clone().prop_map(|a| format!("({a})[:9]")),
            1 => inner.prop_map(|a| format!("dict(a={a})")),
        ]
    })
}

fn statement() -> impl Strategy<Value = String> {
    let body = (expression(), prop::sample::select(vec!["x", "y", "ns.x", "ns.y"]))
        .prop_map(|(value, target)| format!("{{% set {target} = {value} %}}"));
    body.prop_recursive(3, 12, 3, |inner| {
        let many = prop::collection::vec(inner.clone(), 1..4).prop_map(|all| all.concat());
        prop_oneof![
            3 => (many.clone(), expression()).prop_map(|(body, of)| format!("{{% for i in {of} %}}{body}raw{{% endfor %}}")),
            3 => many.clone().prop_map(|body| format!("{{% for i in range(50) %}}{body}{{{{ ns.x }}}}{{% endfor %}}")),
            1 => many.clone().prop_map(|body| format!("{{% set y %}}{body}{{{{ x }}}}{{% endset %}}")),
            1 => expression().prop_map(|of| format!("{{{{ {of} }}}}")),
            1 => many.prop_map(|body| format!("{{% if x %}}{body}{{% include 'other' %}}{{% endif %}}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a template does over and over, it ends in little memory and on a small stack.
    #[test]
    fn no_template_takes_more_memory_than_it_may(body in prop::collection::vec(statement(), 1..6)) {
        let body = body.concat();
        let _ = came_to(&format!(
            "{{% macro m(a) %}}{{{{ a }}}}{{% endmacro %}}{{% set ns = namespace(x='x', y=[1]) %}}\
             {{% set x = 'x' %}}{{% set y = 'y' %}}{{% for k in range(30) %}}{body}{{% endfor %}}"
        ));
    }
}
