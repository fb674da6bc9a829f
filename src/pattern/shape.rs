//! The shape of documents that differ in some words: what is true of all of them is found out once, and what is true of one
//! is true of the next one, where no word differs that it hangs on.

use std::array;
use std::cell::Cell;
use std::rc::Rc;

use serde_json::Value;

use super::ReadDocument;
use super::form::Form;
use super::part::{DocumentPart, WordSet, words_of};
use super::places::WordPlaces;
use super::shared::SharedWords;
use super::split::OPEN;

/// How many values of one shape are kept to be made into others: as many as documents of one shape stand in a folder.
const MAX_VALUES: usize = 8;
/// How many rules may look at documents of one shape.
const MAX_RULES: usize = u64::BITS as usize;
/// The fields that say of what kind an object is.
const KIND: [&str; 2] = ["apiVersion", "kind"];

/// What the documents of a pattern have in common.
#[derive(Debug)]
struct DocumentShape {
    form: Form,
    places: WordPlaces,
    /// Whether one of them was looked through and had no secret, so that what is the same in all of them is none; `None` as
    /// long as nobody looked.
    no_secret: Cell<Option<bool>>,
    /// Whether one of them has nothing that is empty; `None` as long as nobody looked.
    no_empty: Cell<Option<bool>>,
    /// The fields, by their numbers, that somebody asked for, and those of them that are there.
    asked: Cell<u32>,
    there: Cell<u32>,
    /// The words that say of what kind the document is: rules of different kinds have the same numbers.
    of_kind: WordSet,
    /// By the number of a rule, the words that it ever saw. With a word of one document it may look elsewhere than with that of
    /// another one, and more words than those that it saw last do no harm.
    seen: [Cell<WordSet>; MAX_RULES],
}

/// What a document has in common with others of its shape, and with the one that its value was made of.
#[derive(Clone, Debug)]
pub struct KnownDocument {
    shape: Rc<DocumentShape>,
    /// `None` where its value was made anew.
    before: Option<DocumentBefore>,
    proven: Rc<ProvenOfDocument>,
}

/// What was found out of one document.
#[derive(Clone, Debug, Default)]
struct ProvenOfDocument {
    /// Whether no text of it is a secret.
    no_secret: Cell<bool>,
    /// The rules, by their numbers, that it passed.
    passed: Cell<u64>,
}

/// The document that the value of another one was made of.
#[derive(Clone, Debug)]
struct DocumentBefore {
    /// The words that are other ones now, and their places.
    words: WordSet,
    changed: Rc<[usize]>,
    proven: ProvenOfDocument,
}

impl KnownDocument {
    /// Whether nothing in the document is a secret, for all that is known. `none_in_one` looks one document of the shape
    /// through, comments included, and is asked once; `is_one` says so of a text, with the name that says what the text is for.
    /// `false` also where nobody can tell.
    #[must_use]
    pub fn has_no_secret(
        &self,
        value: &Value,
        none_in_one: impl FnOnce() -> bool,
        mut is_one: impl FnMut(Option<&str>, &str) -> bool,
    ) -> bool {
        let shape = &*self.shape;
        let same = shape.no_secret.get().unwrap_or_else(none_in_one);
        shape.no_secret.set(Some(same));
        let alone = |before: &&DocumentBefore| {
            before.proven.no_secret.get()
                && before.changed.iter().all(|place| shape.places.stands_alone(*place))
        };
        let differ = |is_one: &mut dyn FnMut(Option<&str>, &str) -> bool| match self
            .before
            .as_ref()
            .filter(alone)
        {
            Some(before) => before.changed.iter().any(|place| shape.any_at(*place, value, is_one)),
            None => shape.form.any_text(value, None, is_one),
        };
        let none = same && !differ(&mut is_one);
        self.proven.no_secret.set(none);
        none
    }

