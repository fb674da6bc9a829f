//! A text with slots in it, and what comes out where these are filled.

use std::borrow::Cow;

use super::marks::{self, Marked};
use crate::model::Digest;
use crate::pattern::{SharedWords, words};
use crate::render::object::Document;
use crate::render::{reader, text};

/// What a template makes of all contexts of a shape.
#[derive(Debug)]
pub(super) struct SpecialisedText {
    /// What the hashes in it are of; each may have those before it in it.
    hashes: Vec<TextWithSlots>,
    documents: Vec<DocumentWithSlots>,
}

/// A document with slots.
#[derive(Debug)]
struct DocumentWithSlots {
    text: TextWithSlots,
    words: Vec<String>,
    /// The words that have slots, in the order of their numbers.
    filled: Vec<TextWithSlots>,
    shared: SharedWords,
}

impl SpecialisedText {
    /// A text with marks in its words, and what the hashes among them are of. `None` where a document has no words.
    pub(super) fn of(text: &str, of_hashes: &[String]) -> Option<Self> {
        let documents = text::documents(text).map(|document| DocumentWithSlots::of(&document));
        let documents = documents.collect::<Option<_>>()?;
        let hashes = of_hashes.iter().map(|text| TextWithSlots::of(text)).collect();
        Some(Self { hashes, documents })
    }

    /// The documents with values in the slots. `None` where there is no value for one of them, or a document is not YAML.
    pub(super) fn with(&self, values: &[Cow<'_, str>]) -> Option<Vec<Document>> {
        let mut hashes = Vec::with_capacity(self.hashes.len());
        for hashed in &self.hashes {
            let text = hashed.with(values, &hashes)?;
            hashes.push(Digest::of(text.as_bytes()).short(8));
        }
        self.documents.iter().map(|document| document.with(values, &hashes)).collect()
    }

    /// About how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let documents = self.documents.iter();
        let texts = documents.flat_map(|document| document.filled.iter().chain([&document.text]));
        let same = self.documents.iter().map(|DocumentWithSlots { words, shared, .. }| {
            shared.bytes()
                + words.iter().map(|word| size_of::<String>() + word.len()).sum::<usize>()
        });
        self.hashes.iter().chain(texts).map(|text| text.bytes).chain(same).sum()
    }
}

impl DocumentWithSlots {
    fn of(document: &str) -> Option<Self> {
        let (words, rest) = words(document)?;
        let words: Vec<_> = words.into_iter().map(|(_, word)| word.to_owned()).collect();
        let of_slots = (0..).zip(&words).map(|(nth, word)| (nth, TextWithSlots::of(word)));
        let (differing, filled): (Vec<_>, _) =
            of_slots.filter(|(_, word)| word.has_slots()).unzip();
        let shared = SharedWords::new(rest, differing);
        Some(Self { text: TextWithSlots::of(document), words, filled, shared })
    }

    fn with(&self, values: &[Cow<'_, str>], hashes: &[String]) -> Option<Document> {
        let filled = self.filled.iter().map(|word| word.with(values, hashes));
        let filled: Vec<_> = filled.collect::<Option<_>>()?;
        let mut words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        for (nth, word) in self.shared.differing().iter().zip(&filled) {
            words[*nth] = word;
        }
        let text = self.text.with(values, hashes)?.into_owned();
        let read = reader::parse_words(&text, &words, &self.shared).ok()?;
        Some(Document { text, read: Some(read) })
    }
}

#[derive(Debug)]
struct TextWithSlots {
    parts: Vec<TextPart>,
    bytes: usize,
}

#[derive(Debug)]
enum TextPart {
    Same(String),
    Marked(Marked),
}

impl TextWithSlots {
    fn of(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, mark, behind)) = marks::first(rest) {
            parts.extend((!before.is_empty()).then(|| TextPart::Same(before.to_owned())));
            parts.push(TextPart::Marked(mark.of));
            rest = behind;
        }
        parts.extend((!rest.is_empty()).then(|| TextPart::Same(rest.to_owned())));
        let bytes = text.len() + parts.len() * size_of::<TextPart>();
        Self { parts, bytes }
    }

    fn has_slots(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, TextPart::Marked(_)))
    }

    fn with<'a>(
        &'a self,
        values: &'a [Cow<'_, str>],
        hashes: &'a [String],
    ) -> Option<Cow<'a, str>> {
        match self.parts.as_slice() {
            [part] => return part.with(values, hashes).map(Cow::Borrowed),
            [] => return Some(Cow::Borrowed("")),
            _ => {}
        }
        let mut text = String::with_capacity(self.bytes);
        for part in &self.parts {
            text.push_str(part.with(values, hashes)?);
        }
        Some(text.into())
    }
}

impl TextPart {
    fn with<'a>(&'a self, values: &'a [Cow<'_, str>], hashes: &'a [String]) -> Option<&'a str> {
        match self {
            Self::Same(same) => Some(same),
            Self::Marked(Marked::Slot(slot)) => values.get(*slot).map(|value| &**value),
            Self::Marked(Marked::Hash(nth)) => hashes.get(*nth).map(String::as_str),
        }
    }
}
