//! The shape of what a template gets, and the values in it that are only printed.

use std::borrow::Cow;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use serde_json::Value;

use super::looked_at::{ContextPath, LookedAt, LookedAtHere, PathStep};
use super::marks::{self, MOST_SLOTS};
use crate::pattern::is_of_words;

/// How many bytes of text a value in a slot may have: four times as many as its mark, so that what is made of it is at most four times as
/// long.
const LONGEST: usize = 4 * marks::LENGTH;
/// The largest number in a slot: it has as many digits as its mark.
const LARGEST: u64 = 999_999_999_999_999;

/// What a template gets, as far as it looks at it, and the rest.
#[derive(Debug, Default)]
pub(super) struct ContextShape<'a> {
    /// The same for all that the template makes the same of, but for what stands in the slots.
    pub(super) key: Vec<u8>,
    /// What stands in the slots, as it is printed.
    pub(super) values: Vec<Cow<'a, str>>,
}

impl<'a> ContextShape<'a> {
    /// The shape of a context.
    pub(super) fn of(context: &'a Value, looked_at: &LookedAt) -> Self {
        let mut shape = Self { key: Vec::with_capacity(8192), values: Vec::with_capacity(64) };
        shape.add(context, &LookedAtHere::of(looked_at));
        shape
    }

    /// A hash of the key.
    pub(super) fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.key.hash(&mut hasher);
        hasher.finish()
    }

    fn add(&mut self, value: &'a Value, looked_at: &LookedAtHere<'_>) {
        match value {
            Value::Object(map) => {
                self.tag(b'{', map.len());
                for (name, value) in map {
                    self.text(b'f', name);
                    self.add(value, &looked_at.field(name));
                }
            }
            Value::Array(items) => {
                self.tag(b'[', items.len());
                let looked_at = looked_at.item();
                for item in items {
                    self.add(item, &looked_at);
                }
            }
            Value::String(text) => match slot_of(value, looked_at) {
                Some(printed) => self.slot(b's', printed),
                None => self.text(b't', text),
            },
            Value::Number(number) => match slot_of(value, looked_at) {
                Some(printed) => self.slot(b'n', printed),
                None => self.text(b'd', &number.to_string()),
            },
            Value::Bool(true) => self.key.push(b'1'),
            Value::Bool(false) => self.key.push(b'0'),
            Value::Null => self.key.push(b'-'),
        }
    }

    fn tag(&mut self, sort: u8, length: usize) {
        self.key.push(sort);
        self.key.extend_from_slice(&length.to_le_bytes());
    }

    fn text(&mut self, sort: u8, text: &str) {
        self.tag(sort, text.len());
        self.key.extend_from_slice(text.as_bytes());
    }

    fn slot(&mut self, sort: u8, printed: Cow<'a, str>) {
        self.key.push(sort);
        self.values.push(printed);
    }
}

/// A context with a mark in each slot, and the paths to the slots; `None` where there are more of these than marks. They
/// are numbered as [`ContextShape::of`] finds them.
pub(super) fn marked(context: &Value, looked_at: &LookedAt) -> Option<(Value, Vec<ContextPath>)> {
    let mut context = context.clone();
    let mut paths = Vec::new();
    mark(&mut context, &LookedAtHere::of(looked_at), &mut ContextPath::new(), &mut paths);
    (paths.len() <= MOST_SLOTS).then_some((context, paths))
}

fn mark(
    value: &mut Value,
    looked_at: &LookedAtHere<'_>,
    path: &mut ContextPath,
    paths: &mut Vec<ContextPath>,
) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                path.push(PathStep::Field(name.clone()));
                mark(value, &looked_at.field(name), path, paths);
                path.pop();
            }
        }
        Value::Array(items) => {
            path.push(PathStep::Each);
            let looked_at = looked_at.item();
            for item in items {
                mark(item, &looked_at, path, paths);
            }
            path.pop();
        }
        _ if slot_of(value, looked_at).is_none() => {}
        value => {
            let slot = paths.len();
            *value = if value.is_number() { marks::number(slot) } else { marks::text(slot).into() };
            paths.push(path.clone());
        }
    }
}

/// What a value is printed as, if it may stand in a slot: one that nobody looks at, that is true as a condition, and that comes
/// out as it is whatever stands around it.
fn slot_of<'a>(value: &'a Value, looked_at: &LookedAtHere<'_>) -> Option<Cow<'a, str>> {
    if looked_at.is_looked_at() {
        return None;
    }
    match value {
        Value::String(text) => {
            let fits = !text.is_empty() && text.len() <= LONGEST;
            let plain = text.bytes().all(is_of_words) && !marks::are_in(text);
            (fits && plain && !looked_at.is_looked_for_in(text)).then_some(text.into())
        }
        Value::Number(number) => {
            let fits = number.as_u64().is_some_and(|number| (1..=LARGEST).contains(&number));
            let printed = fits.then(|| number.to_string())?;
            (!marks::are_in(&printed)).then_some(printed.into())
        }
        _ => None,
    }
}