    /// Whether the document, which says `value`, passes a rule of its kind, of this number below 64. The rule is asked unless the document
    /// before is of that kind and passed it, and no word differs that the rule looked at.
    #[must_use]
    pub fn passes(
        &self,
        rule: usize,
        value: &Value,
        rule_passes: impl Fn(DocumentPart<'_>) -> bool,
    ) -> bool {
        let stands = self.stands(rule);
        debug_assert!(
            !stands || rule_passes(DocumentPart::of(value)),
            "what differs is none of what rule {rule} looks at: {value}"
        );
        let watched = || DocumentPart::watched(value, &self.shape.form, &self.shape.seen[rule]);
        let passes = stands || rule_passes(watched());
        self.proven.passed.update(|rules| rules | u64::from(passes) << rule);
        passes
    }

    /// Whether the document before is of the same kind and passed a rule, and no word differs that the rule looked at.
    fn stands(&self, rule: usize) -> bool {
        self.before.as_ref().is_some_and(|DocumentBefore { words, proven, .. }| {
            let (of_kind, seen) = (self.shape.of_kind, self.shape.seen[rule].get());
            proven.passed.get() & (1 << rule) != 0 && !words.meets(of_kind) && !words.meets(seen)
        })
    }

    /// Whether nothing in the document is empty. A word never is, so one document of the shape tells for all:
    /// `none_in_one` is asked once, and always asks the same.
    #[must_use]
    pub fn has_no_empty(&self, none_in_one: impl FnOnce() -> bool) -> bool {
        let none = self.shape.no_empty.get().unwrap_or_else(none_in_one);
        self.shape.no_empty.set(Some(none));
        none
    }

    /// Whether a field, of this number below 32, is in the document. No word is a field, so one document of the shape tells for
    /// all: `is_there` is asked once, and always asks for the same.
    #[must_use]
    pub fn has(&self, field: u32, is_there: impl Fn() -> bool) -> bool {
        let (asked, there) = (&self.shape.asked, &self.shape.there);
        let bit = 1 << field;
        if asked.get() & bit == 0 {
            asked.set(asked.get() | bit);
            there.set(there.get() | u32::from(is_there()) << field);
        }
        let has = there.get() & bit != 0;
        debug_assert_eq!(has, is_there(), "field {field} is in some documents of a shape");
        has
    }
}

impl DocumentShape {
    fn any_at(
        &self,
        place: usize,
        value: &Value,
        is_one: &mut dyn FnMut(Option<&str>, &str) -> bool,
    ) -> bool {
        let found = self.places.find(place, &self.form, value);
        found.is_none_or(|(name, form, value)| form.any_text(value, name, is_one))
    }
}

/// What the documents of a pattern say, and values of some that were read.
#[derive(Debug)]
pub(super) struct KnownShape {
    shape: Rc<DocumentShape>,
    values: Vec<KnownValue>,
}

/// What a document says that was read.
#[derive(Debug)]
struct KnownValue {
    value: Rc<Value>,
    words: Vec<String>,
    /// Which words differ among the documents of which it was one last, where these are known.
    differing: Option<Rc<[usize]>>,
    proven: Rc<ProvenOfDocument>,
}

impl KnownShape {
    /// What documents of a pattern say.
    pub(super) fn new(form: Form, pattern: &str) -> Self {
        let mut lines = pattern.lines();
        // Of comments nobody knows which word is for what.
        let comments_differ = lines.any(|line| line.contains(OPEN) && line.contains('#'));
        let places = WordPlaces::of(&form, pattern.matches(OPEN).count());
        let no_secret = Cell::new(comments_differ.then_some(false));
        let of_kind = words_of(&form, &KIND);
        let shape = DocumentShape {
            form,
            places,
            no_secret,
            no_empty: Cell::default(),
            asked: Cell::default(),
            there: Cell::default(),
            of_kind,
            seen: array::from_fn(|_| Cell::default()),
        };
        Self { shape: shape.into(), values: Vec::new() }
    }

