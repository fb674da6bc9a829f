//! Filters that make much of little, bounded before they run: steps alone do not count what `indent`,
//! `replace`, `join` or a list that was multiplied put into one value.

use minijinja::value::{Rest, Value, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, escape_formatter, filters};

use super::filters::{block, sha8, to_yaml};

/// The most bytes of one value, and of one rendered file.
pub(super) const MOST: usize = 1 << 20;
/// The most bytes that filters and printed values take and make in one rendering, all together: what each of them
/// may be, and more than a file needs, many times over.
const MOST_IN_ALL: usize = 64 * MOST;
/// The largest number that a filter counts to, as for `range`.
const LARGEST: usize = 100_000;

/// What the error says that [`spend`] makes.
pub(super) const SPENT: &str = "its filters and values go through more than 64 MiB";

/// How deep lists and maps may nest.
const DEEPEST: usize = 64;
/// What the error says of a value that is nested deeper.
pub(super) const NESTED: &str = "a value is nested more than 64 levels deep";

/// How many bytes a filter makes of its arguments, at most.
type Estimate = fn(&Args) -> usize;

/// Puts bounded filters in place of minijinja's own, and bounds what is printed.
pub(super) fn install(env: &mut Environment<'static>) {
    for (name, filter, estimate) in table() {
        env.add_filter(name, move |state: &mut State, args: Rest<ValueOrKwargs>| {
            let args = args.into_values();
            // The arguments themselves first: the estimate counts on them.
            let taken = args.iter().try_fold(0, |sum, arg| within(sum + size(arg, MOST)))?;
            spend(state, taken)?;
            within(estimate(&Args(&args)))?;
            let made = filter.call(state, &args)?;
            spend(state, size(&made, MOST))?;
            Ok(made)
        });
    }
    env.set_formatter(|out, state, value| {
        let printed = bytes(value)?;
        spend(state, printed)?;
        escape_formatter(out, state, value)
    });
}

/// The bytes that a rendering has spent.
#[derive(Default)]
struct Spent(usize);

/// Counts what is taken and made: `map` calls a filter for each item, and a loop does so for each of its turns, so
/// that what each call may make adds up.
pub(super) fn spend(state: &mut State, bytes: usize) -> Result<(), Error> {
    let spent = state.get_or_insert_extension_with(Spent::default);
    spent.0 = spent.0.saturating_add(bytes);
    if spent.0 <= MOST_IN_ALL {
        return Ok(());
    }
    Err(Error::new(ErrorKind::WriteFailure, SPENT))
}

/// How many bytes a rendering has spent.
pub(super) fn spent(state: &State) -> usize {
    state.get_extension::<Spent>().map_or(0, |spent| spent.0)
}

fn table() -> Vec<(&'static str, Value, Estimate)> {
    let f = |name, filter, estimate: Estimate| (name, filter, estimate);
    vec![
        f("indent", Value::from_function(filters::indent), indented),
        f("block", Value::from_function(block), indented),
        f("tojson", Value::from_function(filters::tojson), indented),
        f("replace", Value::from_function(filters::replace), replaced),
        f("join", Value::from_function(filters::join), joined),
        f("format", Value::from_function(filters::format), formatted),
        f("batch", Value::from_function(filters::batch), counted),
        f("slice", Value::from_function(filters::slice), counted),
        f("sha8", Value::from_function(sha8), as_it_is),
        f("to_yaml", Value::from_function(to_yaml), as_it_is),
        f("list", Value::from_function(filters::list), as_it_is),
        f("string", Value::from_function(filters::string), as_it_is),
        f("pprint", Value::from_function(filters::pprint), as_it_is),
        f("sort", Value::from_function(filters::sort), as_it_is),
        f("reverse", Value::from_function(filters::reverse), as_it_is),
        f("unique", Value::from_function(filters::unique), as_it_is),
        f("map", Value::from_function(filters::map), as_it_is),
        f("select", Value::from_function(filters::select), as_it_is),
        f("reject", Value::from_function(filters::reject), as_it_is),
        f("selectattr", Value::from_function(filters::selectattr), as_it_is),
        f("rejectattr", Value::from_function(filters::rejectattr), as_it_is),
        f("groupby", Value::from_function(filters::groupby), as_it_is),
        f("zip", Value::from_function(filters::zip), as_it_is),
        f("sum", Value::from_function(filters::sum), summed),
        f("min", Value::from_function(filters::min), as_it_is),
        f("max", Value::from_function(filters::max), as_it_is),
        f("lines", Value::from_function(filters::lines), as_it_is),
        f("split", Value::from_function(filters::split), as_it_is),
        f("safe", Value::from_function(filters::safe), as_it_is),
        f("escape", Value::from_function(filters::escape), as_it_is),
        f("e", Value::from_function(filters::escape), as_it_is),
        f("lower", Value::from_function(filters::lower), as_it_is),
        f("upper", Value::from_function(filters::upper), as_it_is),
        f("title", Value::from_function(filters::title), as_it_is),
        f("capitalize", Value::from_function(filters::capitalize), as_it_is),
        f("trim", Value::from_function(filters::trim), as_it_is),
        f("dictsort", Value::from_function(filters::dictsort), as_it_is),
        f("items", Value::from_function(filters::items), as_it_is),
        f("chain", Value::from_function(filters::chain), as_it_is),
        f("first", Value::from_function(filters::first), as_it_is),
        f("last", Value::from_function(filters::last), as_it_is),
    ]
}

