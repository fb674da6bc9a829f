//! minijinja with bounds: a template can fail, and cannot hang, flood or reach out.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};
use serde_json::Value as Json;

use super::budget::{self, MOST, NESTED, SPENT};
use super::measure::{self, MOST_OPERATORS, Unmeasured};
use super::{filters, under_way};
use crate::diag::{Code, Diagnostic, Place};

/// How many instructions one file may take. The largest built-in one takes some tens of thousands.
const FUEL: u64 = 1_000_000;
/// How deep includes and macros may nest.
const RECURSION: usize = 50;

/// An environment without templates.
pub(super) fn environment() -> Environment<'static> {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env.set_auto_escape_callback(|_| AutoEscape::Json);
    env.set_syntax(syntax());
    env.set_fuel(Some(FUEL));
    env.set_recursion_limit(RECURSION);
    // The debug form of an error would repeat the values that a template got.
    env.set_debug(false);
    filters::install(&mut env);
    budget::install(&mut env);
    measure::install(&mut env);
    env
}

/// Lines with a block tag alone leave nothing behind.
pub(super) fn syntax() -> SyntaxConfig {
    SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()
        .unwrap_or_default()
}

/// Adds a template that somebody else wrote: what it makes is measured.
///
/// # Errors
/// It cannot be read, or has a tag with too many operators.
pub(super) fn add(
    env: &mut Environment<'static>,
    name: &str,
    text: &str,
) -> Result<(), Unmeasured> {
    let measured = measure::measured(name, text, syntax())?;
    env.add_template_owned(name.to_owned(), measured).map_err(Unmeasured::Unreadable)
}

/// Offers templates of carp's own, as they are. Each is compiled when it is first used: a run of few files
/// needs few of them.
pub(super) fn offer(env: &mut Environment<'static>, texts: Texts) {
    env.set_loader(move |name| Ok(texts.get(name).map(ToString::to_string)));
}

/// What the author is told of a template that could not be added.
pub(super) fn not_added(why: &Unmeasured, template: &str, texts: &Texts) -> Diagnostic {
    match why {
        Unmeasured::Unreadable(error) => finding(error, template, texts, &|_, offset| offset),
        Unmeasured::TooLong { line, column } => {
            let message =
                format!("a tag has more than {MOST_OPERATORS} operators, dots and brackets");
            Diagnostic::new(Code::TemplateBudget, message)
                .at(Place::file(format!("templates/{template}")).at(*line, *column))
                .help("make several of it, with `{% set %}`")
        }
    }
}

/// The texts of templates, by name.
pub(super) type Texts = BTreeMap<String, Arc<str>>;

/// Renders one template. `texts` are those that the environment was made of.
pub(super) fn render(
    env: &Environment<'static>,
    texts: &Texts,
    template: &str,
    context: &Json,
) -> Result<String, Box<Diagnostic>> {
    let _rendering = under_way::begin(template);
    let mut out = Bounded::default();
    env.get_template(template)
        .and_then(|t| t.render_captured_to(Value::from(Serde(context)), &mut out).map(|_| ()))
        .map_err(|error| Box::new(finding(&error, template, texts, &written_at(env, texts))))?;
    Ok(String::from_utf8(out.bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Where in a template as it was written an offset is of the one that is rendered.
fn written_at<'a>(
    env: &'a Environment<'static>,
    texts: &'a Texts,
) -> impl Fn(&str, usize) -> usize + 'a {
    |name, offset| match (env.get_template(name), texts.get(name)) {
        (Ok(template), Some(text)) if template.source() != &**text => {
            measure::original(name, text, syntax(), offset)
        }
        _ => offset,
    }
}

/// Where an offset is, in the template of a name.
type WrittenAt<'a> = &'a dyn Fn(&str, usize) -> usize;

/// What a template's error is to its author.
pub(super) fn finding(
    error: &Error,
    template: &str,
    texts: &Texts,
    at: WrittenAt<'_>,
) -> Diagnostic {
    let places = causes(error).filter_map(|e| place(e, texts, at));
    let (name, line, column) = places.last().unwrap_or((template.to_owned(), 1, 1));
    let place = Place::file(format!("templates/{name}")).at(line, column);
    if let Some(bound) = bound(error) {
        let message = format!("the template does not end: {bound}");
        let help = "look for a loop, a macro or an include that goes on for ever";
        return Diagnostic::new(Code::TemplateBudget, message).at(place).help(help);
    }
    let last = causes(error).last().unwrap_or(error);
    let why = last.detail().map(ToOwned::to_owned).or_else(|| undefined(last, texts, at));
    let why = why.unwrap_or_else(|| last.kind().to_string());
    let message = match last.kind() {
        ErrorKind::SyntaxError => format!("the template cannot be read: {why}"),
        _ => format!("the template does not render: {why}"),
    };
    Diagnostic::new(Code::TemplateFailed, message).at(place).help(help(last, texts))
}

fn help(error: &Error, texts: &Texts) -> String {
    let why = error.detail().unwrap_or_default();
    match error.kind() {
        ErrorKind::UndefinedError => {
            "use a name that the built-in templates use, or test it with `is defined` first"
                .to_owned()
        }
        ErrorKind::TemplateNotFound => {
            let parts = texts.keys().filter(|name| name.starts_with("parts/"));
            let parts: Vec<_> = parts.map(String::as_str).collect();
            format!("there are {}", parts.join(", "))
        }
        ErrorKind::SyntaxError if why.contains("end of input") => {
            "close what is open: every `if`, `for` and `macro` has its `end…`".to_owned()
        }
        _ => "mend the template; until then the last good files stay".to_owned(),
    }
}

/// Which variable is not there, as its template names it.
fn undefined(error: &Error, texts: &Texts, at: WrittenAt<'_>) -> Option<String> {
    let (name, range) = (error.name()?, error.range()?);
    let expression = texts.get(name)?.get(at(name, range.start)..at(name, range.end))?;
    let plain = |c: char| c.is_alphanumeric() || "_.".contains(c);
    (error.kind() == ErrorKind::UndefinedError && expression.chars().all(plain))
        .then(|| format!("`{expression}` is undefined"))
}

/// The template, the line and the column that an error speaks of.
fn place(error: &Error, texts: &Texts, at: WrittenAt<'_>) -> Option<(String, u32, u32)> {
    let name = error.name()?;
    let line = error.line().and_then(|l| u32::try_from(l).ok()).unwrap_or(1);
    let before = error.range().and_then(|range| texts.get(name)?.get(..at(name, range.start)));
    let column = before.map(|text| text.rsplit('\n').next().unwrap_or_default().chars().count());
    let column = column.and_then(|c| u32::try_from(c).ok()).unwrap_or(0);
    Some((name.to_owned(), line, column.saturating_add(1)))
}

fn causes(error: &Error) -> impl Iterator<Item = &Error> {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let this = next?;
        next = std::error::Error::source(this).and_then(|e| e.downcast_ref::<Error>());
        Some(this)
    })
}