    /// What the document with these words says.
    pub(super) fn value(&self, words: &[&str]) -> Value {
        self.shape.form.with(words)
    }

    /// What the document with these words says: a value that nobody has any more, with these words in it, or a new one.
    pub(super) fn with(&mut self, words: &[&str], shared: Option<&SharedWords>) -> ReadDocument {
        let known = |before, proven: &Rc<_>| {
            let (shape, proven) = (Rc::clone(&self.shape), Rc::clone(proven));
            Some(KnownDocument { shape, before, proven })
        };
        for value in &mut self.values {
            if let Some(before) = value.become_one(&self.shape, words, shared) {
                let known = known(Some(before), &value.proven);
                return ReadDocument { value: Rc::clone(&value.value), known };
            }
        }
        let value = Rc::new(self.shape.form.with(words));
        let proven = Rc::default();
        let known = known(None, &proven);
        if self.values.len() < MAX_VALUES {
            let words = words.iter().map(ToString::to_string).collect();
            let differing = shared.map(|shared| Rc::clone(&shared.differing));
            self.values.push(KnownValue { value: Rc::clone(&value), words, differing, proven });
        }
        ReadDocument { value, known }
    }
}

impl KnownValue {
    /// Puts other words in the place of those that differ, and returns what it was; `None` where somebody has the value.
    fn become_one(
        &mut self,
        shape: &DocumentShape,
        words: &[&str],
        shared: Option<&SharedWords>,
    ) -> Option<DocumentBefore> {
        let value = Rc::get_mut(&mut self.value)?;
        let now = shared.map(|shared| Rc::clone(&shared.differing));
        let last = std::mem::replace(&mut self.differing, now);
        let is_same =
            |last: &Rc<_>| self.differing.as_ref().is_some_and(|now| Rc::ptr_eq(last, now));
        let compared = last.filter(is_same).unwrap_or_else(|| (0..words.len()).collect());
        let (mut differing, mut changed) = (WordSet::default(), Vec::with_capacity(compared.len()));
        for nth in compared.iter().copied() {
            let (before, word) = (&mut self.words[nth], words[nth]);
            if before == word {
                continue;
            }
            before.clear();
            before.push_str(word);
            differing.insert(nth);
            for place in shape.places.of_word(nth) {
                if !changed.contains(place) {
                    changed.push(*place);
                }
            }
        }
        debug_assert_eq!(self.words, words, "a word differs that is the same in all");
        for place in &changed {
            shape.places.put(*place, &shape.form, words, value);
        }
        // Somebody may still hold the word about the value before.
        let proven = std::mem::take(&mut self.proven);
        let proven = (*proven).clone();
        Some(DocumentBefore { words: differing, changed: changed.into(), proven })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Patterns;
    use super::*;

    const MACHINE: &str =
        "metadata:\n  name: NAME\nspec:\n  disks:\n  - lun: 0\n    size: SIZE\n  of: NAME\n";

    /// Reads a machine of this name and size, and says whether the rule `nth`, which looks at the part at this path, stands; then the
    /// rule is asked, and passes or not.
    fn stands(
        patterns: &mut Patterns,
        (name, size): (&str, &str),
        (nth, path, passes): (usize, &str, bool),
    ) -> bool {
        let text = MACHINE.replace("NAME", name).replace("SIZE", size);
        let read = patterns.parse(&text, |text| serde_saphyr::from_str(text)).unwrap();
        let Some(known) = read.known else { return false };
        let stands = known.stands(nth);
        let rule = |whole: DocumentPart<'_>| {
            whole.below(path).map(DocumentPart::value);
            passes
        };
        assert_eq!(known.passes(nth, &read.value, rule), passes);
        stands
    }