pub(super) fn within(bytes: usize) -> Result<usize, Error> {
    if bytes <= MOST {
        return Ok(bytes);
    }
    Err(Error::new(ErrorKind::WriteFailure, "a value is larger than a file may be"))
}

/// About how many bytes a value takes when it is printed.
///
/// # Errors
/// It is larger than a file may be, or nested deeper than it could be printed.
pub(super) fn bytes(value: &Value) -> Result<usize, Error> {
    let nested = || Error::new(ErrorKind::WriteFailure, NESTED);
    within(counted_size(value, MOST, DEEPEST).ok_or_else(nested)?)
}

/// About how many bytes a value takes when it is printed. It stops to count beyond `most`, where it is nested too deep too.
fn size(value: &Value, most: usize) -> usize {
    counted_size(value, most, DEEPEST).unwrap_or(most.saturating_add(1))
}

/// `None` where it is nested more than so many levels.
fn counted_size(value: &Value, most: usize, levels: usize) -> Option<usize> {
    if let Some(text) = value.as_str() {
        return Some(text.len());
    }
    let nested = match value.kind() {
        ValueKind::Map => true,
        ValueKind::Seq | ValueKind::Iterable => false,
        // Numbers, `true`, `none`.
        _ => return Some(8),
    };
    let levels = levels.checked_sub(1)?;
    let mut sum = 2;
    for item in value.try_iter().into_iter().flatten() {
        sum += 2 + counted_size(&item, most.saturating_sub(sum), levels)?;
        if nested {
            let value = value.get_item(&item).unwrap_or_default();
            sum += 2 + counted_size(&value, most.saturating_sub(sum), levels)?;
        }
        if sum > most {
            break;
        }
    }
    Some(sum)
}

/// What a filter got, its own value first.
struct Args<'a>(&'a [Value]);

impl Args<'_> {
    fn own(&self) -> &Value {
        self.0.first().unwrap_or(&Value::UNDEFINED)
    }

    /// An argument by its place or its name.
    fn get(&self, nth: usize, name: &str) -> Option<Value> {
        let by_place = self.0.get(nth).filter(|value| !value.is_kwargs());
        let by_name = || self.0.last()?.get_attr(name).ok().filter(|value| !value.is_undefined());
        let kwargs = self.0.last().is_some_and(Value::is_kwargs);
        by_place.cloned().or_else(|| kwargs.then(by_name).flatten())
    }

    fn all_size(&self) -> usize {
        self.0.iter().map(|arg| size(arg, MOST)).sum()
    }
}

fn as_it_is(_: &Args) -> usize {
    0
}

fn counted(args: &Args) -> usize {
    let count = args.get(1, "count").and_then(|count| count.as_usize()).unwrap_or(0);
    if count > LARGEST { usize::MAX } else { 0 }
}

/// A sum of texts or lists is made anew with each of its items, so its work is the square of its length.
fn summed(args: &Args) -> usize {
    let start = args.get(2, "start").unwrap_or_default();
    if start.is_undefined() || start.is_number() {
        return 0;
    }
    let items = args.own().len().unwrap_or(MOST);
    size(args.own(), MOST).saturating_mul(items) / (MOST_IN_ALL / MOST)
}

/// Every line, or every part of a value in JSON, gets so many blanks.
fn indented(args: &Args) -> usize {
    let width = args.get(1, "width").or_else(|| args.get(1, "indent"));
    let width = width.and_then(|width| width.as_usize()).unwrap_or(4);
    let parts = match args.own().as_str() {
        Some(text) => text.split('\n').count(),
        // No part is printed in fewer than two bytes, and seldom more than a few levels deep.
        None => size(args.own(), MOST),
    };
    size(args.own(), MOST).saturating_add(parts.saturating_mul(width))
}

