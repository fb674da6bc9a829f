//! A template rendered with marks in the slots.

use std::collections::BTreeSet;

use minijinja::value::{Serde, Value};
use minijinja::{Environment, Error, State};
use serde_json::Value as Json;

use super::filled::SpecialisedText;
use super::marks::{self, Marked};
use crate::model::canonical_json;
use crate::pattern::{WordSort, words};
use crate::render::{budget, filters, text, yaml};

/// How many bytes a rendering with marks may spend, and make: what is made of values that are four times as long then stays within the
/// bounds of one file, so that these are met whatever the values are.
const MOST: usize = budget::MOST / 4;

/// The environment in which a hash is a mark where what it is of has one.
pub(super) fn environment(env: &Environment<'static>) -> Environment<'static> {
    let mut env = env.clone();
    env.add_filter("sha8", sha8);
    env
}

/// What the hashes in a rendering are of.
#[derive(Default)]
struct Hashed(Vec<String>);

fn sha8(state: &mut State, text: &str) -> Result<String, Error> {
    budget::spend(state, text.len())?;
    if !marks::are_in(text) {
        return filters::sha8(text);
    }
    let Hashed(hashed) = state.get_or_insert_extension_with(Hashed::default);
    hashed.push(text.to_owned());
    Ok(marks::hash(hashed.len() - 1))
}

/// What became of a rendering with marks.
pub(super) enum MarkedText {
    /// A text with slots.
    Filled(SpecialisedText),
    /// These slots stand where another value might be more than another word.
    Misplaced(BTreeSet<usize>),
    /// Nothing can be told of it.
    Unknown,
}

/// Renders a template with marks in what it gets.
pub(super) fn render(env: &Environment<'static>, template: &str, marked: &Json) -> MarkedText {
    let Some((text, hashed)) = made(env, template, marked) else { return MarkedText::Unknown };
    let mut misplaced = BTreeSet::new();
    let documents = text::documents(&text).map(|document| misplaced_in(&document));
    for found in documents.chain(hashed.iter().map(|text| misplaced_in(text))) {
        let Some(found) = found else { return MarkedText::Unknown };
        misplaced.extend(found.into_iter().flat_map(|mark| slots_of(mark, &hashed)));
    }
    if !misplaced.is_empty() {
        return MarkedText::Misplaced(misplaced);
    }
    let canonical = |text: &String| yaml::parse_shared(text).map(|value| canonical_json(&value));
    let hashed = hashed.iter().map(canonical).collect::<Result<Vec<_>, _>>().ok();
    let filled = hashed.and_then(|hashed| SpecialisedText::of(&text, &hashed));
    filled.map_or(MarkedText::Unknown, MarkedText::Filled)
}

/// What a template makes, and what the hashes in it are of; `None` where it fails, or makes too much.
fn made(
    env: &Environment<'static>,
    template: &str,
    marked: &Json,
) -> Option<(String, Vec<String>)> {
    let template = env.get_template(template).ok()?;
    let mut captured = template.render_captured(Value::from(Serde(marked))).ok()?;
    let fits = budget::spent(captured.state()) <= MOST && captured.output().len() <= MOST;
    let hashed = captured.with_state_mut(|state| {
        state.get_extension_mut::<Hashed>().map(std::mem::take).unwrap_or_default()
    });
    let few = hashed.0.len() <= marks::MOST_HASHES;
    (fits && few).then(|| (captured.into_output(), hashed.0))
}

/// The marks in a document that do not stand in a word, or in one whose sort hangs on the value. `None` where there are no words.
fn misplaced_in(document: &str) -> Option<Vec<Marked>> {
    let (words, rest) = words(document)?;
    let of_words = words.into_iter().flat_map(|(sort, word)| {
        let whole = word.len() == marks::LENGTH;
        marks::all(word).filter(move |mark| match sort {
            WordSort::Quoted => false,
            WordSort::Number => !(whole && mark.is_number),
            WordSort::Name => true,
        })
    });
    let all = of_words.chain(marks::all(&rest));
    Some(all.map(|mark| mark.of).collect())
}

/// The slots that a mark hangs on.
fn slots_of(mark: Marked, hashed: &[String]) -> BTreeSet<usize> {
    match mark {
        Marked::Slot(slot) => BTreeSet::from([slot]),
        Marked::Hash(nth) => {
            let of = hashed.get(nth).into_iter().flat_map(|text| marks::all(text));
            // A hash has only those before it in it.
            of.flat_map(|mark| slots_of(mark.of, &hashed[..nth])).collect()
        }
    }
}