    #[test]
    fn a_rule_stands_where_nothing_differs_in_what_it_looked_at() {
        let rule = (1, "/spec/disks", true);
        let mut patterns = Patterns::default();
        let mut of = |name, size, rule| stands(&mut patterns, (name, size), rule);
        for name in ["a", "b", "c"] {
            assert!(!of(name, "4", rule), "nothing is known of such documents");
        }
        assert!(!of("d", "4", rule), "it is the first whose value is known");
        assert!(of("e", "4", rule), "another name");
        assert!(of("f", "4", rule), "and another one");
        assert!(!of("g", "5", rule), "another size");
        assert!(of("h", "5", rule), "the size of the one before");
        assert!(!of("i", "5", (2, "/spec", true)), "another rule");
        assert!(!of("j", "5", (2, "/spec", true)), "the name is in what it looks at");
        assert!(!of("k", "5", rule), "nobody asked it of the one before");
        assert!(of("l", "5", rule));
    }

    #[test]
    fn a_rule_that_looks_elsewhere_has_seen_both() {
        let mut patterns = Patterns::default();
        let mut of = |name, size, path| stands(&mut patterns, (name, size), (0, path, true));
        for name in ["a", "b", "c", "d"] {
            assert!(!of(name, "4", "/spec/disks"), "nothing is known, and then one document");
        }
        assert!(!of("e", "5", "/spec/of"), "the size, at which it looked before");
        assert!(!of("f", "5", "/spec/of"), "the name, at which it looks now");
        assert!(!of("f", "6", "/spec/of"), "the size still is what it may look at");
    }

    #[test]
    fn a_rule_of_another_kind_is_another_one() {
        let mut patterns = Patterns::default();
        let mut stands = |kind: &str, version: &str| {
            let text = format!("apiVersion: {version}\nkind: {kind}\nspec:\n  a: b\n");
            let read = patterns.parse(&text, |text| serde_saphyr::from_str(text)).unwrap();
            let Some(known) = read.known else { return false };
            let stands = known.stands(0);
            assert!(known.passes(0, &read.value, |whole| whole.below("/spec/a").is_some()));
            stands
        };
        for _ in 0..4 {
            assert!(!stands("A", "x/v1"), "nothing is known of such documents, and then one");
        }
        assert!(stands("A", "x/v1"));
        assert!(!stands("B", "x/v1"), "another kind");
        assert!(stands("B", "x/v1"));
        assert!(!stands("B", "y/v1"), "of another group");
    }

    #[test]
    fn a_rule_that_does_not_pass_is_asked_again() {
        let mut patterns = Patterns::default();
        for name in ["a", "b", "c", "d", "e"] {
            assert!(!stands(&mut patterns, (name, "4"), (0, "/spec/disks", false)), "{name}");
        }
    }

    #[test]
    fn a_field_is_asked_for_once_in_documents_of_a_shape() {
        const FIELDS: [&str; 2] = ["spec", "status"];
        let mut patterns = Patterns::default();
        let asked = Cell::new(0);
        let mut has = |text: &str| {
            let read = patterns.parse(text, |text| serde_saphyr::from_str(text)).unwrap();
            let known = read.known?;
            let has = |(nth, field): (u32, &str)| {
                let is_there = || {
                    asked.set(asked.get() + 1);
                    read.value.get(field).is_some()
                };
                known.has(nth, is_there)
            };
            Some((0..).zip(FIELDS).map(has).collect::<Vec<_>>())
        };
        for name in ["a", "b", "c", "d", "e"] {
            let is_known = name >= "d";
            let found = has(&MACHINE.replace("NAME", name));
            assert_eq!(found, is_known.then(|| vec![true, false]), "{name}");
            let found = has(&format!("metadata:\n  name: {name}\n"));
            assert_eq!(found, is_known.then(|| vec![false, false]), "another shape: {name}");
        }
        // A debug build asks each time besides.
        let besides = if cfg!(debug_assertions) { 2 * 2 * FIELDS.len() } else { 0 };
        assert_eq!(asked.get(), 2 * FIELDS.len() + besides);
    }
}