fn replaced(args: &Args) -> usize {
    let text = |value: Option<Value>| value.map(|value| value.to_string()).unwrap_or_default();
    let (own, from, to) = (args.own().to_string(), text(args.get(1, "")), text(args.get(2, "")));
    let times = if from.is_empty() { own.len() + 1 } else { own.matches(&from).count() };
    own.len().saturating_add(times.saturating_mul(to.len()))
}

fn joined(args: &Args) -> usize {
    let between = args.get(1, "d").map_or(0, |joiner| size(&joiner, MOST));
    let items = args.own().len().unwrap_or(MOST);
    size(args.own(), MOST).saturating_add(items.saturating_mul(between))
}

/// Widths and precisions are numbers in the text or, for a `*`, among the arguments; each argument can be
/// named once for every `%`.
fn formatted(args: &Args) -> usize {
    let text = args.own().to_string();
    let mut sum = args.all_size().saturating_mul(1 + text.matches('%').count());
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    for number in numbers {
        sum = sum.saturating_add(number.parse().unwrap_or(usize::MAX));
    }
    if text.contains('*') {
        let numbers = args.0.iter().filter_map(Value::as_i64);
        for number in numbers {
            sum = sum.saturating_add(usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX));
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::super::engine::{self, Texts, environment, render};
    use crate::diag::Code;

    fn rendered(text: &str) -> Result<String, Code> {
        let mut env = environment();
        engine::add(&mut env, "t", text).ok().unwrap();
        let texts = Texts::from([("t".to_owned(), Arc::from(text))]);
        render(&env, &texts, "t", &json!({"name": "a\nb", "list": [1, "x", {"k": "v"}]}))
            .map_err(|d| d.code)
    }

    #[test]
    fn what_makes_much_of_little_is_stopped_before_it_does() {
        for text in [
            "{{ name | indent(900000000) }}",
            "{{ name | indent(width=900000000) }}",
            "{{ name | block(900000000) }}",
            "{{ list | tojson(900000000) }}",
            "{{ list | tojson(indent=900000000) }}",
            "{{ ('x' * 1000000) | replace('x', 'y' * 1000) }}",
            "{{ ('x' * 1000000) | replace('', 'y' * 1000) }}",
            "{{ range(90000) | join('y' * 100000) }}",
            "{{ range(90000) | join(d='y' * 100000) }}",
            "{{ ([0] * 90000000) | join }}",
            "{{ '%900000000d' | format(1) }}",
            "{{ '%.900000000f' | format(1) }}",
            "{{ '%*d' | format(900000000, 1) }}",
            "{{ ('%(a)s' * 10000) | format(a='x' * 10000) }}",
            "{{ [0] * 90000000 }}",
            "{{ ([0] * 90000000) | list | length }}",
            "{{ ([0] * 90000000) | sort | length }}",
            "{{ ([0] * 90000000) | map('string') | length }}",
            "{{ ([0] * 90000000) | to_yaml }}",
            "{{ ([['x' * 1000] * 1000] * 1000) | tojson }}",
            "{{ [1] | batch(900000000, 0) | length }}",
            "{{ [1] | slice(900000000, 0) | length }}",
            "{{ 'x' * 2000000 }}",
            "{{ range(90000) | map('string') | map('indent', 1000000, true) | list | length }}",
            "{% set x %}{% for i in range(90000) %}{{ 'x' * 1000000 }}{% endfor %}{% endset %}",
            "{{ ('a ' * 200000) | split | sum(start='') | length }}",
        ] {
            assert_eq!(rendered(text), Err(Code::TemplateBudget), "{text}");
        }
    }

    #[test]
    fn what_templates_do_is_done_as_ever() {
        for (text, expected) in [
            ("{{ name | indent(2) }}", "\"a\\n  b\""),
            ("{{ name | indent(width=2, first=true) }}", "\"  a\\n  b\""),
            ("{{ name | replace('b', 'c') }}", "\"a\\nc\""),
            ("{{ [1, 2] | join('-') }}", "\"1-2\""),
            ("{{ list | map('string') | join(', ') }}", "\"1, x, {'k': 'v'}\""),
            ("{{ '%03d-%s' | format(7, 'x') }}", "\"007-x\""),
            ("{{ list | tojson }}", "[1, \"x\", {\"k\": \"v\"}]"),
            ("{{ [3, 1, 2] | sort(reverse=true) }}", "[3,2,1]"),
            ("{{ ['a', 'b', 'a'] | unique | list }}", "[\"a\",\"b\"]"),
            ("{{ [1, 2, 3] | batch(2, 0) | list }}", "[[1,2],[3,0]]"),
            ("{{ ([0] * 3) | length }}", "3"),
            ("{{ list | selectattr('k', 'defined') | list | length }}", "1"),
        ] {
            assert_eq!(rendered(text).as_deref(), Ok(expected), "{text}");
        }
    }
}
