//! The places in the documents of a shape at which their words stand.

use serde_json::Value;

use super::form::{Form, Piece};

/// A text or a number with words in it.
#[derive(Debug)]
pub(super) struct WordPlace {
    /// The way to it: which entry of a map, which item of a list.
    steps: Vec<usize>,
    /// Its words.
    words: Vec<usize>,
    /// Whether it says what the text beside it is for, or is told by that.
    beside: bool,
}

/// All such places of a shape.
#[derive(Debug)]
pub(super) struct WordPlaces {
    places: Vec<WordPlace>,
    /// By word, the places that it stands at: none for a word of a comment.
    of_words: Vec<Vec<usize>>,
}

impl WordPlaces {
    pub(super) fn of(form: &Form, words: usize) -> Self {
        let mut places = Vec::new();
        collect(form, &mut Vec::new(), false, &mut places);
        let mut of_words = vec![Vec::new(); words];
        for (at, place) in places.iter().enumerate() {
            place.words.iter().for_each(|word| of_words[*word].push(at));
        }
        Self { places, of_words }
    }

    /// The places at which a word stands.
    pub(super) fn of_word(&self, word: usize) -> &[usize] {
        &self.of_words[word]
    }

    /// Whether what is looked for at a place is all that depends on it.
    pub(super) fn stands_alone(&self, place: usize) -> bool {
        !self.places[place].beside
    }

    /// Puts words at a place.
    pub(super) fn put(&self, place: usize, form: &Form, words: &[&str], value: &mut Value) {
        let (mut form, mut value) = (form, value);
        for step in &self.places[place].steps {
            let below = match (form, value) {
                (Form::Map(entries), Value::Object(map)) => {
                    let (key, form) = &entries[*step];
                    map.get_mut(key).map(|value| (form, value))
                }
                (Form::List(forms), Value::Array(items)) => {
                    items.get_mut(*step).map(|value| (&forms[*step], value))
                }
                _ => None,
            };
            let Some(below) = below else { return };
            (form, value) = below;
        }
        form.put(words, value);
    }

    /// What stands at a place, with its form and the name of its field.
    pub(super) fn find<'a>(
        &self,
        place: usize,
        form: &'a Form,
        value: &'a Value,
    ) -> Option<(Option<&'a str>, &'a Form, &'a Value)> {
        let (mut name, mut form, mut value) = (None, form, value);
        for step in &self.places[place].steps {
            let (key, of, at) = below(form, value, *step)?;
            (name, form, value) = (key.or(name), of, at);
        }
        Some((name, form, value))
    }
}

/// One step on the way to a place: the key of an entry, and what stands there, with its form.
fn below<'a>(
    form: &'a Form,
    value: &'a Value,
    step: usize,
) -> Option<(Option<&'a str>, &'a Form, &'a Value)> {
    match (form, value) {
        (Form::Map(entries), Value::Object(map)) => {
            let (key, form) = &entries[step];
            Some((Some(key), form, map.get(key)?))
        }
        (Form::List(forms), Value::Array(items)) => Some((None, &forms[step], items.get(step)?)),
        _ => None,
    }
}

fn collect(form: &Form, steps: &mut Vec<usize>, beside: bool, places: &mut Vec<WordPlace>) {
    let words = match form {
        Form::Same(_) => return,
        Form::Number(word) => vec![*word],
        Form::Text(pieces) => {
            let word = |piece: &Piece| match piece {
                Piece::Word(word) => Some(*word),
                Piece::Same(_) => None,
            };
            pieces.iter().filter_map(word).collect()
        }
        Form::Map(entries) => {
            // A variable of a container: `{name: TOKEN, value: …}`.
            let has = |wanted: &str| entries.iter().any(|(key, _)| key == wanted);
            let variable = has("name") && has("value");
            for (at, (key, below)) in entries.iter().enumerate() {
                steps.push(at);
                let of_it = variable && (key == "name" || key == "value");
                collect(below, steps, beside || of_it, places);
                steps.pop();
            }
            return;
        }
        Form::List(items) => {
            for (at, below) in items.iter().enumerate() {
                steps.push(at);
                collect(below, steps, beside, places);
                steps.pop();
            }
            return;
        }
    };
    places.push(WordPlace { steps: steps.clone(), words, beside });
}