/// Which bound was reached, if one was.
fn bound(error: &Error) -> Option<String> {
    causes(error).find_map(|e| match e.kind() {
        ErrorKind::OutOfFuel => Some(format!("it takes more than {FUEL} steps")),
        ErrorKind::WriteFailure if e.detail() == Some(SPENT) => Some(SPENT.to_owned()),
        ErrorKind::WriteFailure if e.detail() == Some(NESTED) => Some(NESTED.to_owned()),
        ErrorKind::WriteFailure => Some(format!("it makes more than {} MiB", MOST >> 20)),
        _ if e.detail().is_some_and(|d| d.contains("recursion limit")) => {
            Some(format!("it calls itself more than {RECURSION} levels deep"))
        }
        _ => None,
    })
}

/// A writer that refuses to grow without bound.
#[derive(Default)]
struct Bounded {
    bytes: Vec<u8>,
}

impl io::Write for Bounded {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + part.len() > MOST {
            return Err(io::Error::other("more than 1 MiB of output"));
        }
        self.bytes.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn render_text(text: &str) -> Result<String, Box<Diagnostic>> {
        let mut env = environment();
        let mut texts = Texts::new();
        for (name, text) in [("f/cluster.yaml", text), ("f/part.yaml", "{# one #}\n{{ gone }}\n")] {
            add(&mut env, name, text).ok().unwrap();
            texts.insert(name.to_owned(), Arc::from(text));
        }
        render(&env, &texts, "f/cluster.yaml", &json!({"name": "on", "n": 3}))
    }

    fn failure(text: &str) -> Diagnostic {
        *render_text(text).unwrap_err()
    }

    #[test]
    fn values_come_out_as_yaml_scalars() {
        let text = "a: {{ name }}\nb: {{ n > 2 }}\nc: {{ [1, \"x\"] }}\n";
        assert_eq!(render_text(text).unwrap(), "a: \"on\"\nb: true\nc: [1,\"x\"]\n");
    }

    #[test]
    fn an_undefined_variable_is_a_finding_with_its_line() {
        let d = failure("a: 1\nb: {{ nope }}\n");
        assert_eq!(d.code, Code::TemplateFailed);
        let place = d.place.unwrap();
        assert_eq!(place.file, "templates/f/cluster.yaml");
        let position = place.position.unwrap();
        assert_eq!((position.line, position.column), (2, 7));
        assert_eq!(d.message, "the template does not render: `nope` is undefined");
    }

    #[test]
    fn the_place_is_in_the_file_that_was_included() {
        let place = failure("{% include \"f/part.yaml\" %}").place.unwrap();
        assert_eq!(
            (place.file.as_str(), place.position.unwrap().line),
            ("templates/f/part.yaml", 2)
        );
    }

    #[test]
    fn a_template_that_loops_runs_out_of_steps() {
        let text = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}";
        assert_eq!(failure(text).code, Code::TemplateBudget);
        let text = "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}";
        assert_eq!(failure(text).code, Code::TemplateBudget);
        assert_eq!(failure("{% include \"f/cluster.yaml\" %}").code, Code::TemplateBudget);
    }

    #[test]
    fn includes_go_fifty_deep_and_no_deeper() {
        let deep = |levels: u32| {
            let mut env = environment();
            let text =
                "{% if n > 0 %}{% with n = n - 1 %}{% include \"t\" %}{% endwith %}{% endif %}";
            add(&mut env, "t", text).ok().unwrap();
            let texts = Texts::from([("t".to_owned(), Arc::from(text))]);
            render(&env, &texts, "t", &json!({"n": levels})).map_err(|d| d.code)
        };
        assert_eq!(deep(3), Ok(String::new()));
        assert_eq!(deep(60), Err(Code::TemplateBudget));
    }

    #[test]
    fn a_template_that_floods_is_stopped() {
        assert_eq!(failure("{{ \"x\" * 2000000 }}").code, Code::TemplateBudget);
    }

    #[test]
    fn templates_reach_nothing_outside() {
        assert_eq!(failure("{{ debug() }}").code, Code::TemplateFailed);
        let absent = failure("a: 1\n{% include \"../secret\" %}");
        assert_eq!(absent.code, Code::TemplateFailed);
        assert_eq!(absent.place.unwrap().position.unwrap().line, 2);
        assert_eq!(failure("{{ now() }}").code, Code::TemplateFailed);
    }
}
