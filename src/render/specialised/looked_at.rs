//! What a template looks at of what it gets: the rest it prints, or does not use.

use std::collections::{BTreeMap, BTreeSet};

/// A step of the path to a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PathStep {
    /// The field of that name.
    Field(String),
    /// Any item of a list, or any field of a map.
    Each,
}

/// The path to a value, from what the template gets.
pub(super) type ContextPath = Vec<PathStep>;

/// A value that a template may get: which of [`LookedAt::values`].
pub(super) type ValueId = usize;

/// What a template gets as a whole.
pub(super) const CONTEXT: ValueId = 0;

/// The values that a template speaks of, and which of them it looks at.
#[derive(Debug)]
pub(super) struct LookedAt {
    values: Vec<TemplateValue>,
}

/// A value that a template speaks of.
#[derive(Debug, Default)]
struct TemplateValue {
    /// How many steps it is away.
    depth: usize,
    /// All of it is looked at.
    whole: bool,
    /// What it says is looked at, where it is a text or a number: a loop goes through it, for one.
    itself: bool,
    /// The letters that are looked for in texts in which it stands.
    letters: BTreeSet<u8>,
    fields: BTreeMap<String, ValueId>,
    each: Option<ValueId>,
}

impl Default for LookedAt {
    fn default() -> Self {
        Self { values: vec![TemplateValue::default()] }
    }
}

impl LookedAt {
    /// A field of a value.
    pub(super) fn field(&mut self, of: ValueId, name: &str) -> ValueId {
        if let Some(known) = self.values[of].fields.get(name) {
            return *known;
        }
        let new = self.push(of);
        self.values[of].fields.insert(name.to_owned(), new);
        new
    }

    /// Any item of a value, or any field.
    pub(super) fn each(&mut self, of: ValueId) -> ValueId {
        if let Some(known) = self.values[of].each {
            return known;
        }
        let new = self.push(of);
        self.values[of].each = Some(new);
        new
    }

    fn push(&mut self, of: ValueId) -> ValueId {
        let depth = self.values[of].depth + 1;
        self.values.push(TemplateValue { depth, ..TemplateValue::default() });
        self.values.len() - 1
    }

    /// How many steps a value is away from the context.
    pub(super) fn depth(&self, of: ValueId) -> usize {
        self.values[of].depth
    }

    /// A value is looked at, with all that is below. Whether that is new.
    pub(super) fn look_at(&mut self, value: ValueId) -> bool {
        !std::mem::replace(&mut self.values[value].whole, true)
    }

    /// A value is looked at where it is a text or a number. Whether that is new.
    pub(super) fn look_at_itself(&mut self, value: ValueId) -> bool {
        !std::mem::replace(&mut self.values[value].itself, true)
    }

    /// A text is looked for where a value stands. Whether one of its letters is new.
    pub(super) fn look_for(&mut self, text: &str, value: ValueId) -> bool {
        let letters = &mut self.values[value].letters;
        let before = letters.len();
        letters.extend(text.bytes());
        letters.len() > before
    }

    /// The value at a path is looked at.
    pub(super) fn look_at_path(&mut self, path: &[PathStep]) {
        let value = path.iter().fold(CONTEXT, |at, step| match step {
            PathStep::Field(name) => self.field(at, name),
            PathStep::Each => self.each(at),
        });
        self.look_at(value);
    }
}

#[cfg(test)]
impl LookedAt {
    /// The paths to what is looked at, in order; with `?` at the end what is only where it is a text or a number.
    pub(super) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.add_paths(CONTEXT, "", &mut paths);
        paths.sort();
        paths
    }

    fn add_paths(&self, at: ValueId, path: &str, paths: &mut Vec<String>) {
        let value = &self.values[at];
        if value.whole || value.itself {
            paths.push(format!("{}{}", &path[1..], if value.whole { "" } else { "?" }));
        }
        for (name, below) in &value.fields {
            self.add_paths(*below, &format!("{path}.{name}"), paths);
        }
        if let Some(below) = value.each {
            self.add_paths(below, &format!("{path}.*"), paths);
        }
    }
}

/// What is looked at of one value: what is said of it by its name, and by what is said of each that stands beside it.
#[derive(Clone, Debug)]
pub(super) struct LookedAtHere<'a> {
    all: &'a LookedAt,
    here: Vec<ValueId>,
    /// It is looked at as part of another one.
    whole: bool,
}

impl<'a> LookedAtHere<'a> {
    pub(super) fn of(all: &'a LookedAt) -> Self {
        Self { all, here: vec![CONTEXT], whole: false }
    }

    /// Whether it is, as a text or a number.
    pub(super) fn is_looked_at(&self) -> bool {
        self.whole || self.values().any(|value| value.whole || value.itself)
    }

    /// Whether something that is looked for could begin, end or stand in a text here.
    pub(super) fn is_looked_for_in(&self, text: &str) -> bool {
        let is_in = |letters: &BTreeSet<u8>| text.bytes().any(|byte| letters.contains(&byte));
        self.values().any(|value| !value.letters.is_empty() && is_in(&value.letters))
    }

    /// Of a field.
    pub(super) fn field(&self, name: &str) -> Self {
        self.below(|value| value.fields.get(name).copied().into_iter().chain(value.each))
    }

    /// Of an item.
    pub(super) fn item(&self) -> Self {
        self.below(|value| value.each.into_iter())
    }

    fn values(&self) -> impl Iterator<Item = &'a TemplateValue> {
        self.here.iter().map(|id| &self.all.values[*id])
    }

    fn below<I: Iterator<Item = ValueId>>(&self, of: impl Fn(&'a TemplateValue) -> I) -> Self {
        // What is looked for in a list or a map is looked for in all that it has.
        let whole = self.whole || self.values().any(|v| v.whole || !v.letters.is_empty());
        let here = if whole { Vec::new() } else { self.values().flat_map(of).collect() };
        Self { all: self.all, here, whole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> ContextPath {
        let step =
            |name| if name == "*" { PathStep::Each } else { PathStep::Field(String::from(name)) };
        text.split('.').map(step).collect()
    }

    fn is_looked_at(all: &LookedAt, text: &str) -> bool {
        let here = LookedAtHere::of(all);
        let here = path(text).iter().fold(here, |here, step| match step {
            PathStep::Field(name) => here.field(name),
            PathStep::Each => here.item(),
        });
        here.is_looked_at()
    }

    #[test]
    fn what_is_below_is_looked_at_too_where_the_whole_is() {
        let mut all = LookedAt::default();
        all.look_at_path(&path("pools.*.taints"));
        let name = all.field(CONTEXT, "name");
        all.look_at_itself(name);
        for looked in ["pools.*.taints", "pools.*.taints.*.key", "pools.a.taints", "name"] {
            assert!(is_looked_at(&all, looked), "{looked}");
        }
        for printed in ["pools", "pools.*.name", "name.of", "taints"] {
            assert!(!is_looked_at(&all, printed), "{printed}");
        }
    }

    #[test]
    fn a_text_is_looked_for_by_its_letters() {
        let mut all = LookedAt::default();
        let name = all.field(CONTEXT, "name");
        assert!(all.look_for("FILE", name) && !all.look_for("LIFE", name));
        let here = LookedAtHere::of(&all).field("name");
        assert!(!here.is_looked_at() && !here.is_looked_for_in("file"));
        assert!(here.is_looked_for_in("a-L"));
        assert!(here.field("below").is_looked_at());
        assert!(!LookedAtHere::of(&all).field("other").is_looked_for_in("FILE"));
    }

    #[test]
    fn a_field_has_a_name_and_is_one_of_all() {
        let mut all = LookedAt::default();
        all.look_at_path(&path("labels.*"));
        all.look_at_path(&path("labels.team.lead"));
        assert!(is_looked_at(&all, "labels.team"));
        assert!(is_looked_at(&all, "labels.other"));
    }
}
